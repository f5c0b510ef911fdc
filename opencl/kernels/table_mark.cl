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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 slots; uint2 left_keys; uint2 right_keys; uint2 partners; uint2 left_marks; uint2 right_marks; uint rows; uint mask; uint first_group; uint end_group; } Push;

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

INLINE uint left_row(const Push* push, uint at) {
    return (((__global uint*)as_ulong(push->slots))[at - 1u] & push->mask) - 1u;
}

INLINE void mark_row(uint2 marks, uint row) {
    __global volatile uint* word = (__global volatile uint*)as_ulong(element_address(marks, row / 32u, 2u));
    uint bit = 1u << (row % 32u);
    uint value = word[0];
    if ((value & bit) == 0u) {
        atomic_or(&word[0], bit);
    }
}

#if SHARED == 0
typedef struct {
    uint batch_marks;
} Own;

INLINE void begin_marks() {
}

INLINE void collect_marks(Own* own, uint k, bool marked) {
    uint4 value = subgroup_ballot(marked);
    uint4 ballot = value;
    uint lane = subgroup_local_id();
    uint size = subgroup_size();
    if (size <= 32u) {
        if (lane == (k * size / 32u)) {
            own->batch_marks = own->batch_marks | (ballot.x << (k * size % 32u));
        }
    } else if ((lane / (size / 32u)) == k) {
        own->batch_marks = ((uint*)&ballot)[lane % (size / 32u)];
    }
}

INLINE void looked_up(const Push* push, Own* own, uint k, uint match) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(own, k, match > 0u);
    }
    if (((SIDES & 2u) != 0u) && (match > 0u)) {
        mark_row(push->left_marks, match - 1u);
    }
}

INLINE void put_marks(Own* own, uint2 marks, uint row) {
    uint lane = subgroup_local_id();
    uint shift = row % 32u;
    uint value = subgroup_shuffle(own->batch_marks, max(lane, 1u) - 1u);
    uint before = value;
    uint bits = own->batch_marks << shift;
    if ((lane > 0u) && (shift > 0u)) {
        bits = bits | (before >> (32u - shift));
    }
    if (bits > 0u) {
        atomic_or(&column32_from(marks, row / 32u + lane)[0], bits);
    }
    own->batch_marks = 0u;
}

INLINE void batch_looked_up(const Push* push, Own* own, uint row) {
    if ((SIDES & 1u) != 0u) {
        put_marks(own, push->right_marks, row);
    }
}

#endif

#if KEY_BITS == 32
typedef struct { uint v[ITEMS]; } uint_xitems;

INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint hash_of(uint key) {
    uint param = key;
    uint value = mix_of(&param, SEED);
    return value;
}

INLINE uint match_of(const Push* push, uint key, uint hash, uint* tries) {
    for (; (*tries) < PATIENCE; *tries = *tries + 1) {
        uint slot = (hash + *tries) & push->mask;
        uint entry = ((__global uint*)as_ulong(push->slots))[slot];
        if (entry == 0u) {
            return 0u;
        }
        if (((entry ^ hash) & (~push->mask)) != 0u) {
            continue;
        }
        if (column32_from(push->left_keys, (entry & push->mask) - 1u)[0] == key) {
            return slot + 1u;
        }
    }
    return 0u;
}

INLINE uint first_match(const Push* push, uint key) {
    uint value = hash_of(key);
    uint param_4 = 0u;
    uint value_2 = match_of(push, key, value, &param_4);
    return value_2;
}

INLINE uint matches_of(const Push* push, uint key, uint cursor) {
    uint match = first_match(push, key);
    if (match == 0u) {
        return 0u;
    }
    uint left = left_row(push, match);
    if (AMONG == 1u && ((column32_from(push->partners, left / 32u)[0] >> (left % 32u)) & 1u) == 0u) {
        return 0u;
    }
    return 1u + left;
}

#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void load_batch(__global uint* right, uint first, uint count, uint_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, (*key).v[k], param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(push, own, k, matches);
        }
        batch_looked_up(push, own, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, Own* own) {
    own->batch_marks = 0u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint* right = column32_from(push->right_keys, first);
    uint_xitems key;
    uint_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
}

#endif

#if SHARED == 1
typedef struct { uint v[2u * ((WORKGROUP * ITEMS + 31u) / 32u)]; } uint_x2u_workgroup_items_31u_32u;

typedef struct {
    uint_x2u_workgroup_items_31u_32u sh_bits;
} Shared;

typedef struct {
    uint bits_turn;
} Own;

INLINE void clear_bits(__local Shared* shared) {
    uint w = LOCAL_ID_X;
    for (; w < (2u * ((WORKGROUP * ITEMS + 31u) / 32u)); w = w + WORKGROUP) {
        shared->sh_bits.v[w] = 0u;
    }
}

INLINE void begin_marks(__local Shared* shared) {
    clear_bits(shared);
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void set_bit(__local Shared* shared, Own* own, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits.v[own->bits_turn * ((WORKGROUP * ITEMS + 31u) / 32u) + row / 32u], 1u << (row % 32u));
}

INLINE void collect_marks(__local Shared* shared, Own* own, uint k, bool marked) {
    if (marked) {
        set_bit(shared, own, k);
    }
}

INLINE void looked_up(const Push* push, __local Shared* shared, Own* own, uint k, uint match) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(shared, own, k, match > 0u);
    }
    if (((SIDES & 2u) != 0u) && (match > 0u)) {
        mark_row(push->left_marks, match - 1u);
    }
}

INLINE uint word_of_bits(__local Shared* shared, Own* own, uint w) {
    return shared->sh_bits.v[own->bits_turn * ((WORKGROUP * ITEMS + 31u) / 32u) + w];
}

INLINE void put_bits(__local Shared* shared, Own* own, uint2 marks, uint row) {
    uint shift = row % 32u;
    uint w = LOCAL_ID_X;
    uint variable;
    for (; w <= ((WORKGROUP * ITEMS + 31u) / 32u); w = w + WORKGROUP) {
        if (w < ((WORKGROUP * ITEMS + 31u) / 32u)) {
            variable = word_of_bits(shared, own, w) << shift;
        } else {
            variable = 0u;
        }
        uint bits = variable;
        if ((w > 0u) && (shift > 0u)) {
            bits = bits | (word_of_bits(shared, own, w - 1u) >> (32u - shift));
        }
        if (bits > 0u) {
            atomic_or(&column32_from(marks, row / 32u + w)[0], bits);
        }
    }
}

INLINE void clear_next_bits(__local Shared* shared, Own* own) {
    uint w = LOCAL_ID_X;
    for (; w < ((WORKGROUP * ITEMS + 31u) / 32u); w = w + WORKGROUP) {
        shared->sh_bits.v[(1u - own->bits_turn) * ((WORKGROUP * ITEMS + 31u) / 32u) + w] = 0u;
    }
}

INLINE void put_marks(__local Shared* shared, Own* own, uint2 marks, uint row) {
    barrier(CLK_LOCAL_MEM_FENCE);
    put_bits(shared, own, marks, row);
    clear_next_bits(shared, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    own->bits_turn = 1u - own->bits_turn;
}

INLINE void batch_looked_up(const Push* push, __local Shared* shared, Own* own, uint row) {
    if ((SIDES & 1u) != 0u) {
        put_marks(shared, own, push->right_marks, row);
    }
}

#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void load_batch(__global uint* right, uint first, uint count, uint_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, (*key).v[k], param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(push, shared, own, k, matches);
        }
        batch_looked_up(push, shared, own, right_first + first + 0u);
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint* right = column32_from(push->right_keys, first);
    uint_xitems key;
    uint_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    begin_marks(shared);
    uint_xitems param_13 = key;
    look_up(push, shared, own, right, first, count, &param_13);
}

#endif

#if KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

typedef struct { uint2 v[ITEMS]; } uint2_xitems;

INLINE uint mix_of_u1_u1(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint2 mix_of_vu2_u1(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of_u1_u1(&param, seed);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of_u1_u1(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of_u1_u1(&param_5, seed + 1u);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE uint hash_of(uint2 key) {
    uint2 param = key;
    uint2 value = mix_of_vu2_u1(&param, SEED);
    return value.x;
}

INLINE uint match_of(const Push* push, uint2 key, uint hash, uint* tries) {
    for (; (*tries) < PATIENCE; *tries = *tries + 1) {
        uint slot = (hash + *tries) & push->mask;
        uint entry = ((__global uint*)as_ulong(push->slots))[slot];
        if (entry == 0u) {
            return 0u;
        }
        if (((entry ^ hash) & (~push->mask)) != 0u) {
            continue;
        }
        if (all(column64_from(push->left_keys, (entry & push->mask) - 1u)[0] == key)) {
            return slot + 1u;
        }
    }
    return 0u;
}

INLINE uint first_match(const Push* push, uint2 key) {
    uint value = hash_of(key);
    uint param_4 = 0u;
    uint value_2 = match_of(push, key, value, &param_4);
    return value_2;
}

INLINE uint matches_of(const Push* push, uint2 key, uint cursor) {
    uint match = first_match(push, key);
    if (match == 0u) {
        return 0u;
    }
    uint left = left_row(push, match);
    if (AMONG == 1u && ((column32_from(push->partners, left / 32u)[0] >> (left % 32u)) & 1u) == 0u) {
        return 0u;
    }
    return 1u + left;
}

#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + (subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id()) + k * subgroup_size();
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, (*key).v[k], param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(push, own, k, matches);
        }
        batch_looked_up(push, own, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, Own* own) {
    own->batch_marks = 0u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint2* right = column64_from(push->right_keys, first);
    uint2_xitems key;
    uint2_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    uint2_xitems param_13 = key;
    look_up(push, own, right, first, count, &param_13);
}

#endif

#if SHARED == 0
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_mark(__global uchar* slots, __global uchar* left_keys, __global uchar* right_keys, __global uchar* partners, __global uchar* left_marks, __global uchar* right_marks, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)slots + words.slots),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)partners + words.partners),
        as_uint2((ulong)left_marks + words.left_marks),
        as_uint2((ulong)right_marks + words.right_marks),
        words.rows,
        words.mask,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void load_batch(__global uint2* right, uint first, uint count, uint2_xitems* key) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint row = first + LOCAL_ID_X + k * WORKGROUP;
        if (row < count) {
            (*key).v[k] = right[row];
        }
    }
}

INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
    uint cursor = 0u;
    uint first = 0u;
    for (; first < count; first = first + WORKGROUP * ITEMS) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint row = first + LOCAL_ID_X + k * WORKGROUP;
            uint matches = 0u;
            if (row < count) {
                uint param_2 = cursor;
                uint value = matches_of(push, (*key).v[k], param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(push, shared, own, k, matches);
        }
        batch_looked_up(push, shared, own, right_first + first + 0u);
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    __global uint2* right = column64_from(push->right_keys, first);
    uint2_xitems key;
    uint2_xitems param_9 = key;
    load_batch(right, 0u, count, &param_9);
    key = param_9;
    begin_marks(shared);
    uint2_xitems param_13 = key;
    look_up(push, shared, own, right, first, count, &param_13);
}

#endif

#if SHARED == 1
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_mark(__global uchar* slots, __global uchar* left_keys, __global uchar* right_keys, __global uchar* partners, __global uchar* left_marks, __global uchar* right_marks, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)slots + words.slots),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)partners + words.partners),
        as_uint2((ulong)left_marks + words.left_marks),
        as_uint2((ulong)right_marks + words.right_marks),
        words.rows,
        words.mask,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

#endif
