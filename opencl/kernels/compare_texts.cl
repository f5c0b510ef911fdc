// Kernel compare_texts in OpenCL C 1.2, translated from shaders/compare_texts.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 left_texts; uint2 left_starts; uint2 left_ids; uint2 right_texts; uint2 right_starts; uint2 right_ids; uint2 keep; uint rows; uint left_width; uint left_first; uint right_width; uint right_first; uint begin; uint first_group; uint end_group; } Push;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
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

typedef struct { uint first; uint size; } Text;

INLINE Text text_of(uint2 starts, uint width, uint row) {
    if (absent(starts)) {
        return (Text){row * width, width};
    }
    __global uint* from = column32_from(starts, row);
    uint first = from[0];
    return (Text){first, from[1] - first};
}

INLINE uint bits_below(uint bit) {
    uint variable;
    if (bit < 32u) {
        variable = (1u << bit) - 1u;
    } else {
        variable = 4294967295u;
    }
    return variable;
}

INLINE uint bits_of_block(uint word, uint left) {
    uint variable;
    if (left > (4u * word)) {
        variable = bits_below(8u * (left - 4u * word));
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE uint4 block_of(uint2 texts, Text text, uint begin) {
    uint first;
    first = text.first + begin;
    uint left = text.size - begin;
    uint shift = first % 4u * 8u;
    __global uint* from = column32_from(texts, first / 4u);
    uint4 block = (uint4)(from[0], from[1], from[2], from[3]);
    if (shift > 0u) {
        uint value = shift;
        uint4 value_2 = block;
        uint3 value_3 = value_2.yzw;
        uint value_4 = 32u - shift;
        block = (block >> (uint4)(value, value, value, value)) | ((uint4)(value_3.x, value_3.y, value_3.z, from[4]) << (uint4)(value_4, value_4, value_4, value_4));
    }
    if (left < 16u) {
        block = block & (uint4)(bits_of_block(0u, left), bits_of_block(1u, left), bits_of_block(2u, left), bits_of_block(3u, left));
    }
    return block;
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint2 left = push->left_texts;
    uint2 left_spans = push->left_starts;
    uint2 right = push->right_texts;
    uint2 right_spans = push->right_starts;
    uint2 bits = push->keep;
    uint left_size = push->left_width;
    uint left_from = push->left_first;
    uint right_size = push->right_width;
    uint right_from = push->right_first;
    uint from_byte = push->begin;
    uint end_byte = push->begin + PIECE;
    __global uint* left_row = column32_from(push->left_ids, first);
    __global uint* right_row = column32_from(push->right_ids, first);
    uint i = LOCAL_ID_X;
    uint variable;
    for (; i < count; i = i + WORKGROUP) {
        Text a = text_of(left_spans, left_size, left_row[i] - left_from);
        Text b = text_of(right_spans, right_size, right_row[i] - right_from);
        bool differ = a.size != b.size;
        if (differ) {
            variable = 0u;
        } else {
            variable = min(a.size, end_byte);
        }
        uint end = variable;
        uint at = from_byte;
        for (; (at < end) && (!differ); at = at + 16u) {
            differ = any(block_of(left, a, at) != block_of(right, b, at));
        }
        if (differ) {
            atomic_and(&column32_from(bits, (first + i) / 32u)[0], ~(1u << ((first + i) % 32u)));
        }
    }
}

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compare_texts(__global uchar* left_texts, __global uchar* left_starts, __global uchar* left_ids, __global uchar* right_texts, __global uchar* right_starts, __global uchar* right_ids, __global uchar* keep, const Words words) {
    const Push addresses = {
        as_uint2((ulong)left_texts + words.left_texts),
        as_uint2((ulong)left_starts + words.left_starts),
        as_uint2((ulong)left_ids + words.left_ids),
        as_uint2((ulong)right_texts + words.right_texts),
        as_uint2((ulong)right_starts + words.right_starts),
        as_uint2((ulong)right_ids + words.right_ids),
        as_uint2((ulong)keep + words.keep),
        words.rows,
        words.left_width,
        words.left_first,
        words.right_width,
        words.right_first,
        words.begin,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

