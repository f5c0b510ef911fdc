// Kernel compact in OpenCL C 1.2, translated from shaders/compact.comp by make generate; do not edit.
// Variants:
//   value_bits=32 serial=0 shared=0
//   value_bits=32 serial=0 shared=1
//   value_bits=32 serial=1 shared=0
//   value_bits=64 serial=0 shared=0
//   value_bits=64 serial=0 shared=1
//   value_bits=64 serial=1 shared=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "compact: this variant needs subgroups"
#endif
#endif

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
    ulong bits;
    ulong offsets;
    ulong values;
    ulong kept;
    uint rows;
    uint tiles;
    uint seed;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 bits;
    uint2 offsets;
    uint2 values;
    uint2 kept;
    uint rows;
    uint tiles;
    uint seed;
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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

#if SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_word[WORKGROUP];
    uint sh_rank[WORKGROUP];
} Shared;

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}
#endif

#if SERIAL == 0
INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

INLINE uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    return (end > begin ? bits_below(end - begin) : 0u) & ~(word == 0u ? bits_below(first) : 0u);
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

#define FLIP (INVERTED == 1u ? 0xffffffffu : 0u)
#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint workgroup_sum(__local Shared* shared, uint own, uint* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all_ = 0u;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ = add(*all_, shared->sh_subgroup_sum[s]);
    }
    return before;
}
#endif

#if VALUE_BITS == 32
INLINE uint unmix_of(uint key, uint seed) {
    key = (key ^ (key >> 16u)) * 0x7ed1b41du;
    key = (key ^ (key >> 13u) ^ (key >> 26u)) * 0xa5cb9243u;
    return key ^ (key >> 16u) ^ seed;
}

INLINE uint kept_value(const Arguments* args, uint value) {
    return MIXED == 1u ? unmix_of(value, args->seed) : value;
}
#endif

#if VALUE_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint place = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint word = 0u;
    if (place * 32u < count) {
        word = (column32_from(args->bits, begin / 32u)[place] ^ FLIP) & bits_between(0u, count, place);
    }
    uint set = popcount(word);
    uint all_;
    uint value = workgroup_sum(shared, subgroup_sum(set), &all_);
    uint rank = value + subgroup_sum_before(set);
    shared->sh_word[place] = word;
    shared->sh_rank[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(args->values, begin);
    __global uint* to = column32_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    bool keeps[8];
    uint value_2[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            keeps[k] = row < count && ((shared->sh_word[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value_2[k] = begin + row;
            if (!numbered && keeps[k]) {
                value_2[k] = from[row];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            if (keeps[k]) {
                to[shared->sh_rank[row / 32u] + popcount(shared->sh_word[row / 32u] & bits_below(row % 32u))] =
                        kept_value(args, value_2[k]);
            }
        }
    }
}
#endif

#if SHARED == 1
typedef struct {
    uint sh_scanned[2u * WORKGROUP];
    uint sh_word[WORKGROUP];
    uint sh_rank[WORKGROUP];
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint own, uint* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = add(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return 0u;
    return scanned(shared, side + LOCAL_ID_X - 1u);
}
#endif

#if VALUE_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint place = LOCAL_ID_X;
    uint word = 0u;
    if (place * 32u < count) {
        word = (column32_from(args->bits, begin / 32u)[place] ^ FLIP) & bits_between(0u, count, place);
    }
    uint set = popcount(word);
    uint all_;
    uint rank = workgroup_scan(shared, set, &all_);
    shared->sh_word[place] = word;
    shared->sh_rank[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(args->values, begin);
    __global uint* to = column32_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    bool keeps[8];
    uint value[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            keeps[k] = row < count && ((shared->sh_word[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value[k] = begin + row;
            if (!numbered && keeps[k]) {
                value[k] = from[row];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            if (keeps[k]) {
                to[shared->sh_rank[row / 32u] + popcount(shared->sh_word[row / 32u] & bits_below(row % 32u))] =
                        kept_value(args, value[k]);
            }
        }
    }
}
#endif

#if VALUE_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->values, begin);
    __global uint* to = column32_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    uint2 bitmap = args->bits;
    uint word = 0u;
    uint n = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || row % 32u == 0u) {
            word = column32_from(bitmap, row / 32u)[0];
        }
        if (((word >> (row % 32u)) & 1u) == INVERTED) continue;
        if (numbered) {
            to[n] = row;
        } else {
            to[n] = kept_value(args, from[i]);
        }
        ++n;
    }
}
#endif

#if VALUE_BITS == 64
INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint2 unmix_of(uint2 key, uint seed) {
    key.x ^= mix_of(key.y, seed + 1u);
    key.y ^= mix_of(key.x, ~seed);
    key.x ^= mix_of(key.y, seed);
    return key;
}

INLINE uint2 kept_value(const Arguments* args, uint2 value) {
    return MIXED == 1u ? unmix_of(value, args->seed) : value;
}
#endif

#if VALUE_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint place = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint word = 0u;
    if (place * 32u < count) {
        word = (column32_from(args->bits, begin / 32u)[place] ^ FLIP) & bits_between(0u, count, place);
    }
    uint set = popcount(word);
    uint all_;
    uint value = workgroup_sum(shared, subgroup_sum(set), &all_);
    uint rank = value + subgroup_sum_before(set);
    shared->sh_word[place] = word;
    shared->sh_rank[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(args->values, begin);
    __global uint2* to = column64_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    bool keeps[8];
    uint2 value_2[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            keeps[k] = row < count && ((shared->sh_word[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value_2[k] = (uint2)(begin + row);
            if (!numbered && keeps[k]) {
                value_2[k] = from[row];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            if (keeps[k]) {
                to[shared->sh_rank[row / 32u] + popcount(shared->sh_word[row / 32u] & bits_below(row % 32u))] =
                        kept_value(args, value_2[k]);
            }
        }
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    uint place = LOCAL_ID_X;
    uint word = 0u;
    if (place * 32u < count) {
        word = (column32_from(args->bits, begin / 32u)[place] ^ FLIP) & bits_between(0u, count, place);
    }
    uint set = popcount(word);
    uint all_;
    uint rank = workgroup_scan(shared, set, &all_);
    shared->sh_word[place] = word;
    shared->sh_rank[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(args->values, begin);
    __global uint2* to = column64_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    bool keeps[8];
    uint2 value[8];
    for (uint i = LOCAL_ID_X; i < count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            keeps[k] = row < count && ((shared->sh_word[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value[k] = (uint2)(begin + row);
            if (!numbered && keeps[k]) {
                value[k] = from[row];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint row = i + k * WORKGROUP;
            if (keeps[k]) {
                to[shared->sh_rank[row / 32u] + popcount(shared->sh_word[row / 32u] & bits_below(row % 32u))] =
                        kept_value(args, value[k]);
            }
        }
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact(
    __global uchar* bits,
    __global uchar* offsets,
    __global uchar* values,
    __global uchar* kept,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)bits + scalars.bits),
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)kept + scalars.kept),
        scalars.rows,
        scalars.tiles,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}
#endif

#if VALUE_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* from = column64_from(args->values, begin);
    __global uint2* to = column64_from(args->kept, column64_from(args->offsets, tile)[0].x);
    bool numbered = absent(args->values);
    uint2 bitmap = args->bits;
    uint word = 0u;
    uint n = 0u;
    for (uint i = 0u; i < count; ++i) {
        uint row = begin + i;
        if (i == 0u || row % 32u == 0u) {
            word = column32_from(bitmap, row / 32u)[0];
        }
        if (((word >> (row % 32u)) & 1u) == INVERTED) continue;
        if (numbered) {
            to[n] = (uint2)(row);
        } else {
            to[n] = kept_value(args, from[i]);
        }
        ++n;
    }
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact(
    __global uchar* bits,
    __global uchar* offsets,
    __global uchar* values,
    __global uchar* kept,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)bits + scalars.bits),
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)kept + scalars.kept),
        scalars.rows,
        scalars.tiles,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
