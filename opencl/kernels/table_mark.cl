// Kernel table_mark in OpenCL C 1.2, translated from shaders/table_mark.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "table_mark: this variant needs subgroups"
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
    ulong slots;
    ulong left_keys;
    ulong right_keys;
    ulong partners;
    ulong left_marks;
    ulong right_marks;
    uint rows;
    uint mask;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 slots;
    uint2 left_keys;
    uint2 right_keys;
    uint2 partners;
    uint2 left_marks;
    uint2 right_marks;
    uint rows;
    uint mask;
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

INLINE uint left_row(const Arguments* args, uint at) {
    return (((__global uint*)as_ulong(args->slots))[at - 1u] & args->mask) - 1u;
}

INLINE void mark_row(uint2 marks, uint row) {
    __global volatile uint* word = (__global volatile uint*)as_ulong(element_address(marks, row / 32u, 2u));
    uint bit = 1u << (row % 32u);
    uint value = word[0];
    if ((value & bit) == 0u) {
        atomic_or(&word[0], bit);
    }
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

#if SHARED == 0
typedef struct {
    uint batch_marks;
} Globals;

INLINE void begin_marks(void) {
}

INLINE void collect_marks(Globals* globals, uint k, bool marked) {
    uint4 ballot = subgroup_ballot(marked);
    uint lane = subgroup_local_id();
    uint size = subgroup_size();
    if (size <= 32u) {
        if (lane == k * size / 32u) {
            globals->batch_marks |= ballot.x << (k * size % 32u);
        }
    } else if (lane / (size / 32u) == k) {
        globals->batch_marks = ((uint*)&ballot)[lane % (size / 32u)];
    }
}

INLINE void looked_up(const Arguments* args, Globals* globals, uint k, uint match) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(globals, k, match > 0u);
    }
    if ((SIDES & 2u) != 0u && match > 0u) {
        mark_row(args->left_marks, match - 1u);
    }
}

INLINE void put_marks(Globals* globals, uint2 marks, uint row) {
    uint lane = subgroup_local_id();
    uint shift = row % 32u;
    uint before = subgroup_shuffle(globals->batch_marks, max(lane, 1u) - 1u);
    uint bits = globals->batch_marks << shift;
    if (lane > 0u && shift > 0u) {
        bits |= before >> (32u - shift);
    }
    if (bits > 0u) {
        atomic_or(&column32_from(marks, row / 32u + lane)[0], bits);
    }
    globals->batch_marks = 0u;
}

INLINE void batch_looked_up(const Arguments* args, Globals* globals, uint row) {
    if ((SIDES & 1u) != 0u) {
        put_marks(globals, args->right_marks, row);
    }
}
#endif

#if KEY_BITS == 32
typedef struct {
    uint v[ITEMS];
} uint_array;

INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint hash_of(uint key) {
    return mix_of(key, SEED);
}

INLINE uint match_of(const Arguments* args, uint key, uint hash, uint tries) {
    for (; tries < PATIENCE; ++tries) {
        uint slot = (hash + tries) & args->mask;
        uint entry = ((__global uint*)as_ulong(args->slots))[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~args->mask) != 0u) continue;
        if (column32_from(args->left_keys, (entry & args->mask) - 1u)[0] == key) return slot + 1u;
    }
    return 0u;
}

INLINE uint first_match(const Arguments* args, uint key) {
    return match_of(args, key, hash_of(key), 0u);
}

INLINE uint matches_of(const Arguments* args, uint key, uint cursor) {
    uint match = first_match(args, key);
    if (match == 0u) return 0u;
    uint left = left_row(args, match);
    if (AMONG == 1u && ((column32_from(args->partners, left / 32u)[0] >> (left % 32u)) & 1u) == 0u) return 0u;
    return 1u + left;
}
#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void load_batch(__global uint* right, uint first, uint count, uint_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint* right, uint right_first, uint count,
        uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(args, globals, k, matches);
        }
        batch_looked_up(args, globals, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    globals->batch_marks = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint* right = column32_from(args->right_keys, first);
    uint_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
}
#endif

#if SHARED == 1
#define BATCH_WORDS ((WORKGROUP * ITEMS + 31u) / 32u)

typedef struct {
    uint sh_bits[2u * BATCH_WORDS];
} Shared;

typedef struct {
    uint bits_turn;
} Globals;

INLINE void clear_bits(__local Shared* shared) {
    for (uint w = LOCAL_ID_X; w < 2u * BATCH_WORDS; w += WORKGROUP) {
        shared->sh_bits[w] = 0u;
    }
}

INLINE void begin_marks(__local Shared* shared) {
    clear_bits(shared);
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void set_bit(__local Shared* shared, Globals* globals, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits[globals->bits_turn * BATCH_WORDS + row / 32u], 1u << (row % 32u));
}

INLINE void collect_marks(__local Shared* shared, Globals* globals, uint k, bool marked) {
    if (marked) {
        set_bit(shared, globals, k);
    }
}

INLINE void looked_up(const Arguments* args, __local Shared* shared, Globals* globals, uint k, uint match) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(shared, globals, k, match > 0u);
    }
    if ((SIDES & 2u) != 0u && match > 0u) {
        mark_row(args->left_marks, match - 1u);
    }
}

INLINE uint word_of_bits(__local Shared* shared, Globals* globals, uint w) {
    return shared->sh_bits[globals->bits_turn * BATCH_WORDS + w];
}

INLINE void put_bits(__local Shared* shared, Globals* globals, uint2 marks, uint row) {
    uint shift = row % 32u;
    for (uint w = LOCAL_ID_X; w <= BATCH_WORDS; w += WORKGROUP) {
        uint bits = w < BATCH_WORDS ? word_of_bits(shared, globals, w) << shift : 0u;
        if (w > 0u && shift > 0u) {
            bits |= word_of_bits(shared, globals, w - 1u) >> (32u - shift);
        }
        if (bits > 0u) {
            atomic_or(&column32_from(marks, row / 32u + w)[0], bits);
        }
    }
}

INLINE void clear_next_bits(__local Shared* shared, Globals* globals) {
    for (uint w = LOCAL_ID_X; w < BATCH_WORDS; w += WORKGROUP) {
        shared->sh_bits[(1u - globals->bits_turn) * BATCH_WORDS + w] = 0u;
    }
}

INLINE void put_marks(__local Shared* shared, Globals* globals, uint2 marks, uint row) {
    barrier(CLK_LOCAL_MEM_FENCE);
    put_bits(shared, globals, marks, row);
    clear_next_bits(shared, globals);
    barrier(CLK_LOCAL_MEM_FENCE);
    globals->bits_turn = 1u - globals->bits_turn;
}

INLINE void batch_looked_up(const Arguments* args, __local Shared* shared, Globals* globals, uint row) {
    if ((SIDES & 1u) != 0u) {
        put_marks(shared, globals, args->right_marks, row);
    }
}
#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void load_batch(__global uint* right, uint first, uint count, uint_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint* right,
        uint right_first, uint count, uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(args, shared, globals, k, matches);
        }
        batch_looked_up(args, shared, globals, right_first + first + 0u);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint* right = column32_from(args->right_keys, first);
    uint_array key;
    load_batch(right, 0u, count, &key);
    begin_marks(shared);
    look_up(args, shared, globals, right, first, count, key);
}
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct {
    uint2 v[ITEMS];
} uint2_array;

INLINE uint mix_of_uint_uint(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint2 mix_of_uint2_uint(uint2 key, uint seed) {
    key.x ^= mix_of_uint_uint(key.y, seed);
    key.y ^= mix_of_uint_uint(key.x, ~seed);
    key.x ^= mix_of_uint_uint(key.y, seed + 1u);
    return key;
}

INLINE uint hash_of(uint2 key) {
    return mix_of_uint2_uint(key, SEED).x;
}

INLINE uint match_of(const Arguments* args, uint2 key, uint hash, uint tries) {
    for (; tries < PATIENCE; ++tries) {
        uint slot = (hash + tries) & args->mask;
        uint entry = ((__global uint*)as_ulong(args->slots))[slot];
        if (entry == 0u) return 0u;
        if (((entry ^ hash) & ~args->mask) != 0u) continue;
        if (all(column64_from(args->left_keys, (entry & args->mask) - 1u)[0] == key)) return slot + 1u;
    }
    return 0u;
}

INLINE uint first_match(const Arguments* args, uint2 key) {
    return match_of(args, key, hash_of(key), 0u);
}

INLINE uint matches_of(const Arguments* args, uint2 key, uint cursor) {
    uint match = first_match(args, key);
    if (match == 0u) return 0u;
    uint left = left_row(args, match);
    if (AMONG == 1u && ((column32_from(args->partners, left / 32u)[0] >> (left % 32u)) & 1u) == 0u) return 0u;
    return 1u + left;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, Globals* globals, __global uint2* right, uint right_first, uint count,
        uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(args, globals, k, matches);
        }
        batch_looked_up(args, globals, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    globals->batch_marks = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2_array key;
    load_batch(right, 0u, count, &key);
    look_up(args, globals, right, first, count, key);
}
#endif

#if SHARED == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_mark(
    __global uchar* slots,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* partners,
    __global uchar* left_marks,
    __global uchar* right_marks,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)partners + scalars.partners),
        as_uint2((ulong)left_marks + scalars.left_marks),
        as_uint2((ulong)right_marks + scalars.right_marks),
        scalars.rows,
        scalars.mask,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}
#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}

INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint2* right,
        uint right_first, uint count, uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, key.v[k], cursor);
            }
            looked_up(args, shared, globals, k, matches);
        }
        batch_looked_up(args, shared, globals, right_first + first + 0u);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2_array key;
    load_batch(right, 0u, count, &key);
    begin_marks(shared);
    look_up(args, shared, globals, right, first, count, key);
}
#endif

#if SHARED == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_mark(
    __global uchar* slots,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* partners,
    __global uchar* left_marks,
    __global uchar* right_marks,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)partners + scalars.partners),
        as_uint2((ulong)left_marks + scalars.left_marks),
        as_uint2((ulong)right_marks + scalars.right_marks),
        scalars.rows,
        scalars.mask,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, shared, globals);
}
#endif
