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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

#if SHARED == 0
#define SUBGROUPS_2 ((WORKGROUP + 3u) / 4u)

INLINE void begin_batches(void) {
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
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
} Scalars;

typedef struct {
    uint2 slots;
    uint2 left_keys;
    uint2 right_keys;
    uint2 left_payload;
    uint2 right_payload;
    uint2 left_payload_2;
    uint2 right_payload_2;
    uint2 places;
    uint2 keys_out;
    uint2 left_out;
    uint2 right_out;
    uint2 left_out_2;
    uint2 right_out_2;
    uint first_row;
    uint out_rows;
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

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 payload_of(uint2 column, uint words, uint first, uint row) {
    uint2 value = (uint2)(first + row, 0u);
    if (!absent(column)) {
        if (words == 2u) {
            value = column64_from(column, first)[row];
        } else {
            value.x = column32_from(column, first)[row];
        }
    }
    return value;
}

typedef struct {
    uint2 of[2];
} Payloads;

INLINE Payloads payloads_of(uint2 column, uint2 second, uint2 words, uint first, uint row) {
    Payloads p;
    p.of[0] = payload_of(column, words.x, first, row);
    if (words.y > 0u) {
        p.of[1] = payload_of(second, words.y, first, row);
    }
    return p;
}

INLINE void put(uint2 column, uint words, uint first, uint row, uint2 value) {
    if (!absent(column)) {
        if (words == 2u) {
            column64_from(column, first)[row] = value;
        } else {
            column32_from(column, first)[row] = value.x;
        }
    }
}

#define BATCH_ROWS (WORKGROUP * ITEMS)

#if PAGED == 0 && SHARED == 0
typedef struct {
    uint sh_room[2];
    uint sh_start[2];
    uint sh_subgroup_sum[2u * SUBGROUPS_2];
} Shared;

typedef struct {
    uint turn;
} Globals;
#endif

#if KEY_BITS == 32
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

INLINE uint next_match(const Arguments* args, uint key, uint at) {
    uint hash = hash_of(key);
    return match_of(args, key, hash, (at - hash) & args->mask);
}

INLINE uint unmix_of(uint key, uint seed) {
    key = (key ^ (key >> 16u)) * 0x7ed1b41du;
    key = (key ^ (key >> 13u) ^ (key >> 26u)) * 0xa5cb9243u;
    return key ^ (key >> 16u) ^ seed;
}

INLINE void put_key(uint2 column, uint first, uint row, uint key) {
    if (!absent(column)) {
        column32_from(column, first)[row] = key;
    }
}
#endif

#if PAGED == 0
INLINE void count_rows(const Arguments* args, uint n) {
    if (PLACING == 0u || LOCAL_ID_X > 0u || n == 0u) return;
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(args->places);
    if (atomic_add(&cursor[1], n) > ~n) {
        atomic_add(&cursor[2], 1u);
    }
}
#endif

#if SHARED == 1
#define BATCH_WORDS ((WORKGROUP * ITEMS + 31u) / 32u)
#endif

#if PAGED == 0 && SHARED == 1
typedef struct {
    uint sh_room[2];
    uint sh_start[2];
    uint sh_bits[2u * BATCH_WORDS];
    uint sh_more[2];
    uint sh_before[BATCH_WORDS];
    uint sh_firsts[2];
} Shared;

typedef struct {
    uint turn;
    uint bits_turn;
} Globals;
#endif

#if PAGED == 0
INLINE void place(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint done, uint n) {
    shared->sh_room[globals->turn] = 0u;
    if (PLACING == 0u) {
        shared->sh_start[globals->turn] = args->first_row + column64_from(args->places, unit)[0].x + done;
        shared->sh_room[globals->turn] = n;
        return;
    }
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(args->places);
    uint start = 0u;
    if (n <= 0x10000u) {
        start = atomic_add(&cursor[0], n);
        if (start <= args->out_rows && n <= args->out_rows - start) {
            shared->sh_room[globals->turn] = n;
        } else {
            atomic_add(&cursor[0], 0u - n);
        }
    } else {
        uint reserved = atomic_add(&cursor[0], 0u);
        for (uint tries = 0u; tries < 0x1000u && n <= args->out_rows && reserved <= args->out_rows - n; ++tries) {
            start = atomic_cmpxchg(&cursor[0], reserved, reserved + n);
            if (start == reserved) {
                shared->sh_room[globals->turn] = n;
                break;
            }
            reserved = start;
        }
    }
    shared->sh_start[globals->turn] = args->first_row + start;
}
#endif

#if PAGED == 1 && SHARED == 0
typedef struct {
    uint sh_start[2];
    uint sh_room[2];
    uint sh_subgroup_sum[2u * SUBGROUPS_2];
} Shared;

typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
} Globals;
#endif

#if SHARED == 0
INLINE uint sum_before(__local Shared* shared, Globals* globals, uint own, uint* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[globals->turn * SUBGROUPS_2 + subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all_ = 0u;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ += shared->sh_subgroup_sum[globals->turn * SUBGROUPS_2 + s];
    }
    return before;
}
#endif

#if KEY_BITS == 32 && PAGED == 0 && SHARED == 0
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint key[ITEMS], uint* done) {
    uint own = 0u;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * subgroup_size() < count) {
            match[k] = first_match(args, key[k]);
            own += min(match[k], 1u);
            if (UNIQUE == 0u && match[k] > 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * subgroup_size());
        }
    }
    uint all_;
    uint at = sum_before(shared, globals, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (subgroup_any(m > 0u)) {
                uint4 matched = subgroup_ballot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroup_ballot_exclusive_bit_count(matched);
                    if (to < room) {
                        put_key(args->keys_out, start, to, key[k]);
                        put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                        put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                        }
                    }
                    m = more ? next_match(args, key[k], m) : 0u;
                    if (more && m > 0u) {
                        left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                                left_row(args, m));
                    }
                }
                at += subgroup_ballot_bit_count(matched);
            }
        }
    }
    *done += all_;
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint* right = column32_from(args->right_keys, first);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * subgroup_size() < count) {
            key[k] = right[run + k * subgroup_size()];
        }
    }
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
}
#endif

#if PAGED == 1
INLINE void count_rows(const Arguments* args, uint n) {
    if (LOCAL_ID_X > 0u || n == 0u) return;
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(args->places);
    if (atomic_add(&cursor[1], n) > ~n) {
        atomic_add(&cursor[2], 1u);
    }
}
#endif

#if PAGED == 1 && SHARED == 1
typedef struct {
    uint sh_start[2];
    uint sh_room[2];
    uint sh_bits[2u * BATCH_WORDS];
    uint sh_more[2];
    uint sh_firsts[2];
} Shared;

typedef struct {
    uint turn;
    uint page_next;
    uint page_end;
    uint bits_turn;
} Globals;
#endif

#if SHARED == 1
INLINE void clear_bits(__local Shared* shared) {
    for (uint w = LOCAL_ID_X; w < 2u * BATCH_WORDS; w += WORKGROUP) {
        shared->sh_bits[w] = 0u;
    }
}

INLINE void begin_batches(__local Shared* shared) {
    clear_bits(shared);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more[1] = 0u;
        shared->sh_more[0] = 0u;
    }
}

INLINE void set_bit(__local Shared* shared, Globals* globals, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    atomic_or(&shared->sh_bits[globals->bits_turn * BATCH_WORDS + row / 32u], 1u << (row % 32u));
}

INLINE uint word_of_bits(__local Shared* shared, Globals* globals, uint w) {
    return shared->sh_bits[globals->bits_turn * BATCH_WORDS + w];
}

INLINE void clear_next_bits(__local Shared* shared, Globals* globals) {
    for (uint w = LOCAL_ID_X; w < BATCH_WORDS; w += WORKGROUP) {
        shared->sh_bits[(1u - globals->bits_turn) * BATCH_WORDS + w] = 0u;
    }
}
#endif

#if PAGED == 0 && SHARED == 1
INLINE void place_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint done) {
    for (uint w = LOCAL_ID_X; w < BATCH_WORDS; w += WORKGROUP) {
        uint before = 0u;
        for (uint other = 0u; other + 1u < BATCH_WORDS; ++other) {
            before += other < w ? popcount(word_of_bits(shared, globals, other)) : 0u;
        }
        shared->sh_before[w] = before;
    }
    if (LOCAL_ID_X == WORKGROUP - 1u) {
        uint firsts = 0u;
        for (uint w = 0u; w < BATCH_WORDS; ++w) {
            firsts += popcount(word_of_bits(shared, globals, w));
        }
        shared->sh_firsts[globals->turn] = firsts;
        if (firsts > 0u) {
            place(args, shared, globals, unit, done, firsts + shared->sh_more[globals->turn]);
        }
    }
}

INLINE uint rank_of(__local Shared* shared, Globals* globals, uint k) {
    uint row = k * WORKGROUP + LOCAL_ID_X;
    return shared->sh_before[row / 32u] + popcount(word_of_bits(shared, globals, row / 32u) &
            ((1u << (row % 32u)) - 1u));
}
#endif

#if KEY_BITS == 32 && PAGED == 0 && SHARED == 1
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint key[ITEMS], uint* done) {
    uint own = 0u;
    globals->bits_turn = globals->turn;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * WORKGROUP < count) {
            match[k] = first_match(args, key[k]);
        }
        if (match[k] > 0u) {
            set_bit(shared, globals, k);
            if (UNIQUE == 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint others = own > 0u ? atomic_add(&shared->sh_more[globals->turn], own) : 0u;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(args, shared, globals, unit, *done);
    clear_next_bits(shared, globals);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more[1u - globals->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts[globals->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        uint next = firsts + others;
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            uint to = rank_of(shared, globals, k);
            while (m > 0u) {
                if (to < room) {
                    put_key(args->keys_out, start, to, key[k]);
                    put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                    put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                    }
                }
                m = more ? next_match(args, key[k], m) : 0u;
                if (more && m > 0u) {
                    left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                            left_row(args, m));
                    uint next_2 = next;
                    ++next;
                    to = next_2;
                }
            }
        }
    }
    *done += firsts + shared->sh_more[globals->turn];
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = LOCAL_ID_X;
    begin_batches(shared);
    __global uint* right = column32_from(args->right_keys, first);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * WORKGROUP < count) {
            key[k] = right[run + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
}
#endif

#if PAGED == 1
INLINE void place(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint done, uint n) {
    shared->sh_start[globals->turn] = args->first_row;
    shared->sh_room[globals->turn] = args->out_rows;
}

INLINE void take_page(const Arguments* args, Globals* globals) {
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(args->places);
    globals->page_next = args->out_rows;
    uint value = atomic_add(&cursor[0], 0u);
    if (value <= args->out_rows) {
        globals->page_next = min(args->out_rows, atomic_add(&cursor[0], PAGE_ROWS));
    }
    globals->page_end = globals->page_next + PAGE_ROWS;
}

INLINE uint page_row(const Arguments* args, Globals* globals) {
    if (globals->page_next == globals->page_end) {
        take_page(args, globals);
    }
    uint page_next = globals->page_next;
    globals->page_next = page_next + 1u;
    return page_next;
}

INLINE void leave_page(const Arguments* args, Globals* globals) {
    for (uint row = args->first_row + globals->page_next;
            row < args->first_row + min(globals->page_end, args->out_rows); ++row) {
        atomic_and(&((__global volatile uint*)as_ulong(args->places))[64u + row / 32u], ~(1u << (row % 32u)));
    }
}
#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 0
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint key[ITEMS], uint* done) {
    uint own = 0u;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * subgroup_size() < count) {
            match[k] = first_match(args, key[k]);
            own += min(match[k], 1u);
            if (UNIQUE == 0u && match[k] > 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * subgroup_size());
        }
    }
    uint all_;
    uint at = sum_before(shared, globals, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (subgroup_any(m > 0u)) {
                uint4 matched = subgroup_ballot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroup_ballot_exclusive_bit_count(matched);
                    to = page_row(args, globals);
                    if (to < room) {
                        put_key(args->keys_out, start, to, key[k]);
                        put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                        put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                        }
                    }
                    m = more ? next_match(args, key[k], m) : 0u;
                    if (more && m > 0u) {
                        left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                                left_row(args, m));
                    }
                }
                at += subgroup_ballot_bit_count(matched);
            }
        }
    }
    *done += all_;
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->page_next = 0u;
    globals->page_end = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint* right = column32_from(args->right_keys, first);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * subgroup_size() < count) {
            key[k] = right[run + k * subgroup_size()];
        }
    }
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
    leave_page(args, globals);
}
#endif

#if PAGED == 1 && SHARED == 1
INLINE void place_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint done) {
    if (LOCAL_ID_X == WORKGROUP - 1u) {
        uint firsts = 0u;
        for (uint w = 0u; w < BATCH_WORDS; ++w) {
            firsts += popcount(word_of_bits(shared, globals, w));
        }
        shared->sh_firsts[globals->turn] = firsts;
        if (firsts > 0u) {
            place(args, shared, globals, unit, done, firsts + shared->sh_more[globals->turn]);
        }
    }
}
#endif

#if KEY_BITS == 32 && PAGED == 1 && SHARED == 1
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint key[ITEMS], uint* done) {
    uint own = 0u;
    globals->bits_turn = globals->turn;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * WORKGROUP < count) {
            match[k] = first_match(args, key[k]);
        }
        if (match[k] > 0u) {
            set_bit(shared, globals, k);
            if (UNIQUE == 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint others = own > 0u ? atomic_add(&shared->sh_more[globals->turn], own) : 0u;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(args, shared, globals, unit, *done);
    clear_next_bits(shared, globals);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more[1u - globals->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts[globals->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        uint next = firsts + others;
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (m > 0u) {
                uint to = page_row(args, globals);
                if (to < room) {
                    put_key(args->keys_out, start, to, key[k]);
                    put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                    put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                    }
                }
                m = more ? next_match(args, key[k], m) : 0u;
                if (more && m > 0u) {
                    left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                            left_row(args, m));
                }
            }
        }
    }
    *done += firsts + shared->sh_more[globals->turn];
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->page_next = 0u;
    globals->page_end = 0u;
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = LOCAL_ID_X;
    begin_batches(shared);
    __global uint* right = column32_from(args->right_keys, first);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * WORKGROUP < count) {
            key[k] = right[run + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
    leave_page(args, globals);
}
#endif

#if KEY_BITS == 64
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

INLINE uint next_match(const Arguments* args, uint2 key, uint at) {
    uint hash = hash_of(key);
    return match_of(args, key, hash, (at - hash) & args->mask);
}

INLINE uint2 unmix_of(uint2 key, uint seed) {
    key.x ^= mix_of_uint_uint(key.y, seed + 1u);
    key.y ^= mix_of_uint_uint(key.x, ~seed);
    key.x ^= mix_of_uint_uint(key.y, seed);
    return key;
}

INLINE void put_key(uint2 column, uint first, uint row, uint2 key) {
    if (!absent(column)) {
        column64_from(column, first)[row] = key;
    }
}
#endif

#if KEY_BITS == 64 && PAGED == 0 && SHARED == 0
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint2 key[ITEMS], uint* done) {
    uint own = 0u;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * subgroup_size() < count) {
            match[k] = first_match(args, key[k]);
            own += min(match[k], 1u);
            if (UNIQUE == 0u && match[k] > 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * subgroup_size());
        }
    }
    uint all_;
    uint at = sum_before(shared, globals, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (subgroup_any(m > 0u)) {
                uint4 matched = subgroup_ballot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroup_ballot_exclusive_bit_count(matched);
                    if (to < room) {
                        put_key(args->keys_out, start, to, key[k]);
                        put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                        put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                        }
                    }
                    m = more ? next_match(args, key[k], m) : 0u;
                    if (more && m > 0u) {
                        left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                                left_row(args, m));
                    }
                }
                at += subgroup_ballot_bit_count(matched);
            }
        }
    }
    *done += all_;
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint2* right = column64_from(args->right_keys, first);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * subgroup_size() < count) {
            key[k] = right[run + k * subgroup_size()];
        }
    }
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
}
#endif

#if KEY_BITS == 64 && PAGED == 0 && SHARED == 1
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint2 key[ITEMS], uint* done) {
    uint own = 0u;
    globals->bits_turn = globals->turn;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * WORKGROUP < count) {
            match[k] = first_match(args, key[k]);
        }
        if (match[k] > 0u) {
            set_bit(shared, globals, k);
            if (UNIQUE == 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint others = own > 0u ? atomic_add(&shared->sh_more[globals->turn], own) : 0u;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(args, shared, globals, unit, *done);
    clear_next_bits(shared, globals);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more[1u - globals->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts[globals->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        uint next = firsts + others;
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            uint to = rank_of(shared, globals, k);
            while (m > 0u) {
                if (to < room) {
                    put_key(args->keys_out, start, to, key[k]);
                    put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                    put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                    }
                }
                m = more ? next_match(args, key[k], m) : 0u;
                if (more && m > 0u) {
                    left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                            left_row(args, m));
                    uint next_2 = next;
                    ++next;
                    to = next_2;
                }
            }
        }
    }
    *done += firsts + shared->sh_more[globals->turn];
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = LOCAL_ID_X;
    begin_batches(shared);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * WORKGROUP < count) {
            key[k] = right[run + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
}
#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 0
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint2 key[ITEMS], uint* done) {
    uint own = 0u;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * subgroup_size() < count) {
            match[k] = first_match(args, key[k]);
            own += min(match[k], 1u);
            if (UNIQUE == 0u && match[k] > 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * subgroup_size());
        }
    }
    uint all_;
    uint at = sum_before(shared, globals, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (subgroup_any(m > 0u)) {
                uint4 matched = subgroup_ballot(m > 0u);
                if (m > 0u) {
                    uint to = at + subgroup_ballot_exclusive_bit_count(matched);
                    to = page_row(args, globals);
                    if (to < room) {
                        put_key(args->keys_out, start, to, key[k]);
                        put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                        put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                        if (LEFT_WORDS_2 > 0u) {
                            put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                        }
                        if (RIGHT_WORDS_2 > 0u) {
                            put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                        }
                    }
                    m = more ? next_match(args, key[k], m) : 0u;
                    if (more && m > 0u) {
                        left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                                left_row(args, m));
                    }
                }
                at += subgroup_ballot_bit_count(matched);
            }
        }
    }
    *done += all_;
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->page_next = 0u;
    globals->page_end = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    __global uint2* right = column64_from(args->right_keys, first);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * subgroup_size() < count) {
            key[k] = right[run + k * subgroup_size()];
        }
    }
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
    leave_page(args, globals);
}
#endif

#if KEY_BITS == 64 && PAGED == 1 && SHARED == 1
INLINE void join_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint run, uint count, const uint2 key[ITEMS], uint* done) {
    uint own = 0u;
    globals->bits_turn = globals->turn;
    uint match[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        match[k] = 0u;
        if (run + k * WORKGROUP < count) {
            match[k] = first_match(args, key[k]);
        }
        if (match[k] > 0u) {
            set_bit(shared, globals, k);
            if (UNIQUE == 0u) {
                uint before = own;
                for (uint m = next_match(args, key[k], match[k]); m > 0u; m = next_match(args, key[k], m)) {
                    ++own;
                }
                if (own > before) {
                    match[k] |= 0x80000000u;
                }
            }
        }
    }
    uint others = own > 0u ? atomic_add(&shared->sh_more[globals->turn], own) : 0u;
    uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
    uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
    Payloads left_value[ITEMS];
    Payloads right_value[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (match[k] > 0u) {
            uint left = left_row(args, match[k] & 0x7fffffffu);
            left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first, left);
            right_value[k] = payloads_of(args->right_payload, args->right_payload_2, right_sizes, first,
                    run + k * WORKGROUP);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    place_batch(args, shared, globals, unit, *done);
    clear_next_bits(shared, globals);
    if (LOCAL_ID_X == 0u) {
        shared->sh_more[1u - globals->turn] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint firsts = shared->sh_firsts[globals->turn];
    if (firsts > 0u) {
        uint room = shared->sh_room[globals->turn];
        uint start = shared->sh_start[globals->turn];
        uint next = firsts + others;
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint m = match[k] & 0x7fffffffu;
            bool more = match[k] >= 0x80000000u;
            while (m > 0u) {
                uint to = page_row(args, globals);
                if (to < room) {
                    put_key(args->keys_out, start, to, key[k]);
                    put(args->left_out, LEFT_WORDS, start, to, left_value[k].of[0]);
                    put(args->right_out, RIGHT_WORDS, start, to, right_value[k].of[0]);
                    if (LEFT_WORDS_2 > 0u) {
                        put(args->left_out_2, LEFT_WORDS_2, start, to, left_value[k].of[1]);
                    }
                    if (RIGHT_WORDS_2 > 0u) {
                        put(args->right_out_2, RIGHT_WORDS_2, start, to, right_value[k].of[1]);
                    }
                }
                m = more ? next_match(args, key[k], m) : 0u;
                if (more && m > 0u) {
                    left_value[k] = payloads_of(args->left_payload, args->left_payload_2, left_sizes, left_first,
                            left_row(args, m));
                }
            }
        }
    }
    *done += firsts + shared->sh_more[globals->turn];
    globals->turn = 1u - globals->turn;
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    globals->page_next = 0u;
    globals->page_end = 0u;
    globals->bits_turn = 0u;
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint first = tile * BATCH_ROWS;
    uint count = rows_left(args->rows, first, BATCH_ROWS);
    uint done = 0u;
    uint run = LOCAL_ID_X;
    begin_batches(shared);
    __global uint2* right = column64_from(args->right_keys, first);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (run + k * WORKGROUP < count) {
            key[k] = right[run + k * WORKGROUP];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    join_batch(args, shared, globals, tile, 0u, first, run, count, key, &done);
    count_rows(args, done);
    leave_page(args, globals);
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void table_probe(
    __global uchar* slots,
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* left_payload,
    __global uchar* right_payload,
    __global uchar* left_payload_2,
    __global uchar* right_payload_2,
    __global uchar* places,
    __global uchar* keys_out,
    __global uchar* left_out,
    __global uchar* right_out,
    __global uchar* left_out_2,
    __global uchar* right_out_2,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)left_payload + scalars.left_payload),
        as_uint2((ulong)right_payload + scalars.right_payload),
        as_uint2((ulong)left_payload_2 + scalars.left_payload_2),
        as_uint2((ulong)right_payload_2 + scalars.right_payload_2),
        as_uint2((ulong)places + scalars.places),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)left_out + scalars.left_out),
        as_uint2((ulong)right_out + scalars.right_out),
        as_uint2((ulong)left_out_2 + scalars.left_out_2),
        as_uint2((ulong)right_out_2 + scalars.right_out_2),
        scalars.first_row,
        scalars.out_rows,
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

