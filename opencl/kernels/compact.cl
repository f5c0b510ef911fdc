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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 bits; uint2 offsets; uint2 values; uint2 kept; uint rows; uint tiles; uint seed; uint first_group; uint end_group; } Push;

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

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

#if SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
}

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

#endif

#if SERIAL == 0
typedef struct { uint v[WORKGROUP]; } uint_xworkgroup;

INLINE uint bits_below(uint bit) {
    uint variable;
    if (bit < 32u) {
        variable = (1u << bit) - 1u;
    } else {
        variable = 4294967295u;
    }
    return variable;
}

INLINE uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    uint variable;
    if (end > begin) {
        variable = bits_below(end - begin);
    } else {
        variable = 0u;
    }
    uint value = variable;
    uint variable_2;
    if (word == 0u) {
        variable_2 = bits_below(first);
    } else {
        variable_2 = 0u;
    }
    return value & (~variable_2);
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

typedef struct { bool v[8u]; } bool_x8u;

#endif

#if SERIAL == 0 && SHARED == 0
typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint_xworkgroup sh_word;
    uint_xworkgroup sh_rank;
} Shared;

INLINE uint workgroup_sum(__local Shared* shared, uint own_, uint* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all = 0u;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before;
}

#endif

#if VALUE_BITS == 32
INLINE uint unmix_of(uint* key, uint seed) {
    *key = ((*key) ^ ((*key) >> 16)) * 2127672349u;
    *key = ((*key) ^ ((*key) >> 13) ^ ((*key) >> 26)) * 2781581891u;
    return (*key) ^ ((*key) >> 16) ^ seed;
}

INLINE uint kept_value(const Push* push, uint value) {
    uint variable;
    if (MIXED == 1u) {
        uint param = value;
        variable = unmix_of(&param, push->seed);
    } else {
        variable = value;
    }
    return variable;
}

#endif

#if VALUE_BITS == 32 && SERIAL == 0
typedef struct { uint v[8u]; } uint_x8u;

#endif

#if VALUE_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint place = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint word = 0u;
    if ((place * 32u) < count) {
        word = (column32_from(push->bits, begin / 32u)[place] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, place);
    }
    uint set = as_uint(popcount(word));
    uint param_11;
    uint value_2 = workgroup_sum(shared, subgroup_sum(set), &param_11);
    uint all = param_11;
    uint rank = value_2 + subgroup_sum_before(set);
    shared->sh_word.v[place] = word;
    shared->sh_rank.v[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(push->values, begin);
    __global uint* to = column32_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint i = LOCAL_ID_X;
    bool_x8u keeps;
    uint_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint row = i + k * WORKGROUP;
            uint value_3 = k;
            keeps.v[value_3] = row < count && ((shared->sh_word.v[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value.v[k] = begin + row;
            if (!numbered && keeps.v[k]) {
                value.v[k] = from[row];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            uint row_2 = i + k_2 * WORKGROUP;
            if (keeps.v[k_2]) {
                uint value_4 = shared->sh_rank.v[row_2 / 32u] + as_uint(popcount(shared->sh_word.v[row_2 / 32u] & bits_below(row_2 % 32u)));
                uint value_5 = kept_value(push, value.v[k_2]);
                to[value_4] = value_5;
            }
        }
    }
}

#endif

#if SHARED == 1
typedef struct { uint v[2u * WORKGROUP]; } uint_x2u_workgroup;

typedef struct {
    uint_x2u_workgroup sh_scanned;
    uint_xworkgroup sh_word;
    uint_xworkgroup sh_rank;
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned.v[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned.v[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint* own_, uint* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = add(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return 0u;
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

#endif

#if VALUE_BITS == 32 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint place = LOCAL_ID_X;
    uint word = 0u;
    if ((place * 32u) < count) {
        word = (column32_from(push->bits, begin / 32u)[place] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, place);
    }
    uint set = as_uint(popcount(word));
    uint param_9 = set;
    uint param_10;
    uint value_2 = workgroup_scan(shared, &param_9, &param_10);
    uint all = param_10;
    uint rank = value_2;
    shared->sh_word.v[place] = word;
    shared->sh_rank.v[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(push->values, begin);
    __global uint* to = column32_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint i = LOCAL_ID_X;
    bool_x8u keeps;
    uint_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint row = i + k * WORKGROUP;
            uint value_3 = k;
            keeps.v[value_3] = row < count && ((shared->sh_word.v[row / 32u] >> (row % 32u)) & 1u) == 1u;
            value.v[k] = begin + row;
            if (!numbered && keeps.v[k]) {
                value.v[k] = from[row];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            uint row_2 = i + k_2 * WORKGROUP;
            if (keeps.v[k_2]) {
                uint value_4 = shared->sh_rank.v[row_2 / 32u] + as_uint(popcount(shared->sh_word.v[row_2 / 32u] & bits_below(row_2 % 32u)));
                uint value_5 = kept_value(push, value.v[k_2]);
                to[value_4] = value_5;
            }
        }
    }
}

#endif

#if VALUE_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->values, begin);
    __global uint* to = column32_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint2 bitmap = push->bits;
    uint word = 0u;
    uint n = 0u;
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint row = begin + i;
        if ((i == 0u) || (row % 32u) == 0u) {
            word = column32_from(bitmap, row / 32u)[0];
        }
        if (((word >> (row % 32u)) & 1u) == INVERTED) {
            continue;
        }
        if (numbered) {
            to[n] = row;
        } else {
            uint value = kept_value(push, from[i]);
            to[n] = value;
        }
        n = n + 1;
    }
}

#endif

#if VALUE_BITS == 64
INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint2 unmix_of(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of(&param, seed + 1u);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of(&param_5, seed);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE uint2 kept_value(const Push* push, uint2 value) {
    uint2 variable;
    if (MIXED == 1u) {
        uint2 param = value;
        variable = unmix_of(&param, push->seed);
    } else {
        variable = value;
    }
    return variable;
}

#endif

#if VALUE_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[8u]; } uint2_x8u;

#endif

#if VALUE_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint place = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint word = 0u;
    if ((place * 32u) < count) {
        word = (column32_from(push->bits, begin / 32u)[place] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, place);
    }
    uint set = as_uint(popcount(word));
    uint param_11;
    uint value_2 = workgroup_sum(shared, subgroup_sum(set), &param_11);
    uint all = param_11;
    uint rank = value_2 + subgroup_sum_before(set);
    shared->sh_word.v[place] = word;
    shared->sh_rank.v[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(push->values, begin);
    __global uint2* to = column64_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint i = LOCAL_ID_X;
    bool_x8u keeps;
    uint2_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint row = i + k * WORKGROUP;
            uint value_3 = k;
            keeps.v[value_3] = row < count && ((shared->sh_word.v[row / 32u] >> (row % 32u)) & 1u) == 1u;
            uint value_4 = begin + row;
            value.v[k] = (uint2)(value_4, value_4);
            if (!numbered && keeps.v[k]) {
                value.v[k] = from[row];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            uint row_2 = i + k_2 * WORKGROUP;
            if (keeps.v[k_2]) {
                uint value_5 = shared->sh_rank.v[row_2 / 32u] + as_uint(popcount(shared->sh_word.v[row_2 / 32u] & bits_below(row_2 % 32u)));
                uint2 value_6 = kept_value(push, value.v[k_2]);
                to[value_5] = value_6;
            }
        }
    }
}

#endif

#if VALUE_BITS == 64 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint place = LOCAL_ID_X;
    uint word = 0u;
    if ((place * 32u) < count) {
        word = (column32_from(push->bits, begin / 32u)[place] ^ (INVERTED == 1u ? 4294967295u : 0u)) & bits_between(0u, count, place);
    }
    uint set = as_uint(popcount(word));
    uint param_9 = set;
    uint param_10;
    uint value_2 = workgroup_scan(shared, &param_9, &param_10);
    uint all = param_10;
    uint rank = value_2;
    shared->sh_word.v[place] = word;
    shared->sh_rank.v[place] = rank;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint2* from = column64_from(push->values, begin);
    __global uint2* to = column64_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint i = LOCAL_ID_X;
    bool_x8u keeps;
    uint2_x8u value;
    for (; i < count; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint row = i + k * WORKGROUP;
            uint value_3 = k;
            keeps.v[value_3] = row < count && ((shared->sh_word.v[row / 32u] >> (row % 32u)) & 1u) == 1u;
            uint value_4 = begin + row;
            value.v[k] = (uint2)(value_4, value_4);
            if (!numbered && keeps.v[k]) {
                value.v[k] = from[row];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            uint row_2 = i + k_2 * WORKGROUP;
            if (keeps.v[k_2]) {
                uint value_5 = shared->sh_rank.v[row_2 / 32u] + as_uint(popcount(shared->sh_word.v[row_2 / 32u] & bits_below(row_2 % 32u)));
                uint2 value_6 = kept_value(push, value.v[k_2]);
                to[value_5] = value_6;
            }
        }
    }
}

#endif

#if SERIAL == 0
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact(__global uchar* bits, __global uchar* offsets, __global uchar* values, __global uchar* kept, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)bits + words.bits),
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)kept + words.kept),
        words.rows,
        words.tiles,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

#endif

#if VALUE_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* from = column64_from(push->values, begin);
    __global uint2* to = column64_from(push->kept, column64_from(push->offsets, tile)[0].x);
    bool numbered = absent(push->values);
    uint2 bitmap = push->bits;
    uint word = 0u;
    uint n = 0u;
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint row = begin + i;
        if ((i == 0u) || (row % 32u) == 0u) {
            word = column32_from(bitmap, row / 32u)[0];
        }
        if (((word >> (row % 32u)) & 1u) == INVERTED) {
            continue;
        }
        if (numbered) {
            uint value = row;
            to[n] = (uint2)(value, value);
        } else {
            uint2 value_2 = kept_value(push, from[i]);
            to[n] = value_2;
        }
        n = n + 1;
    }
}

#endif

#if SERIAL == 1
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void compact(__global uchar* bits, __global uchar* offsets, __global uchar* values, __global uchar* kept, const Words words) {
    const Push addresses = {
        as_uint2((ulong)bits + words.bits),
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)values + words.values),
        as_uint2((ulong)kept + words.kept),
        words.rows,
        words.tiles,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
