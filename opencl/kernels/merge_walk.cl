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
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 units; uint2 left_keys; uint2 right_keys; uint2 left_payload; uint2 right_payload; uint2 left_payload_2; uint2 right_payload_2; uint2 places; uint2 keys_out; uint2 left_out; uint2 right_out; uint2 left_out_2; uint2 right_out_2; uint first_row; uint out_rows; uint first_group; uint end_group; } Push;

typedef struct { uint v[2u]; } uint_x2u;

typedef struct { uint v[2u * ((WORKGROUP + 3u) / 4u)]; } uint_x2u_workgroup_3u_4u;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

INLINE uint subgroup_sum(uint a) {
    uint value = subgroup_add(a);
    return value;
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

typedef struct { uint2 keys; uint2 left; uint2 right; uint2 left_2; uint2 right_2; } Columns;

typedef struct { uint v[8u]; } uint_x8u;

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

#if KEY_BITS == 32
typedef struct { uint v[TABLE]; } uint_xtable;

typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
    uint_xtable sh_left;
} Shared;

typedef struct {
    uint turn;
    uint wanted;
    uint left_count;
} Own;

typedef struct { uint v[1u]; } uint_x1u;

INLINE void load_left(const Push* push, __local Shared* shared, Own* own, uint left_first) {
    __global uint* left = column32_from(push->left_keys, left_first);
    uint i = LOCAL_ID_X;
    uint_x1u own_;
    for (; i < own->left_count; i = i + 1u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 1u; k = k + 1) {
            if ((i + k * WORKGROUP) < own->left_count) {
                own_.v[k] = left[i + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 1u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < own->left_count) {
                shared->sh_left.v[i + k_2 * WORKGROUP] = own_.v[k_2];
            }
        }
    }
}

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint key, uint stop, uint* next) {
    bool found = shared->sh_left.v[stop - 1u] == key;
    uint variable;
    if (found && (stop < own->left_count)) {
        variable = stop + 1u;
    } else {
        variable = 0u;
    }
    *next = variable;
    return found;
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
            *key = unmix_of(&param_2, 0u);
        }
        if (false) {
            column64_from(column, first)[row] = (uint2)(*key, 0u);
        } else {
            column32_from(column, first)[row] = *key;
        }
    }
}

INLINE void put_row(Columns columns, uint start, uint to, uint key, Payloads left, Payloads right) {
    uint param_4 = key;
    put_key(columns.keys, start, to, &param_4);
    put(columns.left, LEFT_WORDS, start, to, left.of.v[0]);
    put(columns.right, RIGHT_WORDS, start, to, right.of.v[0]);
    if (LEFT_WORDS_2 > 0u) {
        put(columns.left_2, LEFT_WORDS_2, start, to, left.of.v[1]);
    }
    if (RIGHT_WORDS_2 > 0u) {
        put(columns.right_2, RIGHT_WORDS_2, start, to, right.of.v[1]);
    }
}

#endif

#if KEY_BITS == 64
typedef struct { uint2 v[TABLE]; } uint2_xtable;

typedef struct {
    uint_x2u sh_room;
    uint_x2u sh_start;
    uint_x2u_workgroup_3u_4u sh_subgroup_sum;
    uint2_xtable sh_left;
} Shared;

typedef struct {
    uint turn;
    uint2 wanted;
    uint left_count;
} Own;

typedef struct { uint2 v[1u]; } uint2_x1u;

INLINE void load_left(const Push* push, __local Shared* shared, Own* own, uint left_first) {
    __global uint2* left = column64_from(push->left_keys, left_first);
    uint i = LOCAL_ID_X;
    uint2_x1u own_;
    for (; i < own->left_count; i = i + 1u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 1u; k = k + 1) {
            if ((i + k * WORKGROUP) < own->left_count) {
                own_.v[k] = left[i + k * WORKGROUP];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 1u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) < own->left_count) {
                shared->sh_left.v[i + k_2 * WORKGROUP] = own_.v[k_2];
            }
        }
    }
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool matches_at(__local Shared* shared, Own* own, uint2 key, uint stop, uint* next) {
    bool found = all(shared->sh_left.v[stop - 1u] == key);
    uint variable;
    if (found && (stop < own->left_count)) {
        variable = stop + 1u;
    } else {
        variable = 0u;
    }
    *next = variable;
    return found;
}

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

INLINE void put_key(uint2 column, uint first, uint row, uint2* key) {
    if (!absent(column)) {
        if (false) {
            uint2 param_2 = *key;
            *key = unmix_of(&param_2, 0u);
        }
        column64_from(column, first)[row] = *key;
    }
}

INLINE void put_row(Columns columns, uint start, uint to, uint2 key, Payloads left, Payloads right) {
    uint2 param_4 = key;
    put_key(columns.keys, start, to, &param_4);
    put(columns.left, LEFT_WORDS, start, to, left.of.v[0]);
    put(columns.right, RIGHT_WORDS, start, to, right.of.v[0]);
    if (LEFT_WORDS_2 > 0u) {
        put(columns.left_2, LEFT_WORDS_2, start, to, left.of.v[1]);
    }
    if (RIGHT_WORDS_2 > 0u) {
        put(columns.right_2, RIGHT_WORDS_2, start, to, right.of.v[1]);
    }
}

typedef struct { uint2 v[8u]; } uint2_x8u;

#endif

INLINE bool before(__local Shared* shared, Own* own, uint which, uint row) {
    bool variable;
    if (which == 0u) {
        variable = less(shared->sh_left.v[row], own->wanted);
    } else {
        variable = !less(own->wanted, shared->sh_left.v[row]);
    }
    return variable;
}

INLINE uint search(__local Shared* shared, Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(shared, own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

INLINE uint gallop(__local Shared* shared, Own* own, uint which, uint* low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= (high - *low) && before(shared, own, which, *low + step - 1u); step = step * 2u) {
        *low = *low + step;
    }
    uint param_4 = *low;
    uint param_5 = *low + min(step - 1u, high - *low);
    uint value = search(shared, own, which, &param_4, &param_5);
    return value;
}

INLINE uint sum_before(__local Shared* shared, uint own_, uint* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint some = 0u;
    uint before_2 = 0u;
    uint s = subgroup_local_id();
    for (; s < subgroup_count(); s = s + subgroup_size()) {
        some = some + shared->sh_subgroup_sum.v[s];
        if (s < subgroup_id()) {
            before_2 = before_2 + shared->sh_subgroup_sum.v[s];
        }
    }
    *all = subgroup_sum(some);
    return subgroup_sum(before_2);
}

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

#if KEY_BITS == 32
INLINE uint first_stop(__local Shared* shared, Own* own, uint key, uint* cursor) {
    own->wanted = key;
    uint param_2 = *cursor;
    *cursor = gallop(shared, own, 0u, &param_2, own->left_count);
    uint variable;
    if ((*cursor) < own->left_count) {
        variable = *cursor + 1u;
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE void walk_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint count, uint* done) {
    __global uint* right = column32_from(push->right_keys, first);
    uint run_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * 8u;
    uint own_ = 0u;
    uint cursor = 0u;
    uint_x8u match;
    match.v[0] = 0u;
    uint_x8u key;
    uint next;
    if ((run_2 + 0u) < count) {
        key.v[0] = right[run_2 + 0u];
        uint rows = 0u;
        uint param_4 = cursor;
        uint value = first_stop(shared, own, key.v[0], &param_4);
        cursor = param_4;
        uint stop = value;
        uint param_7;
        for (; stop > 0u; stop = next) {
            bool value_2 = matches_at(shared, own, key.v[0], stop, &param_7);
            next = param_7;
            if (value_2) {
                if (rows == 0u) {
                    match.v[0] = stop;
                }
                rows = rows + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows;
        if (rows > 1u) {
            match.v[0] = match.v[0] | 2147483648u;
        }
    }
    match.v[1] = 0u;
    if ((run_2 + 1u) < count) {
        key.v[1] = right[run_2 + 1u];
        uint rows_2 = 0u;
        uint param_9 = cursor;
        uint value_3 = first_stop(shared, own, key.v[1], &param_9);
        cursor = param_9;
        uint stop_2 = value_3;
        uint param_12;
        for (; stop_2 > 0u; stop_2 = next) {
            bool value_4 = matches_at(shared, own, key.v[1], stop_2, &param_12);
            next = param_12;
            if (value_4) {
                if (rows_2 == 0u) {
                    match.v[1] = stop_2;
                }
                rows_2 = rows_2 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_2;
        if (rows_2 > 1u) {
            match.v[1] = match.v[1] | 2147483648u;
        }
    }
    match.v[2] = 0u;
    if ((run_2 + 2u) < count) {
        key.v[2] = right[run_2 + 2u];
        uint rows_3 = 0u;
        uint param_14 = cursor;
        uint value_5 = first_stop(shared, own, key.v[2], &param_14);
        cursor = param_14;
        uint stop_3 = value_5;
        uint param_17;
        for (; stop_3 > 0u; stop_3 = next) {
            bool value_6 = matches_at(shared, own, key.v[2], stop_3, &param_17);
            next = param_17;
            if (value_6) {
                if (rows_3 == 0u) {
                    match.v[2] = stop_3;
                }
                rows_3 = rows_3 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_3;
        if (rows_3 > 1u) {
            match.v[2] = match.v[2] | 2147483648u;
        }
    }
    match.v[3] = 0u;
    if ((run_2 + 3u) < count) {
        key.v[3] = right[run_2 + 3u];
        uint rows_4 = 0u;
        uint param_19 = cursor;
        uint value_7 = first_stop(shared, own, key.v[3], &param_19);
        cursor = param_19;
        uint stop_4 = value_7;
        uint param_22;
        for (; stop_4 > 0u; stop_4 = next) {
            bool value_8 = matches_at(shared, own, key.v[3], stop_4, &param_22);
            next = param_22;
            if (value_8) {
                if (rows_4 == 0u) {
                    match.v[3] = stop_4;
                }
                rows_4 = rows_4 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_4;
        if (rows_4 > 1u) {
            match.v[3] = match.v[3] | 2147483648u;
        }
    }
    match.v[4] = 0u;
    if ((run_2 + 4u) < count) {
        key.v[4] = right[run_2 + 4u];
        uint rows_5 = 0u;
        uint param_24 = cursor;
        uint value_9 = first_stop(shared, own, key.v[4], &param_24);
        cursor = param_24;
        uint stop_5 = value_9;
        uint param_27;
        for (; stop_5 > 0u; stop_5 = next) {
            bool value_10 = matches_at(shared, own, key.v[4], stop_5, &param_27);
            next = param_27;
            if (value_10) {
                if (rows_5 == 0u) {
                    match.v[4] = stop_5;
                }
                rows_5 = rows_5 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_5;
        if (rows_5 > 1u) {
            match.v[4] = match.v[4] | 2147483648u;
        }
    }
    match.v[5] = 0u;
    if ((run_2 + 5u) < count) {
        key.v[5] = right[run_2 + 5u];
        uint rows_6 = 0u;
        uint param_29 = cursor;
        uint value_11 = first_stop(shared, own, key.v[5], &param_29);
        cursor = param_29;
        uint stop_6 = value_11;
        uint param_32;
        for (; stop_6 > 0u; stop_6 = next) {
            bool value_12 = matches_at(shared, own, key.v[5], stop_6, &param_32);
            next = param_32;
            if (value_12) {
                if (rows_6 == 0u) {
                    match.v[5] = stop_6;
                }
                rows_6 = rows_6 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_6;
        if (rows_6 > 1u) {
            match.v[5] = match.v[5] | 2147483648u;
        }
    }
    match.v[6] = 0u;
    if ((run_2 + 6u) < count) {
        key.v[6] = right[run_2 + 6u];
        uint rows_7 = 0u;
        uint param_34 = cursor;
        uint value_13 = first_stop(shared, own, key.v[6], &param_34);
        cursor = param_34;
        uint stop_7 = value_13;
        uint param_37;
        for (; stop_7 > 0u; stop_7 = next) {
            bool value_14 = matches_at(shared, own, key.v[6], stop_7, &param_37);
            next = param_37;
            if (value_14) {
                if (rows_7 == 0u) {
                    match.v[6] = stop_7;
                }
                rows_7 = rows_7 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_7;
        if (rows_7 > 1u) {
            match.v[6] = match.v[6] | 2147483648u;
        }
    }
    match.v[7] = 0u;
    if ((run_2 + 7u) < count) {
        key.v[7] = right[run_2 + 7u];
        uint rows_8 = 0u;
        uint param_39 = cursor;
        uint value_15 = first_stop(shared, own, key.v[7], &param_39);
        cursor = param_39;
        uint stop_8 = value_15;
        uint param_42;
        for (; stop_8 > 0u; stop_8 = next) {
            bool value_16 = matches_at(shared, own, key.v[7], stop_8, &param_42);
            next = param_42;
            if (value_16) {
                if (rows_8 == 0u) {
                    match.v[7] = stop_8;
                }
                rows_8 = rows_8 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_8;
        if (rows_8 > 1u) {
            match.v[7] = match.v[7] | 2147483648u;
        }
    }
    uint at = subgroup_sum_before(own_);
    uint param_46;
    uint value_17 = sum_before(shared, subgroup_sum(own_), &param_46);
    uint all = param_46;
    at = at + value_17;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[0];
        uint start = shared->sh_start.v[0];
        uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
        uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
        uint2 left_1 = push->left_payload;
        uint2 left_2 = push->left_payload_2;
        uint2 right_1 = push->right_payload;
        uint2 right_2 = push->right_payload_2;
        Columns columns = (Columns){push->keys_out, push->left_out, push->right_out, push->left_out_2, push->right_out_2};
        if (false || (room == all)) {
            bool found = true;
            uint stop_9 = match.v[0] & 2147483647u;
            uint param_69;
            uint param_72;
            while (stop_9 > 0u) {
                if (found) {
                    uint value_18 = at;
                    at = value_18 + 1;
                    uint to = value_18;
                    if (true || (to < room)) {
                        put_row(columns, start, to, key.v[0], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_9)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 0u));
                    }
                }
                if (match.v[0] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[0], stop_9, &param_69);
                next = param_69;
                stop_9 = next;
                if (stop_9 > 0u) {
                    bool value_19 = matches_at(shared, own, key.v[0], stop_9, &param_72);
                    next = param_72;
                    found = value_19;
                }
            }
            found = true;
            uint stop_10 = match.v[1] & 2147483647u;
            uint param_92;
            uint param_95;
            while (stop_10 > 0u) {
                if (found) {
                    uint value_20 = at;
                    at = value_20 + 1;
                    uint to_2 = value_20;
                    if (true || (to_2 < room)) {
                        put_row(columns, start, to_2, key.v[1], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_10)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 1u));
                    }
                }
                if (match.v[1] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[1], stop_10, &param_92);
                next = param_92;
                stop_10 = next;
                if (stop_10 > 0u) {
                    bool value_21 = matches_at(shared, own, key.v[1], stop_10, &param_95);
                    next = param_95;
                    found = value_21;
                }
            }
            found = true;
            uint stop_11 = match.v[2] & 2147483647u;
            uint param_115;
            uint param_118;
            while (stop_11 > 0u) {
                if (found) {
                    uint value_22 = at;
                    at = value_22 + 1;
                    uint to_3 = value_22;
                    if (true || (to_3 < room)) {
                        put_row(columns, start, to_3, key.v[2], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_11)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 2u));
                    }
                }
                if (match.v[2] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[2], stop_11, &param_115);
                next = param_115;
                stop_11 = next;
                if (stop_11 > 0u) {
                    bool value_23 = matches_at(shared, own, key.v[2], stop_11, &param_118);
                    next = param_118;
                    found = value_23;
                }
            }
            found = true;
            uint stop_12 = match.v[3] & 2147483647u;
            uint param_138;
            uint param_141;
            while (stop_12 > 0u) {
                if (found) {
                    uint value_24 = at;
                    at = value_24 + 1;
                    uint to_4 = value_24;
                    if (true || (to_4 < room)) {
                        put_row(columns, start, to_4, key.v[3], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_12)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 3u));
                    }
                }
                if (match.v[3] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[3], stop_12, &param_138);
                next = param_138;
                stop_12 = next;
                if (stop_12 > 0u) {
                    bool value_25 = matches_at(shared, own, key.v[3], stop_12, &param_141);
                    next = param_141;
                    found = value_25;
                }
            }
            found = true;
            uint stop_13 = match.v[4] & 2147483647u;
            uint param_161;
            uint param_164;
            while (stop_13 > 0u) {
                if (found) {
                    uint value_26 = at;
                    at = value_26 + 1;
                    uint to_5 = value_26;
                    if (true || (to_5 < room)) {
                        put_row(columns, start, to_5, key.v[4], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_13)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 4u));
                    }
                }
                if (match.v[4] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[4], stop_13, &param_161);
                next = param_161;
                stop_13 = next;
                if (stop_13 > 0u) {
                    bool value_27 = matches_at(shared, own, key.v[4], stop_13, &param_164);
                    next = param_164;
                    found = value_27;
                }
            }
            found = true;
            uint stop_14 = match.v[5] & 2147483647u;
            uint param_184;
            uint param_187;
            while (stop_14 > 0u) {
                if (found) {
                    uint value_28 = at;
                    at = value_28 + 1;
                    uint to_6 = value_28;
                    if (true || (to_6 < room)) {
                        put_row(columns, start, to_6, key.v[5], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_14)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 5u));
                    }
                }
                if (match.v[5] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[5], stop_14, &param_184);
                next = param_184;
                stop_14 = next;
                if (stop_14 > 0u) {
                    bool value_29 = matches_at(shared, own, key.v[5], stop_14, &param_187);
                    next = param_187;
                    found = value_29;
                }
            }
            found = true;
            uint stop_15 = match.v[6] & 2147483647u;
            uint param_207;
            uint param_210;
            while (stop_15 > 0u) {
                if (found) {
                    uint value_30 = at;
                    at = value_30 + 1;
                    uint to_7 = value_30;
                    if (true || (to_7 < room)) {
                        put_row(columns, start, to_7, key.v[6], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_15)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 6u));
                    }
                }
                if (match.v[6] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[6], stop_15, &param_207);
                next = param_207;
                stop_15 = next;
                if (stop_15 > 0u) {
                    bool value_31 = matches_at(shared, own, key.v[6], stop_15, &param_210);
                    next = param_210;
                    found = value_31;
                }
            }
            found = true;
            uint stop_16 = match.v[7] & 2147483647u;
            uint param_230;
            uint param_233;
            while (stop_16 > 0u) {
                if (found) {
                    uint value_32 = at;
                    at = value_32 + 1;
                    uint to_8 = value_32;
                    if (true || (to_8 < room)) {
                        put_row(columns, start, to_8, key.v[7], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_16)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 7u));
                    }
                }
                if (match.v[7] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[7], stop_16, &param_230);
                next = param_230;
                stop_16 = next;
                if (stop_16 > 0u) {
                    bool value_33 = matches_at(shared, own, key.v[7], stop_16, &param_233);
                    next = param_233;
                    found = value_33;
                }
            }
        }
    }
    *done = *done + all;
}

#endif

#if KEY_BITS == 64
INLINE uint first_stop(__local Shared* shared, Own* own, uint2 key, uint* cursor) {
    own->wanted = key;
    uint param_2 = *cursor;
    *cursor = gallop(shared, own, 0u, &param_2, own->left_count);
    uint variable;
    if ((*cursor) < own->left_count) {
        variable = *cursor + 1u;
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE void walk_batch(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint first, uint count, uint* done) {
    __global uint2* right = column64_from(push->right_keys, first);
    uint run_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * 8u;
    uint own_ = 0u;
    uint cursor = 0u;
    uint_x8u match;
    match.v[0] = 0u;
    uint2_x8u key;
    uint next;
    if ((run_2 + 0u) < count) {
        key.v[0] = right[run_2 + 0u];
        uint rows = 0u;
        uint param_4 = cursor;
        uint value = first_stop(shared, own, key.v[0], &param_4);
        cursor = param_4;
        uint stop = value;
        uint param_7;
        for (; stop > 0u; stop = next) {
            bool value_2 = matches_at(shared, own, key.v[0], stop, &param_7);
            next = param_7;
            if (value_2) {
                if (rows == 0u) {
                    match.v[0] = stop;
                }
                rows = rows + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows;
        if (rows > 1u) {
            match.v[0] = match.v[0] | 2147483648u;
        }
    }
    match.v[1] = 0u;
    if ((run_2 + 1u) < count) {
        key.v[1] = right[run_2 + 1u];
        uint rows_2 = 0u;
        uint param_9 = cursor;
        uint value_3 = first_stop(shared, own, key.v[1], &param_9);
        cursor = param_9;
        uint stop_2 = value_3;
        uint param_12;
        for (; stop_2 > 0u; stop_2 = next) {
            bool value_4 = matches_at(shared, own, key.v[1], stop_2, &param_12);
            next = param_12;
            if (value_4) {
                if (rows_2 == 0u) {
                    match.v[1] = stop_2;
                }
                rows_2 = rows_2 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_2;
        if (rows_2 > 1u) {
            match.v[1] = match.v[1] | 2147483648u;
        }
    }
    match.v[2] = 0u;
    if ((run_2 + 2u) < count) {
        key.v[2] = right[run_2 + 2u];
        uint rows_3 = 0u;
        uint param_14 = cursor;
        uint value_5 = first_stop(shared, own, key.v[2], &param_14);
        cursor = param_14;
        uint stop_3 = value_5;
        uint param_17;
        for (; stop_3 > 0u; stop_3 = next) {
            bool value_6 = matches_at(shared, own, key.v[2], stop_3, &param_17);
            next = param_17;
            if (value_6) {
                if (rows_3 == 0u) {
                    match.v[2] = stop_3;
                }
                rows_3 = rows_3 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_3;
        if (rows_3 > 1u) {
            match.v[2] = match.v[2] | 2147483648u;
        }
    }
    match.v[3] = 0u;
    if ((run_2 + 3u) < count) {
        key.v[3] = right[run_2 + 3u];
        uint rows_4 = 0u;
        uint param_19 = cursor;
        uint value_7 = first_stop(shared, own, key.v[3], &param_19);
        cursor = param_19;
        uint stop_4 = value_7;
        uint param_22;
        for (; stop_4 > 0u; stop_4 = next) {
            bool value_8 = matches_at(shared, own, key.v[3], stop_4, &param_22);
            next = param_22;
            if (value_8) {
                if (rows_4 == 0u) {
                    match.v[3] = stop_4;
                }
                rows_4 = rows_4 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_4;
        if (rows_4 > 1u) {
            match.v[3] = match.v[3] | 2147483648u;
        }
    }
    match.v[4] = 0u;
    if ((run_2 + 4u) < count) {
        key.v[4] = right[run_2 + 4u];
        uint rows_5 = 0u;
        uint param_24 = cursor;
        uint value_9 = first_stop(shared, own, key.v[4], &param_24);
        cursor = param_24;
        uint stop_5 = value_9;
        uint param_27;
        for (; stop_5 > 0u; stop_5 = next) {
            bool value_10 = matches_at(shared, own, key.v[4], stop_5, &param_27);
            next = param_27;
            if (value_10) {
                if (rows_5 == 0u) {
                    match.v[4] = stop_5;
                }
                rows_5 = rows_5 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_5;
        if (rows_5 > 1u) {
            match.v[4] = match.v[4] | 2147483648u;
        }
    }
    match.v[5] = 0u;
    if ((run_2 + 5u) < count) {
        key.v[5] = right[run_2 + 5u];
        uint rows_6 = 0u;
        uint param_29 = cursor;
        uint value_11 = first_stop(shared, own, key.v[5], &param_29);
        cursor = param_29;
        uint stop_6 = value_11;
        uint param_32;
        for (; stop_6 > 0u; stop_6 = next) {
            bool value_12 = matches_at(shared, own, key.v[5], stop_6, &param_32);
            next = param_32;
            if (value_12) {
                if (rows_6 == 0u) {
                    match.v[5] = stop_6;
                }
                rows_6 = rows_6 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_6;
        if (rows_6 > 1u) {
            match.v[5] = match.v[5] | 2147483648u;
        }
    }
    match.v[6] = 0u;
    if ((run_2 + 6u) < count) {
        key.v[6] = right[run_2 + 6u];
        uint rows_7 = 0u;
        uint param_34 = cursor;
        uint value_13 = first_stop(shared, own, key.v[6], &param_34);
        cursor = param_34;
        uint stop_7 = value_13;
        uint param_37;
        for (; stop_7 > 0u; stop_7 = next) {
            bool value_14 = matches_at(shared, own, key.v[6], stop_7, &param_37);
            next = param_37;
            if (value_14) {
                if (rows_7 == 0u) {
                    match.v[6] = stop_7;
                }
                rows_7 = rows_7 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_7;
        if (rows_7 > 1u) {
            match.v[6] = match.v[6] | 2147483648u;
        }
    }
    match.v[7] = 0u;
    if ((run_2 + 7u) < count) {
        key.v[7] = right[run_2 + 7u];
        uint rows_8 = 0u;
        uint param_39 = cursor;
        uint value_15 = first_stop(shared, own, key.v[7], &param_39);
        cursor = param_39;
        uint stop_8 = value_15;
        uint param_42;
        for (; stop_8 > 0u; stop_8 = next) {
            bool value_16 = matches_at(shared, own, key.v[7], stop_8, &param_42);
            next = param_42;
            if (value_16) {
                if (rows_8 == 0u) {
                    match.v[7] = stop_8;
                }
                rows_8 = rows_8 + 1;
                if (false) {
                    next = 0u;
                }
            }
        }
        own_ = own_ + rows_8;
        if (rows_8 > 1u) {
            match.v[7] = match.v[7] | 2147483648u;
        }
    }
    uint at = subgroup_sum_before(own_);
    uint param_46;
    uint value_17 = sum_before(shared, subgroup_sum(own_), &param_46);
    uint all = param_46;
    at = at + value_17;
    if (all > 0u) {
        if (LOCAL_ID_X == 0u) {
            place(push, shared, own, unit, *done, all);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint room = shared->sh_room.v[0];
        uint start = shared->sh_start.v[0];
        uint2 left_sizes = (uint2)(LEFT_WORDS, LEFT_WORDS_2);
        uint2 right_sizes = (uint2)(RIGHT_WORDS, RIGHT_WORDS_2);
        uint2 left_1 = push->left_payload;
        uint2 left_2 = push->left_payload_2;
        uint2 right_1 = push->right_payload;
        uint2 right_2 = push->right_payload_2;
        Columns columns = (Columns){push->keys_out, push->left_out, push->right_out, push->left_out_2, push->right_out_2};
        if (false || (room == all)) {
            bool found = true;
            uint stop_9 = match.v[0] & 2147483647u;
            uint param_69;
            uint param_72;
            while (stop_9 > 0u) {
                if (found) {
                    uint value_18 = at;
                    at = value_18 + 1;
                    uint to = value_18;
                    if (true || (to < room)) {
                        put_row(columns, start, to, key.v[0], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_9)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 0u));
                    }
                }
                if (match.v[0] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[0], stop_9, &param_69);
                next = param_69;
                stop_9 = next;
                if (stop_9 > 0u) {
                    bool value_19 = matches_at(shared, own, key.v[0], stop_9, &param_72);
                    next = param_72;
                    found = value_19;
                }
            }
            found = true;
            uint stop_10 = match.v[1] & 2147483647u;
            uint param_92;
            uint param_95;
            while (stop_10 > 0u) {
                if (found) {
                    uint value_20 = at;
                    at = value_20 + 1;
                    uint to_2 = value_20;
                    if (true || (to_2 < room)) {
                        put_row(columns, start, to_2, key.v[1], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_10)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 1u));
                    }
                }
                if (match.v[1] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[1], stop_10, &param_92);
                next = param_92;
                stop_10 = next;
                if (stop_10 > 0u) {
                    bool value_21 = matches_at(shared, own, key.v[1], stop_10, &param_95);
                    next = param_95;
                    found = value_21;
                }
            }
            found = true;
            uint stop_11 = match.v[2] & 2147483647u;
            uint param_115;
            uint param_118;
            while (stop_11 > 0u) {
                if (found) {
                    uint value_22 = at;
                    at = value_22 + 1;
                    uint to_3 = value_22;
                    if (true || (to_3 < room)) {
                        put_row(columns, start, to_3, key.v[2], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_11)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 2u));
                    }
                }
                if (match.v[2] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[2], stop_11, &param_115);
                next = param_115;
                stop_11 = next;
                if (stop_11 > 0u) {
                    bool value_23 = matches_at(shared, own, key.v[2], stop_11, &param_118);
                    next = param_118;
                    found = value_23;
                }
            }
            found = true;
            uint stop_12 = match.v[3] & 2147483647u;
            uint param_138;
            uint param_141;
            while (stop_12 > 0u) {
                if (found) {
                    uint value_24 = at;
                    at = value_24 + 1;
                    uint to_4 = value_24;
                    if (true || (to_4 < room)) {
                        put_row(columns, start, to_4, key.v[3], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_12)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 3u));
                    }
                }
                if (match.v[3] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[3], stop_12, &param_138);
                next = param_138;
                stop_12 = next;
                if (stop_12 > 0u) {
                    bool value_25 = matches_at(shared, own, key.v[3], stop_12, &param_141);
                    next = param_141;
                    found = value_25;
                }
            }
            found = true;
            uint stop_13 = match.v[4] & 2147483647u;
            uint param_161;
            uint param_164;
            while (stop_13 > 0u) {
                if (found) {
                    uint value_26 = at;
                    at = value_26 + 1;
                    uint to_5 = value_26;
                    if (true || (to_5 < room)) {
                        put_row(columns, start, to_5, key.v[4], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_13)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 4u));
                    }
                }
                if (match.v[4] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[4], stop_13, &param_161);
                next = param_161;
                stop_13 = next;
                if (stop_13 > 0u) {
                    bool value_27 = matches_at(shared, own, key.v[4], stop_13, &param_164);
                    next = param_164;
                    found = value_27;
                }
            }
            found = true;
            uint stop_14 = match.v[5] & 2147483647u;
            uint param_184;
            uint param_187;
            while (stop_14 > 0u) {
                if (found) {
                    uint value_28 = at;
                    at = value_28 + 1;
                    uint to_6 = value_28;
                    if (true || (to_6 < room)) {
                        put_row(columns, start, to_6, key.v[5], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_14)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 5u));
                    }
                }
                if (match.v[5] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[5], stop_14, &param_184);
                next = param_184;
                stop_14 = next;
                if (stop_14 > 0u) {
                    bool value_29 = matches_at(shared, own, key.v[5], stop_14, &param_187);
                    next = param_187;
                    found = value_29;
                }
            }
            found = true;
            uint stop_15 = match.v[6] & 2147483647u;
            uint param_207;
            uint param_210;
            while (stop_15 > 0u) {
                if (found) {
                    uint value_30 = at;
                    at = value_30 + 1;
                    uint to_7 = value_30;
                    if (true || (to_7 < room)) {
                        put_row(columns, start, to_7, key.v[6], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_15)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 6u));
                    }
                }
                if (match.v[6] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[6], stop_15, &param_207);
                next = param_207;
                stop_15 = next;
                if (stop_15 > 0u) {
                    bool value_31 = matches_at(shared, own, key.v[6], stop_15, &param_210);
                    next = param_210;
                    found = value_31;
                }
            }
            found = true;
            uint stop_16 = match.v[7] & 2147483647u;
            uint param_230;
            uint param_233;
            while (stop_16 > 0u) {
                if (found) {
                    uint value_32 = at;
                    at = value_32 + 1;
                    uint to_8 = value_32;
                    if (true || (to_8 < room)) {
                        put_row(columns, start, to_8, key.v[7], payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop_16)), payloads_of(right_1, right_2, right_sizes, first, run_2 + 7u));
                    }
                }
                if (match.v[7] < 2147483648u) {
                    break;
                }
                matches_at(shared, own, key.v[7], stop_16, &param_230);
                next = param_230;
                stop_16 = next;
                if (stop_16 > 0u) {
                    bool value_33 = matches_at(shared, own, key.v[7], stop_16, &param_233);
                    next = param_233;
                    found = value_33;
                }
            }
        }
    }
    *done = *done + all;
}

#endif

INLINE void walk_unit(const Push* push, __local Shared* shared, Own* own, uint unit, uint left_first, uint right_first, uint right_count) {
    uint done = 0u;
    uint first = 0u;
    for (; first < right_count; first = first + 8u * WORKGROUP) {
        uint param_5 = done;
        walk_batch(push, shared, own, unit, left_first, right_first + first, min(right_count - first, 8u * WORKGROUP), &param_5);
        done = param_5;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    count_rows(push, done);
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    own->turn = 0u;
    uint unit = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint4 rows = ((__global uint4*)as_ulong(element_address(push->units, unit, 4u)))[0];
    own->left_count = rows.y - rows.x;
    load_left(push, shared, own, rows.x);
    barrier(CLK_LOCAL_MEM_FENCE);
    walk_unit(push, shared, own, unit, rows.x, rows.z, rows.w - rows.z);
}

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_walk(__global uchar* units, __global uchar* left_keys, __global uchar* right_keys, __global uchar* left_payload, __global uchar* right_payload, __global uchar* left_payload_2, __global uchar* right_payload_2, __global uchar* places, __global uchar* keys_out, __global uchar* left_out, __global uchar* right_out, __global uchar* left_out_2, __global uchar* right_out_2, const Words words) {
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
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

