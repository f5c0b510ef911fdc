// Kernel table_probe in OpenCL C 1.2, translated from shaders/table_probe.comp by make generate; do not edit.
// Variants:
//   key_bits=32 paged=0 shared=0
//   key_bits=32 paged=0 shared=1
//   key_bits=32 paged=1 shared=0
//   key_bits=32 paged=1 shared=1
//   key_bits=64 paged=0 shared=0
//   key_bits=64 paged=0 shared=1
//   key_bits=64 paged=1 shared=0
//   key_bits=64 paged=1 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "table_probe: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 slots; uint2 left_keys; uint2 right_keys; uint2 left_payload; uint2 right_payload; uint2 left_payload_2; uint2 right_payload_2; uint2 places; uint2 keys_out; uint2 left_out; uint2 right_out; uint2 left_out_2; uint2 right_out_2; uint first_row; uint out_rows; uint rows; uint mask; uint first_group; uint end_group; } Push;

typedef struct { uint v[2u]; } uint_x2u;

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

#if PAGED == 0 && SHARED == 0
typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
} Shared;

typedef struct {
    uint turn;
} Own;

#endif

#if KEY_BITS == 32
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

INLINE uint next_match(const Push* push, uint key, uint at) {
    uint hash = hash_of(key);
    uint param_4 = (at - hash) & push->mask;
    uint value = match_of(push, key, hash, &param_4);
    return value;
}

INLINE uint unmix_of(uint* key, uint seed) {
    *key = ((*key) ^ ((*key) >> 16)) * 2127672349u;
    *key = ((*key) ^ ((*key) >> 13) ^ ((*key) >> 26)) * 2781581891u;
    return (*key) ^ ((*key) >> 16) ^ seed;
}

INLINE void put_key(uint2 column, uint first, uint row, uint* key) {
    if (!absent(column)) {
        if (false) {
            uint param_2 = *key;
            *key = unmix_of(&param_2, SEED);
        }
        if (false) {
            column64_from(column, first)[row] = (uint2)(*key, 0u);
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

typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_items_31u_32u sh_bits;
    uint_x2u sh_more;
    uint_xworkgroup_items_31u_32u sh_before;
    uint_x2u sh_firsts;
} Shared;

typedef struct {
    uint turn;
    uint bits_turn;
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

#if PAGED == 1 && SHARED == 0
typedef struct {
    uint_x2u sh_start;
    uint_x2u sh_room;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
} Shared;

typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
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

#if KEY_BITS == 32 && PAGED == 0 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                        variable = next_match(push, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint* right = column32_from(push->right_keys, first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
}

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
} Shared;

typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    uint bits_turn;
} Own;

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

#if KEY_BITS == 32 && PAGED == 0 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                    variable_2 = next_match(push, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    __global uint* right = column32_from(push->right_keys, first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
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
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                        variable = next_match(push, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint* right = column32_from(push->right_keys, first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
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
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                    variable_2 = next_match(push, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    __global uint* right = column32_from(push->right_keys, first);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
    leave_page(push, own);
}

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

INLINE uint next_match(const Push* push, uint2 key, uint at) {
    uint hash = hash_of(key);
    uint param_4 = (at - hash) & push->mask;
    uint value = match_of(push, key, hash, &param_4);
    return value;
}

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
        if (false) {
            uint2 param_2 = *key;
            *key = unmix_of(&param_2, SEED);
        }
        column64_from(column, first)[row] = *key;
    }
}

typedef struct { uint2 v[ITEMS]; } uint2_xitems;

#endif

#if KEY_BITS == 64 && PAGED == 0 && SHARED == 0
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * subgroup_size()) < count) {
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                        variable = next_match(push, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint2* right = column64_from(push->right_keys, first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
}

#endif

#if KEY_BITS == 64 && PAGED == 0 && SHARED == 1
INLINE void join_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint run_2, uint count, uint2_xitems key, uint* done) {
    uint own_ = 0u;
    own->bits_turn = own->turn;
    uint k = 0u;
    uint_xitems match;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        match.v[k] = 0u;
        if ((run_2 + k * WORKGROUP) < count) {
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                    variable_2 = next_match(push, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    __global uint2* right = column64_from(push->right_keys, first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
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
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
            own_ = own_ + min(match.v[k], 1u);
            if (UNIQUE == 0u && match.v[k] > 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                        variable = next_match(push, key.v[k_3], m_2);
                    } else {
                        variable = 0u;
                    }
                    m_2 = variable;
                    if (more && (m_2 > 0u)) {
                        left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint2* right = column64_from(push->right_keys, first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * subgroup_size()) < count) {
            key.v[k] = right[run_2 + k * subgroup_size()];
        }
    }
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
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
            uint value = first_match(push, key.v[k]);
            match.v[k] = value;
        }
        if (match.v[k] > 0u) {
            set_bit(shared, own, k);
            if (UNIQUE == 0u) {
                uint before = own_;
                uint m = next_match(push, key.v[k], match.v[k]);
                for (; m > 0u; m = next_match(push, key.v[k], m)) {
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
            uint left = left_row(push, match.v[k_2] & 2147483647u);
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
                    variable_2 = next_match(push, key.v[k_3], m_2);
                } else {
                    variable_2 = 0u;
                }
                m_2 = variable_2;
                if (more && (m_2 > 0u)) {
                    left_value.v[k_3] = payloads_of(push->left_payload, push->left_payload_2, left_sizes, left_first, left_row(push, m_2));
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
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint first = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, first, WORKGROUP * ITEMS);
    uint done = 0u;
    uint run_2 = LOCAL_ID_X;
    begin_batches(shared);
    __global uint2* right = column64_from(push->right_keys, first);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        if ((run_2 + k * WORKGROUP) < count) {
            key.v[k] = right[run_2 + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint param_12 = done;
    join_batch(push, shared, own, tile, 0u, first, run_2, count, key, &param_12);
    done = param_12;
    count_rows(push, done);
    leave_page(push, own);
}

#endif

typedef struct {
    ulong slots;
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
    uint rows;
    uint mask;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_probe(__global uchar* slots, __global uchar* left_keys, __global uchar* right_keys, __global uchar* left_payload, __global uchar* right_payload, __global uchar* left_payload_2, __global uchar* right_payload_2, __global uchar* places, __global uchar* keys_out, __global uchar* left_out, __global uchar* right_out, __global uchar* left_out_2, __global uchar* right_out_2, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)slots + words.slots),
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
        words.rows,
        words.mask,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

