// Kernel compare_texts in OpenCL C 1.2, translated from shaders/compare_texts.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    ulong left_texts;
    ulong left_starts;
    ulong left_ids;
    ulong right_texts;
    ulong right_starts;
    ulong right_ids;
    ulong keep;
    uint rows;
    uint left_width;
    uint left_first;
    uint right_width;
    uint right_first;
    uint begin;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_texts;
    uint2 left_starts;
    uint2 left_ids;
    uint2 right_texts;
    uint2 right_starts;
    uint2 right_ids;
    uint2 keep;
    uint rows;
    uint left_width;
    uint left_first;
    uint right_width;
    uint right_first;
    uint begin;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

typedef struct {
    uint first;
    uint size;
} Text;

INLINE Text text_of(uint2 starts, uint width, uint row) {
    if (absent(starts)) return (Text){row * width, width};
    __global uint* from = column32_from(starts, row);
    uint first = from[0];
    return (Text){first, from[1] - first};
}

INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

INLINE uint bits_of_block(uint word, uint left) {
    return left > 4u * word ? bits_below(8u * (left - 4u * word)) : 0u;
}

INLINE uint4 block_of(uint2 texts, Text text, uint begin) {
    uint first = text.first + begin;
    uint left = text.size - begin;
    uint shift = first % 4u * 8u;
    __global uint* from = column32_from(texts, first / 4u);
    uint4 block = (uint4)(from[0], from[1], from[2], from[3]);
    if (shift > 0u) {
        block = (block >> (uint4)(shift)) | ((uint4)(block.yzw.x, block.yzw.y, block.yzw.z,
                from[4]) << (uint4)(32u - shift));
    }
    if (left < 16u) {
        block &= (uint4)(bits_of_block(0u, left), bits_of_block(1u, left), bits_of_block(2u, left),
                bits_of_block(3u, left));
    }
    return block;
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, first, WORKGROUP * ITEMS);
    uint2 left = args->left_texts;
    uint2 left_spans = args->left_starts;
    uint2 right = args->right_texts;
    uint2 right_spans = args->right_starts;
    uint2 bits = args->keep;
    uint left_size = args->left_width;
    uint left_from = args->left_first;
    uint right_size = args->right_width;
    uint right_from = args->right_first;
    uint from_byte = args->begin;
    uint end_byte = args->begin + PIECE;
    __global uint* left_row = column32_from(args->left_ids, first);
    __global uint* right_row = column32_from(args->right_ids, first);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        Text a = text_of(left_spans, left_size, left_row[i] - left_from);
        Text b = text_of(right_spans, right_size, right_row[i] - right_from);
        bool differ = a.size != b.size;
        uint end = differ ? 0u : min(a.size, end_byte);
        for (uint at = from_byte; at < end && !differ; at += 16u) {
            differ = any(block_of(left, a, at) != block_of(right, b, at));
        }
        if (differ) {
            atomic_and(&column32_from(bits, (first + i) / 32u)[0], ~(1u << ((first + i) % 32u)));
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compare_texts(
    __global uchar* left_texts,
    __global uchar* left_starts,
    __global uchar* left_ids,
    __global uchar* right_texts,
    __global uchar* right_starts,
    __global uchar* right_ids,
    __global uchar* keep,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_texts + scalars.left_texts),
        as_uint2((ulong)left_starts + scalars.left_starts),
        as_uint2((ulong)left_ids + scalars.left_ids),
        as_uint2((ulong)right_texts + scalars.right_texts),
        as_uint2((ulong)right_starts + scalars.right_starts),
        as_uint2((ulong)right_ids + scalars.right_ids),
        as_uint2((ulong)keep + scalars.keep),
        scalars.rows,
        scalars.left_width,
        scalars.left_first,
        scalars.right_width,
        scalars.right_first,
        scalars.begin,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

