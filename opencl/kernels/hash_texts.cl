// Kernel hash_texts in OpenCL C 1.2, translated from shaders/hash_texts.comp by make generate; do not edit.
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
    ulong texts;
    ulong starts;
    ulong states;
    ulong hashes;
    uint rows;
    uint width;
    uint begin;
    uint coded;
    uint folded;
    uint kept;
    uint kept_2;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 texts;
    uint2 starts;
    uint2 states;
    uint2 hashes;
    uint rows;
    uint width;
    uint begin;
    uint coded;
    uint folded;
    uint kept;
    uint kept_2;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
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

INLINE Text multiply_extended(uint a, uint b) {
    return (Text){a * b, mul_hi(a, b)};
}

INLINE Text add_carry(uint a, uint b) {
    uint sum = a + b;
    return (Text){sum, sum < a ? 1u : 0u};
}

INLINE uint2 fold(uint2 a, uint2 b) {
    Text value = multiply_extended(a.x, b.x);
    uint low = value.first;
    uint low_high = value.size;
    Text value_2 = multiply_extended(a.x, b.y);
    uint left_low = value_2.first;
    uint left_high = value_2.size;
    Text value_3 = multiply_extended(a.y, b.x);
    uint right_low = value_3.first;
    uint right_high = value_3.size;
    Text value_4 = multiply_extended(a.y, b.y);
    uint high_low = value_4.first;
    uint high_high = value_4.size;
    uint2 to_third;
    to_third.x = add_carry(low_high, left_low).size;
    uint second = add_carry(low_high, left_low).first;
    to_third.y = add_carry(second, right_low).size;
    second = add_carry(second, right_low).first;
    Text value_5 = add_carry(high_low, to_third.x + to_third.y);
    uint3 to_fourth;
    to_fourth.x = value_5.size;
    uint third = value_5.first;
    to_fourth.y = add_carry(third, left_high).size;
    third = add_carry(third, left_high).first;
    to_fourth.z = add_carry(third, right_high).size;
    third = add_carry(third, right_high).first;
    uint fourth = high_high + to_fourth.x + to_fourth.y + to_fourth.z;
    return (uint2)(low ^ third, second ^ fourth);
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, first, WORKGROUP * ITEMS);
    uint2 from = args->texts;
    uint2 spans = args->starts;
    uint2 state_column = args->states;
    uint2 bits = (uint2)(args->kept, args->kept_2);
    uint size = args->width;
    uint from_byte = args->begin;
    uint end_byte = args->begin + PIECE;
    uint is_coded = args->coded;
    uint is_folded = args->folded;
    __global uint2* to = column64_from(args->hashes, first);
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        Text text = text_of(spans, size, first + i);
        if (from_byte > 0u && text.size <= from_byte) continue;
        uint2 hash = (uint2)(0x85a308d3u, 0x243f6a88u);
        if (from_byte > 0u) {
            hash = column64_from(state_column, first + i)[0];
        }
        uint end = min(text.size, end_byte);
        uint4 block = (uint4)(0u);
        for (uint at = from_byte; at < end; at += 16u) {
            block = block_of(from, text, at);
            hash = fold(block.xy ^ (uint2)(0x3707344u, 0x13198a2eu), block.zw ^ hash);
        }
        if (text.size > end_byte) {
            column64_from(state_column, first + i)[0] = hash;
            continue;
        }
        hash = is_coded == 1u ? block.xy : fold(hash, (uint2)(text.size, 0u) ^ (uint2)(0x299f31d0u, 0xa4093822u));
        if (is_folded == 1u) {
            hash = fold(to[i] ^ (uint2)(0x7f4a7c15u, 0x9e3779b9u), hash ^ (uint2)(0xde82ef95u, 0xd1342543u));
        }
        to[i] = hash & bits;
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void hash_texts(
    __global uchar* texts,
    __global uchar* starts,
    __global uchar* states,
    __global uchar* hashes,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)texts + scalars.texts),
        as_uint2((ulong)starts + scalars.starts),
        as_uint2((ulong)states + scalars.states),
        as_uint2((ulong)hashes + scalars.hashes),
        scalars.rows,
        scalars.width,
        scalars.begin,
        scalars.coded,
        scalars.folded,
        scalars.kept,
        scalars.kept_2,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

