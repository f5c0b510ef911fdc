// Kernel unpack_words in OpenCL C 1.2, translated from shaders/unpack_words.comp by make generate; do not edit.
// Variants:
//   the only one

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 words_; uint2 unpacked; uint2 counts; uint rows; uint first; uint shorts; uint bytes; uint bits; uint first_group; uint end_group; } Push;

typedef struct { uint v[32u]; } uint_x32u;

typedef struct { uint v[2112u]; } uint_x2112u;

typedef struct {
    uint_x32u sh_set;
    uint_x2112u sh_word;
} Shared;

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

INLINE uint shared_place(uint row) {
    return row + row / 32u;
}

typedef struct { uint v[8u]; } uint_x8u;

INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint n_rows = push->rows;
    uint tile_begin = group * WORKGROUP * ITEMS;
    uint first_word = push->first;
    uint tile_count = rows_left(n_rows, tile_begin, WORKGROUP * ITEMS);
    uint n_shorts = push->shorts;
    uint n_wide = n_shorts + push->bytes;
    uint n_fields = n_wide + push->bits;
    uint2 source = push->words_;
    uint2 target = push->unpacked;
    uint b = LOCAL_ID_X;
    for (; b < 32u; b = b + WORKGROUP) {
        shared->sh_set.v[b] = 0u;
    }
    uint before = 0u;
    uint_x8u word;
    uint variable;
    for (; before < tile_count; before = before + 2048u) {
        uint begin = tile_begin + before;
        uint count = min(2048u, tile_count - before);
        uint staged = (count + 31u) & 4294967264u;
        __global uint* from = column32_from(source, first_word + begin);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint i = LOCAL_ID_X;
        for (; i < staged; i = i + 8u * WORKGROUP) {
            uint k = 0u;
            UNROLL
            for (; k < 8u; k = k + 1) {
                word.v[k] = 0u;
                if ((i + k * WORKGROUP) < count) {
                    word.v[k] = from[i + k * WORKGROUP];
                }
            }
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 8u; k_2 = k_2 + 1) {
                if ((i + k_2 * WORKGROUP) < staged) {
                    shared->sh_word.v[shared_place(i + k_2 * WORKGROUP)] = word.v[k_2];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 to = target;
        uint place = 0u;
        uint f = 0u;
        for (; f < n_fields; f = f + 1) {
            if (f < n_shorts) {
                variable = 4u;
            } else {
                variable = f < n_wide ? 3u : 0u;
            }
            uint log2_bits = variable;
            uint width = 1u << log2_bits;
            uint log2_rows = 5u - log2_bits;
            uint per_word = 1u << log2_rows;
            uint mask = (1u << width) - 1u;
            __global uint* column = column32_from(to, begin >> log2_rows);
            uint set = 0u;
            uint turn = (LOCAL_ID_X + f * 64u) % WORKGROUP;
            uint i_2 = turn;
            for (; (i_2 << log2_rows) < count; i_2 = i_2 + WORKGROUP) {
                uint row = shared_place(i_2 << log2_rows);
                uint held = 0u;
                uint k_3 = 0u;
                for (; k_3 < per_word; k_3 = k_3 + 1) {
                    held = held | (((shared->sh_word.v[row + k_3] >> place) & mask) << (k_3 << log2_bits));
                }
                column[i_2] = held;
                set = set + as_uint(popcount(held));
            }
            if ((f >= n_wide) && (set > 0u)) {
                atomic_add(&shared->sh_set.v[f - n_wide], set);
            }
            place = place + width;
            uint column_words = (n_rows >> log2_rows) + ((n_rows & (per_word - 1u)) > 0u ? 1u : 0u);
            to = element_address(to, (column_words + 15u) & 4294967280u, 2u);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint b_2 = LOCAL_ID_X;
    for (; b_2 < push->bits; b_2 = b_2 + WORKGROUP) {
        if (shared->sh_set.v[b_2] > 0u) {
            atomic_add(&column32_from(push->counts, b_2)[0], shared->sh_set.v[b_2]);
        }
    }
}

typedef struct {
    ulong words_;
    ulong unpacked;
    ulong counts;
    uint rows;
    uint first;
    uint shorts;
    uint bytes;
    uint bits;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void unpack_words(__global uchar* words_, __global uchar* unpacked, __global uchar* counts, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)words_ + words.words_),
        as_uint2((ulong)unpacked + words.unpacked),
        as_uint2((ulong)counts + words.counts),
        words.rows,
        words.first,
        words.shorts,
        words.bytes,
        words.bits,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

