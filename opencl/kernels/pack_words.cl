// Kernel pack_words in OpenCL C 1.2, translated from shaders/pack_words.comp by make generate; do not edit.
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
    ulong sources;
    ulong origins;
    ulong words;
    uint rows;
    uint shorts;
    uint bytes;
    uint bits;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 sources;
    uint2 origins;
    uint2 words;
    uint rows;
    uint shorts;
    uint bytes;
    uint bits;
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

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = group * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint n_shorts = args->shorts;
    uint n_wide = n_shorts + args->bytes;
    uint n_fields = n_wide + args->bits;
    uint2 from = args->sources;
    __global uint2* origin = column64_from(args->origins, 0u);
    __global uint* to = column32_from(args->words, begin);
    uint word[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        uint place = 0u;
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            word[k] = 0u;
        }
        for (uint f = 0u; f < n_fields; ++f) {
            uint2 first = origin[f];
            uint log2_bits = f < n_shorts ? 4u : f < n_wide ? 3u : 0u;
            uint log2_rows = 5u - log2_bits;
            uint mask = (1u << (1u << log2_bits)) - 1u;
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                uint row = begin + min(i + k * WORKGROUP, count - 1u);
                uint bit = first.y + ((row & ((1u << log2_rows) - 1u)) << log2_bits);
                uint held = column32_from(from, first.x + (row >> log2_rows) + bit / 32u)[0];
                word[k] |= ((held >> (bit % 32u)) & mask) << place;
            }
            place += 1u << log2_bits;
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < count) {
                to[i + k * WORKGROUP] = word[k];
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void pack_words(
    __global uchar* sources,
    __global uchar* origins,
    __global uchar* words,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)sources + scalars.sources),
        as_uint2((ulong)origins + scalars.origins),
        as_uint2((ulong)words + scalars.words),
        scalars.rows,
        scalars.shorts,
        scalars.bytes,
        scalars.bits,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}

