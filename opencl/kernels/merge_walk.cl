// Kernel merge_walk in OpenCL C 1.2, translated from shaders/merge_walk.comp by make generate; do not edit.
// Variants:
//   key_bits=32
//   key_bits=64

#ifndef SUBGROUPS
#if WORKGROUP != 1
#error "merge_walk: without subgroups this variant needs a workgroup of 1"
#endif
// Subgroups of one invocation. The least size of a subgroup is 1, whatever the device was asked for.
#undef SUBGROUP
#define SUBGROUP 1u
#define subgroup_size() 1u
#define subgroup_local_id() 0u
#define subgroup_id() ((uint)get_local_id(0))
#define subgroup_count() WORKGROUP
#define subgroup_barrier()
#define subgroup_elect() true
#define subgroup_any(a) (a)
#define subgroup_ballot(a) ((uint4)((uint)(a), 0u, 0u, 0u))
#define subgroup_ballot_bit_count(a) ((a).x)
#define subgroup_ballot_exclusive_bit_count(a) 0u
#define subgroup_ballot_find_lsb(a) 0u
#define subgroup_ballot_find_msb(a) 0u
#define subgroup_broadcast(a, lane) (a)
#define subgroup_shuffle(a, lane) (a)
#define subgroup_add(a) (a)
#define subgroup_exclusive_add(a) 0u
#define subgroup_all(a) (a)
#define subgroup_lt_mask() ((uint4)(0u))
#define subgroup_shuffle_xor(a, mask) (a)
#define subgroup_max(a) (a)
#define subgroup_exclusive_max(a) 0u
#define subgroup_shuffle_uint2(a, lane) (a)
#define subgroup_shuffle_xor_uint4(a, mask) (a)
#define subgroup_add_uint3(a) (a)
#define subgroup_exclusive_add_uint3(a) ((uint3)(0u))
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

#define SUBGROUPS_2 ((WORKGROUP + 3u) / 4u)

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
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 units;
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
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint left_row(uint stop) {
    return stop - 1u;
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
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

typedef struct {
    uint2 keys;
    uint2 left;
    uint2 right;
    uint2 left_2;
    uint2 right_2;
} Columns;

INLINE void count_rows(const Arguments* args, uint n) {
    if (PLACING == 0u || LOCAL_ID_X > 0u || n == 0u) return;
    __global volatile uint* cursor = (__global volatile uint*)as_ulong(args->places);
    if (atomic_add(&cursor[1], n) > ~n) {
        atomic_add(&cursor[2], 1u);
    }
}

#if KEY_BITS == 32
typedef struct {
    uint sh_room[2];
    uint sh_start[2];
    uint sh_subgroup_sum[2u * SUBGROUPS_2];
    uint sh_left[TABLE];
} Shared;

typedef struct {
    uint turn;
    uint wanted;
    uint left_count;
} Globals;

INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint* left = column32_from(args->left_keys, left_first);
    uint own[1];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 1u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 1u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 1u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint key, uint stop, uint* next) {
    bool found = shared->sh_left[stop - 1u] == key;
    *next = found && stop < globals->left_count ? stop + 1u : 0u;
    return found;
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

INLINE void put_row(Columns columns, uint start, uint to, uint key, Payloads left, Payloads right) {
    put_key(columns.keys, start, to, key);
    put(columns.left, LEFT_WORDS, start, to, left.of[0]);
    put(columns.right, RIGHT_WORDS, start, to, right.of[0]);
    if (LEFT_WORDS_2 > 0u) {
        put(columns.left_2, LEFT_WORDS_2, start, to, left.of[1]);
    }
    if (RIGHT_WORDS_2 > 0u) {
        put(columns.right_2, RIGHT_WORDS_2, start, to, right.of[1]);
    }
}
#endif

#if KEY_BITS == 64
typedef struct {
    uint sh_room[2];
    uint sh_start[2];
    uint sh_subgroup_sum[2u * SUBGROUPS_2];
    uint2 sh_left[TABLE];
} Shared;

typedef struct {
    uint turn;
    uint2 wanted;
    uint left_count;
} Globals;

INLINE void load_left(const Arguments* args, __local Shared* shared, Globals* globals, uint left_first) {
    __global uint2* left = column64_from(args->left_keys, left_first);
    uint2 own[1];
    for (uint i = LOCAL_ID_X; i < globals->left_count; i += 1u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 1u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                own[k] = left[i + k * WORKGROUP];
            }
        }
        UNROLL
        for (uint k = 0u; k < 1u; ++k) {
            if (i + k * WORKGROUP < globals->left_count) {
                shared->sh_left[i + k * WORKGROUP] = own[k];
            }
        }
    }
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool matches_at(__local Shared* shared, Globals* globals, uint2 key, uint stop, uint* next) {
    bool found = all(shared->sh_left[stop - 1u] == key);
    *next = found && stop < globals->left_count ? stop + 1u : 0u;
    return found;
}

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

INLINE void put_key(uint2 column, uint first, uint row, uint2 key) {
    if (!absent(column)) {
        column64_from(column, first)[row] = key;
    }
}

INLINE void put_row(Columns columns, uint start, uint to, uint2 key, Payloads left, Payloads right) {
    put_key(columns.keys, start, to, key);
    put(columns.left, LEFT_WORDS, start, to, left.of[0]);
    put(columns.right, RIGHT_WORDS, start, to, right.of[0]);
    if (LEFT_WORDS_2 > 0u) {
        put(columns.left_2, LEFT_WORDS_2, start, to, left.of[1]);
    }
    if (RIGHT_WORDS_2 > 0u) {
        put(columns.right_2, RIGHT_WORDS_2, start, to, right.of[1]);
    }
}
#endif

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

INLINE uint sum_before(__local Shared* shared, uint own, uint* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint some = 0u;
    uint before = 0u;
    for (uint s = subgroup_local_id(); s < subgroup_count(); s += subgroup_size()) {
        some += shared->sh_subgroup_sum[s];
        if (s < subgroup_id()) {
            before += shared->sh_subgroup_sum[s];
        }
    }
    *all_ = subgroup_sum(some);
    return subgroup_sum(before);
}

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

#if KEY_BITS == 32
INLINE uint first_stop(__local Shared* shared, Globals* globals, uint key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE void walk_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint count, uint* done) {
    __global uint* right = column32_from(args->right_keys, first);
    uint run = (subgroup_id() * subgroup_size() + subgroup_local_id()) * 8u;
    uint own = 0u;
    uint cursor = 0u;
    uint match[8];
    match[0] = 0u;
    uint key[8];
    uint next;
    if (run + 0u < count) {
        key[0] = right[run + 0u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[0], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[0], stop, &next)) {
                if (rows == 0u) {
                    match[0] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[0] |= 0x80000000u;
        }
    }
    match[1] = 0u;
    if (run + 1u < count) {
        key[1] = right[run + 1u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[1], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[1], stop, &next)) {
                if (rows == 0u) {
                    match[1] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[1] |= 0x80000000u;
        }
    }
    match[2] = 0u;
    if (run + 2u < count) {
        key[2] = right[run + 2u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[2], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[2], stop, &next)) {
                if (rows == 0u) {
                    match[2] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[2] |= 0x80000000u;
        }
    }
    match[3] = 0u;
    if (run + 3u < count) {
        key[3] = right[run + 3u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[3], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[3], stop, &next)) {
                if (rows == 0u) {
                    match[3] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[3] |= 0x80000000u;
        }
    }
    match[4] = 0u;
    if (run + 4u < count) {
        key[4] = right[run + 4u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[4], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[4], stop, &next)) {
                if (rows == 0u) {
                    match[4] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[4] |= 0x80000000u;
        }
    }
    match[5] = 0u;
    if (run + 5u < count) {
        key[5] = right[run + 5u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[5], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[5], stop, &next)) {
                if (rows == 0u) {
                    match[5] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[5] |= 0x80000000u;
        }
    }
    match[6] = 0u;
    if (run + 6u < count) {
        key[6] = right[run + 6u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[6], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[6], stop, &next)) {
                if (rows == 0u) {
                    match[6] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[6] |= 0x80000000u;
        }
    }
    match[7] = 0u;
    if (run + 7u < count) {
        key[7] = right[run + 7u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[7], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[7], stop, &next)) {
                if (rows == 0u) {
                    match[7] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[7] |= 0x80000000u;
        }
    }
    uint at = subgroup_sum_before(own);
    uint all_;
    at += sum_before(shared, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[0];
        uint start = shared->sh_start[0];
        uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
        uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
        uint2 left_1 = args->left_payload;
        uint2 left_2 = args->left_payload_2;
        uint2 right_1 = args->right_payload;
        uint2 right_2 = args->right_payload_2;
        Columns columns = (Columns){args->keys_out, args->left_out, args->right_out, args->left_out_2,
                args->right_out_2};
        if (room == all_) {
            bool found = true;
            uint stop = match[0] & 0x7fffffffu;
            while (stop > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[0],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 0u));
                }
                if (match[0] < 0x80000000u) break;
                matches_at(shared, globals, key[0], stop, &next);
                stop = next;
                if (stop > 0u) {
                    found = matches_at(shared, globals, key[0], stop, &next);
                }
            }
            found = true;
            uint stop_2 = match[1] & 0x7fffffffu;
            while (stop_2 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[1],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_2)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 1u));
                }
                if (match[1] < 0x80000000u) break;
                matches_at(shared, globals, key[1], stop_2, &next);
                stop_2 = next;
                if (stop_2 > 0u) {
                    found = matches_at(shared, globals, key[1], stop_2, &next);
                }
            }
            found = true;
            uint stop_3 = match[2] & 0x7fffffffu;
            while (stop_3 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[2],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_3)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 2u));
                }
                if (match[2] < 0x80000000u) break;
                matches_at(shared, globals, key[2], stop_3, &next);
                stop_3 = next;
                if (stop_3 > 0u) {
                    found = matches_at(shared, globals, key[2], stop_3, &next);
                }
            }
            found = true;
            uint stop_4 = match[3] & 0x7fffffffu;
            while (stop_4 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[3],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_4)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 3u));
                }
                if (match[3] < 0x80000000u) break;
                matches_at(shared, globals, key[3], stop_4, &next);
                stop_4 = next;
                if (stop_4 > 0u) {
                    found = matches_at(shared, globals, key[3], stop_4, &next);
                }
            }
            found = true;
            uint stop_5 = match[4] & 0x7fffffffu;
            while (stop_5 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[4],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_5)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 4u));
                }
                if (match[4] < 0x80000000u) break;
                matches_at(shared, globals, key[4], stop_5, &next);
                stop_5 = next;
                if (stop_5 > 0u) {
                    found = matches_at(shared, globals, key[4], stop_5, &next);
                }
            }
            found = true;
            uint stop_6 = match[5] & 0x7fffffffu;
            while (stop_6 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[5],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_6)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 5u));
                }
                if (match[5] < 0x80000000u) break;
                matches_at(shared, globals, key[5], stop_6, &next);
                stop_6 = next;
                if (stop_6 > 0u) {
                    found = matches_at(shared, globals, key[5], stop_6, &next);
                }
            }
            found = true;
            uint stop_7 = match[6] & 0x7fffffffu;
            while (stop_7 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[6],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_7)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 6u));
                }
                if (match[6] < 0x80000000u) break;
                matches_at(shared, globals, key[6], stop_7, &next);
                stop_7 = next;
                if (stop_7 > 0u) {
                    found = matches_at(shared, globals, key[6], stop_7, &next);
                }
            }
            found = true;
            uint stop_8 = match[7] & 0x7fffffffu;
            while (stop_8 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[7],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_8)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 7u));
                }
                if (match[7] < 0x80000000u) break;
                matches_at(shared, globals, key[7], stop_8, &next);
                stop_8 = next;
                if (stop_8 > 0u) {
                    found = matches_at(shared, globals, key[7], stop_8, &next);
                }
            }
        }
    }
    *done += all_;
}
#endif

#if KEY_BITS == 64
INLINE uint first_stop(__local Shared* shared, Globals* globals, uint2 key, uint* cursor) {
    globals->wanted = key;
    *cursor = gallop(shared, globals, 0u, *cursor, globals->left_count);
    return *cursor < globals->left_count ? *cursor + 1u : 0u;
}

INLINE void walk_batch(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint first, uint count, uint* done) {
    __global uint2* right = column64_from(args->right_keys, first);
    uint run = (subgroup_id() * subgroup_size() + subgroup_local_id()) * 8u;
    uint own = 0u;
    uint cursor = 0u;
    uint match[8];
    match[0] = 0u;
    uint2 key[8];
    uint next;
    if (run + 0u < count) {
        key[0] = right[run + 0u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[0], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[0], stop, &next)) {
                if (rows == 0u) {
                    match[0] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[0] |= 0x80000000u;
        }
    }
    match[1] = 0u;
    if (run + 1u < count) {
        key[1] = right[run + 1u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[1], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[1], stop, &next)) {
                if (rows == 0u) {
                    match[1] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[1] |= 0x80000000u;
        }
    }
    match[2] = 0u;
    if (run + 2u < count) {
        key[2] = right[run + 2u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[2], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[2], stop, &next)) {
                if (rows == 0u) {
                    match[2] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[2] |= 0x80000000u;
        }
    }
    match[3] = 0u;
    if (run + 3u < count) {
        key[3] = right[run + 3u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[3], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[3], stop, &next)) {
                if (rows == 0u) {
                    match[3] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[3] |= 0x80000000u;
        }
    }
    match[4] = 0u;
    if (run + 4u < count) {
        key[4] = right[run + 4u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[4], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[4], stop, &next)) {
                if (rows == 0u) {
                    match[4] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[4] |= 0x80000000u;
        }
    }
    match[5] = 0u;
    if (run + 5u < count) {
        key[5] = right[run + 5u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[5], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[5], stop, &next)) {
                if (rows == 0u) {
                    match[5] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[5] |= 0x80000000u;
        }
    }
    match[6] = 0u;
    if (run + 6u < count) {
        key[6] = right[run + 6u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[6], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[6], stop, &next)) {
                if (rows == 0u) {
                    match[6] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[6] |= 0x80000000u;
        }
    }
    match[7] = 0u;
    if (run + 7u < count) {
        key[7] = right[run + 7u];
        uint rows = 0u;
        for (uint stop = first_stop(shared, globals, key[7], &cursor); stop > 0u; stop = next) {
            if (matches_at(shared, globals, key[7], stop, &next)) {
                if (rows == 0u) {
                    match[7] = stop;
                }
                ++rows;
            }
        }
        own += rows;
        if (rows > 1u) {
            match[7] |= 0x80000000u;
        }
    }
    uint at = subgroup_sum_before(own);
    uint all_;
    at += sum_before(shared, subgroup_sum(own), &all_);
    if (all_ > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(args, shared, globals, unit, *done, all_);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room[0];
        uint start = shared->sh_start[0];
        uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
        uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
        uint2 left_1 = args->left_payload;
        uint2 left_2 = args->left_payload_2;
        uint2 right_1 = args->right_payload;
        uint2 right_2 = args->right_payload_2;
        Columns columns = (Columns){args->keys_out, args->left_out, args->right_out, args->left_out_2,
                args->right_out_2};
        if (room == all_) {
            bool found = true;
            uint stop = match[0] & 0x7fffffffu;
            while (stop > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[0],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 0u));
                }
                if (match[0] < 0x80000000u) break;
                matches_at(shared, globals, key[0], stop, &next);
                stop = next;
                if (stop > 0u) {
                    found = matches_at(shared, globals, key[0], stop, &next);
                }
            }
            found = true;
            uint stop_2 = match[1] & 0x7fffffffu;
            while (stop_2 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[1],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_2)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 1u));
                }
                if (match[1] < 0x80000000u) break;
                matches_at(shared, globals, key[1], stop_2, &next);
                stop_2 = next;
                if (stop_2 > 0u) {
                    found = matches_at(shared, globals, key[1], stop_2, &next);
                }
            }
            found = true;
            uint stop_3 = match[2] & 0x7fffffffu;
            while (stop_3 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[2],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_3)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 2u));
                }
                if (match[2] < 0x80000000u) break;
                matches_at(shared, globals, key[2], stop_3, &next);
                stop_3 = next;
                if (stop_3 > 0u) {
                    found = matches_at(shared, globals, key[2], stop_3, &next);
                }
            }
            found = true;
            uint stop_4 = match[3] & 0x7fffffffu;
            while (stop_4 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[3],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_4)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 3u));
                }
                if (match[3] < 0x80000000u) break;
                matches_at(shared, globals, key[3], stop_4, &next);
                stop_4 = next;
                if (stop_4 > 0u) {
                    found = matches_at(shared, globals, key[3], stop_4, &next);
                }
            }
            found = true;
            uint stop_5 = match[4] & 0x7fffffffu;
            while (stop_5 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[4],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_5)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 4u));
                }
                if (match[4] < 0x80000000u) break;
                matches_at(shared, globals, key[4], stop_5, &next);
                stop_5 = next;
                if (stop_5 > 0u) {
                    found = matches_at(shared, globals, key[4], stop_5, &next);
                }
            }
            found = true;
            uint stop_6 = match[5] & 0x7fffffffu;
            while (stop_6 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[5],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_6)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 5u));
                }
                if (match[5] < 0x80000000u) break;
                matches_at(shared, globals, key[5], stop_6, &next);
                stop_6 = next;
                if (stop_6 > 0u) {
                    found = matches_at(shared, globals, key[5], stop_6, &next);
                }
            }
            found = true;
            uint stop_7 = match[6] & 0x7fffffffu;
            while (stop_7 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[6],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_7)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 6u));
                }
                if (match[6] < 0x80000000u) break;
                matches_at(shared, globals, key[6], stop_7, &next);
                stop_7 = next;
                if (stop_7 > 0u) {
                    found = matches_at(shared, globals, key[6], stop_7, &next);
                }
            }
            found = true;
            uint stop_8 = match[7] & 0x7fffffffu;
            while (stop_8 > 0u) {
                if (found) {
                    uint at_2 = at;
                    ++at;
                    uint to = at_2;
                    put_row(columns, start, to, key[7],
                            payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_8)),
                            payloads_of(right_1, right_2, right_sizes, first, run + 7u));
                }
                if (match[7] < 0x80000000u) break;
                matches_at(shared, globals, key[7], stop_8, &next);
                stop_8 = next;
                if (stop_8 > 0u) {
                    found = matches_at(shared, globals, key[7], stop_8, &next);
                }
            }
        }
    }
    *done += all_;
}
#endif

INLINE void walk_unit(const Arguments* args, __local Shared* shared, Globals* globals, uint unit, uint left_first,
        uint right_first, uint right_count) {
    uint done = 0u;
    for (uint first = 0u; first < right_count; first += 8u * WORKGROUP) {
        walk_batch(args, shared, globals, unit, left_first, right_first + first,
                min(right_count - first, 8u * WORKGROUP), &done);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    count_rows(args, done);
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    globals->turn = 0u;
    uint unit = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(args->units, unit, 4u)))[0];
    globals->left_count = rows.y - rows.x;
    load_left(args, shared, globals, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    walk_unit(args, shared, globals, unit, rows.x, rows.z, rows.w - rows.z);
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_walk(
    __global uchar* units,
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
        as_uint2((ulong)units + scalars.units),
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

