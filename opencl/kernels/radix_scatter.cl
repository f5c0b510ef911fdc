// Kernel radix_scatter in OpenCL C 1.2, translated from shaders/radix_scatter.comp by make generate; do not edit.
// Variants:
//   key_bits=32 payload_bits=0 serial=0 shared=0 lookback=0
//   key_bits=32 payload_bits=0 serial=0 shared=0 lookback=1
//   key_bits=32 payload_bits=0 serial=0 shared=1 lookback=0
//   key_bits=32 payload_bits=0 serial=1 shared=0 lookback=0
//   key_bits=32 payload_bits=32 serial=0 shared=0 lookback=0
//   key_bits=32 payload_bits=32 serial=0 shared=0 lookback=1
//   key_bits=32 payload_bits=32 serial=0 shared=1 lookback=0
//   key_bits=32 payload_bits=32 serial=1 shared=0 lookback=0
//   key_bits=32 payload_bits=64 serial=0 shared=0 lookback=0
//   key_bits=32 payload_bits=64 serial=0 shared=0 lookback=1
//   key_bits=32 payload_bits=64 serial=0 shared=1 lookback=0
//   key_bits=32 payload_bits=64 serial=1 shared=0 lookback=0
//   key_bits=64 payload_bits=0 serial=0 shared=0 lookback=0
//   key_bits=64 payload_bits=0 serial=0 shared=0 lookback=1
//   key_bits=64 payload_bits=0 serial=0 shared=1 lookback=0
//   key_bits=64 payload_bits=0 serial=1 shared=0 lookback=0
//   key_bits=64 payload_bits=32 serial=0 shared=0 lookback=0
//   key_bits=64 payload_bits=32 serial=0 shared=0 lookback=1
//   key_bits=64 payload_bits=32 serial=0 shared=1 lookback=0
//   key_bits=64 payload_bits=32 serial=1 shared=0 lookback=0
//   key_bits=64 payload_bits=64 serial=0 shared=0 lookback=0
//   key_bits=64 payload_bits=64 serial=0 shared=0 lookback=1
//   key_bits=64 payload_bits=64 serial=0 shared=1 lookback=0
//   key_bits=64 payload_bits=64 serial=1 shared=0 lookback=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "radix_scatter: this variant needs subgroups"
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

typedef struct { uint2 keys_in; uint2 payload_in; uint2 payload_in_2; uint2 payload_in_3; uint2 offsets; uint2 chain; uint2 keys_out; uint2 payload_out; uint2 payload_out_2; uint2 payload_out_3; uint2 next_offsets; uint rows; uint tiles; uint first_row; uint shift; uint bits; uint seed; uint first_group; uint end_group; } Push;

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

typedef struct { uint shift; uint mask; } Digit;

#if SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

INLINE uint subgroup_sum_before(uint a) {
    uint value = subgroup_exclusive_add(a);
    return value;
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

typedef struct { uint v[(256u + WORKGROUP - 1u) / WORKGROUP]; } uint_x256u_workgroup_1u_workgrou;

typedef struct { uint v[(ITEMS + 1u) / 2u]; } uint_xitems_1u_2u;

typedef struct { uint v[(ITEMS + 3u) / 4u]; } uint_xitems_3u_4u;

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0) || (KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0 && SHARED == 0)
typedef struct { uint v[(WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS]; } uint_xworkgroup_items_256u_256u_;

#endif

#if SERIAL == 0
typedef struct { uint v[256u]; } uint_x256u;

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0) || (KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0)
typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint_xworkgroup_items_256u_256u_ sh_data;
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint_x256u sh_to;
} Shared;

#endif

#if KEY_BITS == 32
INLINE uint mix_of(uint* key, uint seed) {
    *key = (*key) ^ seed;
    *key = ((*key) ^ ((*key) >> 16)) * 2246822507u;
    *key = ((*key) ^ ((*key) >> 13)) * 3266489909u;
    return (*key) ^ ((*key) >> 16);
}

INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}

#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE uint as_moved_u1_u1(uint key, uint own_seed) {
    uint variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint param = key;
        variable = mix_of(&param, own_seed);
    }
    return variable;
}

INLINE uint as_moved_u1(const Push* push, uint key) {
    uint value = as_moved_u1_u1(key, push->seed);
    return value;
}

#endif

#if (KEY_BITS == 32 && SERIAL == 0) || SHARED == 1 || (PAYLOAD_BITS == 32 && SERIAL == 0)
typedef struct { uint v[ITEMS]; } uint_xitems;

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 0 && LOOKBACK == 1) || (KEY_BITS == 32 && PAYLOAD_BITS == 32 && LOOKBACK == 1)
typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint_x256u sh_to;
    uint_xworkgroup_items_256u_256u_ sh_data;
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint sh_stuck;
} Shared;

#endif

#if LOOKBACK == 1
INLINE __global volatile uint* word_of(const Push* push, uint tile, uint digit) {
    return (__global volatile uint*)as_ulong(element_address(push->chain, (tile + AHEAD) * 256u + digit, 2u));
}

typedef struct { uint v[AHEAD]; } uint_xahead;

#endif

#if LOOKBACK == 1 || PAYLOAD_BITS == 32 || PAYLOAD_BITS == 64
INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 0 && SHARED == 1) || (KEY_BITS == 32 && PAYLOAD_BITS == 32 && SHARED == 1)
typedef struct { uint v[(WORKGROUP * ITEMS) < (4u * WORKGROUP) ? 4u * WORKGROUP : WORKGROUP * ITEMS]; } uint_xworkgroup_items_4u_workgro;

typedef struct {
    uint_xworkgroup_items_4u_workgro sh_data;
    uint_x256u sh_to;
} Shared;

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0) || (KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0)
INLINE void put(__local Shared* shared, uint place, uint value) {
    shared->sh_data.v[place] = value;
}

INLINE void get(__local Shared* shared, uint place, uint* value) {
    *value = shared->sh_data.v[place];
}

#endif

#if SHARED == 1
INLINE uint2 one(uint counter) {
    uint half_one = 1u << (16u * (counter & 1u));
    uint2 variable;
    if (counter < 2u) {
        variable = (uint2)(half_one, 0u);
    } else {
        variable = (uint2)(0u, half_one);
    }
    return variable;
}

INLINE uint2 add_counts(uint2 a, uint2 b) {
    return a + b;
}

INLINE uint counted(uint2 counts, uint counter) {
    uint variable;
    if (counter < 2u) {
        variable = counts.x;
    } else {
        variable = counts.y;
    }
    return (variable >> (16u * (counter & 1u))) & 65535u;
}

#endif

#if SERIAL == 1
typedef struct { uint v[DIGITS + 1u]; } uint_xdigits_1u;

typedef struct {
    uint_xdigits_1u sh_cursor;
} Shared;

#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE uint as_moved(uint key, uint own_seed) {
    uint variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint param = key;
        variable = mix_of(&param, own_seed);
    }
    return variable;
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value = subgroup_shuffle(digit_2, j);
            bool same = value == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_2 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column32_from(to_keys, to)[0] = key;
        }
    }
}

#endif

#if PAYLOAD_BITS == 32
INLINE uint widen(uint a, uint like) {
    return a;
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    bool numbered = absent(push->payload_in);
    uint number = push->first_row + begin;
    uint2 from_payload = push->payload_in;
    uint2 from_payload_2 = push->payload_in_2;
    uint2 from_payload_3 = push->payload_in_3;
    uint2 to_payload = push->payload_out;
    uint2 to_payload_2 = push->payload_out_2;
    uint2 to_payload_3 = push->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j);
            bool same = value_2 == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_3 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_3 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column32_from(to_keys, to)[0] = key;
            uint value = widen(number + i, 0u);
            if (!numbered) {
                value = column32_from(from_payload, begin)[i];
            }
            column32_from(to_payload, to)[0] = value;
            if (COLUMNS > 1u) {
                column32_from(to_payload_2, to)[0] = column32_from(from_payload_2, begin)[i];
            }
            if (COLUMNS > 2u) {
                column32_from(to_payload_3, to)[0] = column32_from(from_payload_3, begin)[i];
            }
        }
    }
}

#endif

#if (PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0) || (KEY_BITS == 64 && SERIAL == 0 && SHARED == 0)
typedef struct { uint v[(2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)]; } uint_x2u_workgroup_items_256u_25;

#endif

#if (PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0) || (KEY_BITS == 64 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0)
typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint_x2u_workgroup_items_256u_25 sh_data;
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint_x256u sh_to;
} Shared;

#endif

#if PAYLOAD_BITS == 64
INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

#endif

#if PAYLOAD_BITS == 64 || KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#endif

#if (PAYLOAD_BITS == 64 && SERIAL == 0) || (KEY_BITS == 64 && SERIAL == 0)
typedef struct { uint2 v[ITEMS]; } uint2_xitems;

#endif

#if (PAYLOAD_BITS == 64 && LOOKBACK == 1) || (KEY_BITS == 64 && LOOKBACK == 1)
typedef struct {
    uint_xworkgroup_3u_4u sh_subgroup_sum;
    uint_x256u sh_to;
    uint_x2u_workgroup_items_256u_25 sh_data;
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint sh_stuck;
} Shared;

#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint workgroup_sum(__local Shared* shared, uint own_, uint* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all = 0u;
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before;
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint turn = 0u;
    uint late;
    uint4 variable;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))) == turn) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                if ((k_4 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_4], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable = others;
                    } else {
                        variable = ~others;
                    }
                    same = same & variable;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_4 % 2u) == 0u) {
                    place.v[k_4 / 2u] = to;
                } else {
                    uint value_11 = k_4 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    uint half_word;
    uint variable_2;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        if ((k_5 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_5 % 2u) == 0u) {
            variable_2 = place.v[k_5 / 2u] << half_word >> 16;
        } else {
            variable_2 = place.v[k_5 / 2u] >> half_word;
        }
        put(shared, variable_2, key.v[k_5]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    uint param_22;
    uint2 variable_3;
    uint variable_4;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        if ((k_6 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_6 * WORKGROUP;
        get(shared, i_2, &param_22);
        uint sorted = param_22;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_3 = push->keys_out;
        } else {
            variable_3 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_3);
        if (FAR == 0u) {
            variable_4 = to_2;
        } else {
            variable_4 = to_2 & 1073741823u;
        }
        to_2 = variable_4;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_6 % 4u) == 0u) {
            digits.v[k_6 / 4u] = digit_5;
        } else {
            uint value_12 = k_6 / 4u;
            digits.v[value_12] = digits.v[value_12] | (digit_5 << (k_6 % 4u * 8u));
        }
        if (((k_6 % 4u) == 3u) || (k_6 + 1u) == ITEMS) {
            uint value_13 = subgroup_shuffle(digits.v[k_6 / 4u], subgroup_local_id());
            digits.v[k_6 / 4u] = value_13;
        }
    }
}

#endif

#if LOOKBACK == 1
INLINE void settle(const Push* push, __local Shared* shared, uint tile, bool last, uint digit, uint base, uint before, uint total, uint start) {
    if (tile > 0u) {
        word_of(push, tile, digit)[0] = 2147483648u | (before + total);
    }
    shared->sh_to.v[digit] = base + before - start;
    if (last && !absent(push->next_offsets)) {
        column32_from(push->next_offsets, digit)[0] = base + before + total;
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint turn = 0u;
    uint late;
    uint4 variable;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))) == turn) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                if ((k_4 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_4], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable = others;
                    } else {
                        variable = ~others;
                    }
                    same = same & variable;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_4 % 2u) == 0u) {
                    place.v[k_4 / 2u] = to;
                } else {
                    uint value_11 = k_4 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    uint half_word;
    uint variable_2;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        if ((k_5 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_5 % 2u) == 0u) {
            variable_2 = place.v[k_5 / 2u] << half_word >> 16;
        } else {
            variable_2 = place.v[k_5 / 2u] >> half_word;
        }
        put(shared, variable_2, key.v[k_5]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_3;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_12 = d_3;
        if (digit_4 < 256u) {
            variable_3 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_3 = 0u;
        }
        base.v[value_12] = variable_3;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_4;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_13 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_13;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_14 = d_4;
                    before.v[value_14] = before.v[value_14] + (word.v[j_2] & 1073741823u);
                    uint value_15 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_4 = 0u;
                    } else {
                        variable_4 = next.v[d_4] - 1u;
                    }
                    next.v[value_15] = variable_4;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_5;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others_2 = column32_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint value_16 = as_moved_u1(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_16, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_17 = d_5;
                    before.v[value_17] = before.v[value_17] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_18 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_18;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_19 = d_5;
                        before.v[value_19] = before.v[value_19] + (word_2 & 1073741823u);
                        uint value_20 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_5 = 0u;
                        } else {
                            variable_5 = next.v[d_5] - 1u;
                        }
                        next.v[value_20] = variable_5;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_6 = 0u;
    uint param_47;
    uint2 variable_6;
    uint variable_7;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        if ((k_6 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_6 * WORKGROUP;
        get(shared, i_4, &param_47);
        uint sorted = param_47;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_6 = push->keys_out;
        } else {
            variable_6 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_6);
        if (FAR == 0u) {
            variable_7 = to_2;
        } else {
            variable_7 = to_2 & 1073741823u;
        }
        to_2 = variable_7;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_6 % 4u) == 0u) {
            digits.v[k_6 / 4u] = digit_7;
        } else {
            uint value_21 = k_6 / 4u;
            digits.v[value_21] = digits.v[value_21] | (digit_7 << (k_6 % 4u * 8u));
        }
        if (((k_6 % 4u) == 3u) || (k_6 + 1u) == ITEMS) {
            uint value_22 = subgroup_shuffle(digits.v[k_6 / 4u], subgroup_local_id());
            digits.v[k_6 / 4u] = value_22;
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint* from = column32_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    payload.v[k_5] = from[(k_5 * subgroup_size()) << 0];
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = 0u;
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        payload.v[k_6] = from[(k_6 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_11 = k_7 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_9 = 0u;
    uint param_27;
    uint2 variable_7;
    uint variable_8;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_9 * WORKGROUP;
        get(shared, i_2, &param_27);
        uint sorted = param_27;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_7 = push->keys_out;
        } else {
            variable_7 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_7);
        if (FAR == 0u) {
            variable_8 = to_2;
        } else {
            variable_8 = to_2 & 1073741823u;
        }
        to_2 = variable_8;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_5;
        } else {
            uint value_12 = k_9 / 4u;
            digits.v[value_12] = digits.v[value_12] | (digit_5 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_13 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_13;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_9;
        if (true) {
            variable_9 = push->payload_in;
        } else {
            uint2 variable_10;
            if (false) {
                variable_10 = push->payload_in_2;
            } else {
                variable_10 = push->payload_in_3;
            }
            variable_9 = variable_10;
        }
        if (absent(variable_9)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_11;
            if (true) {
                variable_11 = push->payload_in;
            } else {
                uint2 variable_12;
                if (false) {
                    variable_12 = push->payload_in_2;
                } else {
                    variable_12 = push->payload_in_3;
                }
                variable_11 = variable_12;
            }
            __global uint* from_2 = column32_from(variable_11, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    payload.v[k_11] = from_2[(k_11 * subgroup_size()) << 0];
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = 0u;
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        payload.v[k_12] = from_2[(k_12 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_13;
    uint2 variable_14;
    uint2 variable_15;
    uint2 variable_16;
    uint2 variable_17;
    uint count_here;
    uint param_43;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint variable_25;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_13 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_13 = place.v[k_13 / 2u] >> half_word;
            }
            put(shared, variable_13, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_14 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            if (absent(variable_14)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), 0u);
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_16 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_17 = push->payload_in_2;
                    } else {
                        variable_17 = push->payload_in_3;
                    }
                    variable_16 = variable_17;
                }
                __global uint* from_3 = column32_from(variable_16, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        payload.v[k_15] = from_3[(k_15 * subgroup_size()) << 0];
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = 0u;
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            payload.v[k_16] = from_3[(k_16 * subgroup_size()) << 0];
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_3 = LOCAL_ID_X + k_17 * WORKGROUP;
            get(shared, i_3, &param_43);
            uint sorted_2 = param_43;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_3;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_19 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_20 = push->payload_out_2;
                    } else {
                        variable_20 = push->payload_out_3;
                    }
                    variable_19 = variable_20;
                }
                variable_18 = variable_19;
            } else {
                if (c == 0u) {
                    variable_21 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_22 = push->payload_out_2;
                    } else {
                        variable_22 = push->payload_out_3;
                    }
                    variable_21 = variable_22;
                }
                uint value_14 = variable_21.x;
                if (c == 0u) {
                    variable_23 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_24 = push->payload_out_2;
                    } else {
                        variable_24 = push->payload_out_3;
                    }
                    variable_23 = variable_24;
                }
                variable_18 = (uint2)(value_14, variable_23.y + (to_3 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_18);
            if (FAR == 0u) {
                variable_25 = to_3;
            } else {
                variable_25 = to_3 & 1073741823u;
            }
            to_3 = variable_25;
            if (i_3 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint* from = column32_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    payload.v[k_5] = from[(k_5 * subgroup_size()) << 0];
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = 0u;
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        payload.v[k_6] = from[(k_6 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u - 1u) / (((WORKGROUP * ITEMS) < 256u ? 256u : WORKGROUP * ITEMS) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_11 = k_7 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_7;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_12 = d_3;
        if (digit_4 < 256u) {
            variable_7 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_7 = 0u;
        }
        base.v[value_12] = variable_7;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_8;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_13 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_13;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_14 = d_4;
                    before.v[value_14] = before.v[value_14] + (word.v[j_2] & 1073741823u);
                    uint value_15 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_8 = 0u;
                    } else {
                        variable_8 = next.v[d_4] - 1u;
                    }
                    next.v[value_15] = variable_8;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_9;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others_2 = column32_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint value_16 = as_moved_u1(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_16, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_17 = d_5;
                    before.v[value_17] = before.v[value_17] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_18 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_18;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_19 = d_5;
                        before.v[value_19] = before.v[value_19] + (word_2 & 1073741823u);
                        uint value_20 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_9 = 0u;
                        } else {
                            variable_9 = next.v[d_5] - 1u;
                        }
                        next.v[value_20] = variable_9;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_9 = 0u;
    uint param_52;
    uint2 variable_10;
    uint variable_11;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_9 * WORKGROUP;
        get(shared, i_4, &param_52);
        uint sorted = param_52;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_10 = push->keys_out;
        } else {
            variable_10 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_10);
        if (FAR == 0u) {
            variable_11 = to_2;
        } else {
            variable_11 = to_2 & 1073741823u;
        }
        to_2 = variable_11;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_7;
        } else {
            uint value_21 = k_9 / 4u;
            digits.v[value_21] = digits.v[value_21] | (digit_7 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_22 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_22;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_12;
        if (true) {
            variable_12 = push->payload_in;
        } else {
            uint2 variable_13;
            if (false) {
                variable_13 = push->payload_in_2;
            } else {
                variable_13 = push->payload_in_3;
            }
            variable_12 = variable_13;
        }
        if (absent(variable_12)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_14;
            if (true) {
                variable_14 = push->payload_in;
            } else {
                uint2 variable_15;
                if (false) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            __global uint* from_2 = column32_from(variable_14, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    payload.v[k_11] = from_2[(k_11 * subgroup_size()) << 0];
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = 0u;
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        payload.v[k_12] = from_2[(k_12 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_16;
    uint2 variable_17;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint count_here;
    uint param_68;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint2 variable_25;
    uint2 variable_26;
    uint2 variable_27;
    uint variable_28;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_16 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_16 = place.v[k_13 / 2u] >> half_word;
            }
            put(shared, variable_16, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_17 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_18 = push->payload_in_2;
                } else {
                    variable_18 = push->payload_in_3;
                }
                variable_17 = variable_18;
            }
            if (absent(variable_17)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), 0u);
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_19 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_20 = push->payload_in_2;
                    } else {
                        variable_20 = push->payload_in_3;
                    }
                    variable_19 = variable_20;
                }
                __global uint* from_3 = column32_from(variable_19, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        payload.v[k_15] = from_3[(k_15 * subgroup_size()) << 0];
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = 0u;
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            payload.v[k_16] = from_3[(k_16 * subgroup_size()) << 0];
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_5 = LOCAL_ID_X + k_17 * WORKGROUP;
            get(shared, i_5, &param_68);
            uint sorted_2 = param_68;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_5;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_22 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_23 = push->payload_out_2;
                    } else {
                        variable_23 = push->payload_out_3;
                    }
                    variable_22 = variable_23;
                }
                variable_21 = variable_22;
            } else {
                if (c == 0u) {
                    variable_24 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_25 = push->payload_out_2;
                    } else {
                        variable_25 = push->payload_out_3;
                    }
                    variable_24 = variable_25;
                }
                uint value_23 = variable_24.x;
                if (c == 0u) {
                    variable_26 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_27 = push->payload_out_2;
                    } else {
                        variable_27 = push->payload_out_3;
                    }
                    variable_26 = variable_27;
                }
                variable_21 = (uint2)(value_23, variable_26.y + (to_3 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_21);
            if (FAR == 0u) {
                variable_28 = to_3;
            } else {
                variable_28 = to_3 & 1073741823u;
            }
            to_3 = variable_28;
            if (i_5 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if (PAYLOAD_BITS == 64 && SHARED == 1) || (KEY_BITS == 64 && SHARED == 1)
typedef struct { uint v[(2u * (WORKGROUP * ITEMS)) < (4u * WORKGROUP) ? 4u * WORKGROUP : 2u * (WORKGROUP * ITEMS)]; } uint_x2u_workgroup_items_4u_work;

typedef struct {
    uint_x2u_workgroup_items_4u_work sh_data;
    uint_x256u sh_to;
} Shared;

#endif

#if SHARED == 1
INLINE void put_scanned(__local Shared* shared, uint at, uint2 counts) {
    shared->sh_data.v[at] = counts.x;
    shared->sh_data.v[2u * WORKGROUP + at] = counts.y;
}

INLINE uint2 scanned(__local Shared* shared, uint at) {
    return (uint2)(shared->sh_data.v[at], shared->sh_data.v[2u * WORKGROUP + at]);
}

INLINE uint2 workgroup_scan(__local Shared* shared, uint2* own_, uint2* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = add_counts(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return (uint2)(0u);
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = 4294967295u;
        if (i < count) {
            uint value_2 = as_moved_u1(push, keys[i << NARROW]);
            key.v[k] = value_2;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_3 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_3;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get(shared, word.v[k_7] & 65535u, &param_20);
        uint value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable);
        if (i_4 < count) {
            __global uint* value_4 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 1073741823u;
            }
            value_4[variable_2] = value;
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = 4294967295u;
        if (i < count) {
            uint value_3 = as_moved_u1(push, keys[i << NARROW]);
            key.v[k] = value_3;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_4 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_4;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get(shared, word.v[k_7] & 65535u, &param_20);
        uint value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable);
        if (i_4 < count) {
            __global uint* value_5 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 1073741823u;
            }
            value_5[variable_2] = value;
        }
    }
    uint c = 0u;
    uint2 variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    uint_xitems payload;
    uint param_29;
    uint2 variable_7;
    uint2 variable_8;
    uint2 variable_9;
    uint2 variable_10;
    uint2 variable_11;
    uint2 variable_12;
    uint2 variable_13;
    uint variable_14;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        if (c == 0u) {
            variable_3 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_4 = push->payload_in_2;
            } else {
                variable_4 = push->payload_in_3;
            }
            variable_3 = variable_4;
        }
        __global uint* from_2 = column32_from(variable_3, begin);
        if (c == 0u) {
            variable_5 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_6 = push->payload_in_2;
            } else {
                variable_6 = push->payload_in_3;
            }
            variable_5 = variable_6;
        }
        bool numbered = absent(variable_5);
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            uint i_5 = LOCAL_ID_X + k_8 * WORKGROUP;
            payload.v[k_8] = widen(push->first_row + begin + i_5, 0u);
            if ((!numbered) && (i_5 < count)) {
                payload.v[k_8] = from_2[i_5];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_9 = 0u;
        UNROLL
        for (; k_9 < ITEMS; k_9 = k_9 + 1) {
            put(shared, LOCAL_ID_X + k_9 * WORKGROUP, payload.v[k_9]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_10 = 0u;
        UNROLL
        for (; k_10 < ITEMS; k_10 = k_10 + 1) {
            uint i_6 = LOCAL_ID_X + k_10 * WORKGROUP;
            uint row_2 = shared->sh_to.v[word.v[k_10] >> 16] + i_6;
            get(shared, word.v[k_10] & 65535u, &param_29);
            uint value_2 = param_29;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_8 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_9 = push->payload_out_2;
                    } else {
                        variable_9 = push->payload_out_3;
                    }
                    variable_8 = variable_9;
                }
                variable_7 = variable_8;
            } else {
                if (c == 0u) {
                    variable_10 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_11 = push->payload_out_2;
                    } else {
                        variable_11 = push->payload_out_3;
                    }
                    variable_10 = variable_11;
                }
                uint value_6 = variable_10.x;
                if (c == 0u) {
                    variable_12 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_13 = push->payload_out_2;
                    } else {
                        variable_13 = push->payload_out_3;
                    }
                    variable_12 = variable_13;
                }
                variable_7 = (uint2)(value_6, variable_12.y + (row_2 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_7);
            if (i_6 < count) {
                __global uint* value_7 = page_2;
                if (FAR == 0u) {
                    variable_14 = row_2;
                } else {
                    variable_14 = row_2 & 1073741823u;
                }
                value_7[variable_14] = value_2;
            }
        }
    }
}

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0) || (KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0)
INLINE void put_u1_u1(__local Shared* shared, uint place, uint value) {
    shared->sh_data.v[place] = value;
}

INLINE void get_u1_u1(__local Shared* shared, uint place, uint* value) {
    *value = shared->sh_data.v[place];
}

INLINE void put_u1_vu2(__local Shared* shared, uint place, uint2 value) {
    shared->sh_data.v[place] = value.x;
    shared->sh_data.v[WORKGROUP * ITEMS + place] = value.y;
}

INLINE void get_u1_vu2(__local Shared* shared, uint place, uint2* value) {
    *value = (uint2)(shared->sh_data.v[place], shared->sh_data.v[WORKGROUP * ITEMS + place]);
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint2* from = column64_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    uint2 value_7 = from[(k_5 * subgroup_size()) << 0];
                    payload.v[k_5] = (uint2)(value_7.x, value_7.y);
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = (uint2)(0u);
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        uint2 value_8 = from[(k_6 * subgroup_size()) << 0];
                        payload.v[k_6] = (uint2)(value_8.x, value_8.y);
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_9 = subgroup_ballot(true);
                uint4 same = value_9;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_10 = subgroup_ballot(set);
                    uint4 others = value_10;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_11 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_11;
                subgroup_barrier();
                uint value_12 = subgroup_ballot_find_msb(same);
                if (value_12 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_13 = k_7 / 2u;
                    place.v[value_13] = place.v[value_13] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put_u1_u1(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_9 = 0u;
    uint param_27;
    uint2 variable_7;
    uint variable_8;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_9 * WORKGROUP;
        get_u1_u1(shared, i_2, &param_27);
        uint sorted = param_27;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_7 = push->keys_out;
        } else {
            variable_7 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_7);
        if (FAR == 0u) {
            variable_8 = to_2;
        } else {
            variable_8 = to_2 & 1073741823u;
        }
        to_2 = variable_8;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_5;
        } else {
            uint value_14 = k_9 / 4u;
            digits.v[value_14] = digits.v[value_14] | (digit_5 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_15 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_15;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_9;
        if (true) {
            variable_9 = push->payload_in;
        } else {
            uint2 variable_10;
            if (false) {
                variable_10 = push->payload_in_2;
            } else {
                variable_10 = push->payload_in_3;
            }
            variable_9 = variable_10;
        }
        if (absent(variable_9)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_11;
            if (true) {
                variable_11 = push->payload_in;
            } else {
                uint2 variable_12;
                if (false) {
                    variable_12 = push->payload_in_2;
                } else {
                    variable_12 = push->payload_in_3;
                }
                variable_11 = variable_12;
            }
            __global uint2* from_2 = column64_from(variable_11, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    uint2 value_16 = from_2[(k_11 * subgroup_size()) << 0];
                    payload.v[k_11] = (uint2)(value_16.x, value_16.y);
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = (uint2)(0u);
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        uint2 value_17 = from_2[(k_12 * subgroup_size()) << 0];
                        payload.v[k_12] = (uint2)(value_17.x, value_17.y);
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_13;
    uint2 variable_14;
    uint2 variable_15;
    uint2 variable_16;
    uint2 variable_17;
    uint count_here;
    uint2 param_43;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint variable_25;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_13 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_13 = place.v[k_13 / 2u] >> half_word;
            }
            put_u1_vu2(shared, variable_13, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_14 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            if (absent(variable_14)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), (uint2)(0u));
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_16 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_17 = push->payload_in_2;
                    } else {
                        variable_17 = push->payload_in_3;
                    }
                    variable_16 = variable_17;
                }
                __global uint2* from_3 = column64_from(variable_16, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        uint2 value_18 = from_3[(k_15 * subgroup_size()) << 0];
                        payload.v[k_15] = (uint2)(value_18.x, value_18.y);
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = (uint2)(0u);
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            uint2 value_19 = from_3[(k_16 * subgroup_size()) << 0];
                            payload.v[k_16] = (uint2)(value_19.x, value_19.y);
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_3 = LOCAL_ID_X + k_17 * WORKGROUP;
            get_u1_vu2(shared, i_3, &param_43);
            uint2 sorted_2 = param_43;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_3;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_19 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_20 = push->payload_out_2;
                    } else {
                        variable_20 = push->payload_out_3;
                    }
                    variable_19 = variable_20;
                }
                variable_18 = variable_19;
            } else {
                if (c == 0u) {
                    variable_21 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_22 = push->payload_out_2;
                    } else {
                        variable_22 = push->payload_out_3;
                    }
                    variable_21 = variable_22;
                }
                uint value_20 = variable_21.x;
                if (c == 0u) {
                    variable_23 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_24 = push->payload_out_2;
                    } else {
                        variable_24 = push->payload_out_3;
                    }
                    variable_23 = variable_24;
                }
                variable_18 = (uint2)(value_20, variable_23.y + (to_3 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_18);
            if (FAR == 0u) {
                variable_25 = to_3;
            } else {
                variable_25 = to_3 & 536870911u;
            }
            to_3 = variable_25;
            if (i_3 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint* keys = column32_from(push->keys_in, (begin + run_2) << NARROW);
    uint_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint value = as_moved_u1(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = 4294967295u;
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint value_2 = as_moved_u1(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of(4294967295u, (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint2* from = column64_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    uint2 value_7 = from[(k_5 * subgroup_size()) << 0];
                    payload.v[k_5] = (uint2)(value_7.x, value_7.y);
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = (uint2)(0u);
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        uint2 value_8 = from[(k_6 * subgroup_size()) << 0];
                        payload.v[k_6] = (uint2)(value_8.x, value_8.y);
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_9 = subgroup_ballot(true);
                uint4 same = value_9;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_10 = subgroup_ballot(set);
                    uint4 others = value_10;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_11 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_11;
                subgroup_barrier();
                uint value_12 = subgroup_ballot_find_msb(same);
                if (value_12 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_13 = k_7 / 2u;
                    place.v[value_13] = place.v[value_13] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put_u1_u1(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_7;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_14 = d_3;
        if (digit_4 < 256u) {
            variable_7 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_7 = 0u;
        }
        base.v[value_14] = variable_7;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_8;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_15 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_15;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_16 = d_4;
                    before.v[value_16] = before.v[value_16] + (word.v[j_2] & 1073741823u);
                    uint value_17 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_8 = 0u;
                    } else {
                        variable_8 = next.v[d_4] - 1u;
                    }
                    next.v[value_17] = variable_8;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_9;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others_2 = column32_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint value_18 = as_moved_u1(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_18, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_19 = d_5;
                    before.v[value_19] = before.v[value_19] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_20 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_20;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_21 = d_5;
                        before.v[value_21] = before.v[value_21] + (word_2 & 1073741823u);
                        uint value_22 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_9 = 0u;
                        } else {
                            variable_9 = next.v[d_5] - 1u;
                        }
                        next.v[value_22] = variable_9;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_9 = 0u;
    uint param_52;
    uint2 variable_10;
    uint variable_11;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_9 * WORKGROUP;
        get_u1_u1(shared, i_4, &param_52);
        uint sorted = param_52;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_10 = push->keys_out;
        } else {
            variable_10 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable_10);
        if (FAR == 0u) {
            variable_11 = to_2;
        } else {
            variable_11 = to_2 & 1073741823u;
        }
        to_2 = variable_11;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_7;
        } else {
            uint value_23 = k_9 / 4u;
            digits.v[value_23] = digits.v[value_23] | (digit_7 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_24 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_24;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_12;
        if (true) {
            variable_12 = push->payload_in;
        } else {
            uint2 variable_13;
            if (false) {
                variable_13 = push->payload_in_2;
            } else {
                variable_13 = push->payload_in_3;
            }
            variable_12 = variable_13;
        }
        if (absent(variable_12)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_14;
            if (true) {
                variable_14 = push->payload_in;
            } else {
                uint2 variable_15;
                if (false) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            __global uint2* from_2 = column64_from(variable_14, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    uint2 value_25 = from_2[(k_11 * subgroup_size()) << 0];
                    payload.v[k_11] = (uint2)(value_25.x, value_25.y);
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = (uint2)(0u);
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        uint2 value_26 = from_2[(k_12 * subgroup_size()) << 0];
                        payload.v[k_12] = (uint2)(value_26.x, value_26.y);
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_16;
    uint2 variable_17;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint count_here;
    uint2 param_68;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint2 variable_25;
    uint2 variable_26;
    uint2 variable_27;
    uint variable_28;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_16 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_16 = place.v[k_13 / 2u] >> half_word;
            }
            put_u1_vu2(shared, variable_16, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_17 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_18 = push->payload_in_2;
                } else {
                    variable_18 = push->payload_in_3;
                }
                variable_17 = variable_18;
            }
            if (absent(variable_17)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), (uint2)(0u));
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_19 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_20 = push->payload_in_2;
                    } else {
                        variable_20 = push->payload_in_3;
                    }
                    variable_19 = variable_20;
                }
                __global uint2* from_3 = column64_from(variable_19, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        uint2 value_27 = from_3[(k_15 * subgroup_size()) << 0];
                        payload.v[k_15] = (uint2)(value_27.x, value_27.y);
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = (uint2)(0u);
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            uint2 value_28 = from_3[(k_16 * subgroup_size()) << 0];
                            payload.v[k_16] = (uint2)(value_28.x, value_28.y);
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_5 = LOCAL_ID_X + k_17 * WORKGROUP;
            get_u1_vu2(shared, i_5, &param_68);
            uint2 sorted_2 = param_68;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_5;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_22 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_23 = push->payload_out_2;
                    } else {
                        variable_23 = push->payload_out_3;
                    }
                    variable_22 = variable_23;
                }
                variable_21 = variable_22;
            } else {
                if (c == 0u) {
                    variable_24 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_25 = push->payload_out_2;
                    } else {
                        variable_25 = push->payload_out_3;
                    }
                    variable_24 = variable_25;
                }
                uint value_29 = variable_24.x;
                if (c == 0u) {
                    variable_26 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_27 = push->payload_out_2;
                    } else {
                        variable_27 = push->payload_out_3;
                    }
                    variable_26 = variable_27;
                }
                variable_21 = (uint2)(value_29, variable_26.y + (to_3 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_21);
            if (FAR == 0u) {
                variable_28 = to_3;
            } else {
                variable_28 = to_3 & 536870911u;
            }
            to_3 = variable_28;
            if (i_5 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = 4294967295u;
        if (i < count) {
            uint value_3 = as_moved_u1(push, keys[i << NARROW]);
            key.v[k] = value_3;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_4 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_4;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put_u1_u1(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get_u1_u1(shared, word.v[k_7] & 65535u, &param_20);
        uint value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 30u));
        }
        __global uint* page = (__global uint*)as_ulong(variable);
        if (i_4 < count) {
            __global uint* value_5 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 1073741823u;
            }
            value_5[variable_2] = value;
        }
    }
    uint c = 0u;
    uint2 variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    uint2_xitems payload;
    uint2 param_29;
    uint2 variable_7;
    uint2 variable_8;
    uint2 variable_9;
    uint2 variable_10;
    uint2 variable_11;
    uint2 variable_12;
    uint2 variable_13;
    uint variable_14;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        if (c == 0u) {
            variable_3 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_4 = push->payload_in_2;
            } else {
                variable_4 = push->payload_in_3;
            }
            variable_3 = variable_4;
        }
        __global uint2* from_2 = column64_from(variable_3, begin);
        if (c == 0u) {
            variable_5 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_6 = push->payload_in_2;
            } else {
                variable_6 = push->payload_in_3;
            }
            variable_5 = variable_6;
        }
        bool numbered = absent(variable_5);
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            uint i_5 = LOCAL_ID_X + k_8 * WORKGROUP;
            payload.v[k_8] = widen(push->first_row + begin + i_5, (uint2)(0u));
            if ((!numbered) && (i_5 < count)) {
                payload.v[k_8] = from_2[i_5];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_9 = 0u;
        UNROLL
        for (; k_9 < ITEMS; k_9 = k_9 + 1) {
            put_u1_vu2(shared, LOCAL_ID_X + k_9 * WORKGROUP, payload.v[k_9]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_10 = 0u;
        UNROLL
        for (; k_10 < ITEMS; k_10 = k_10 + 1) {
            uint i_6 = LOCAL_ID_X + k_10 * WORKGROUP;
            uint row_2 = shared->sh_to.v[word.v[k_10] >> 16] + i_6;
            get_u1_vu2(shared, word.v[k_10] & 65535u, &param_29);
            uint2 value_2 = param_29;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_8 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_9 = push->payload_out_2;
                    } else {
                        variable_9 = push->payload_out_3;
                    }
                    variable_8 = variable_9;
                }
                variable_7 = variable_8;
            } else {
                if (c == 0u) {
                    variable_10 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_11 = push->payload_out_2;
                    } else {
                        variable_11 = push->payload_out_3;
                    }
                    variable_10 = variable_11;
                }
                uint value_6 = variable_10.x;
                if (c == 0u) {
                    variable_12 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_13 = push->payload_out_2;
                    } else {
                        variable_13 = push->payload_out_3;
                    }
                    variable_12 = variable_13;
                }
                variable_7 = (uint2)(value_6, variable_12.y + (row_2 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_7);
            if (i_6 < count) {
                __global uint2* value_7 = page_2;
                if (FAR == 0u) {
                    variable_14 = row_2;
                } else {
                    variable_14 = row_2 & 536870911u;
                }
                value_7[variable_14] = value_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint* keys = column32_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    bool numbered = absent(push->payload_in);
    uint number = push->first_row + begin;
    uint2 from_payload = push->payload_in;
    uint2 from_payload_2 = push->payload_in_2;
    uint2 from_payload_3 = push->payload_in_3;
    uint2 to_payload = push->payload_out;
    uint2 to_payload_2 = push->payload_out_2;
    uint2 to_payload_3 = push->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j);
            bool same = value_2 == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_3 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_3 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column32_from(to_keys, to)[0] = key;
            uint2 value = widen(number + i, (uint2)(0u));
            if (!numbered) {
                value = column64_from(from_payload, begin)[i];
            }
            column64_from(to_payload, to)[0] = value;
            if (COLUMNS > 1u) {
                column64_from(to_payload_2, to)[0] = column64_from(from_payload_2, begin)[i];
            }
            if (COLUMNS > 2u) {
                column64_from(to_payload_3, to)[0] = column64_from(from_payload_3, begin)[i];
            }
        }
    }
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

INLINE uint digit_of(uint2 key, Digit digit) {
    uint variable;
    if (digit.shift < 32u) {
        variable = key.x;
    } else {
        variable = key.y;
    }
    return (variable >> (digit.shift & 31u)) & digit.mask;
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE uint2 as_moved_vu2_u1(uint2 key, uint own_seed) {
    uint2 variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint2 param = key;
        variable = mix_of_vu2_u1(&param, own_seed);
    }
    return variable;
}

INLINE uint2 as_moved_vu2(const Push* push, uint2 key) {
    uint2 value = as_moved_vu2_u1(key, push->seed);
    return value;
}

#endif

#if (KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0) || (KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0)
INLINE void put(__local Shared* shared, uint place, uint2 value) {
    shared->sh_data.v[place] = value.x;
    shared->sh_data.v[WORKGROUP * ITEMS + place] = value.y;
}

INLINE void get(__local Shared* shared, uint place, uint2* value) {
    *value = (uint2)(shared->sh_data.v[place], shared->sh_data.v[WORKGROUP * ITEMS + place]);
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint turn = 0u;
    uint late;
    uint4 variable;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                if ((k_4 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_4], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable = others;
                    } else {
                        variable = ~others;
                    }
                    same = same & variable;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_4 % 2u) == 0u) {
                    place.v[k_4 / 2u] = to;
                } else {
                    uint value_11 = k_4 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    uint half_word;
    uint variable_2;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        if ((k_5 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_5 % 2u) == 0u) {
            variable_2 = place.v[k_5 / 2u] << half_word >> 16;
        } else {
            variable_2 = place.v[k_5 / 2u] >> half_word;
        }
        put(shared, variable_2, key.v[k_5]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    uint2 param_22;
    uint2 variable_3;
    uint variable_4;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        if ((k_6 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_6 * WORKGROUP;
        get(shared, i_2, &param_22);
        uint2 sorted = param_22;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_3 = push->keys_out;
        } else {
            variable_3 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_3);
        if (FAR == 0u) {
            variable_4 = to_2;
        } else {
            variable_4 = to_2 & 536870911u;
        }
        to_2 = variable_4;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_6 % 4u) == 0u) {
            digits.v[k_6 / 4u] = digit_5;
        } else {
            uint value_12 = k_6 / 4u;
            digits.v[value_12] = digits.v[value_12] | (digit_5 << (k_6 % 4u * 8u));
        }
        if (((k_6 % 4u) == 3u) || (k_6 + 1u) == ITEMS) {
            uint value_13 = subgroup_shuffle(digits.v[k_6 / 4u], subgroup_local_id());
            digits.v[k_6 / 4u] = value_13;
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint turn = 0u;
    uint late;
    uint4 variable;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                if ((k_4 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_4], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable = others;
                    } else {
                        variable = ~others;
                    }
                    same = same & variable;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_4 % 2u) == 0u) {
                    place.v[k_4 / 2u] = to;
                } else {
                    uint value_11 = k_4 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    uint half_word;
    uint variable_2;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        if ((k_5 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_5 % 2u) == 0u) {
            variable_2 = place.v[k_5 / 2u] << half_word >> 16;
        } else {
            variable_2 = place.v[k_5 / 2u] >> half_word;
        }
        put(shared, variable_2, key.v[k_5]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_3;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_12 = d_3;
        if (digit_4 < 256u) {
            variable_3 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_3 = 0u;
        }
        base.v[value_12] = variable_3;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_4;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_13 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_13;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_14 = d_4;
                    before.v[value_14] = before.v[value_14] + (word.v[j_2] & 1073741823u);
                    uint value_15 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_4 = 0u;
                    } else {
                        variable_4 = next.v[d_4] - 1u;
                    }
                    next.v[value_15] = variable_4;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_5;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others_2 = column64_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint2 value_16 = as_moved_vu2(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_16, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_17 = d_5;
                    before.v[value_17] = before.v[value_17] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_18 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_18;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_19 = d_5;
                        before.v[value_19] = before.v[value_19] + (word_2 & 1073741823u);
                        uint value_20 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_5 = 0u;
                        } else {
                            variable_5 = next.v[d_5] - 1u;
                        }
                        next.v[value_20] = variable_5;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_6 = 0u;
    uint2 param_47;
    uint2 variable_6;
    uint variable_7;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        if ((k_6 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_6 * WORKGROUP;
        get(shared, i_4, &param_47);
        uint2 sorted = param_47;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_6 = push->keys_out;
        } else {
            variable_6 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_6);
        if (FAR == 0u) {
            variable_7 = to_2;
        } else {
            variable_7 = to_2 & 536870911u;
        }
        to_2 = variable_7;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_6 % 4u) == 0u) {
            digits.v[k_6 / 4u] = digit_7;
        } else {
            uint value_21 = k_6 / 4u;
            digits.v[value_21] = digits.v[value_21] | (digit_7 << (k_6 % 4u * 8u));
        }
        if (((k_6 % 4u) == 3u) || (k_6 + 1u) == ITEMS) {
            uint value_22 = subgroup_shuffle(digits.v[k_6 / 4u], subgroup_local_id());
            digits.v[k_6 / 4u] = value_22;
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            uint2 value_2 = as_moved_vu2(push, keys[i << NARROW]);
            key.v[k] = value_2;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_3 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_3;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint2 param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get(shared, word.v[k_7] & 65535u, &param_20);
        uint2 value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable);
        if (i_4 < count) {
            __global uint2* value_4 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 536870911u;
            }
            value_4[variable_2] = value;
        }
    }
}

#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE uint2 as_moved(uint2 key, uint own_seed) {
    uint2 variable;
    if (MIXED == 0u) {
        variable = key;
    } else {
        uint2 param = key;
        variable = mix_of_vu2_u1(&param, own_seed);
    }
    return variable;
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value = subgroup_shuffle(digit_2, j);
            bool same = value == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_2 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column64_from(to_keys, to)[0] = key;
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint* from = column32_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    payload.v[k_5] = from[(k_5 * subgroup_size()) << 0];
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = 0u;
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        payload.v[k_6] = from[(k_6 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_11 = k_7 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put_u1_vu2(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_9 = 0u;
    uint2 param_27;
    uint2 variable_7;
    uint variable_8;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_9 * WORKGROUP;
        get_u1_vu2(shared, i_2, &param_27);
        uint2 sorted = param_27;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_7 = push->keys_out;
        } else {
            variable_7 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_7);
        if (FAR == 0u) {
            variable_8 = to_2;
        } else {
            variable_8 = to_2 & 536870911u;
        }
        to_2 = variable_8;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_5;
        } else {
            uint value_12 = k_9 / 4u;
            digits.v[value_12] = digits.v[value_12] | (digit_5 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_13 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_13;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_9;
        if (true) {
            variable_9 = push->payload_in;
        } else {
            uint2 variable_10;
            if (false) {
                variable_10 = push->payload_in_2;
            } else {
                variable_10 = push->payload_in_3;
            }
            variable_9 = variable_10;
        }
        if (absent(variable_9)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_11;
            if (true) {
                variable_11 = push->payload_in;
            } else {
                uint2 variable_12;
                if (false) {
                    variable_12 = push->payload_in_2;
                } else {
                    variable_12 = push->payload_in_3;
                }
                variable_11 = variable_12;
            }
            __global uint* from_2 = column32_from(variable_11, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    payload.v[k_11] = from_2[(k_11 * subgroup_size()) << 0];
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = 0u;
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        payload.v[k_12] = from_2[(k_12 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_13;
    uint2 variable_14;
    uint2 variable_15;
    uint2 variable_16;
    uint2 variable_17;
    uint count_here;
    uint param_43;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint variable_25;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_13 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_13 = place.v[k_13 / 2u] >> half_word;
            }
            put_u1_u1(shared, variable_13, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_14 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            if (absent(variable_14)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), 0u);
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_16 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_17 = push->payload_in_2;
                    } else {
                        variable_17 = push->payload_in_3;
                    }
                    variable_16 = variable_17;
                }
                __global uint* from_3 = column32_from(variable_16, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        payload.v[k_15] = from_3[(k_15 * subgroup_size()) << 0];
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = 0u;
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            payload.v[k_16] = from_3[(k_16 * subgroup_size()) << 0];
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_3 = LOCAL_ID_X + k_17 * WORKGROUP;
            get_u1_u1(shared, i_3, &param_43);
            uint sorted_2 = param_43;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_3;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_19 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_20 = push->payload_out_2;
                    } else {
                        variable_20 = push->payload_out_3;
                    }
                    variable_19 = variable_20;
                }
                variable_18 = variable_19;
            } else {
                if (c == 0u) {
                    variable_21 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_22 = push->payload_out_2;
                    } else {
                        variable_22 = push->payload_out_3;
                    }
                    variable_21 = variable_22;
                }
                uint value_14 = variable_21.x;
                if (c == 0u) {
                    variable_23 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_24 = push->payload_out_2;
                    } else {
                        variable_24 = push->payload_out_3;
                    }
                    variable_23 = variable_24;
                }
                variable_18 = (uint2)(value_14, variable_23.y + (to_3 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_18);
            if (FAR == 0u) {
                variable_25 = to_3;
            } else {
                variable_25 = to_3 & 1073741823u;
            }
            to_3 = variable_25;
            if (i_3 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint* from = column32_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    payload.v[k_5] = from[(k_5 * subgroup_size()) << 0];
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = 0u;
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        payload.v[k_6] = from[(k_6 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_7 = subgroup_ballot(true);
                uint4 same = value_7;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_8 = subgroup_ballot(set);
                    uint4 others = value_8;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_9 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_9;
                subgroup_barrier();
                uint value_10 = subgroup_ballot_find_msb(same);
                if (value_10 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_11 = k_7 / 2u;
                    place.v[value_11] = place.v[value_11] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put_u1_vu2(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_7;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_12 = d_3;
        if (digit_4 < 256u) {
            variable_7 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_7 = 0u;
        }
        base.v[value_12] = variable_7;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_8;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_13 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_13;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_14 = d_4;
                    before.v[value_14] = before.v[value_14] + (word.v[j_2] & 1073741823u);
                    uint value_15 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_8 = 0u;
                    } else {
                        variable_8 = next.v[d_4] - 1u;
                    }
                    next.v[value_15] = variable_8;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_9;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others_2 = column64_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint2 value_16 = as_moved_vu2(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_16, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_17 = d_5;
                    before.v[value_17] = before.v[value_17] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_18 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_18;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_19 = d_5;
                        before.v[value_19] = before.v[value_19] + (word_2 & 1073741823u);
                        uint value_20 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_9 = 0u;
                        } else {
                            variable_9 = next.v[d_5] - 1u;
                        }
                        next.v[value_20] = variable_9;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_9 = 0u;
    uint2 param_52;
    uint2 variable_10;
    uint variable_11;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_9 * WORKGROUP;
        get_u1_vu2(shared, i_4, &param_52);
        uint2 sorted = param_52;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_10 = push->keys_out;
        } else {
            variable_10 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_10);
        if (FAR == 0u) {
            variable_11 = to_2;
        } else {
            variable_11 = to_2 & 536870911u;
        }
        to_2 = variable_11;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_7;
        } else {
            uint value_21 = k_9 / 4u;
            digits.v[value_21] = digits.v[value_21] | (digit_7 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_22 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_22;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_12;
        if (true) {
            variable_12 = push->payload_in;
        } else {
            uint2 variable_13;
            if (false) {
                variable_13 = push->payload_in_2;
            } else {
                variable_13 = push->payload_in_3;
            }
            variable_12 = variable_13;
        }
        if (absent(variable_12)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), 0u);
            }
        } else {
            uint2 variable_14;
            if (true) {
                variable_14 = push->payload_in;
            } else {
                uint2 variable_15;
                if (false) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            __global uint* from_2 = column32_from(variable_14, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    payload.v[k_11] = from_2[(k_11 * subgroup_size()) << 0];
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = 0u;
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        payload.v[k_12] = from_2[(k_12 * subgroup_size()) << 0];
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_16;
    uint2 variable_17;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint count_here;
    uint param_68;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint2 variable_25;
    uint2 variable_26;
    uint2 variable_27;
    uint variable_28;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_16 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_16 = place.v[k_13 / 2u] >> half_word;
            }
            put_u1_u1(shared, variable_16, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_17 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_18 = push->payload_in_2;
                } else {
                    variable_18 = push->payload_in_3;
                }
                variable_17 = variable_18;
            }
            if (absent(variable_17)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), 0u);
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_19 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_20 = push->payload_in_2;
                    } else {
                        variable_20 = push->payload_in_3;
                    }
                    variable_19 = variable_20;
                }
                __global uint* from_3 = column32_from(variable_19, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        payload.v[k_15] = from_3[(k_15 * subgroup_size()) << 0];
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = 0u;
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            payload.v[k_16] = from_3[(k_16 * subgroup_size()) << 0];
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_5 = LOCAL_ID_X + k_17 * WORKGROUP;
            get_u1_u1(shared, i_5, &param_68);
            uint sorted_2 = param_68;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_5;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_22 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_23 = push->payload_out_2;
                    } else {
                        variable_23 = push->payload_out_3;
                    }
                    variable_22 = variable_23;
                }
                variable_21 = variable_22;
            } else {
                if (c == 0u) {
                    variable_24 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_25 = push->payload_out_2;
                    } else {
                        variable_25 = push->payload_out_3;
                    }
                    variable_24 = variable_25;
                }
                uint value_23 = variable_24.x;
                if (c == 0u) {
                    variable_26 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_27 = push->payload_out_2;
                    } else {
                        variable_27 = push->payload_out_3;
                    }
                    variable_26 = variable_27;
                }
                variable_21 = (uint2)(value_23, variable_26.y + (to_3 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_21);
            if (FAR == 0u) {
                variable_28 = to_3;
            } else {
                variable_28 = to_3 & 1073741823u;
            }
            to_3 = variable_28;
            if (i_5 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            uint2 value_3 = as_moved_vu2(push, keys[i << NARROW]);
            key.v[k] = value_3;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_4 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_4;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put_u1_vu2(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint2 param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get_u1_vu2(shared, word.v[k_7] & 65535u, &param_20);
        uint2 value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable);
        if (i_4 < count) {
            __global uint2* value_5 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 536870911u;
            }
            value_5[variable_2] = value;
        }
    }
    uint c = 0u;
    uint2 variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    uint_xitems payload;
    uint param_29;
    uint2 variable_7;
    uint2 variable_8;
    uint2 variable_9;
    uint2 variable_10;
    uint2 variable_11;
    uint2 variable_12;
    uint2 variable_13;
    uint variable_14;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        if (c == 0u) {
            variable_3 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_4 = push->payload_in_2;
            } else {
                variable_4 = push->payload_in_3;
            }
            variable_3 = variable_4;
        }
        __global uint* from_2 = column32_from(variable_3, begin);
        if (c == 0u) {
            variable_5 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_6 = push->payload_in_2;
            } else {
                variable_6 = push->payload_in_3;
            }
            variable_5 = variable_6;
        }
        bool numbered = absent(variable_5);
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            uint i_5 = LOCAL_ID_X + k_8 * WORKGROUP;
            payload.v[k_8] = widen(push->first_row + begin + i_5, 0u);
            if ((!numbered) && (i_5 < count)) {
                payload.v[k_8] = from_2[i_5];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_9 = 0u;
        UNROLL
        for (; k_9 < ITEMS; k_9 = k_9 + 1) {
            put_u1_u1(shared, LOCAL_ID_X + k_9 * WORKGROUP, payload.v[k_9]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_10 = 0u;
        UNROLL
        for (; k_10 < ITEMS; k_10 = k_10 + 1) {
            uint i_6 = LOCAL_ID_X + k_10 * WORKGROUP;
            uint row_2 = shared->sh_to.v[word.v[k_10] >> 16] + i_6;
            get_u1_u1(shared, word.v[k_10] & 65535u, &param_29);
            uint value_2 = param_29;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_8 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_9 = push->payload_out_2;
                    } else {
                        variable_9 = push->payload_out_3;
                    }
                    variable_8 = variable_9;
                }
                variable_7 = variable_8;
            } else {
                if (c == 0u) {
                    variable_10 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_11 = push->payload_out_2;
                    } else {
                        variable_11 = push->payload_out_3;
                    }
                    variable_10 = variable_11;
                }
                uint value_6 = variable_10.x;
                if (c == 0u) {
                    variable_12 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_13 = push->payload_out_2;
                    } else {
                        variable_13 = push->payload_out_3;
                    }
                    variable_12 = variable_13;
                }
                variable_7 = (uint2)(value_6, variable_12.y + (row_2 >> 30u));
            }
            __global uint* page_2 = (__global uint*)as_ulong(variable_7);
            if (i_6 < count) {
                __global uint* value_7 = page_2;
                if (FAR == 0u) {
                    variable_14 = row_2;
                } else {
                    variable_14 = row_2 & 1073741823u;
                }
                value_7[variable_14] = value_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    bool numbered = absent(push->payload_in);
    uint number = push->first_row + begin;
    uint2 from_payload = push->payload_in;
    uint2 from_payload_2 = push->payload_in_2;
    uint2 from_payload_3 = push->payload_in_3;
    uint2 to_payload = push->payload_out;
    uint2 to_payload_2 = push->payload_out_2;
    uint2 to_payload_3 = push->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j);
            bool same = value_2 == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_3 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_3 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column64_from(to_keys, to)[0] = key;
            uint value = widen(number + i, 0u);
            if (!numbered) {
                value = column32_from(from_payload, begin)[i];
            }
            column32_from(to_payload, to)[0] = value;
            if (COLUMNS > 1u) {
                column32_from(to_payload_2, to)[0] = column32_from(from_payload_2, begin)[i];
            }
            if (COLUMNS > 2u) {
                column32_from(to_payload_3, to)[0] = column32_from(from_payload_3, begin)[i];
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_14;
    uint value_6 = workgroup_sum(shared, value_5, &param_14);
    uint all = param_14;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint2* from = column64_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    uint2 value_7 = from[(k_5 * subgroup_size()) << 0];
                    payload.v[k_5] = (uint2)(value_7.x, value_7.y);
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = (uint2)(0u);
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        uint2 value_8 = from[(k_6 * subgroup_size()) << 0];
                        payload.v[k_6] = (uint2)(value_8.x, value_8.y);
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_9 = subgroup_ballot(true);
                uint4 same = value_9;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_10 = subgroup_ballot(set);
                    uint4 others = value_10;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_11 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_11;
                subgroup_barrier();
                uint value_12 = subgroup_ballot_find_msb(same);
                if (value_12 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_13 = k_7 / 2u;
                    place.v[value_13] = place.v[value_13] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        if (digit_4 <= mask) {
            shared->sh_to.v[digit_4] = column32_from(push->offsets, digit_4 * push->tiles + tile)[0] - start.v[d_3];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_9 = 0u;
    uint2 param_27;
    uint2 variable_7;
    uint variable_8;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_2 = LOCAL_ID_X + k_9 * WORKGROUP;
        get(shared, i_2, &param_27);
        uint2 sorted = param_27;
        uint digit_5 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_5] + i_2;
        if (FAR == 0u) {
            variable_7 = push->keys_out;
        } else {
            variable_7 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_7);
        if (FAR == 0u) {
            variable_8 = to_2;
        } else {
            variable_8 = to_2 & 536870911u;
        }
        to_2 = variable_8;
        if (i_2 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_5;
        } else {
            uint value_14 = k_9 / 4u;
            digits.v[value_14] = digits.v[value_14] | (digit_5 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_15 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_15;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_9;
        if (true) {
            variable_9 = push->payload_in;
        } else {
            uint2 variable_10;
            if (false) {
                variable_10 = push->payload_in_2;
            } else {
                variable_10 = push->payload_in_3;
            }
            variable_9 = variable_10;
        }
        if (absent(variable_9)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_11;
            if (true) {
                variable_11 = push->payload_in;
            } else {
                uint2 variable_12;
                if (false) {
                    variable_12 = push->payload_in_2;
                } else {
                    variable_12 = push->payload_in_3;
                }
                variable_11 = variable_12;
            }
            __global uint2* from_2 = column64_from(variable_11, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    uint2 value_16 = from_2[(k_11 * subgroup_size()) << 0];
                    payload.v[k_11] = (uint2)(value_16.x, value_16.y);
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = (uint2)(0u);
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        uint2 value_17 = from_2[(k_12 * subgroup_size()) << 0];
                        payload.v[k_12] = (uint2)(value_17.x, value_17.y);
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_13;
    uint2 variable_14;
    uint2 variable_15;
    uint2 variable_16;
    uint2 variable_17;
    uint count_here;
    uint2 param_43;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint variable_25;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_13 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_13 = place.v[k_13 / 2u] >> half_word;
            }
            put(shared, variable_13, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_14 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            if (absent(variable_14)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), (uint2)(0u));
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_16 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_17 = push->payload_in_2;
                    } else {
                        variable_17 = push->payload_in_3;
                    }
                    variable_16 = variable_17;
                }
                __global uint2* from_3 = column64_from(variable_16, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        uint2 value_18 = from_3[(k_15 * subgroup_size()) << 0];
                        payload.v[k_15] = (uint2)(value_18.x, value_18.y);
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = (uint2)(0u);
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            uint2 value_19 = from_3[(k_16 * subgroup_size()) << 0];
                            payload.v[k_16] = (uint2)(value_19.x, value_19.y);
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_3 = LOCAL_ID_X + k_17 * WORKGROUP;
            get(shared, i_3, &param_43);
            uint2 sorted_2 = param_43;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_3;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_19 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_20 = push->payload_out_2;
                    } else {
                        variable_20 = push->payload_out_3;
                    }
                    variable_19 = variable_20;
                }
                variable_18 = variable_19;
            } else {
                if (c == 0u) {
                    variable_21 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_22 = push->payload_out_2;
                    } else {
                        variable_22 = push->payload_out_3;
                    }
                    variable_21 = variable_22;
                }
                uint value_20 = variable_21.x;
                if (c == 0u) {
                    variable_23 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_24 = push->payload_out_2;
                    } else {
                        variable_24 = push->payload_out_3;
                    }
                    variable_23 = variable_24;
                }
                variable_18 = (uint2)(value_20, variable_23.y + (to_3 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_18);
            if (FAR == 0u) {
                variable_25 = to_3;
            } else {
                variable_25 = to_3 & 536870911u;
            }
            to_3 = variable_25;
            if (i_3 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && LOOKBACK == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint run_2 = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << push->bits) - 1u;
    uint counters = subgroup_id() / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u;
    __global uint2* keys = column64_from(push->keys_in, (begin + run_2) << NARROW);
    uint2_xitems key;
    if (count == (WORKGROUP * ITEMS)) {
        uint k = 0u;
        UNROLL
        for (; k < ITEMS; k = k + 1) {
            uint2 value = as_moved_vu2(push, keys[(k * subgroup_size()) << NARROW]);
            key.v[k] = value;
        }
    } else {
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < ITEMS; k_2 = k_2 + 1) {
            key.v[k_2] = (uint2)(4294967295u);
            if ((run_2 + k_2 * subgroup_size()) < count) {
                uint2 value_2 = as_moved_vu2(push, keys[(k_2 * subgroup_size()) << NARROW]);
                key.v[k_2] = value_2;
            }
        }
    }
    uint i = LOCAL_ID_X;
    for (; i < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)) * 256u); i = i + WORKGROUP) {
        shared->sh_data.v[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = push->shift;
        shared->sh_half = 16u + push->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        atomic_add(&shared->sh_data.v[counters + digit_of(key.v[k_3], (Digit){push->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_ = 0u;
    uint missing_rows = WORKGROUP * ITEMS - count;
    uint last_digit = digit_of((uint2)(4294967295u), (Digit){push->shift, mask});
    uint d = 0u;
    uint_x256u_workgroup_1u_workgrou total;
    UNROLL
    for (; d < ((256u + WORKGROUP - 1u) / WORKGROUP); d = d + 1) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d;
        total.v[d] = 0u;
        if (digit < 256u) {
            uint r = 0u;
            for (; r < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r = r + 1) {
                uint value_3 = d;
                total.v[value_3] = total.v[value_3] + shared->sh_data.v[r * 256u + digit];
            }
            own_ = own_ + total.v[d];
            if (digit == last_digit) {
                uint value_4 = d;
                total.v[value_4] = total.v[value_4] - missing_rows;
            }
            word_of(push, tile, digit)[0] = (tile == 0u ? 2147483648u : 1073741824u) | total.v[d];
        }
    }
    uint first = subgroup_sum_before(own_);
    uint value_5 = subgroup_broadcast(first + own_, subgroup_size() - 1u);
    uint param_16;
    uint value_6 = workgroup_sum(shared, value_5, &param_16);
    uint all = param_16;
    first = first + value_6;
    uint d_2 = 0u;
    uint_x256u_workgroup_1u_workgrou start;
    UNROLL
    for (; d_2 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_2 = d_2 + 1) {
        uint digit_2 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_2;
        start.v[d_2] = first;
        if (digit_2 < 256u) {
            uint r_2 = 0u;
            for (; r_2 < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u) - 1u) / (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))); r_2 = r_2 + 1) {
                uint n = shared->sh_data.v[r_2 * 256u + digit_2];
                shared->sh_data.v[r_2 * 256u + digit_2] = first;
                first = first + n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2_xitems payload;
    if (EARLY == 1u) {
        uint2 variable;
        if (true) {
            variable = push->payload_in;
        } else {
            uint2 variable_2;
            if (false) {
                variable_2 = push->payload_in_2;
            } else {
                variable_2 = push->payload_in_3;
            }
            variable = variable_2;
        }
        if (absent(variable)) {
            uint k_4 = 0u;
            UNROLL
            for (; k_4 < ITEMS; k_4 = k_4 + 1) {
                payload.v[k_4] = widen(push->first_row + begin + run_2 + k_4 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_3;
            if (true) {
                variable_3 = push->payload_in;
            } else {
                uint2 variable_4;
                if (false) {
                    variable_4 = push->payload_in_2;
                } else {
                    variable_4 = push->payload_in_3;
                }
                variable_3 = variable_4;
            }
            __global uint2* from = column64_from(variable_3, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_5 = 0u;
                UNROLL
                for (; k_5 < ITEMS; k_5 = k_5 + 1) {
                    uint2 value_7 = from[(k_5 * subgroup_size()) << 0];
                    payload.v[k_5] = (uint2)(value_7.x, value_7.y);
                }
            } else {
                uint k_6 = 0u;
                UNROLL
                for (; k_6 < ITEMS; k_6 = k_6 + 1) {
                    payload.v[k_6] = (uint2)(0u);
                    if ((run_2 + k_6 * subgroup_size()) < count) {
                        uint2 value_8 = from[(k_6 * subgroup_size()) << 0];
                        payload.v[k_6] = (uint2)(value_8.x, value_8.y);
                    }
                }
            }
        }
    }
    uint turn = 0u;
    uint late;
    uint4 variable_5;
    uint_xitems_1u_2u place;
    for (; turn < (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u)); turn = turn + 1) {
        if ((subgroup_id() % (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP + ((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u - 1u) / (((2u * (WORKGROUP * ITEMS)) < 256u ? 256u : 2u * (WORKGROUP * ITEMS)) / 256u))) == turn) {
            uint k_7 = 0u;
            UNROLL
            for (; k_7 < ITEMS; k_7 = k_7 + 1) {
                if ((k_7 % 2u) == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit_3 = digit_of(key.v[k_7], (Digit){late, mask});
                uint4 value_9 = subgroup_ballot(true);
                uint4 same = value_9;
                uint b = 0u;
                UNROLL
                for (; b < 8u; b = b + 1) {
                    bool set = (digit_3 & (1u << b)) != 0u;
                    uint4 value_10 = subgroup_ballot(set);
                    uint4 others = value_10;
                    if (set) {
                        variable_5 = others;
                    } else {
                        variable_5 = ~others;
                    }
                    same = same & variable_5;
                }
                uint value_11 = subgroup_ballot_exclusive_bit_count(same);
                uint to = shared->sh_data.v[counters + digit_3] + value_11;
                subgroup_barrier();
                uint value_12 = subgroup_ballot_find_msb(same);
                if (value_12 == subgroup_local_id()) {
                    shared->sh_data.v[counters + digit_3] = to + 1u;
                }
                subgroup_barrier();
                if ((k_7 % 2u) == 0u) {
                    place.v[k_7 / 2u] = to;
                } else {
                    uint value_13 = k_7 / 2u;
                    place.v[value_13] = place.v[value_13] | (to << 16);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_8 = 0u;
    uint half_word;
    uint variable_6;
    UNROLL
    for (; k_8 < ITEMS; k_8 = k_8 + 1) {
        if ((k_8 % 2u) == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        if ((k_8 % 2u) == 0u) {
            variable_6 = place.v[k_8 / 2u] << half_word >> 16;
        } else {
            variable_6 = place.v[k_8 / 2u] >> half_word;
        }
        put(shared, variable_6, key.v[k_8]);
    }
    uint d_3 = 0u;
    uint_x256u_workgroup_1u_workgrou before;
    uint_x256u_workgroup_1u_workgrou next;
    uint_x256u_workgroup_1u_workgrou base;
    uint variable_7;
    UNROLL
    for (; d_3 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_3 = d_3 + 1) {
        uint digit_4 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_3;
        before.v[d_3] = 0u;
        next.v[d_3] = digit_4 < 256u ? tile : 0u;
        uint value_14 = d_3;
        if (digit_4 < 256u) {
            variable_7 = column32_from(push->offsets, digit_4)[0];
        } else {
            variable_7 = 0u;
        }
        base.v[value_14] = variable_7;
    }
    bool last = (begin + count) == push->rows;
    uint d_4 = 0u;
    uint_xahead word;
    uint variable_8;
    UNROLL
    for (; d_4 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_4 = d_4 + 1) {
        uint digit_5 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_4;
        uint look = 0u;
        while (look <= PATIENCE && next.v[d_4] > 0u) {
            __global volatile uint* words_ = word_of(push, next.v[d_4] - AHEAD, digit_5);
            uint j = 0u;
            UNROLL
            for (; j < AHEAD; j = j + 1) {
                uint value_15 = words_[(AHEAD - 1u - j) * 256u];
                word.v[j] = value_15;
            }
            bool missing = false;
            uint j_2 = 0u;
            UNROLL
            for (; j_2 < AHEAD; j_2 = j_2 + 1) {
                missing = missing || word.v[j_2] < 1073741824u;
                if (!missing && next.v[d_4] > 0u) {
                    uint value_16 = d_4;
                    before.v[value_16] = before.v[value_16] + (word.v[j_2] & 1073741823u);
                    uint value_17 = d_4;
                    if (word.v[j_2] >= 2147483648u) {
                        variable_8 = 0u;
                    } else {
                        variable_8 = next.v[d_4] - 1u;
                    }
                    next.v[value_17] = variable_8;
                }
            }
            if (missing) {
                look = look + 1;
            }
        }
        if (next.v[d_4] > 0u) {
            atomic_max(&shared->sh_stuck, next.v[d_4]);
        } else if (digit_5 < 256u) {
            settle(push, shared, tile, last, digit_5, base.v[d_4], before.v[d_4], total.v[d_4], start.v[d_4]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        uint stuck = shared->sh_stuck;
        uint variable_9;
        for (; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i_2 = LOCAL_ID_X;
            for (; i_2 < 256u; i_2 = i_2 + WORKGROUP) {
                shared->sh_to.v[i_2] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others_2 = column64_from(push->keys_in, ((stuck - 1u) * (WORKGROUP * ITEMS)) << NARROW);
            uint i_3 = LOCAL_ID_X;
            for (; i_3 < (WORKGROUP * ITEMS); i_3 = i_3 + WORKGROUP) {
                uint2 value_18 = as_moved_vu2(push, others_2[i_3 << NARROW]);
                atomic_add(&shared->sh_to.v[digit_of(value_18, (Digit){push->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            uint d_5 = 0u;
            UNROLL
            for (; d_5 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_5 = d_5 + 1) {
                if (next.v[d_5] == stuck) {
                    uint value_19 = d_5;
                    before.v[value_19] = before.v[value_19] + shared->sh_to.v[(subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5];
                    next.v[d_5] = next.v[d_5] - 1;
                    while (PATIENCE > 0u && next.v[d_5] > 0u) {
                        uint value_20 = word_of(push, next.v[d_5] - 1u, (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_5)[0];
                        uint word_2 = value_20;
                        if (word_2 < 1073741824u) {
                            break;
                        }
                        uint value_21 = d_5;
                        before.v[value_21] = before.v[value_21] + (word_2 & 1073741823u);
                        uint value_22 = d_5;
                        if (word_2 >= 2147483648u) {
                            variable_9 = 0u;
                        } else {
                            variable_9 = next.v[d_5] - 1u;
                        }
                        next.v[value_22] = variable_9;
                    }
                }
                if (next.v[d_5] > 0u) {
                    atomic_max(&shared->sh_stuck, next.v[d_5]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint d_6 = 0u;
        UNROLL
        for (; d_6 < ((256u + WORKGROUP - 1u) / WORKGROUP); d_6 = d_6 + 1) {
            uint digit_6 = (subgroup_id() * subgroup_size() + subgroup_local_id()) * ((256u + WORKGROUP - 1u) / WORKGROUP) + d_6;
            if (digit_6 < 256u) {
                settle(push, shared, tile, last, digit_6, base.v[d_6], before.v[d_6], total.v[d_6], start.v[d_6]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_9 = 0u;
    uint2 param_52;
    uint2 variable_10;
    uint variable_11;
    uint_xitems_3u_4u digits;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        if ((k_9 % 2u) == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i_4 = LOCAL_ID_X + k_9 * WORKGROUP;
        get(shared, i_4, &param_52);
        uint2 sorted = param_52;
        uint digit_7 = digit_of(sorted, (Digit){late, mask});
        uint to_2 = shared->sh_to.v[digit_7] + i_4;
        if (FAR == 0u) {
            variable_10 = push->keys_out;
        } else {
            variable_10 = (uint2)(push->keys_out.x, push->keys_out.y + (to_2 >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable_10);
        if (FAR == 0u) {
            variable_11 = to_2;
        } else {
            variable_11 = to_2 & 536870911u;
        }
        to_2 = variable_11;
        if (i_4 < count) {
            page[to_2] = sorted;
        }
        if ((k_9 % 4u) == 0u) {
            digits.v[k_9 / 4u] = digit_7;
        } else {
            uint value_23 = k_9 / 4u;
            digits.v[value_23] = digits.v[value_23] | (digit_7 << (k_9 % 4u * 8u));
        }
        if (((k_9 % 4u) == 3u) || (k_9 + 1u) == ITEMS) {
            uint value_24 = subgroup_shuffle(digits.v[k_9 / 4u], subgroup_local_id());
            digits.v[k_9 / 4u] = value_24;
        }
    }
    if (EARLY == 0u) {
        uint2 variable_12;
        if (true) {
            variable_12 = push->payload_in;
        } else {
            uint2 variable_13;
            if (false) {
                variable_13 = push->payload_in_2;
            } else {
                variable_13 = push->payload_in_3;
            }
            variable_12 = variable_13;
        }
        if (absent(variable_12)) {
            uint k_10 = 0u;
            UNROLL
            for (; k_10 < ITEMS; k_10 = k_10 + 1) {
                payload.v[k_10] = widen(push->first_row + begin + run_2 + k_10 * subgroup_size(), (uint2)(0u));
            }
        } else {
            uint2 variable_14;
            if (true) {
                variable_14 = push->payload_in;
            } else {
                uint2 variable_15;
                if (false) {
                    variable_15 = push->payload_in_2;
                } else {
                    variable_15 = push->payload_in_3;
                }
                variable_14 = variable_15;
            }
            __global uint2* from_2 = column64_from(variable_14, begin + run_2);
            if (count == (WORKGROUP * ITEMS)) {
                uint k_11 = 0u;
                UNROLL
                for (; k_11 < ITEMS; k_11 = k_11 + 1) {
                    uint2 value_25 = from_2[(k_11 * subgroup_size()) << 0];
                    payload.v[k_11] = (uint2)(value_25.x, value_25.y);
                }
            } else {
                uint k_12 = 0u;
                UNROLL
                for (; k_12 < ITEMS; k_12 = k_12 + 1) {
                    payload.v[k_12] = (uint2)(0u);
                    if ((run_2 + k_12 * subgroup_size()) < count) {
                        uint2 value_26 = from_2[(k_12 * subgroup_size()) << 0];
                        payload.v[k_12] = (uint2)(value_26.x, value_26.y);
                    }
                }
            }
        }
    }
    uint c = 0u;
    uint variable_16;
    uint2 variable_17;
    uint2 variable_18;
    uint2 variable_19;
    uint2 variable_20;
    uint count_here;
    uint2 param_68;
    uint2 variable_21;
    uint2 variable_22;
    uint2 variable_23;
    uint2 variable_24;
    uint2 variable_25;
    uint2 variable_26;
    uint2 variable_27;
    uint variable_28;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_13 = 0u;
        UNROLL
        for (; k_13 < ITEMS; k_13 = k_13 + 1) {
            if ((k_13 % 2u) == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            if ((k_13 % 2u) == 0u) {
                variable_16 = place.v[k_13 / 2u] << half_word >> 16;
            } else {
                variable_16 = place.v[k_13 / 2u] >> half_word;
            }
            put(shared, variable_16, payload.v[k_13]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((c + 1u) < COLUMNS) {
            if ((c + 1u) == 0u) {
                variable_17 = push->payload_in;
            } else {
                if ((c + 1u) == 1u) {
                    variable_18 = push->payload_in_2;
                } else {
                    variable_18 = push->payload_in_3;
                }
                variable_17 = variable_18;
            }
            if (absent(variable_17)) {
                uint k_14 = 0u;
                UNROLL
                for (; k_14 < ITEMS; k_14 = k_14 + 1) {
                    payload.v[k_14] = widen(push->first_row + begin + run_2 + k_14 * subgroup_size(), (uint2)(0u));
                }
            } else {
                if ((c + 1u) == 0u) {
                    variable_19 = push->payload_in;
                } else {
                    if ((c + 1u) == 1u) {
                        variable_20 = push->payload_in_2;
                    } else {
                        variable_20 = push->payload_in_3;
                    }
                    variable_19 = variable_20;
                }
                __global uint2* from_3 = column64_from(variable_19, begin + run_2);
                if (count == (WORKGROUP * ITEMS)) {
                    uint k_15 = 0u;
                    UNROLL
                    for (; k_15 < ITEMS; k_15 = k_15 + 1) {
                        uint2 value_27 = from_3[(k_15 * subgroup_size()) << 0];
                        payload.v[k_15] = (uint2)(value_27.x, value_27.y);
                    }
                } else {
                    uint k_16 = 0u;
                    UNROLL
                    for (; k_16 < ITEMS; k_16 = k_16 + 1) {
                        payload.v[k_16] = (uint2)(0u);
                        if ((run_2 + k_16 * subgroup_size()) < count) {
                            uint2 value_28 = from_3[(k_16 * subgroup_size()) << 0];
                            payload.v[k_16] = (uint2)(value_28.x, value_28.y);
                        }
                    }
                }
            }
        }
        uint k_17 = 0u;
        UNROLL
        for (; k_17 < ITEMS; k_17 = k_17 + 1) {
            if ((k_17 % 2u) == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i_5 = LOCAL_ID_X + k_17 * WORKGROUP;
            get(shared, i_5, &param_68);
            uint2 sorted_2 = param_68;
            uint to_3 = shared->sh_to.v[(digits.v[k_17 / 4u] >> (k_17 % 4u * 8u)) & 255u] + i_5;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_22 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_23 = push->payload_out_2;
                    } else {
                        variable_23 = push->payload_out_3;
                    }
                    variable_22 = variable_23;
                }
                variable_21 = variable_22;
            } else {
                if (c == 0u) {
                    variable_24 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_25 = push->payload_out_2;
                    } else {
                        variable_25 = push->payload_out_3;
                    }
                    variable_24 = variable_25;
                }
                uint value_29 = variable_24.x;
                if (c == 0u) {
                    variable_26 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_27 = push->payload_out_2;
                    } else {
                        variable_27 = push->payload_out_3;
                    }
                    variable_26 = variable_27;
                }
                variable_21 = (uint2)(value_29, variable_26.y + (to_3 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_21);
            if (FAR == 0u) {
                variable_28 = to_3;
            } else {
                variable_28 = to_3 & 536870911u;
            }
            to_3 = variable_28;
            if (i_5 < count_here) {
                page_2[to_3] = sorted_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    uint digit_bits = push->bits;
    Digit digit = (Digit){push->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    uint k = 0u;
    uint2_xitems key;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            uint2 value_3 = as_moved_vu2(push, keys[i << NARROW]);
            key.v[k] = value_3;
        }
    }
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        shared->sh_data.v[i_2] = (digit_of(key.v[k_2], digit) << 16) | i_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = 16u;
    uint_xitems word;
    uint2 param_11;
    for (; from < (16u + digit_bits); from = from + 2u) {
        uint2 counts = (uint2)(0u);
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < ITEMS; k_3 = k_3 + 1) {
            word.v[k_3] = shared->sh_data.v[LOCAL_ID_X * ITEMS + k_3];
            counts = counts + one((word.v[k_3] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint2 param_10 = counts;
        uint2 value_4 = workgroup_scan(shared, &param_10, &param_11);
        uint2 all = param_11;
        counts = value_4;
        uint of_0 = all.x & 65535u;
        uint of_1 = all.x >> 16;
        uint of_2 = all.y & 65535u;
        counts = counts + (uint2)(of_0 << 16, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16));
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < ITEMS; k_4 = k_4 + 1) {
            uint counter = (word.v[k_4] >> from) & 3u;
            shared->sh_data.v[counted(counts, counter)] = word.v[k_4];
            counts = counts + one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        word.v[k_5] = shared->sh_data.v[i_3];
        uint own_ = word.v[k_5] >> 16;
        uint before = 4294967295u;
        if (i_3 > 0u) {
            before = shared->sh_data.v[i_3 - 1u] >> 16;
        }
        if (own_ != before) {
            shared->sh_to.v[own_] = column32_from(push->offsets, own_ * push->tiles + tile)[0] - i_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_6 = 0u;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        put(shared, LOCAL_ID_X + k_6 * WORKGROUP, key.v[k_6]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k_7 = 0u;
    uint2 param_20;
    uint2 variable;
    uint variable_2;
    UNROLL
    for (; k_7 < ITEMS; k_7 = k_7 + 1) {
        uint i_4 = LOCAL_ID_X + k_7 * WORKGROUP;
        uint row = shared->sh_to.v[word.v[k_7] >> 16] + i_4;
        get(shared, word.v[k_7] & 65535u, &param_20);
        uint2 value = param_20;
        if (FAR == 0u) {
            variable = push->keys_out;
        } else {
            variable = (uint2)(push->keys_out.x, push->keys_out.y + (row >> 29u));
        }
        __global uint2* page = (__global uint2*)as_ulong(variable);
        if (i_4 < count) {
            __global uint2* value_5 = page;
            if (FAR == 0u) {
                variable_2 = row;
            } else {
                variable_2 = row & 536870911u;
            }
            value_5[variable_2] = value;
        }
    }
    uint c = 0u;
    uint2 variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    uint2_xitems payload;
    uint2 param_29;
    uint2 variable_7;
    uint2 variable_8;
    uint2 variable_9;
    uint2 variable_10;
    uint2 variable_11;
    uint2 variable_12;
    uint2 variable_13;
    uint variable_14;
    UNROLL
    for (; c < COLUMNS; c = c + 1) {
        if (c == 0u) {
            variable_3 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_4 = push->payload_in_2;
            } else {
                variable_4 = push->payload_in_3;
            }
            variable_3 = variable_4;
        }
        __global uint2* from_2 = column64_from(variable_3, begin);
        if (c == 0u) {
            variable_5 = push->payload_in;
        } else {
            if (c == 1u) {
                variable_6 = push->payload_in_2;
            } else {
                variable_6 = push->payload_in_3;
            }
            variable_5 = variable_6;
        }
        bool numbered = absent(variable_5);
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            uint i_5 = LOCAL_ID_X + k_8 * WORKGROUP;
            payload.v[k_8] = widen(push->first_row + begin + i_5, (uint2)(0u));
            if ((!numbered) && (i_5 < count)) {
                payload.v[k_8] = from_2[i_5];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_9 = 0u;
        UNROLL
        for (; k_9 < ITEMS; k_9 = k_9 + 1) {
            put(shared, LOCAL_ID_X + k_9 * WORKGROUP, payload.v[k_9]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k_10 = 0u;
        UNROLL
        for (; k_10 < ITEMS; k_10 = k_10 + 1) {
            uint i_6 = LOCAL_ID_X + k_10 * WORKGROUP;
            uint row_2 = shared->sh_to.v[word.v[k_10] >> 16] + i_6;
            get(shared, word.v[k_10] & 65535u, &param_29);
            uint2 value_2 = param_29;
            if (FAR == 0u) {
                if (c == 0u) {
                    variable_8 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_9 = push->payload_out_2;
                    } else {
                        variable_9 = push->payload_out_3;
                    }
                    variable_8 = variable_9;
                }
                variable_7 = variable_8;
            } else {
                if (c == 0u) {
                    variable_10 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_11 = push->payload_out_2;
                    } else {
                        variable_11 = push->payload_out_3;
                    }
                    variable_10 = variable_11;
                }
                uint value_6 = variable_10.x;
                if (c == 0u) {
                    variable_12 = push->payload_out;
                } else {
                    if (c == 1u) {
                        variable_13 = push->payload_out_2;
                    } else {
                        variable_13 = push->payload_out_3;
                    }
                    variable_12 = variable_13;
                }
                variable_7 = (uint2)(value_6, variable_12.y + (row_2 >> 29u));
            }
            __global uint2* page_2 = (__global uint2*)as_ulong(variable_7);
            if (i_6 < count) {
                __global uint2* value_7 = page_2;
                if (FAR == 0u) {
                    variable_14 = row_2;
                } else {
                    variable_14 = row_2 & 536870911u;
                }
                value_7[variable_14] = value_2;
            }
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << push->bits;
    uint digit = LOCAL_ID_X;
    for (; digit < digits; digit = digit + WORKGROUP) {
        shared->sh_cursor.v[digit] = column32_from(push->offsets, digit * push->tiles + tile)[0];
    }
    if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = push->seed;
    __global uint2* keys = column64_from(push->keys_in, begin << NARROW);
    Digit place = (Digit){push->shift, digits - 1u};
    uint2 to_keys = push->keys_out;
    bool numbered = absent(push->payload_in);
    uint number = push->first_row + begin;
    uint2 from_payload = push->payload_in;
    uint2 from_payload_2 = push->payload_in_2;
    uint2 from_payload_3 = push->payload_in_3;
    uint2 to_payload = push->payload_out;
    uint2 to_payload_2 = push->payload_out_2;
    uint2 to_payload_3 = push->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint first = 0u;
    uint to;
    for (; first < count; first = first + WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit_2 = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit_2 = digit_of(key, place);
        }
        uint j = 0u;
        UNROLL
        for (; j < SUBGROUP; j = j + 1) {
            uint value_2 = subgroup_shuffle(digit_2, j);
            bool same = value_2 == digit_2;
            before = before + (same && j < subgroup_local_id() ? 1u : 0u);
            after = after + (same && j > subgroup_local_id() && (j < neighbours) ? 1u : 0u);
        }
        uint j_2 = SUBGROUP;
        for (; j_2 < subgroup_size(); j_2 = j_2 + 1) {
            uint value_3 = subgroup_shuffle(digit_2, j_2);
            bool same_2 = value_3 == digit_2;
            before = before + (same_2 && j_2 < subgroup_local_id() ? 1u : 0u);
            after = after + (same_2 && j_2 > subgroup_local_id() && (j_2 < neighbours) ? 1u : 0u);
        }
        uint turn = 0u;
        for (; turn < ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP); turn = turn + 1) {
            if ((((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) == 1u) || subgroup_id() == turn) {
                to = shared->sh_cursor.v[digit_2] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor.v[digit_2] = to + 1u;
                }
            }
            if (((WORKGROUP + SUBGROUP - 1u) / SUBGROUP) > 1u) {
                barrier(CLK_LOCAL_MEM_FENCE);
            } else {
                subgroup_barrier();
            }
        }
        if (i < count) {
            column64_from(to_keys, to)[0] = key;
            uint2 value = widen(number + i, (uint2)(0u));
            if (!numbered) {
                value = column64_from(from_payload, begin)[i];
            }
            column64_from(to_payload, to)[0] = value;
            if (COLUMNS > 1u) {
                column64_from(to_payload_2, to)[0] = column64_from(from_payload_2, begin)[i];
            }
            if (COLUMNS > 2u) {
                column64_from(to_payload_3, to)[0] = column64_from(from_payload_3, begin)[i];
            }
        }
    }
}

#endif

typedef struct {
    ulong keys_in;
    ulong payload_in;
    ulong payload_in_2;
    ulong payload_in_3;
    ulong offsets;
    ulong chain;
    ulong keys_out;
    ulong payload_out;
    ulong payload_out_2;
    ulong payload_out_3;
    ulong next_offsets;
    uint rows;
    uint tiles;
    uint first_row;
    uint shift;
    uint bits;
    uint seed;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_scatter(__global uchar* keys_in, __global uchar* payload_in, __global uchar* payload_in_2, __global uchar* payload_in_3, __global uchar* offsets, __global uchar* chain, __global uchar* keys_out, __global uchar* payload_out, __global uchar* payload_out_2, __global uchar* payload_out_3, __global uchar* next_offsets, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys_in + words.keys_in),
        as_uint2((ulong)payload_in + words.payload_in),
        as_uint2((ulong)payload_in_2 + words.payload_in_2),
        as_uint2((ulong)payload_in_3 + words.payload_in_3),
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)chain + words.chain),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)payload_out + words.payload_out),
        as_uint2((ulong)payload_out_2 + words.payload_out_2),
        as_uint2((ulong)payload_out_3 + words.payload_out_3),
        as_uint2((ulong)next_offsets + words.next_offsets),
        words.rows,
        words.tiles,
        words.first_row,
        words.shift,
        words.bits,
        words.seed,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

