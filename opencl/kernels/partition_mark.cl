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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 units; uint2 left_keys; uint2 right_keys; uint2 left_marks; uint2 right_marks; uint shift; uint first_group; uint end_group; } Push;

typedef struct { uint v[HEADS]; } uint_xheads;

typedef struct { uint v[TABLE]; } uint_xtable;

typedef struct { uint v[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u]; } uint_xsides_2u_0u_table_62u_32u_;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

#if SHARED == 0
typedef struct {
    uint_xheads sh_head;
    uint_xtable sh_node;
    uint_xsides_2u_0u_table_62u_32u_ sh_left_marks;
} Shared;

INLINE void begin_marks() {
}

#endif

#if KEY_BITS == 32 && SHARED == 0
typedef struct {
    uint batch_marks;
    __global uint* unit_keys;
    uint first_bit;
} Own;

#endif

#if KEY_BITS == 32
typedef struct { uint v[ITEMS]; } uint_xitems;

INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint bits_of(uint key) {
    uint variable;
    if (MIXED == 1u) {
        variable = key;
    } else {
        uint param = key;
        variable = mix_of(&param, 0u);
    }
    return variable;
}

INLINE uint tag_of(uint bits) {
    return bits >> 16;
}

INLINE uint chain_of(const Push* push, uint bits) {
    return (bits >> push->shift) & (HEADS - 1u);
}

typedef struct { uint v[8u]; } uint_x8u;

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

#endif

#if SHARED == 1
typedef struct { uint v[2u * ((WORKGROUP * ITEMS + 31u) / 32u)]; } uint_x2u_workgroup_items_31u_32u;

typedef struct {
    uint_xheads sh_head;
    uint_xtable sh_node;
    uint_x2u_workgroup_items_31u_32u sh_bits;
    uint_xsides_2u_0u_table_62u_32u_ sh_left_marks;
} Shared;

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

#endif

#if KEY_BITS == 32
INLINE uint first_stop(const Push* push, __local Shared* shared, uint key, uint cursor) {
    uint value = bits_of(key);
    return shared->sh_head.v[chain_of(push, value)];
}

#endif

INLINE uint stop_after(__local Shared* shared, uint stop) {
    return shared->sh_node.v[stop - 1u] & 65535u;
}

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint bits_turn;
    __global uint* unit_keys;
    uint first_bit;
} Own;

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

#endif

#if KEY_BITS == 32
INLINE void build_table(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    uint i = LOCAL_ID_X;
    for (; i < HEADS; i = i + WORKGROUP) {
        shared->sh_head.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_2 = LOCAL_ID_X;
    uint_x8u own_;
    for (; i_2 < left_count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < left_count) {
                own_.v[k] = own->unit_keys[i_2 + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < left_count) {
                uint row = i_2 + k_2 * WORKGROUP;
                uint bits = bits_of(own_.v[k_2]);
                uint value = atomic_xchg(&shared->sh_head.v[chain_of(push, bits)], row + 1u);
                shared->sh_node.v[row] = (tag_of(bits) << 16) | value;
            }
        }
    }
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint key, uint stop, uint* next) {
    uint entry = shared->sh_node.v[stop - 1u];
    *next = entry & 65535u;
    uint value = bits_of(key);
    return (entry >> 16) == tag_of(value) && ((DECIDED == 1u) || own->unit_keys[stop - 1u] == key);
}

INLINE uint match_from(__local Shared* shared, Own* own, uint key, uint* stop) {
    uint next;
    uint param_3;
    bool either;
    for (; ; *stop = next) {
        if ((*stop) > 0u) {
            bool value = matches_at(shared, own, key, *stop, &param_3);
            next = param_3;
            either = !value;
        } else {
            either = false;
        }
        if (!either) {
            break;
        }
    }
    return *stop;
}

#endif

#if KEY_BITS == 64 && SHARED == 0
typedef struct {
    uint batch_marks;
    __global uint2* unit_keys;
    uint first_bit;
} Own;

#endif

#if SHARED == 0
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

INLINE void looked_up(Own* own, uint k, uint matches) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(own, k, matches > 0u);
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

INLINE uint2 bits_of(uint2 key) {
    uint2 variable;
    if (MIXED == 1u) {
        variable = key;
    } else {
        uint2 param = key;
        variable = mix_of_vu2_u1(&param, 0u);
    }
    return variable;
}

INLINE uint tag_of(uint2 bits) {
    return bits.y >> 16;
}

INLINE uint chain_of(const Push* push, uint2 bits) {
    return (bits.x >> push->shift) & (HEADS - 1u);
}

typedef struct { uint2 v[8u]; } uint2_x8u;

INLINE uint first_stop(const Push* push, __local Shared* shared, uint2 key, uint cursor) {
    uint2 value = bits_of(key);
    return shared->sh_head.v[chain_of(push, value)];
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

#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint bits_turn;
    __global uint2* unit_keys;
    uint first_bit;
} Own;

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

#endif

INLINE void clear_left_marks(__local Shared* shared, Own* own, uint left_first, uint left_count) {
    own->first_bit = left_first % 32u;
    if ((SIDES & 2u) == 0u) {
        return;
    }
    uint i = LOCAL_ID_X;
    for (; (i * 32u) < (own->first_bit + left_count); i = i + WORKGROUP) {
        shared->sh_left_marks.v[i] = 0u;
    }
}

INLINE bool mark_first(__local Shared* shared, Own* own, uint row) {
    uint at = own->first_bit + row;
    uint bit = 1u << (at % 32u);
    bool first = (shared->sh_left_marks.v[at / 32u] & bit) == 0u;
    if (first) {
        atomic_or(&shared->sh_left_marks.v[at / 32u], bit);
    }
    return first;
}

INLINE void put_left_marks(const Push* push, __local Shared* shared, Own* own, uint left_first, uint left_count) {
    if ((SIDES & 2u) == 0u) {
        return;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = LOCAL_ID_X;
    for (; (i * 32u) < (own->first_bit + left_count); i = i + WORKGROUP) {
        uint bits = shared->sh_left_marks.v[i];
        if (bits > 0u) {
            atomic_or(&column32_from(push->left_marks, left_first / 32u + i)[0], bits);
        }
    }
}

#if KEY_BITS == 32
INLINE uint matches_of(const Push* push, __local Shared* shared, Own* own, uint key, uint* cursor) {
    uint param_2 = *cursor;
    uint value = first_stop(push, shared, key, param_2);
    *cursor = param_2;
    uint param_4 = value;
    uint stop = match_from(shared, own, key, &param_4);
    if (stop == 0u) {
        return 0u;
    }
    bool either;
    if ((SIDES & 2u) != 0u) {
        bool value_2 = mark_first(shared, own, left_row(stop));
        either = value_2;
    } else {
        either = false;
    }
    if (either) {
        uint param_9 = stop_after(shared, stop);
        uint other = match_from(shared, own, key, &param_9);
        while (other > 0u) {
            mark_first(shared, own, left_row(other));
            uint param_14 = stop_after(shared, other);
            other = match_from(shared, own, key, &param_14);
        }
    }
    return 1u;
}

#endif

#if KEY_BITS == 32 && SHARED == 0
INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint* right, uint right_first, uint count, uint_xitems* key) {
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
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        batch_looked_up(push, own, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->batch_marks = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column32_from(push->left_keys, rows.x);
    __global uint* right = column32_from(push->right_keys, rows.z);
    uint_xitems key;
    uint_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    clear_left_marks(shared, own, rows.x, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_left_marks(push, shared, own, rows.x, rows.y - rows.x);
}

#endif

#if SHARED == 1
INLINE void set_bit(__local Shared* shared, Own* own, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits.v[own->bits_turn * ((WORKGROUP * ITEMS + 31u) / 32u) + row / 32u], 1u << (row % 32u));
}

INLINE void collect_marks(__local Shared* shared, Own* own, uint k, bool marked) {
    if (marked) {
        set_bit(shared, own, k);
    }
}

INLINE void looked_up(__local Shared* shared, Own* own, uint k, uint matches) {
    if ((SIDES & 1u) != 0u) {
        collect_marks(shared, own, k, matches > 0u);
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
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(shared, own, k, matches);
        }
        batch_looked_up(push, shared, own, right_first + first + 0u);
        uint_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column32_from(push->left_keys, rows.x);
    __global uint* right = column32_from(push->right_keys, rows.z);
    uint_xitems key;
    uint_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    begin_marks(shared);
    clear_left_marks(shared, own, rows.x, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_left_marks(push, shared, own, rows.x, rows.y - rows.x);
}

#endif

#if KEY_BITS == 64
INLINE void build_table(const Push* push, __local Shared* shared, Own* own, uint left_count) {
    uint i = LOCAL_ID_X;
    for (; i < HEADS; i = i + WORKGROUP) {
        shared->sh_head.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i_2 = LOCAL_ID_X;
    uint2_x8u own_;
    for (; i_2 < left_count; i_2 = i_2 + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            if ((i_2 + k * WORKGROUP) < left_count) {
                own_.v[k] = own->unit_keys[i_2 + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i_2 + k_2 * WORKGROUP) < left_count) {
                uint row = i_2 + k_2 * WORKGROUP;
                uint2 bits = bits_of(own_.v[k_2]);
                uint value = atomic_xchg(&shared->sh_head.v[chain_of(push, bits)], row + 1u);
                shared->sh_node.v[row] = (tag_of(bits) << 16) | value;
            }
        }
    }
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint2 key, uint stop, uint* next) {
    uint entry = shared->sh_node.v[stop - 1u];
    *next = entry & 65535u;
    uint2 value = bits_of(key);
    return (entry >> 16) == tag_of(value) && ((DECIDED == 1u) || all(own->unit_keys[stop - 1u] == key));
}

INLINE uint match_from(__local Shared* shared, Own* own, uint2 key, uint* stop) {
    uint next;
    uint param_3;
    bool either;
    for (; ; *stop = next) {
        if ((*stop) > 0u) {
            bool value = matches_at(shared, own, key, *stop, &param_3);
            next = param_3;
            either = !value;
        } else {
            either = false;
        }
        if (!either) {
            break;
        }
    }
    return *stop;
}

INLINE uint matches_of(const Push* push, __local Shared* shared, Own* own, uint2 key, uint* cursor) {
    uint param_2 = *cursor;
    uint value = first_stop(push, shared, key, param_2);
    *cursor = param_2;
    uint param_4 = value;
    uint stop = match_from(shared, own, key, &param_4);
    if (stop == 0u) {
        return 0u;
    }
    bool either;
    if ((SIDES & 2u) != 0u) {
        bool value_2 = mark_first(shared, own, left_row(stop));
        either = value_2;
    } else {
        either = false;
    }
    if (either) {
        uint param_9 = stop_after(shared, stop);
        uint other = match_from(shared, own, key, &param_9);
        while (other > 0u) {
            mark_first(shared, own, left_row(other));
            uint param_14 = stop_after(shared, other);
            other = match_from(shared, own, key, &param_14);
        }
    }
    return 1u;
}

#endif

#if KEY_BITS == 64 && SHARED == 0
INLINE void look_up(const Push* push, __local Shared* shared, Own* own, __global uint2* right, uint right_first, uint count, uint2_xitems* key) {
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
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(own, k, matches);
        }
        batch_looked_up(push, own, right_first + first + subgroup_id() * subgroup_size() * ITEMS);
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->batch_marks = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column64_from(push->left_keys, rows.x);
    __global uint2* right = column64_from(push->right_keys, rows.z);
    uint2_xitems key;
    uint2_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    clear_left_marks(shared, own, rows.x, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_left_marks(push, shared, own, rows.x, rows.y - rows.x);
}

#endif

#if KEY_BITS == 64 && SHARED == 1
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
                uint value = matches_of(push, shared, own, (*key).v[k], &param_2);
                cursor = param_2;
                matches = value;
            }
            looked_up(shared, own, k, matches);
        }
        batch_looked_up(push, shared, own, right_first + first + 0u);
        uint2_xitems param_9 = *key;
        load_batch(right, first + WORKGROUP * ITEMS, count, &param_9);
        *key = param_9;
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->unit_keys = column64_from(push->left_keys, rows.x);
    __global uint2* right = column64_from(push->right_keys, rows.z);
    uint2_xitems key;
    uint2_xitems param_11 = key;
    load_batch(right, 0u, rows.w - rows.z, &param_11);
    key = param_11;
    begin_marks(shared);
    clear_left_marks(shared, own, rows.x, rows.y - rows.x);
    build_table(push, shared, own, rows.y - rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems param_18 = key;
    look_up(push, shared, own, right, rows.z, rows.w - rows.z, &param_18);
    put_left_marks(push, shared, own, rows.x, rows.y - rows.x);
}

#endif

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong left_marks;
    ulong right_marks;
    uint shift;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_mark(__global uchar* units, __global uchar* left_keys, __global uchar* right_keys, __global uchar* left_marks, __global uchar* right_marks, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)left_marks + words.left_marks),
        as_uint2((ulong)right_marks + words.right_marks),
        words.shift,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

