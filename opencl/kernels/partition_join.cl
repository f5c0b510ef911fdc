// Kernel partition_join in OpenCL C 1.2, translated from shaders/partition_join.comp by make generate; do not edit.
// Variants:
//   key_bits=32 paged=0 marked=0 shared=0
//   key_bits=32 paged=0 marked=0 shared=1
//   key_bits=32 paged=0 marked=1 shared=0
//   key_bits=32 paged=0 marked=1 shared=1
//   key_bits=32 paged=1 marked=0 shared=0
//   key_bits=32 paged=1 marked=0 shared=1
//   key_bits=64 paged=0 marked=0 shared=0
//   key_bits=64 paged=0 marked=0 shared=1
//   key_bits=64 paged=0 marked=1 shared=0
//   key_bits=64 paged=0 marked=1 shared=1
//   key_bits=64 paged=1 marked=0 shared=0
//   key_bits=64 paged=1 marked=0 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "partition_join: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 units; uint2 left_keys; uint2 right_keys; uint2 left_payload; uint2 right_payload; uint2 left_payload_2; uint2 right_payload_2; uint2 places; uint2 keys_out; uint2 left_out; uint2 right_out; uint2 left_out_2; uint2 right_out_2; uint first_row; uint out_rows; uint shift; uint high; uint first_group; uint end_group; } Push;

typedef struct { uint v[2u]; } uint_x2u;

typedef struct { uint v[HEADS]; } uint_xheads;

typedef struct { uint v[TABLE]; } uint_xtable;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 payload_of(uint2 column, uint words_, uint first, uint row) {
    uint2 value = (uint2)(first + row, 0u);
    if (!absent(column)) {
        if (words_ == 2u) {
            value = column64_from(column, first)[row];
        } else {
            value.x = column32_from(column, first)[row];
        }
    }
    return value;
}

typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u of; } Payloads;

INLINE Payloads payloads_of(uint2 column, uint2 second, uint2 words_, uint first, uint row) {
    Payloads p;
    p.of.v[0] = payload_of(column, words_.x, first, row);
    if (words_.y > 0u) {
        p.of.v[1] = payload_of(second, words_.y, first, row);
    }
    return p;
}

INLINE void put(uint2 column, uint words_, uint first, uint row, uint2 value) {
    if (!absent(column)) {
        if (words_ == 2u) {
            column64_from(column, first)[row] = value;
        } else {
            column32_from(column, first)[row] = value.x;
        }
    }
}

typedef struct { uint v[ITEMS]; } uint_xitems;

typedef struct { Payloads v[ITEMS]; } Payloads_xitems;

#if SHARED == 0
typedef struct { uint v[2u * ((WORKGROUP + 3u) / 4u)]; } uint_x2u_workgroup_3u_4u;

INLINE void begin_batches() {
}

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
}

#endif

#if PAGED == 0 && MARKED == 0 && SHARED == 0
typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if KEY_BITS == 32 && PAGED == 0 && MARKED == 0 && SHARED == 0
typedef struct {
    uint turn;
    __global uint* unit_keys;
} Own;

#endif

#if KEY_BITS == 32
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

INLINE uint unmix_of(uint* key, uint seed) {
    *key = ((*key) ^ ((*key) >> 16)) * 2127672349u;
    *key = ((*key) ^ ((*key) >> 13) ^ ((*key) >> 26)) * 2781581891u;
    return (*key) ^ ((*key) >> 16) ^ seed;
}

INLINE void put_key(const Push* push, uint2 column, uint first, uint row, uint* key) {
    if (!absent(column)) {
        if (MIXED == 1u) {
            uint param_2 = *key;
            *key = unmix_of(&param_2, SEED);
        }
        if (WIDENED == 1u) {
            column64_from(column, first)[row] = (uint2)(*key, push->high);
        } else {
            column32_from(column, first)[row] = *key;
        }
    }
}

#endif

#if PAGED == 0
INLINE void count_rows(const Push* push, uint n) {
    if ((true && (PLACING == 0u)) || LOCAL_ID_X > 0u || (n == 0u)) {
        return;
    }
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(push->places);
    uint value = atomic_add(&cursor[1], n);
    if (value > (~n)) {
        atomic_add(&cursor[2], 1u);
    }
}

#endif

#if SHARED == 1
typedef struct { uint v[2u * ((WORKGROUP * ITEMS + 31u) / 32u)]; } uint_x2u_workgroup_items_31u_32u;

#endif

#if PAGED == 0 && SHARED == 1
typedef struct { uint v[(WORKGROUP * ITEMS + 31u) / 32u]; } uint_xworkgroup_items_31u_32u;

#endif

#if PAGED == 0 && MARKED == 0 && SHARED == 1
typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_items_31u_32u sh_bits;
    uint_x2u sh_more;
    uint_xworkgroup_items_31u_32u sh_before;
    uint_x2u sh_firsts;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if KEY_BITS == 32 && PAGED == 0 && MARKED == 0 && SHARED == 1
typedef struct {
    uint turn;
    uint bits_turn;
    __global uint* unit_keys;
} Own;

#endif

#if MARKED == 1
typedef struct { uint v[(SIDES & 2u) != 0u ? (TABLE + 62u) / 32u : 1u]; } uint_xsides_2u_0u_table_62u_32u_;

#endif

#if MARKED == 1 && SHARED == 0
typedef struct {
    uint_xsides_2u_0u_table_62u_32u_ sh_left_marks;
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if KEY_BITS == 32 && MARKED == 1 && SHARED == 0
typedef struct {
    uint batch_marks;
    uint turn;
    uint first_bit;
    uint2 left_marks;
    uint2 right_marks;
    __global uint* unit_keys;
} Own;

#endif

#if MARKED == 1 && SHARED == 1
typedef struct {
    uint_x2u_workgroup_items_31u_32u sh_bits;
    uint_xsides_2u_0u_table_62u_32u_ sh_left_marks;
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u sh_more;
    uint_xworkgroup_items_31u_32u sh_before;
    uint_x2u sh_firsts;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if KEY_BITS == 32 && MARKED == 1 && SHARED == 1
typedef struct {
    uint bits_turn;
    uint turn;
    uint first_bit;
    uint2 left_marks;
    uint2 right_marks;
    __global uint* unit_keys;
} Own;

#endif

#if PAGED == 1 && SHARED == 0
typedef struct {
    uint_x2u sh_start;
    uint_x2u sh_room;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 0
typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    __global uint* unit_keys;
} Own;

#endif

#if PAGED == 1
INLINE void count_rows(const Push* push, uint n) {
    if ((false && (PLACING == 0u)) || LOCAL_ID_X > 0u || (n == 0u)) {
        return;
    }
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(push->places);
    uint value = atomic_add(&cursor[1], n);
    if (value > (~n)) {
        atomic_add(&cursor[2], 1u);
    }
}

#endif

#if PAGED == 1 && SHARED == 1
typedef struct {
    uint_x2u sh_start;
    uint_x2u sh_room;
    uint_x2u_workgroup_items_31u_32u sh_bits;
    uint_x2u sh_more;
    uint_x2u sh_firsts;
    uint_xheads sh_head;
    uint_xtable sh_node;
} Shared;

#endif

#if SHARED == 1
INLINE void clear_bits(__local Shared* shared) {
    uint w = LOCAL_ID_X;
    for (; w < (2u * ((WORKGROUP * ITEMS + 31u) / 32u)); w = w + WORKGROUP) {
        shared->sh_bits.v[w] = 0u;
    }
}

INLINE void begin_batches(__local Shared* shared) {
    clear_bits(shared);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1] = 0u;
        shared->sh_more.v[0] = 0u;
    }
}

#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 1
typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    uint bits_turn;
    __global uint* unit_keys;
} Own;

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

INLINE uint match_of(__local Shared* shared, Own* own, uint key, uint tag, uint* node) {
    while ((*node) > 0u) {
        uint entry = shared->sh_node.v[*node - 1u];
        if ((entry >> 16) == tag && ((DECIDED == 1u) || own->unit_keys[*node - 1u] == key)) {
            break;
        }
        *node = entry & 65535u;
    }
    return *node;
}

INLINE uint first_match(const Push* push, __local Shared* shared, Own* own, uint key) {
    uint bits = bits_of(key);
    uint param_6 = shared->sh_head.v[chain_of(push, bits)];
    uint value = match_of(shared, own, key, tag_of(bits), &param_6);
    return value;
}

INLINE uint next_match(__local Shared* shared, Own* own, uint key, uint at) {
    uint value = bits_of(key);
    uint param_5 = shared->sh_node.v[at - 1u] & 65535u;
    uint value_2 = match_of(shared, own, key, tag_of(value), &param_5);
    return value_2;
}

#endif

#if KEY_BITS == 64 && PAGED == 0 && MARKED == 0 && SHARED == 0
typedef struct {
    uint turn;
    __global uint2* unit_keys;
} Own;

#endif

#if KEY_BITS == 64
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

INLINE uint2 unmix_of(uint2* key, uint seed) {
    uint param = (*key).y;
    uint value = mix_of_u1_u1(&param, seed + 1u);
    (*key).x = (*key).x ^ value;
    uint param_3 = (*key).x;
    uint value_2 = mix_of_u1_u1(&param_3, ~seed);
    (*key).y = (*key).y ^ value_2;
    uint param_5 = (*key).y;
    uint value_3 = mix_of_u1_u1(&param_5, seed);
    (*key).x = (*key).x ^ value_3;
    return *key;
}

INLINE void put_key(uint2 column, uint first, uint row, uint2* key) {
    if (!absent(column)) {
        if (MIXED == 1u) {
            uint2 param_2 = *key;
            *key = unmix_of(&param_2, SEED);
        }
        column64_from(column, first)[row] = *key;
    }
}

typedef struct { uint2 v[ITEMS]; } uint2_xitems;

#endif

#if KEY_BITS == 64 && PAGED == 0 && MARKED == 0 && SHARED == 1
typedef struct {
    uint turn;
    uint bits_turn;
    __global uint2* unit_keys;
} Own;

#endif

#if KEY_BITS == 64 && MARKED == 1 && SHARED == 0
typedef struct {
    uint batch_marks;
    uint turn;
    uint first_bit;
    uint2 left_marks;
    uint2 right_marks;
    __global uint2* unit_keys;
} Own;

#endif

#if MARKED == 1 && SHARED == 0
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

#endif

#if KEY_BITS == 64 && MARKED == 1 && SHARED == 1
typedef struct {
    uint bits_turn;
    uint turn;
    uint first_bit;
    uint2 left_marks;
    uint2 right_marks;
    __global uint2* unit_keys;
} Own;

#endif

#if PAGED == 0
INLINE void place(const Push* push, __local Shared* shared, Own* own, uint unit, uint done, uint n) {
    shared->sh_room.v[own->turn] = 0u;
    if (PLACING == 0u) {
        shared->sh_start.v[own->turn] = push->first_row + column64_from(push->places, unit)[0].x + done;
        shared->sh_room.v[own->turn] = n;
        return;
    }
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(push->places);
    uint start = 0u;
    if (n <= 65536u) {
        start = atomic_add(&cursor[0], n);
        if (start <= push->out_rows && n <= (push->out_rows - start)) {
            shared->sh_room.v[own->turn] = n;
        } else {
            atomic_add(&cursor[0], 0u - n);
        }
    } else {
        uint reserved = atomic_add(&cursor[0], 0u);
        uint tries = 0u;
        for (; tries < 4096u && n <= push->out_rows && reserved <= (push->out_rows - n); tries = tries + 1) {
            start = atomic_cmpxchg(&cursor[0], reserved, reserved + n);
            if (start == reserved) {
                shared->sh_room.v[own->turn] = n;
                break;
            }
            reserved = start;
        }
    }
    shared->sh_start.v[own->turn] = push->first_row + start;
}

#endif

#if MARKED == 1
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

INLINE void put_left_marks(__local Shared* shared, Own* own, uint left_first, uint left_count) {
    if ((SIDES & 2u) == 0u) {
        return;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = LOCAL_ID_X;
    for (; (i * 32u) < (own->first_bit + left_count); i = i + WORKGROUP) {
        uint bits = shared->sh_left_marks.v[i];
        if (bits > 0u) {
            atomic_or(&column32_from(own->left_marks, left_first / 32u + i)[0], bits);
        }
    }
}

#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 0
typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    __global uint2* unit_keys;
} Own;

#endif

#if SHARED == 0
INLINE uint sum_before(__local Shared* shared, Own* own, uint own_, uint* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[own->turn * ((WORKGROUP + 3u) / 4u) + subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all = 0u;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = *all;
        }
        *all = *all + shared->sh_subgroup_sum.v[own->turn * ((WORKGROUP + 3u) / 4u) + s];
    }
    return before;
}

#endif

#if KEY_BITS == 32 && PAGED == 0 && MARKED == 0 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_19;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_19);
    uint all = param_19;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    if (to < room) {
                        uint param_26 = key.v[k_3];
                        put_key(push, push->keys_out, start, to, &param_26);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
}

#endif

#if KEY_BITS == 32 && MARKED == 1 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if ((SIDES & 2u) != 0u && match.v[k] > 0u) {
                mark_first(shared, own, left_row(match.v[k]));
            }
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    if ((SIDES & 2u) != 0u) {
                        mark_first(shared, own, left_row(m));
                    }
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
        if ((SIDES & 1u) != 0u) {
            collect_marks(own, k, match.v[k] > 0u);
        }
    }
    if ((SIDES & 1u) != 0u) {
        put_marks(own, own->right_marks, first + run_2 - subgroup_local_id());
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_27;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_27);
    uint all = param_27;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    if (to < room) {
                        uint param_34 = key.v[k_3];
                        put_key(push, push->keys_out, start, to, &param_34);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->batch_marks = 0u;
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    own->left_marks = element_address(push->places, column32_from(push->places, 16u)[0], 2u);
    own->right_marks = element_address(push->places, column32_from(push->places, 17u)[0], 2u);
    clear_left_marks(shared, own, left_first, left_count);
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_27 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_27);
        done = param_27;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    put_left_marks(shared, own, left_first, left_count);
}

#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 1
typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    uint bits_turn;
    __global uint2* unit_keys;
} Own;

#endif

#if SHARED == 1
INLINE void set_bit(__local Shared* shared, Own* own, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits.v[own->bits_turn * ((WORKGROUP * ITEMS + 31u) / 32u) + row / 32u], 1u << (row % 32u));
}

INLINE uint word_of_bits(__local Shared* shared, Own* own, uint w) {
    return shared->sh_bits.v[own->bits_turn * ((WORKGROUP * ITEMS + 31u) / 32u) + w];
}

INLINE void clear_next_bits(__local Shared* shared, Own* own) {
    uint w = LOCAL_ID_X;
    for (; w < ((WORKGROUP * ITEMS + 31u) / 32u); w = w + WORKGROUP) {
        shared->sh_bits.v[(1u - own->bits_turn) * ((WORKGROUP * ITEMS + 31u) / 32u) + w] = 0u;
    }
}

#endif

#if PAGED == 0 && SHARED == 1
INLINE void place_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint done) {
    uint w = LOCAL_ID_X;
    for (; w < ((WORKGROUP * ITEMS + 31u) / 32u); w = w + WORKGROUP) {
        uint before = 0u;
        uint other = 0u;
        for (; other < w; other = other + 1) {
            before = before + as_uint(popcount(word_of_bits(shared, own, other)));
        }
        shared->sh_before.v[w] = before;
        if ((w + 1u) == ((WORKGROUP * ITEMS + 31u) / 32u)) {
            uint firsts = before + as_uint(popcount(word_of_bits(shared, own, w)));
            shared->sh_firsts.v[own->turn] = firsts;
            if (firsts > 0u) {
                place(push, shared, own, unit, done, firsts + shared->sh_more.v[own->turn]);
            }
        }
    }
}

INLINE uint rank_of(__local Shared* shared, Own* own, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    return shared->sh_before.v[row / 32u] + as_uint(popcount(word_of_bits(shared, own, row / 32u) & ((1u << (row % 32u)) - 1u)));
}

#endif

#if KEY_BITS == 32 && PAGED == 0 && MARKED == 0 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            uint to = rank_of(shared, own, k_3);
            while (m_2 > 0u) {
                if (to < room) {
                    uint param_24 = key.v[k_3];
                    put_key(push, push->keys_out, start, to, &param_24);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    uint value_3 = next;
                    next = value_3 + 1;
                    to = value_3;
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
}

#endif

#if MARKED == 1 && SHARED == 1
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

#endif

#if KEY_BITS == 32 && MARKED == 1 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if ((SIDES & 2u) != 0u) {
                mark_first(shared, own, left_row(match.v[k]));
            }
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    if ((SIDES & 2u) != 0u) {
                        mark_first(shared, own, left_row(m));
                    }
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((SIDES & 1u) != 0u) {
        put_bits(shared, own, own->right_marks, first);
    }
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            uint to = rank_of(shared, own, k_3);
            while (m_2 > 0u) {
                if (to < room) {
                    uint param_30 = key.v[k_3];
                    put_key(push, push->keys_out, start, to, &param_30);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    uint value_3 = next;
                    next = value_3 + 1;
                    to = value_3;
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    own->left_marks = element_address(push->places, column32_from(push->places, 16u)[0], 2u);
    own->right_marks = element_address(push->places, column32_from(push->places, 17u)[0], 2u);
    clear_left_marks(shared, own, left_first, left_count);
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_27 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_27);
        done = param_27;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    put_left_marks(shared, own, left_first, left_count);
}

#endif

#if PAGED == 1
INLINE void place(const Push* push, __local Shared* shared, Own* own, uint unit, uint done, uint n) {
    shared->sh_start.v[own->turn] = push->first_row;
    shared->sh_room.v[own->turn] = push->out_rows;
}

INLINE void take_page(const Push* push, Own* own) {
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(push->places);
    own->page_next = push->out_rows;
    uint value = atomic_add(&cursor[0], 0u);
    if (value <= push->out_rows) {
        uint value_2 = atomic_add(&cursor[0], PAGE_ROWS);
        own->page_next = min(push->out_rows, value_2);
    }
    own->page_end = own->page_next + PAGE_ROWS;
}

INLINE uint page_row(const Push* push, Own* own) {
    if (own->page_next == own->page_end) {
        take_page(push, own);
    }
    uint value = own->page_next;
    own->page_next = value + 1;
    return value;
}

INLINE void leave_page(const Push* push, Own* own) {
    uint row = push->first_row + own->page_next;
    for (; row < (push->first_row + min(own->page_end, push->out_rows)); row = row + 1) {
        atomic_and(&((__global volatile uint*)as_ulong(push->places))[64u + row / 32u], ~(1u << (row % 32u)));
    }
}

#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_19;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_19);
    uint all = param_19;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    to = page_row(push, own);
                    if (to < room) {
                        uint param_26 = key.v[k_3];
                        put_key(push, push->keys_out, start, to, &param_26);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->page_next = 0u;
    own->page_end = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    leave_page(push, own);
}

#endif

#if PAGED == 1 && SHARED == 1
INLINE void place_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint done) {
    uint w = LOCAL_ID_X;
    for (; w < ((WORKGROUP * ITEMS + 31u) / 32u); w = w + WORKGROUP) {
        uint before = 0u;
        uint other = 0u;
        for (; other < w; other = other + 1) {
            before = before + as_uint(popcount(word_of_bits(shared, own, other)));
        }
        if ((w + 1u) == ((WORKGROUP * ITEMS + 31u) / 32u)) {
            uint firsts = before + as_uint(popcount(word_of_bits(shared, own, w)));
            shared->sh_firsts.v[own->turn] = firsts;
            if (firsts > 0u) {
                place(push, shared, own, unit, done, firsts + shared->sh_more.v[own->turn]);
            }
        }
    }
}

#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            while (m_2 > 0u) {
                uint to = page_row(push, own);
                if (to < room) {
                    uint param_23 = key.v[k_3];
                    put_key(push, push->keys_out, start, to, &param_23);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->page_next = 0u;
    own->page_end = 0u;
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column32_from(push->left_keys, left_first);
    __global uint* right = column32_from(push->right_keys, right_first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    leave_page(push, own);
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

INLINE uint match_of(__local Shared* shared, Own* own, uint2 key, uint tag, uint* node) {
    while ((*node) > 0u) {
        uint entry = shared->sh_node.v[*node - 1u];
        if ((entry >> 16) == tag && ((DECIDED == 1u) || all(own->unit_keys[*node - 1u] == key))) {
            break;
        }
        *node = entry & 65535u;
    }
    return *node;
}

INLINE uint first_match(const Push* push, __local Shared* shared, Own* own, uint2 key) {
    uint2 bits = bits_of(key);
    uint param_6 = shared->sh_head.v[chain_of(push, bits)];
    uint value = match_of(shared, own, key, tag_of(bits), &param_6);
    return value;
}

INLINE uint next_match(__local Shared* shared, Own* own, uint2 key, uint at) {
    uint2 value = bits_of(key);
    uint param_5 = shared->sh_node.v[at - 1u] & 65535u;
    uint value_2 = match_of(shared, own, key, tag_of(value), &param_5);
    return value_2;
}

#endif

#if KEY_BITS == 64 && PAGED == 0 && MARKED == 0 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_19;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_19);
    uint all = param_19;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    if (to < room) {
                        uint2 param_26 = key.v[k_3];
                        put_key(push->keys_out, start, to, &param_26);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
}

#endif

#if KEY_BITS == 64 && PAGED == 0 && MARKED == 0 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            uint to = rank_of(shared, own, k_3);
            while (m_2 > 0u) {
                if (to < room) {
                    uint2 param_24 = key.v[k_3];
                    put_key(push->keys_out, start, to, &param_24);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    uint value_3 = next;
                    next = value_3 + 1;
                    to = value_3;
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
}

#endif

#if KEY_BITS == 64 && MARKED == 1 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if ((SIDES & 2u) != 0u && match.v[k] > 0u) {
                mark_first(shared, own, left_row(match.v[k]));
            }
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    if ((SIDES & 2u) != 0u) {
                        mark_first(shared, own, left_row(m));
                    }
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
        if ((SIDES & 1u) != 0u) {
            collect_marks(own, k, match.v[k] > 0u);
        }
    }
    if ((SIDES & 1u) != 0u) {
        put_marks(own, own->right_marks, first + run_2 - subgroup_local_id());
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_27;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_27);
    uint all = param_27;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    if (to < room) {
                        uint2 param_34 = key.v[k_3];
                        put_key(push->keys_out, start, to, &param_34);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->batch_marks = 0u;
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    own->left_marks = element_address(push->places, column32_from(push->places, 16u)[0], 2u);
    own->right_marks = element_address(push->places, column32_from(push->places, 17u)[0], 2u);
    clear_left_marks(shared, own, left_first, left_count);
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_27 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_27);
        done = param_27;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    put_left_marks(shared, own, left_first, left_count);
}

#endif

#if KEY_BITS == 64 && MARKED == 1 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if ((SIDES & 2u) != 0u) {
                mark_first(shared, own, left_row(match.v[k]));
            }
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    if ((SIDES & 2u) != 0u) {
                        mark_first(shared, own, left_row(m));
                    }
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((SIDES & 1u) != 0u) {
        put_bits(shared, own, own->right_marks, first);
    }
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            uint to = rank_of(shared, own, k_3);
            while (m_2 > 0u) {
                if (to < room) {
                    uint2 param_30 = key.v[k_3];
                    put_key(push->keys_out, start, to, &param_30);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    uint value_3 = next;
                    next = value_3 + 1;
                    to = value_3;
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->bits_turn = 0u;
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    own->left_marks = element_address(push->places, column32_from(push->places, 16u)[0], 2u);
    own->right_marks = element_address(push->places, column32_from(push->places, 17u)[0], 2u);
    clear_left_marks(shared, own, left_first, left_count);
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_27 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_27);
        done = param_27;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    put_left_marks(shared, own, left_first, left_count);
}

#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * subgroup_size());
        }
    }
    uint param_19;
    uint value_3 = sum_before(shared, own, subgroup_sum(own_), &param_19);
    uint all = param_19;
    uint at = value_3;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint k_3 = 0u;
        uint variable;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            for (; ; ) {
                bool value_4 = subgroup_any(m_2 > 0u);
                if (!value_4) {
                    break;
                }
                uint4 value_5 = subgroup_ballot(m_2 > 0u);
                uint4 matched = value_5;
                if (m_2 > 0u) {
                    uint value_6 = subgroup_ballot_exclusive_bit_count(matched);
                    uint to = at + value_6;
                    to = page_row(push, own);
                    if (to < room) {
                        uint2 param_26 = key.v[k_3];
                        put_key(push->keys_out, start, to, &param_26);
                        put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                        put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                        }
                    }
                    if (more) {
                        variable = next_match(shared, own, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                    }
                }
                uint value_7 = subgroup_ballot_bit_count(matched);
                at = at + value_7;
            }
        }
    }
    *done = *done + all;
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->page_next = 0u;
    own->page_end = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < right_count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * subgroup_size();
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    leave_page(push, own);
}

#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, shared, own, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(shared, own, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(shared, own, key.v[k], m)) {
                    own_ = own_ + 1;
                }
                if (own_ > before) {
                    uint value_2 = k;
                    match.v[value_2] = match.v[value_2] | 2147483648u;
                }
            }
        }
    }
    uint variable;
    if (own_ > 0u) {
        variable = atomic_add(&shared->sh_more.v[own->turn], own_);
    } else {
        variable = 0u;
    }
    uint others = variable;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    uint k_2 = 0u;
    Payloads_xitems left_value;
    Payloads_xitems right_value;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        if (match.v[k_2] > 0u) {
            uint left = left_row(match.v[k_2] & 2147483647u);
            left_value.v[k_2] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left);
            right_value.v[k_2] = payloads_of(push->right_payload, push->right_payload_2, right_sizes, first, run_2 + k_2 * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(push, shared, own, unit, *done);
    clear_next_bits(shared, own);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more.v[1u - own->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts.v[own->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room.v[own->turn];
        uint start = shared->sh_start.v[own->turn];
        uint next = firsts + others;
        uint k_3 = 0u;
        uint variable_2;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            uint m_2 = match.v[k_3] & 2147483647u;
            bool more = match.v[k_3] >= 2147483648u;
            while (m_2 > 0u) {
                uint to = page_row(push, own);
                if (to < room) {
                    uint2 param_23 = key.v[k_3];
                    put_key(push->keys_out, start, to, &param_23);
                    put(push->left_out, LEFT_WORDS, start, to, left_value.v[k_3].of.v[0]);
                    put(push->right_out, RIGHT_WORDS, start, to, right_value.v[k_3].of.v[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(push->left_out_2, LEFT_WORDS_2, start, to, left_value.v[k_3].of.v[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(push->right_out_2, RIGHT_WORDS_2, start, to, right_value.v[k_3].of.v[1]);
                    }
                }
                if (more) {
                    variable_2 = next_match(shared, own, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(m_2));
                }
            }
        }
    }
    *done = *done + (firsts + shared->sh_more.v[own->turn]);
    own->turn = 1u - own->turn;
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    own->page_next = 0u;
    own->page_end = 0u;
    own->bits_turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    uint left_first = rows.x;
    uint left_count = rows.y - rows.x;
    uint right_first = rows.z;
    uint right_count = rows.w - rows.z;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    own->unit_keys = column64_from(push->left_keys, left_first);
    __global uint2* right = column64_from(push->right_keys, right_first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < right_count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    build_table(push, shared, own, left_count);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint done = 0u;
    uint first = 0u;
    uint2_xitems next;
    for (; first < right_count; first = first + WORKGROUP * ITEMS) {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            uint row = first + WORKGROUP * ITEMS + run_2 + k_2 * WORKGROUP;
            if (row < right_count) {
                next.v[k_2] = right[row];
            }
        }
        uint param_15 = done;
        join_batch(push, shared, own, unit, left_first, right_first + first, run_2, min(right_count - first, WORKGROUP * ITEMS), key, &param_15);
        done = param_15;
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            key.v[k_3] = next.v[k_3];
        }
    }
    count_rows(push, done);
    leave_page(push, own);
}

#endif

typedef struct {
    ulong units;
    ulong left_keys;
    ulong right_keys;
    ulong left_payload;
    ulong right_payload;
    ulong left_payload_2;
    ulong right_payload_2;
    ulong places;
    ulong keys_out;
    ulong left_out;
    ulong right_out;
    ulong left_out_2;
    ulong right_out_2;
    uint first_row;
    uint out_rows;
    uint shift;
    uint high;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void partition_join(__global uchar* units, __global uchar* left_keys, __global uchar* right_keys, __global uchar* left_payload, __global uchar* right_payload, __global uchar* left_payload_2, __global uchar* right_payload_2, __global uchar* places, __global uchar* keys_out, __global uchar* left_out, __global uchar* right_out, __global uchar* left_out_2, __global uchar* right_out_2, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)left_payload + words.left_payload),
        as_uint2((ulong)right_payload + words.right_payload),
        as_uint2((ulong)left_payload_2 + words.left_payload_2),
        as_uint2((ulong)right_payload_2 + words.right_payload_2),
        as_uint2((ulong)places + words.places),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)left_out + words.left_out),
        as_uint2((ulong)right_out + words.right_out),
        as_uint2((ulong)left_out_2 + words.left_out_2),
        as_uint2((ulong)right_out_2 + words.right_out_2),
        words.first_row,
        words.out_rows,
        words.shift,
        words.high,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

