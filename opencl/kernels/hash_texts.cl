// Kernel hash_texts in OpenCL C 1.2, translated from shaders/hash_texts.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 texts; uint2 starts; uint2 states; uint2 hashes; uint rows; uint width; uint begin; uint coded; uint folded; uint kept; uint kept_2; uint first_group; uint end_group; } Push;

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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
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
    Text value_5 = add_carry(low_high, left_low);
    uint2 to_third;
    to_third.x = value_5.size;
    uint second = value_5.first;
    Text value_6 = add_carry(second, right_low);
    to_third.y = value_6.size;
    second = value_6.first;
    Text value_7 = add_carry(high_low, to_third.x + to_third.y);
    uint3 to_fourth;
    to_fourth.x = value_7.size;
    uint third = value_7.first;
    Text value_8 = add_carry(third, left_high);
    to_fourth.y = value_8.size;
    third = value_8.first;
    Text value_9 = add_carry(third, right_high);
    to_fourth.z = value_9.size;
    third = value_9.first;
    uint fourth = high_high + to_fourth.x + to_fourth.y + to_fourth.z;
    return (uint2)(low ^ third, second ^ fourth);
}

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint2 from = push->texts;
    uint2 spans = push->starts;
    uint2 state_column = push->states;
    uint2 bits = (uint2)(push->kept, push->kept_2);
    uint size = push->width;
    uint from_byte = push->begin;
    uint end_byte = push->begin + PIECE;
    uint is_coded = push->coded;
    uint is_folded = push->folded;
    __global uint2* to = column64_from(push->hashes, first);
    uint i = LOCAL_ID_X;
    uint2 variable;
    for (; i < count; i = i + WORKGROUP) {
        Text text = text_of(spans, size, first + i);
        if (from_byte > 0u && text.size <= from_byte) {
            continue;
        }
        uint2 hash = (uint2)(2242054355u, 608135816u);
        if (from_byte > 0u) {
            hash = column64_from(state_column, first + i)[0];
        }
        uint end = min(text.size, end_byte);
        uint4 block = (uint4)(0u);
        uint at = from_byte;
        for (; at < end; at = at + 16u) {
            block = block_of(from, text, at);
            uint4 value = block;
            uint4 value_2 = block;
            hash = fold(value.xy ^ (uint2)(57701188u, 320440878u), value_2.zw ^ hash);
        }
        if (text.size > end_byte) {
            column64_from(state_column, first + i)[0] = hash;
            continue;
        }
        if (is_coded == 1u) {
            uint4 value_3 = block;
            variable = value_3.xy;
        } else {
            variable = fold(hash, (uint2)(text.size, 0u) ^ (uint2)(698298832u, 2752067618u));
        }
        hash = variable;
        if (is_folded == 1u) {
            hash = fold(to[i] ^ (uint2)(2135587861u, 2654435769u), hash ^ (uint2)(3733122965u, 3509855555u));
        }
        to[i] = hash & bits;
    }
}

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void hash_texts(__global uchar* texts, __global uchar* starts, __global uchar* states, __global uchar* hashes, const Words words) {
    const Push addresses = {
        as_uint2((ulong)texts + words.texts),
        as_uint2((ulong)starts + words.starts),
        as_uint2((ulong)states + words.states),
        as_uint2((ulong)hashes + words.hashes),
        words.rows,
        words.width,
        words.begin,
        words.coded,
        words.folded,
        words.kept,
        words.kept_2,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

