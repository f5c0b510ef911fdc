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

#if SERIAL == 0
#define TILE_ROWS (WORKGROUP * ITEMS)
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS <= 32 && SERIAL == 0 && SHARED == 0
#define EXCHANGE_WORDS (TILE_ROWS < 256u ? 256u : TILE_ROWS)
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
} Scalars;

typedef struct {
    uint2 keys_in;
    uint2 payload_in;
    uint2 payload_in_2;
    uint2 payload_in_3;
    uint2 offsets;
    uint2 chain;
    uint2 keys_out;
    uint2 payload_out;
    uint2 payload_out_2;
    uint2 payload_out_3;
    uint2 next_offsets;
    uint rows;
    uint tiles;
    uint first_row;
    uint shift;
    uint bits;
    uint seed;
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

typedef struct {
    uint shift;
    uint mask;
} Digit;

#if KEY_BITS == 32
INLINE uint mix_of(uint key, uint seed) {
    key ^= seed;
    key = (key ^ (key >> 16u)) * 0x85ebca6bu;
    key = (key ^ (key >> 13u)) * 0xc2b2ae35u;
    return key ^ (key >> 16u);
}

INLINE uint digit_of(uint key, Digit digit) {
    return (key >> digit.shift) & digit.mask;
}
#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE uint as_moved_uint_uint(uint key, uint own_seed) {
    return MIXED == 0u ? key : mix_of(key, own_seed);
}

INLINE uint as_moved_uint(const Arguments* args, uint key) {
    return as_moved_uint_uint(key, args->seed);
}
#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

#define SUBGROUPS_2 ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP)

#define OWN_DIGITS ((256u + WORKGROUP - 1u) / WORKGROUP)
#endif

#if LOOKBACK == 1
INLINE __global volatile uint* word_of(const Arguments* args, uint tile, uint digit) {
    return (__global volatile uint*)as_ulong(element_address(args->chain, (tile + AHEAD) * 256u + digit, 2u));
}
#endif

#if LOOKBACK == 1 || PAYLOAD_BITS >= 32
INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}
#endif

#if SHARED == 1
#define SCANNED_WORDS (4u * WORKGROUP)

INLINE uint2 one(uint counter) {
    uint half_one = 1u << (16u * (counter & 1u));
    return counter < 2u ? (uint2)(half_one, 0u) : (uint2)(0u, half_one);
}

INLINE uint2 add_counts(uint2 a, uint2 b) {
    return a + b;
}

INLINE uint counted(uint2 counts, uint counter) {
    return ((counter < 2u ? counts.x : counts.y) >> (16u * (counter & 1u))) & 0xffffu;
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS <= 32 && SHARED == 1
#define EXCHANGE_WORDS (TILE_ROWS < SCANNED_WORDS ? SCANNED_WORDS : TILE_ROWS)
#endif

#if SERIAL == 1
typedef struct {
    uint sh_cursor[DIGITS + 1u];
} Shared;

#define TURNS ((WORKGROUP + SUBGROUP - 1u) / SUBGROUP)
#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE uint as_moved(uint key, uint own_seed) {
    return MIXED == 0u ? key : mix_of(key, own_seed);
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    bool numbered = absent(args->payload_in);
    uint number = args->first_row + begin;
    uint2 from_payload = args->payload_in;
    uint2 from_payload_2 = args->payload_in_2;
    uint2 from_payload_3 = args->payload_in_3;
    uint2 to_payload = args->payload_out;
    uint2 to_payload_2 = args->payload_out_2;
    uint2 to_payload_3 = args->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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

#if (PAYLOAD_BITS == 64 && SERIAL == 0) || (KEY_BITS == 64 && SERIAL == 0)
#define COLUMN_WORDS (2u * TILE_ROWS)
#endif

#if (PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0) || (KEY_BITS == 64 && SERIAL == 0 && SHARED == 0)
#define EXCHANGE_WORDS (COLUMN_WORDS < 256u ? 256u : COLUMN_WORDS)
#endif

#if SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_data[EXCHANGE_WORDS];
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint sh_to[256];
} Shared;
#endif

#if SERIAL == 0 && SHARED == 0
#define MOST_COUNTER_ROWS (EXCHANGE_WORDS / 256u)

#define TURNS ((SUBGROUPS_2 + MOST_COUNTER_ROWS - 1u) / MOST_COUNTER_ROWS)

#define COUNTER_ROWS ((SUBGROUPS_2 + TURNS - 1u) / TURNS)
#endif

#if LOOKBACK == 1
typedef struct {
    uint sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_to[256];
    uint sh_data[EXCHANGE_WORDS];
    uint sh_shift;
    uint sh_half;
    uint sh_rows;
    uint sh_stuck;
} Shared;

INLINE void settle(const Arguments* args, __local Shared* shared, uint tile, bool last, uint digit, uint base,
        uint before, uint total, uint start) {
    if (tile > 0u) {
        word_of(args, tile, digit)[0] = 0x80000000u | (before + total);
    }
    shared->sh_to[digit] = base + before - start;
    if (last && !absent(args->next_offsets)) {
        column32_from(args->next_offsets, digit)[0] = base + before + total;
    }
}
#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint workgroup_sum(__local Shared* shared, uint own, uint* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0u;
    *all_ = 0u;
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ = add(*all_, shared->sh_subgroup_sum[s]);
    }
    return before;
}
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

#if (PAYLOAD_BITS == 64 && SHARED == 1) || (KEY_BITS == 64 && SHARED == 1)
#define EXCHANGE_WORDS (COLUMN_WORDS < SCANNED_WORDS ? SCANNED_WORDS : COLUMN_WORDS)
#endif

#if SHARED == 1
typedef struct {
    uint sh_data[EXCHANGE_WORDS];
    uint sh_to[256];
} Shared;

INLINE void put_scanned(__local Shared* shared, uint at, uint2 counts) {
    shared->sh_data[at] = counts.x;
    shared->sh_data[2u * WORKGROUP + at] = counts.y;
}

INLINE uint2 scanned(__local Shared* shared, uint at) {
    return (uint2)(shared->sh_data[at], shared->sh_data[2u * WORKGROUP + at]);
}

INLINE uint2 workgroup_scan(__local Shared* shared, uint2 own, uint2* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = add_counts(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return (uint2)(0u);
    return scanned(shared, side + LOCAL_ID_X - 1u);
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS <= 32 && SERIAL == 0
INLINE void put(__local Shared* shared, uint place, uint value) {
    shared->sh_data[place] = value;
}

INLINE void get(__local Shared* shared, uint place, uint* value) {
    *value = shared->sh_data[place];
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others = column32_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = 0xffffffffu;
        if (i < count) {
            key[k] = as_moved_uint(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get(shared, word[k] & 0xffffu, &value);
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 30u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x3fffffffu] = value;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint count_here;
    uint sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
                }
            } else {
                __global uint* from = column32_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2
                        : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = 0u;
                        if (run + k * subgroup_size() < count) {
                            payload[k] = from[(k * subgroup_size()) << 0u];
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 30u)));
            to = FAR == 0u ? to : to & 0x3fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others = column32_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint count_here;
    uint sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
                }
            } else {
                __global uint* from = column32_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2
                        : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = 0u;
                        if (run + k * subgroup_size() < count) {
                            payload[k] = from[(k * subgroup_size()) << 0u];
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 30u)));
            to = FAR == 0u ? to : to & 0x3fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = 0xffffffffu;
        if (i < count) {
            key[k] = as_moved_uint(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get(shared, word[k] & 0xffffu, &value);
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 30u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x3fffffffu] = value;
        }
    }
    uint payload[ITEMS];
    uint value_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        __global uint* from = column32_from(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2
                : args->payload_in_3, begin);
        bool numbered = absent(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2 : args->payload_in_3);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            payload[k] = widen(args->first_row + begin + i, 0u);
            if (!numbered && i < count) {
                payload[k] = from[i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            put(shared, LOCAL_ID_X + k * WORKGROUP, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            uint row = shared->sh_to[word[k] >> 16u] + i;
            get(shared, word[k] & 0xffffu, &value_2);
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (row >> 30u)));
            if (i < count) {
                page[FAR == 0u ? row : row & 0x3fffffffu] = value_2;
            }
        }
    }
}
#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0) || (KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0)
INLINE void put_uint_uint(__local Shared* shared, uint place, uint value) {
    shared->sh_data[place] = value;
}

INLINE void get_uint_uint(__local Shared* shared, uint place, uint* value) {
    *value = shared->sh_data[place];
}

INLINE void put_uint_uint2(__local Shared* shared, uint place, uint2 value) {
    shared->sh_data[place] = value.x;
    shared->sh_data[TILE_ROWS + place] = value.y;
}

INLINE void get_uint_uint2(__local Shared* shared, uint place, uint2* value) {
    *value = (uint2)(shared->sh_data[place], shared->sh_data[TILE_ROWS + place]);
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put_uint_uint(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get_uint_uint(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint count_here;
    uint2 sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put_uint_uint2(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word,
                    payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
                }
            } else {
                __global uint2* from = column64_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u
                        ? args->payload_in_2 : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = (uint2)(0u);
                        if (run + k * subgroup_size() < count) {
                            uint2 value = from[(k * subgroup_size()) << 0u];
                            payload[k] = (uint2)(value.x, value.y);
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get_uint_uint2(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 29u)));
            to = FAR == 0u ? to : to & 0x1fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint* keys = column32_from(args->keys_in, (begin + run) << NARROW);
    uint key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = 0xffffffffu;
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of(0xffffffffu, (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put_uint_uint(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint* others = column32_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get_uint_uint(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 30u)));
        to = FAR == 0u ? to : to & 0x3fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint count_here;
    uint2 sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put_uint_uint2(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word,
                    payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
                }
            } else {
                __global uint2* from = column64_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u
                        ? args->payload_in_2 : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = (uint2)(0u);
                        if (run + k * subgroup_size() < count) {
                            uint2 value = from[(k * subgroup_size()) << 0u];
                            payload[k] = (uint2)(value.x, value.y);
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get_uint_uint2(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 29u)));
            to = FAR == 0u ? to : to & 0x1fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    uint key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = 0xffffffffu;
        if (i < count) {
            key[k] = as_moved_uint(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put_uint_uint(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get_uint_uint(shared, word[k] & 0xffffu, &value);
        __global uint* page = (__global uint*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 30u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x3fffffffu] = value;
        }
    }
    uint2 payload[ITEMS];
    uint2 value_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        __global uint2* from = column64_from(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2
                : args->payload_in_3, begin);
        bool numbered = absent(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2 : args->payload_in_3);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            payload[k] = widen(args->first_row + begin + i, (uint2)(0u));
            if (!numbered && i < count) {
                payload[k] = from[i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            put_uint_uint2(shared, LOCAL_ID_X + k * WORKGROUP, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            uint row = shared->sh_to[word[k] >> 16u] + i;
            get_uint_uint2(shared, word[k] & 0xffffu, &value_2);
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (row >> 29u)));
            if (i < count) {
                page[FAR == 0u ? row : row & 0x1fffffffu] = value_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint* keys = column32_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    bool numbered = absent(args->payload_in);
    uint number = args->first_row + begin;
    uint2 from_payload = args->payload_in;
    uint2 from_payload_2 = args->payload_in_2;
    uint2 from_payload_3 = args->payload_in_3;
    uint2 to_payload = args->payload_out;
    uint2 to_payload_2 = args->payload_out_2;
    uint2 to_payload_3 = args->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint key = 0u;
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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

INLINE uint digit_of(uint2 key, Digit digit) {
    return ((digit.shift < 32u ? key.x : key.y) >> (digit.shift & 31u)) & digit.mask;
}
#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE uint2 as_moved_uint2_uint(uint2 key, uint own_seed) {
    return MIXED == 0u ? key : mix_of_uint2_uint(key, own_seed);
}

INLINE uint2 as_moved_uint2(const Arguments* args, uint2 key) {
    return as_moved_uint2_uint(key, args->seed);
}
#endif

#if KEY_BITS == 64 && (PAYLOAD_BITS == 0 || PAYLOAD_BITS == 64) && SERIAL == 0
INLINE void put(__local Shared* shared, uint place, uint2 value) {
    shared->sh_data[place] = value.x;
    shared->sh_data[TILE_ROWS + place] = value.y;
}

INLINE void get(__local Shared* shared, uint place, uint2* value) {
    *value = (uint2)(shared->sh_data[place], shared->sh_data[TILE_ROWS + place]);
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0 && SHARED == 0 && LOOKBACK == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others = column64_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint2(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            key[k] = as_moved_uint2(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get(shared, word[k] & 0xffffu, &value);
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 29u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x1fffffffu] = value;
        }
    }
}
#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE uint2 as_moved(uint2 key, uint own_seed) {
    return MIXED == 0u ? key : mix_of_uint2_uint(key, own_seed);
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put_uint_uint2(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get_uint_uint2(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint count_here;
    uint sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put_uint_uint(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word,
                    payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
                }
            } else {
                __global uint* from = column32_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2
                        : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = 0u;
                        if (run + k * subgroup_size() < count) {
                            payload[k] = from[(k * subgroup_size()) << 0u];
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get_uint_uint(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 30u)));
            to = FAR == 0u ? to : to & 0x3fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put_uint_uint2(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others = column64_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint2(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get_uint_uint2(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
            }
        } else {
            __global uint* from = column32_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = from[(k * subgroup_size()) << 0u];
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = 0u;
                    if (run + k * subgroup_size() < count) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                }
            }
        }
    }
    uint count_here;
    uint sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put_uint_uint(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word,
                    payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), 0u);
                }
            } else {
                __global uint* from = column32_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2
                        : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = from[(k * subgroup_size()) << 0u];
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = 0u;
                        if (run + k * subgroup_size() < count) {
                            payload[k] = from[(k * subgroup_size()) << 0u];
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get_uint_uint(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 30u)));
            to = FAR == 0u ? to : to & 0x3fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            key[k] = as_moved_uint2(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put_uint_uint2(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get_uint_uint2(shared, word[k] & 0xffffu, &value);
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 29u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x1fffffffu] = value;
        }
    }
    uint payload[ITEMS];
    uint value_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        __global uint* from = column32_from(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2
                : args->payload_in_3, begin);
        bool numbered = absent(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2 : args->payload_in_3);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            payload[k] = widen(args->first_row + begin + i, 0u);
            if (!numbered && i < count) {
                payload[k] = from[i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            put_uint_uint(shared, LOCAL_ID_X + k * WORKGROUP, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            uint row = shared->sh_to[word[k] >> 16u] + i;
            get_uint_uint(shared, word[k] & 0xffffu, &value_2);
            __global uint* page = (__global uint*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (row >> 30u)));
            if (i < count) {
                page[FAR == 0u ? row : row & 0x3fffffffu] = value_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    bool numbered = absent(args->payload_in);
    uint number = args->first_row + begin;
    uint2 from_payload = args->payload_in;
    uint2 from_payload_2 = args->payload_in_2;
    uint2 from_payload_3 = args->payload_in_3;
    uint2 to_payload = args->payload_out;
    uint2 to_payload_2 = args->payload_out_2;
    uint2 to_payload_3 = args->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        if (digit <= mask) {
            shared->sh_to[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0] - start[d];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint count_here;
    uint2 sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
                }
            } else {
                __global uint2* from = column64_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u
                        ? args->payload_in_2 : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = (uint2)(0u);
                        if (run + k * subgroup_size() < count) {
                            uint2 value = from[(k * subgroup_size()) << 0u];
                            payload[k] = (uint2)(value.x, value.y);
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 29u)));
            to = FAR == 0u ? to : to & 0x1fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && LOOKBACK == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint run = subgroup_id() * subgroup_size() * ITEMS + subgroup_local_id();
    uint mask = (1u << args->bits) - 1u;
    uint counters = subgroup_id() / TURNS * 256u;
    __global uint2* keys = column64_from(args->keys_in, (begin + run) << NARROW);
    uint2 key[ITEMS];
    if (count == TILE_ROWS) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
        }
    } else {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            key[k] = (uint2)(0xffffffffu);
            if (run + k * subgroup_size() < count) {
                key[k] = as_moved_uint2(args, keys[(k * subgroup_size()) << NARROW]);
            }
        }
    }
    for (uint i = LOCAL_ID_X; i < COUNTER_ROWS * 256u; i += WORKGROUP) {
        shared->sh_data[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_shift = args->shift;
        shared->sh_half = 16u + args->bits / 16u;
        shared->sh_rows = count;
        shared->sh_stuck = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        atomic_add(&shared->sh_data[counters + digit_of(key[k], (Digit){args->shift, mask})], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0u;
    uint missing_rows = TILE_ROWS - count;
    uint last_digit = digit_of((uint2)(0xffffffffu), (Digit){args->shift, mask});
    uint total[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        total[d] = 0u;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                total[d] += shared->sh_data[r * 256u + digit];
            }
            own += total[d];
            if (digit == last_digit) {
                total[d] -= missing_rows;
            }
            word_of(args, tile, digit)[0] = (tile == 0u ? 0x80000000u : 0x40000000u) | total[d];
        }
    }
    uint first = subgroup_sum_before(own);
    uint all_;
    first += workgroup_sum(shared, subgroup_broadcast(first + own, subgroup_size() - 1u), &all_);
    uint start[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        start[d] = first;
        if (digit < 256u) {
            for (uint r = 0u; r < COUNTER_ROWS; ++r) {
                uint n = shared->sh_data[r * 256u + digit];
                shared->sh_data[r * 256u + digit] = first;
                first += n;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 payload[ITEMS];
    if (EARLY == 1u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint late;
    uint place[(ITEMS + 1u) / 2u];
    for (uint turn = 0u; turn < TURNS; ++turn) {
        if (subgroup_id() % TURNS == turn) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                if (k % 2u == 0u) {
                    subgroup_barrier();
                    late = shared->sh_shift;
                }
                uint digit = digit_of(key[k], (Digit){late, mask});
                uint4 same = subgroup_ballot(true);
                UNROLL
                for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & (1u << b)) != 0u;
                    uint4 others = subgroup_ballot(set);
                    same &= set ? others : ~others;
                }
                uint sh_data = shared->sh_data[counters + digit];
                uint to = sh_data + subgroup_ballot_exclusive_bit_count(same);
                subgroup_barrier();
                if (subgroup_ballot_find_msb(same) == subgroup_local_id()) {
                    shared->sh_data[counters + digit] = to + 1u;
                }
                subgroup_barrier();
                if (k % 2u == 0u) {
                    place[k / 2u] = to;
                } else {
                    place[k / 2u] |= to << 16u;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint half_word;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            half_word = shared->sh_half;
        }
        put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, key[k]);
    }
    uint before[OWN_DIGITS];
    uint next[OWN_DIGITS];
    uint base[OWN_DIGITS];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        before[d] = 0u;
        next[d] = digit < 256u ? tile : 0u;
        base[d] = digit < 256u ? column32_from(args->offsets, digit)[0] : 0u;
    }
    bool last = begin + count == args->rows;
    uint word[AHEAD];
    UNROLL
    for (uint d = 0u; d < OWN_DIGITS; ++d) {
        uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
        uint look = 0u;
        while (look <= PATIENCE && next[d] > 0u) {
            __global volatile uint* words = word_of(args, next[d] - AHEAD, digit);
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                uint value = words[(AHEAD - 1u - j) * 256u];
                word[j] = value;
            }
            bool missing = false;
            UNROLL
            for (uint j = 0u; j < AHEAD; ++j) {
                missing = missing || word[j] < 0x40000000u;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & 0x3fffffffu;
                    next[d] = word[j] >= 0x80000000u ? 0u : next[d] - 1u;
                }
            }
            if (missing) {
                ++look;
            }
        }
        if (next[d] > 0u) {
            atomic_max(&shared->sh_stuck, next[d]);
        } else if (digit < 256u) {
            settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (shared->sh_stuck > 0u) {
        for (uint stuck = shared->sh_stuck; stuck > 0u; stuck = shared->sh_stuck) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = LOCAL_ID_X; i < 256u; i += WORKGROUP) {
                shared->sh_to[i] = 0u;
            }
            if (LOCAL_ID_X == 0u) {
                shared->sh_stuck = 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            __global uint2* others = column64_from(args->keys_in, ((stuck - 1u) * TILE_ROWS) << NARROW);
            for (uint i = LOCAL_ID_X; i < TILE_ROWS; i += WORKGROUP) {
                atomic_add(&shared->sh_to[digit_of(as_moved_uint2(args, others[i << NARROW]),
                        (Digit){args->shift, mask})], 1u);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint d = 0u; d < OWN_DIGITS; ++d) {
                if (next[d] == stuck) {
                    before[d] += shared->sh_to[(subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS +
                            d];
                    --next[d];
                    while (PATIENCE > 0u && next[d] > 0u) {
                        uint value = word_of(args, next[d] - 1u,
                                (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d)[0];
                        uint word_2 = value;
                        if (word_2 < 0x40000000u) break;
                        before[d] += word_2 & 0x3fffffffu;
                        next[d] = word_2 >= 0x80000000u ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) {
                    atomic_max(&shared->sh_stuck, next[d]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL
        for (uint d = 0u; d < OWN_DIGITS; ++d) {
            uint digit = (subgroup_id() * subgroup_size() + subgroup_local_id()) * OWN_DIGITS + d;
            if (digit < 256u) {
                settle(args, shared, tile, last, digit, base[d], before[d], total[d], start[d]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint2 sorted;
    uint digits[(ITEMS + 3u) / 4u];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        if (k % 2u == 0u) {
            subgroup_barrier();
            late = shared->sh_shift;
        }
        uint i = LOCAL_ID_X + k * WORKGROUP;
        get(shared, i, &sorted);
        uint digit = digit_of(sorted, (Digit){late, mask});
        uint to = shared->sh_to[digit] + i;
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (to >> 29u)));
        to = FAR == 0u ? to : to & 0x1fffffffu;
        if (i < count) {
            page[to] = sorted;
        }
        if (k % 4u == 0u) {
            digits[k / 4u] = digit;
        } else {
            digits[k / 4u] |= digit << (k % 4u * 8u);
        }
        if (k % 4u == 3u || k + 1u == ITEMS) {
            uint value = subgroup_shuffle(digits[k / 4u], subgroup_local_id());
            digits[k / 4u] = value;
        }
    }
    if (EARLY == 0u) {
        if (absent(args->payload_in)) {
            UNROLL
            for (uint k = 0u; k < ITEMS; ++k) {
                payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
            }
        } else {
            __global uint2* from = column64_from(args->payload_in, begin + run);
            if (count == TILE_ROWS) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    uint2 value = from[(k * subgroup_size()) << 0u];
                    payload[k] = (uint2)(value.x, value.y);
                }
            } else {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = (uint2)(0u);
                    if (run + k * subgroup_size() < count) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                }
            }
        }
    }
    uint count_here;
    uint2 sorted_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                half_word = shared->sh_half;
            }
            put(shared, k % 2u == 0u ? place[k / 2u] << half_word >> 16u : place[k / 2u] >> half_word, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (c + 1u < COLUMNS) {
            if (absent(c + 1u == 0u ? args->payload_in : c + 1u == 1u ? args->payload_in_2 : args->payload_in_3)) {
                UNROLL
                for (uint k = 0u; k < ITEMS; ++k) {
                    payload[k] = widen(args->first_row + begin + run + k * subgroup_size(), (uint2)(0u));
                }
            } else {
                __global uint2* from = column64_from(c + 1u == 0u ? args->payload_in : c + 1u == 1u
                        ? args->payload_in_2 : args->payload_in_3, begin + run);
                if (count == TILE_ROWS) {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        uint2 value = from[(k * subgroup_size()) << 0u];
                        payload[k] = (uint2)(value.x, value.y);
                    }
                } else {
                    UNROLL
                    for (uint k = 0u; k < ITEMS; ++k) {
                        payload[k] = (uint2)(0u);
                        if (run + k * subgroup_size() < count) {
                            uint2 value = from[(k * subgroup_size()) << 0u];
                            payload[k] = (uint2)(value.x, value.y);
                        }
                    }
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (k % 2u == 0u) {
                subgroup_barrier();
                count_here = shared->sh_rows;
            }
            uint i = LOCAL_ID_X + k * WORKGROUP;
            get(shared, i, &sorted_2);
            uint to = shared->sh_to[(digits[k / 4u] >> (k % 4u * 8u)) & 255u] + i;
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (to >> 29u)));
            to = FAR == 0u ? to : to & 0x1fffffffu;
            if (i < count_here) {
                page[to] = sorted_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    uint digit_bits = args->bits;
    Digit digit = (Digit){args->shift, (1u << digit_bits) - 1u};
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    uint2 key[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            key[k] = as_moved_uint2(args, keys[i << NARROW]);
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        shared->sh_data[i] = (digit_of(key[k], digit) << 16u) | i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint word[ITEMS];
    uint2 all_;
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uint2 counts = (uint2)(0u);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            word[k] = shared->sh_data[LOCAL_ID_X * ITEMS + k];
            counts += one((word[k] >> from) & 3u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        counts = workgroup_scan(shared, counts, &all_);
        uint of_0 = all_.x & 0xffffu;
        uint of_1 = all_.x >> 16u;
        uint of_2 = all_.y & 0xffffu;
        counts += (uint2)(of_0 << 16u, (of_0 + of_1) | ((of_0 + of_1 + of_2) << 16u));
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint counter = (word[k] >> from) & 3u;
            shared->sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        word[k] = shared->sh_data[i];
        uint own = word[k] >> 16u;
        uint before = 0xffffffffu;
        if (i > 0u) {
            before = shared->sh_data[i - 1u] >> 16u;
        }
        if (own != before) {
            shared->sh_to[own] = column32_from(args->offsets, own * args->tiles + tile)[0] - i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        put(shared, LOCAL_ID_X + k * WORKGROUP, key[k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 value;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        uint row = shared->sh_to[word[k] >> 16u] + i;
        get(shared, word[k] & 0xffffu, &value);
        __global uint2* page = (__global uint2*)as_ulong(FAR == 0u ? args->keys_out
                : (uint2)(args->keys_out.x, args->keys_out.y + (row >> 29u)));
        if (i < count) {
            page[FAR == 0u ? row : row & 0x1fffffffu] = value;
        }
    }
    uint2 payload[ITEMS];
    uint2 value_2;
    UNROLL
    for (uint c = 0u; c < COLUMNS; ++c) {
        __global uint2* from = column64_from(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2
                : args->payload_in_3, begin);
        bool numbered = absent(c == 0u ? args->payload_in : c == 1u ? args->payload_in_2 : args->payload_in_3);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            payload[k] = widen(args->first_row + begin + i, (uint2)(0u));
            if (!numbered && i < count) {
                payload[k] = from[i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            put(shared, LOCAL_ID_X + k * WORKGROUP, payload[k]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            uint row = shared->sh_to[word[k] >> 16u] + i;
            get(shared, word[k] & 0xffffu, &value_2);
            __global uint2* page = (__global uint2*)as_ulong(FAR == 0u
                    ? (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3)
                    : (uint2)((c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).x,
                    (c == 0u ? args->payload_out : c == 1u ? args->payload_out_2 : args->payload_out_3).y +
                    (row >> 29u)));
            if (i < count) {
                page[FAR == 0u ? row : row & 0x1fffffffu] = value_2;
            }
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP;
    uint digits = 1u << args->bits;
    for (uint digit = LOCAL_ID_X; digit < digits; digit += WORKGROUP) {
        shared->sh_cursor[digit] = column32_from(args->offsets, digit * args->tiles + tile)[0];
    }
    if (TURNS > 1u) {
        barrier(CLK_LOCAL_MEM_FENCE);
    } else {
        subgroup_barrier();
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS * WORKGROUP);
    uint own_seed = args->seed;
    __global uint2* keys = column64_from(args->keys_in, begin << NARROW);
    Digit place = (Digit){args->shift, digits - 1u};
    uint2 to_keys = args->keys_out;
    bool numbered = absent(args->payload_in);
    uint number = args->first_row + begin;
    uint2 from_payload = args->payload_in;
    uint2 from_payload_2 = args->payload_in_2;
    uint2 from_payload_3 = args->payload_in_3;
    uint2 to_payload = args->payload_out;
    uint2 to_payload_2 = args->payload_out_2;
    uint2 to_payload_3 = args->payload_out_3;
    uint neighbours = WORKGROUP - subgroup_id() * subgroup_size();
    uint to;
    for (uint first = 0u; first < count; first += WORKGROUP) {
        uint i = first + (subgroup_id() * subgroup_size() + subgroup_local_id());
        uint digit = digits;
        uint before = 0u;
        uint after = 0u;
        uint2 key = (uint2)(0u);
        if (i < count) {
            key = as_moved(keys[i << NARROW], own_seed);
            digit = digit_of(key, place);
        }
        UNROLL
        for (uint j = 0u; j < SUBGROUP; ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint j = SUBGROUP; j < subgroup_size(); ++j) {
            bool same = subgroup_shuffle(digit, j) == digit;
            before += same && j < subgroup_local_id() ? 1u : 0u;
            after += same && j > subgroup_local_id() && j < neighbours ? 1u : 0u;
        }
        for (uint turn = 0u; turn < TURNS; ++turn) {
            if (TURNS == 1u || subgroup_id() == turn) {
                to = shared->sh_cursor[digit] + before;
                subgroup_barrier();
                if (after == 0u) {
                    shared->sh_cursor[digit] = to + 1u;
                }
            }
            if (TURNS > 1u) {
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

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void radix_scatter(
    __global uchar* keys_in,
    __global uchar* payload_in,
    __global uchar* payload_in_2,
    __global uchar* payload_in_3,
    __global uchar* offsets,
    __global uchar* chain,
    __global uchar* keys_out,
    __global uchar* payload_out,
    __global uchar* payload_out_2,
    __global uchar* payload_out_3,
    __global uchar* next_offsets,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys_in + scalars.keys_in),
        as_uint2((ulong)payload_in + scalars.payload_in),
        as_uint2((ulong)payload_in_2 + scalars.payload_in_2),
        as_uint2((ulong)payload_in_3 + scalars.payload_in_3),
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)chain + scalars.chain),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)payload_out + scalars.payload_out),
        as_uint2((ulong)payload_out_2 + scalars.payload_out_2),
        as_uint2((ulong)payload_out_3 + scalars.payload_out_3),
        as_uint2((ulong)next_offsets + scalars.next_offsets),
        scalars.rows,
        scalars.tiles,
        scalars.first_row,
        scalars.shift,
        scalars.bits,
        scalars.seed,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

