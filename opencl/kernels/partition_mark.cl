// Kernel partition_mark in OpenCL C 1.2, translated from shaders/partition_mark.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "partition_mark: this variant needs subgroups"
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
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong left_marks;
    ulong right_marks;
    uint shift;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 units;
    uint2 left_keys;
    uint2 right_keys;
    uint2 left_marks;
    uint2 right_marks;
    uint shift;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

#if SHARED == 0
typedef struct {
    uint sh_head[HEADS];
    uint sh_node[TABLE];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

INLINE void begin_marks(void) {
}
#endif

#if KEY_BITS == 32 && SHARED == 0
typedef struct {
    uint batch_marks;
    __global uint* unit_keys;
    uint first_bit;
} Globals;
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

INLINE uint bits_of(uint key) {
    return MIXED == 1u ? key : mix_of(key, 0u);
}

INLINE uint tag_of(uint bits) {
    return bits >> 16u;
}

INLINE uint chain_of(const Arguments* args, uint bits) {
    return (bits >> args->shift) & (HEADS - 1u);
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
#endif

#if SHARED == 1
#define BATCH_WORDS ((WORKGROUP * ITEMS + 31u) / 32u)

typedef struct {
    uint sh_head[HEADS];
    uint sh_node[TABLE];
    uint sh_bits[2u * BATCH_WORDS];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

INLINE void clear_bits(__local Shared* shared) {
    for (uint w = LOCAL_ID_X; w < 2u * BATCH_WORDS; w += WORKGROUP) {
        shared->sh_bits[w] = 0u;
    }
}

INLINE void begin_marks(__local Shared* shared) {
    clear_bits(shared);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#if KEY_BITS == 32
INLINE uint first_stop(const Arguments* args, __local Shared* shared, uint key, uint cursor) {
    return shared->sh_head[chain_of(args, bits_of(key))];
}
#endif

INLINE uint stop_after(__local Shared* shared, uint stop) {
    return shared->sh_node[stop - 1u] & 0xffffu;
}

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint bits_turn;
    __global uint* unit_keys;
    uint first_bit;
} Globals;

INLINE void load_batch(__global uint* right, uint first, uint count, uint_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}
#endif

#if KEY_BITS == 32
INLINE void build_table(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    for (uint i = LOCAL_ID_X; i < HEADS; i += WORKGROUP) {
        shared->sh_head[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own[8];
    for (uint i = LOCAL_ID_X; i < left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                own[k] = globals->unit_keys[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                uint row = i + k * WORKGROUP;
                uint bits = bits_of(own[k]);
                uint value = (tag_of(bits) << 16u) | atomic_xchg(&shared->sh_head[chain_of(args, bits)], row + 1u);
                shared->sh_node[row] = value;
            }
        }
    }
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint key, uint stop, uint* next) {
    uint entry = shared->sh_node[stop - 1u];
    *next = entry & 0xffffu;
    return entry >> 16u == tag_of(bits_of(key)) && (DECIDED == 1u || globals->unit_keys[stop - 1u] == key);
}

INLINE uint match_from(__local Shared* shared, Globals* globals, uint key, uint stop) {
    uint next;
    for (; stop > 0u && !matches_at(shared, globals, key, stop, &next); stop = next) {
    }
    return stop;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
typedef struct {
    uint batch_marks;
    __global uint2* unit_keys;
    uint first_bit;
} Globals;
#endif

#if SHARED == 0
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

INLINE void looked_up(Globals* globals, uint k, uint matches) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(globals, k, matches > 0u);
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

INLINE uint2 bits_of(uint2 key) {
    return MIXED == 1u ? key : mix_of_uint2_uint(key, 0u);
}

INLINE uint tag_of(uint2 bits) {
    return bits.y >> 16u;
}

INLINE uint chain_of(const Arguments* args, uint2 bits) {
    return (bits.x >> args->shift) & (HEADS - 1u);
}

INLINE uint first_stop(const Arguments* args, __local Shared* shared, uint2 key, uint cursor) {
    return shared->sh_head[chain_of(args, bits_of(key))];
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
#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint bits_turn;
    __global uint2* unit_keys;
    uint first_bit;
} Globals;

INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_array* key) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            key->v[k] = right[row];
        }
    }
}
#endif

INLINE void clear_left_marks(__local Shared* shared, Globals* globals, uint left_first, uint left_count) {
    globals->first_bit = left_first % 32u;
    if ((SIDES & 2u) == 0u) return;
    for (uint i = LOCAL_ID_X; i * 32u < globals->first_bit + left_count; i += WORKGROUP) {
        shared->sh_left_marks[i] = 0u;
    }
}

INLINE bool mark_first(__local Shared* shared, Globals* globals, uint row) {
    uint at = globals->first_bit + row;
    uint bit = 1u << (at % 32u);
    bool first = (shared->sh_left_marks[at / 32u] & bit) == 0u;
    if (first) {
        atomic_or(&shared->sh_left_marks[at / 32u], bit);
    }
    return first;
}

INLINE void put_left_marks(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first,
        uint left_count) {
    if ((SIDES & 2u) == 0u) return;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = LOCAL_ID_X; i * 32u < globals->first_bit + left_count; i += WORKGROUP) {
        uint bits = shared->sh_left_marks[i];
        if (bits > 0u) {
            atomic_or(&column32_from(args->left_marks, left_first / 32u + i)[0], bits);
        }
    }
}

#if KEY_BITS == 32
INLINE uint matches_of(const Arguments* args, __local Shared* shared, Globals* globals, uint key, uint* cursor) {
    uint stop = match_from(shared, globals, key, first_stop(args, shared, key, *cursor));
    if (stop == 0u) return 0u;
    if ((SIDES & 2u) != 0u && mark_first(shared, globals, left_row(stop))) {
        for (uint other = match_from(shared, globals, key, stop_after(shared, stop)); other > 0u;
                other = match_from(shared, globals, key, stop_after(shared, other))) {
            mark_first(shared, globals, left_row(other));
        }
    }
    return 1u;
}
#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint* right,
        uint right_first, uint count, uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        batch_looked_up(args, globals, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->batch_marks = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column32_from(args->left_keys, rows.x);
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_left_marks(shared, globals, rows.x, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, rows.y - rows.x);
}
#endif

#if SHARED == 1
INLINE void set_bit(__local Shared* shared, Globals* globals, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits[globals->bits_turn * BATCH_WORDS + row / 32u], 1u << (row % 32u));
}

INLINE void collect_marks(__local Shared* shared, Globals* globals, uint k, bool marked) {
    if (marked) {
        set_bit(shared, globals, k);
    }
}

INLINE void looked_up(__local Shared* shared, Globals* globals, uint k, uint matches) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(shared, globals, k, matches > 0u);
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
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint* right,
        uint right_first, uint count, uint_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(shared, globals, k, matches);
        }
        batch_looked_up(args, shared, globals, right_first + first + 0u);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->bits_turn = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column32_from(args->left_keys, rows.x);
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    begin_marks(shared);
    clear_left_marks(shared, globals, rows.x, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, rows.y - rows.x);
}
#endif

#if KEY_BITS == 64
INLINE void build_table(const Arguments* args, __local Shared* shared, Globals* globals, uint left_count) {
    for (uint i = LOCAL_ID_X; i < HEADS; i += WORKGROUP) {
        shared->sh_head[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 own[8];
    for (uint i = LOCAL_ID_X; i < left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                own[k] = globals->unit_keys[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < left_count) {
                uint row = i + k * WORKGROUP;
                uint2 bits = bits_of(own[k]);
                uint value = (tag_of(bits) << 16u) | atomic_xchg(&shared->sh_head[chain_of(args, bits)], row + 1u);
                shared->sh_node[row] = value;
            }
        }
    }
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint2 key, uint stop, uint* next) {
    uint entry = shared->sh_node[stop - 1u];
    *next = entry & 0xffffu;
    return entry >> 16u == tag_of(bits_of(key)) && (DECIDED == 1u || all(globals->unit_keys[stop - 1u] == key));
}

INLINE uint match_from(__local Shared* shared, Globals* globals, uint2 key, uint stop) {
    uint next;
    for (; stop > 0u && !matches_at(shared, globals, key, stop, &next); stop = next) {
    }
    return stop;
}

INLINE uint matches_of(const Arguments* args, __local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    uint stop = match_from(shared, globals, key, first_stop(args, shared, key, *cursor));
    if (stop == 0u) return 0u;
    if ((SIDES & 2u) != 0u && mark_first(shared, globals, left_row(stop))) {
        for (uint other = match_from(shared, globals, key, stop_after(shared, stop)); other > 0u;
                other = match_from(shared, globals, key, stop_after(shared, other))) {
            mark_first(shared, globals, left_row(other));
        }
    }
    return 1u;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint2* right,
        uint right_first, uint count, uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(globals, k, matches);
        }
        batch_looked_up(args, globals, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->batch_marks = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column64_from(args->left_keys, rows.x);
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_left_marks(shared, globals, rows.x, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, rows.y - rows.x);
}
#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void look_up(const Arguments* args, __local Shared* shared, Globals* globals, __global uint2* right,
        uint right_first, uint count, uint2_array key) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += BATCH_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                matches = matches_of(args, shared, globals, key.v[k], &cursor);
            }
            looked_up(shared, globals, k, matches);
        }
        batch_looked_up(args, shared, globals, right_first + first + 0u);
        load_batch(right, first + BATCH_ROWS, count, &key);
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->bits_turn = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->unit_keys = column64_from(args->left_keys, rows.x);
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    begin_marks(shared);
    clear_left_marks(shared, globals, rows.x, rows.y - rows.x);
    build_table(args, shared, globals, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, rows.y - rows.x);
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_mark(
    __global uchar* units,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* left_marks,
    __global uchar* right_marks,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)units + scalars.units),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)left_marks + scalars.left_marks),
        as_uint2((ulong)right_marks + scalars.right_marks),
        scalars.shift,
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

