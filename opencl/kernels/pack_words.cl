// Kernel pack_words in OpenCL C 1.2, translated from shaders/pack_words.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 sources; uint2 origins; uint2 words_; uint rows; uint shorts; uint bytes; uint bits; uint first_group; uint end_group; } Push;

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

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct { uint v[8u]; } uint_x8u;

INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint n_shorts = push->shorts;
    uint n_wide = n_shorts + push->bytes;
    uint n_fields = n_wide + push->bits;
    uint2 from = push->sources;
    __global uint2* origin = column64_from(push->origins, 0u);
    __global uint* to = column32_from(push->words_, begin);
    uint i = LOCAL_ID_X;
    uint_x8u word;
    uint variable;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint place = 0u;
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            word.v[k] = 0u;
        }
        uint f = 0u;
        for (; f < n_fields; f = f + 1) {
            uint2 first = origin[f];
            if (f < n_shorts) {
                variable = 4u;
            } else {
                variable = f < n_wide ? 3u : 0u;
            }
            uint log2_bits = variable;
            uint log2_rows = 5u - log2_bits;
            uint mask = (1u << (1u << log2_bits)) - 1u;
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 8u; k_2 = k_2 + 1) {
                uint row = begin + min(i + k_2 * WORKGROUP, count - 1u);
                uint bit = first.y + ((row & ((1u << log2_rows) - 1u)) << log2_bits);
                uint held = column32_from(from, first.x + (row >> log2_rows) + bit / 32u)[0];
                uint value = k_2;
                word.v[value] = word.v[value] | (((held >> (bit % 32u)) & mask) << place);
            }
            place = place + (1u << log2_bits);
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < 8u; k_3 = k_3 + 1) {
            if ((i + k_3 * WORKGROUP) < count) {
                to[i + k_3 * WORKGROUP] = word.v[k_3];
            }
        }
    }
}

typedef struct {
    ulong sources;
    ulong origins;
    ulong words_;
    uint rows;
    uint shorts;
    uint bytes;
    uint bits;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void pack_words(__global uchar* sources, __global uchar* origins, __global uchar* words_, const Words words) {
    const Push addresses = {
        as_uint2((ulong)sources + words.sources),
        as_uint2((ulong)origins + words.origins),
        as_uint2((ulong)words_ + words.words_),
        words.rows,
        words.shorts,
        words.bytes,
        words.bits,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

