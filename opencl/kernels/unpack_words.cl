// Kernel unpack_words in OpenCL C 1.2, translated from shaders/unpack_words.comp by make generate; do not edit.
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
    ulong words;
    ulong unpacked;
    ulong counts;
    uint rows;
    uint first;
    uint shorts;
    uint bytes;
    uint bits;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 words;
    uint2 unpacked;
    uint2 counts;
    uint rows;
    uint first;
    uint shorts;
    uint bytes;
    uint bits;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint sh_set[32];
    uint sh_word[2112];
} Shared;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint shared_place(uint row) {
    return row + row / 32u;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint n_rows = args->rows;
    uint tile_begin = group * WORKGROUP * ITEMS;
    uint first_word = args->first;
    uint tile_count = rows_left(n_rows, tile_begin, WORKGROUP * ITEMS);
    uint n_shorts = args->shorts;
    uint n_wide = n_shorts + args->bytes;
    uint n_fields = n_wide + args->bits;
    uint2 source = args->words;
    uint2 target = args->unpacked;
    for (uint b = LOCAL_ID_X; b < 32u; b += WORKGROUP) {
        shared->sh_set[b] = 0u;
    }
    uint word[8];
    for (uint before = 0u; before < tile_count; before += 0x800u) {
        uint begin = tile_begin + before;
        uint count = min(0x800u, tile_count - before);
        uint staged = (count + 31u) & 0xffffffe0u;
        __global uint* from = column32_from(source, first_word + begin);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = LOCAL_ID_X; i < staged; i += 8u * WORKGROUP) {
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                word[k] = 0u;
                if (i + k * WORKGROUP < count) {
                    word[k] = from[i + k * WORKGROUP];
                }
            }
            UNROLL
            for (uint k = 0u; k < 8u; ++k) {
                if (i + k * WORKGROUP < staged) {
                    shared->sh_word[shared_place(i + k * WORKGROUP)] = word[k];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 to = target;
        uint place = 0u;
        for (uint f = 0u; f < n_fields; ++f) {
            uint log2_bits = f < n_shorts ? 4u : f < n_wide ? 3u : 0u;
            uint width = 1u << log2_bits;
            uint log2_rows = 5u - log2_bits;
            uint per_word = 1u << log2_rows;
            uint mask = (1u << width) - 1u;
            __global uint* column = column32_from(to, begin >> log2_rows);
            uint set = 0u;
            uint turn = (LOCAL_ID_X + f * 64u) % WORKGROUP;
            for (uint i = turn; i << log2_rows < count; i += WORKGROUP) {
                uint row = shared_place(i << log2_rows);
                uint held = 0u;
                for (uint k = 0u; k < per_word; ++k) {
                    held |= ((shared->sh_word[row + k] >> place) & mask) << (k << log2_bits);
                }
                column[i] = held;
                set += popcount(held);
            }
            if (f >= n_wide && set > 0u) {
                atomic_add(&shared->sh_set[f - n_wide], set);
            }
            place += width;
            uint column_words = (n_rows >> log2_rows) + ((n_rows & (per_word - 1u)) > 0u ? 1u : 0u);
            to = element_address(to, (column_words + 15u) & 0xfffffff0u, 2u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = LOCAL_ID_X; b < args->bits; b += WORKGROUP) {
        if (shared->sh_set[b] > 0u) {
            atomic_add(&column32_from(args->counts, b)[0], shared->sh_set[b]);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void unpack_words(
    __global uchar* words,
    __global uchar* unpacked,
    __global uchar* counts,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)words + scalars.words),
        as_uint2((ulong)unpacked + scalars.unpacked),
        as_uint2((ulong)counts + scalars.counts),
        scalars.rows,
        scalars.first,
        scalars.shorts,
        scalars.bytes,
        scalars.bits,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

