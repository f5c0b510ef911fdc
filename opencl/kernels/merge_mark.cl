// Kernel merge_mark in OpenCL C 1.2, translated from shaders/merge_mark.comp by make generate; do not edit.
// Variants:
//   key_bits=32 shared=0
//   key_bits=32 shared=1
//   key_bits=64 shared=0
//   key_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "merge_mark: this variant needs subgroups"
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
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 units;
    uint2 left_keys;
    uint2 right_keys;
    uint2 left_marks;
    uint2 right_marks;
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

INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

INLINE uint bits_between(uint first, uint end, uint word) {
    uint begin = word * 32u;
    return (end > begin ? bits_below(end - begin) : 0u) & ~(word == 0u ? bits_below(first) : 0u);
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

#if KEY_BITS == 32 && SHARED == 0
typedef struct {
    uint sh_left[TABLE];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

typedef struct {
    uint batch_marks;
    uint wanted;
    uint left_count;
    uint first_bit;
} Globals;
#endif

#if KEY_BITS == 32
typedef struct {
    uint v[ITEMS];
} uint_array;

INLINE bool less(uint a, uint b) {
    return a < b;
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

#if SHARED == 0
INLINE void begin_marks(void) {
}
#endif

#if SHARED == 1
#define BATCH_WORDS ((WORKGROUP * ITEMS + 31u) / 32u)
#endif

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_left[TABLE];
    uint sh_bits[2u * BATCH_WORDS];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

typedef struct {
    uint bits_turn;
    uint wanted;
    uint left_count;
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
INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint* left = column32_from(args->left_keys, left_first);
    uint own[8];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint key, uint stop, uint* next) {
    bool found = shared->sh_left[stop - 1u] == key;
    *next = found && stop < globals->left_count ? stop + 1u : 0u;
    return found;
}
#endif

#if KEY_BITS == 64 && SHARED == 0
typedef struct {
    uint2 sh_left[TABLE];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

typedef struct {
    uint batch_marks;
    uint2 wanted;
    uint left_count;
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
#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct {
    uint2 v[ITEMS];
} uint2_array;

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
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
    uint2 sh_left[TABLE];
    uint sh_bits[2u * BATCH_WORDS];
    uint sh_left_marks[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u];
} Shared;

typedef struct {
    uint bits_turn;
    uint2 wanted;
    uint left_count;
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

INLINE bool before(__local Shared* shared, Globals* globals, uint which, uint row) {
    return which == 0u ? less(shared->sh_left[row], globals->wanted) : !less(globals->wanted, shared->sh_left[row]);
}

INLINE uint search(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(shared, globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE uint gallop(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(shared, globals, which, low + step - 1u); step *= 2u) {
        low += step;
    }
    return search(shared, globals, which, low, low + min(step - 1u, high - low));
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

INLINE uint matches_end(__local Shared* shared, Globals* globals, uint first) {
    return gallop(shared, globals, 1u, first, globals->left_count);
}

INLINE void mark_all(__local Shared* shared, Globals* globals, uint first, uint end) {
    uint begin = (globals->first_bit + first) / 32u * 32u;
    first += globals->first_bit - begin;
    end += globals->first_bit - begin;
    for (uint word = 0u; word * 32u < end; ++word) {
        atomic_or(&shared->sh_left_marks[begin / 32u + word], bits_between(first, end, word));
    }
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
INLINE uint first_stop(__local Shared* shared, Globals* globals, uint key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE uint matches_of(__local Shared* shared, Globals* globals, uint key, uint* cursor) {
    uint stop = first_stop(shared, globals, key, cursor);
    uint next;
    if (stop == 0u || !matches_at(shared, globals, key, stop, &next)) return 0u;
    if ((SIDES & 2u) != 0u && mark_first(shared, globals, left_row(stop))) {
        mark_all(shared, globals, stop, matches_end(shared, globals, stop));
    }
    return 1u;
}
#endif

#if SHARED == 0
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
                matches = matches_of(shared, globals, key.v[k], &cursor);
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
    globals->left_count = rows.y - rows.x;
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_left_marks(shared, globals, rows.x, globals->left_count);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, globals->left_count);
}
#endif

#if SHARED == 1
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
                matches = matches_of(shared, globals, key.v[k], &cursor);
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
    globals->left_count = rows.y - rows.x;
    __global uint* right = column32_from(args->right_keys, rows.z);
    uint_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    begin_marks(shared);
    clear_left_marks(shared, globals, rows.x, globals->left_count);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, globals->left_count);
}
#endif

#if KEY_BITS == 64
INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint2* left = column64_from(args->left_keys, left_first);
    uint2 own[8];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}

INLINE uint first_stop(__local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint2 key, uint stop, uint* next) {
    bool found = all(shared->sh_left[stop - 1u] == key);
    *next = found && stop < globals->left_count ? stop + 1u : 0u;
    return found;
}

INLINE uint matches_of(__local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    uint stop = first_stop(shared, globals, key, cursor);
    uint next;
    if (stop == 0u || !matches_at(shared, globals, key, stop, &next)) return 0u;
    if ((SIDES & 2u) != 0u && mark_first(shared, globals, left_row(stop))) {
        mark_all(shared, globals, stop, matches_end(shared, globals, stop));
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
                matches = matches_of(shared, globals, key.v[k], &cursor);
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
    globals->left_count = rows.y - rows.x;
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    clear_left_marks(shared, globals, rows.x, globals->left_count);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, globals->left_count);
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
                matches = matches_of(shared, globals, key.v[k], &cursor);
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
    globals->left_count = rows.y - rows.x;
    __global uint2* right = column64_from(args->right_keys, rows.z);
    uint2_array key;
    load_batch(right, 0u, rows.w - rows.z, &key);
    begin_marks(shared);
    clear_left_marks(shared, globals, rows.x, globals->left_count);
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    look_up(args, shared, globals, right, rows.z, rows.w - rows.z, key);
    put_left_marks(args, shared, globals, rows.x, globals->left_count);
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_mark(
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

