// Kernel group_sums in OpenCL C 1.2, translated from shaders/group_sums.comp by make generate; do not edit.
// Variants:
//   value_bits=0
//   value_bits=32
//   value_bits=64
//   value_bits=128

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
    ulong codes;
    ulong units;
    ulong places;
    ulong value;
    ulong value_2;
    ulong valid;
    ulong counts;
    ulong state;
    ulong state_2;
    ulong marks;
    uint rows;
    uint slots;
    uint ranges;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 codes;
    uint2 units;
    uint2 places;
    uint2 value;
    uint2 value_2;
    uint2 valid;
    uint2 counts;
    uint2 state;
    uint2 state_2;
    uint2 marks;
    uint rows;
    uint slots;
    uint ranges;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint sh_sums[TABLE];
} Shared;

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

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
    uint first;
    uint rows;
    uint base;
    bool whole;
} Unit;

INLINE Unit unit_of(uint2 units, uint i, uint rows, uint tile_rows) {
    if (absent(units)) return (Unit){i * tile_rows, rows_left(rows, i * tile_rows, tile_rows), 0u, false};
    __global uint* unit = column32_from(units, 4u * i);
    return (Unit){unit[0], unit[1] - unit[0], unit[2], unit[3] == 1u};
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE uint4 add_128(uint4 a, uint4 b) {
    uint2 low = add(a.xy, b.xy);
    uint2 high = add(a.zw, b.zw);
    uint2 value = less(low, a.xy) ? add(high, (uint2)(1u, 0u)) : high;
    return (uint4)(low.x, low.y, value.x, value.y);
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void add_global(uint2 low_column, uint2 high_column, uint place, uint4 a) {
    __global uint* low = column32_from(low_column, 2u * place);
    uint value;
    if (a.x == 0u) {
        value = 0u;
    } else {
        uint value_2 = atomic_add(&low[0], a.x);
        value = value_2 > ~a.x ? 1u : 0u;
    }
    uint carry = value;
    uint word = a.y + carry;
    if (word >= carry) {
        carry = word == 0u ? 0u : atomic_add(&low[1], word) > ~word ? 1u : 0u;
    }
    if (absent(high_column)) return;
    __global uint* high = column32_from(high_column, 2u * place);
    word = a.z + carry;
    if (word >= carry) {
        carry = word == 0u ? 0u : atomic_add(&high[0], word) > ~word ? 1u : 0u;
    }
    word = a.w + carry;
    if (word != 0u) {
        atomic_add(&high[1], word);
    }
}

INLINE void flush(const Arguments* args, uint place, uint rows_of, uint4 sum, bool whole) {
    if (rows_of != 0u && !absent(args->marks)) {
        atomic_or(&column32_from(args->marks, place / 32u)[0], 1u << (place % 32u));
    }
    if (whole) {
        if (!absent(args->counts)) {
            column64_from(args->counts, place)[0] = (uint2)(rows_of, 0u);
        }
        if (!absent(args->state)) {
            column64_from(args->state, place)[0] = sum.xy;
        }
        if (!absent(args->state_2)) {
            column64_from(args->state_2, place)[0] = sum.zw;
        }
        return;
    }
    if (!absent(args->counts) && rows_of != 0u) {
        add_global(args->counts, (uint2)(0u), place, (uint4)(rows_of, 0u, 0u, 0u));
    }
    if (!absent(args->state) && any(sum != (uint4)(0u))) {
        add_global(args->state, args->state_2, place, sum);
    }
}

#if VALUE_BITS == 0
INLINE uint sum_words(void) {
    return 0u;
}

INLINE uint4 load_value(uint row) {
    return (uint4)(0u);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums[sum_words() * entries + entry], 1u);
    }
}
#endif

#if VALUE_BITS == 32
INLINE uint sum_words(void) {
    return 1u + CARRIED;
}

INLINE uint4 load_value(const Arguments* args, uint row) {
    uint a = (column32_from(args->value, row)[0] >> args->shift) & (0xffffffffu >> (32u - args->bits));
    uint fill = args->kind == 0u ? 0u - ((a >> (args->bits - 1u)) & 1u) : 0u;
    return (uint4)(args->bits < 32u ? a | (fill << args->bits) : a, fill, fill, fill);
}
#endif

#if VALUE_BITS >= 32
INLINE uint add_word(__local Shared* shared, uint at, uint word) {
    return atomic_add(&shared->sh_sums[at], word) > ~word ? 1u : 0u;
}
#endif

#if VALUE_BITS == 32
INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    if (CARRIED == 1u && carry + a.w != 0u) {
        atomic_add(&shared->sh_sums[entries + entry], carry + a.w);
    }
}
#endif

#if VALUE_BITS == 64
INLINE uint sum_words(void) {
    return 2u + CARRIED;
}

INLINE uint4 load_value(const Arguments* args, uint row) {
    uint2 a = column64_from(args->value, row)[0];
    uint fill = args->kind == 0u ? 0u - (a.y >> 31u) : 0u;
    return (uint4)(a.x, a.y, fill, fill);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    uint high = a.y + carry;
    if (high >= carry) {
        carry = high == 0u ? 0u : add_word(shared, entries + entry, high);
    }
    if (CARRIED == 1u && carry + a.w != 0u) {
        atomic_add(&shared->sh_sums[2u * entries + entry], carry + a.w);
    }
}
#endif

#if VALUE_BITS == 128
INLINE uint sum_words(void) {
    return 4u;
}

INLINE uint4 load_value(const Arguments* args, uint row) {
    uint2 value = column64_from(args->value, row)[0];
    uint2 value_2 = column64_from(args->value_2, row)[0];
    return (uint4)(value.x, value.y, value_2.x, value_2.y);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    for (uint k = 1u; k < 4u; ++k) {
        uint word = ((uint*)&a)[k] + carry;
        if (word >= carry) {
            carry = add_word(shared, k * entries + entry, word);
        }
    }
}
#endif

INLINE uint4 sum_of(__local Shared* shared, uint entry, uint entries) {
    uint4 a = (uint4)(0u);
    uint words = sum_words();
    for (uint k = 0u; k < words; ++k) {
        ((uint*)&a)[k] = shared->sh_sums[k * entries + entry];
    }
    uint fill = words == 0u ? 0u : 0u - (((uint*)&a)[words - 1u] >> 31u);
    for (uint k = words; k < 4u; ++k) {
        ((uint*)&a)[k] = fill;
    }
    return a;
}

#if VALUE_BITS == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    Unit unit = unit_of(args->units, group / args->ranges, args->rows, WORKGROUP * ITEMS);
    uint own_slots = args->slots;
    uint own_base = absent(args->places) ? unit.base + group % args->ranges * own_slots : 0u;
    uint words = sum_words() + COUNTED;
    uint copies = 1u;
    while (2u * copies * words * own_slots <= TABLE && copies < 32u) {
        copies *= 2u;
    }
    uint entries = own_slots * copies;
    uint copy = LOCAL_ID_X & (copies - 1u);
    for (uint i = LOCAL_ID_X; i < words * entries; i += WORKGROUP) {
        shared->sh_sums[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(args->codes, unit.first);
    bool all_valid = absent(args->valid);
    uint bit = args->valid_bit;
    uint slot[4];
    uint4 a[4];
    for (uint begin = LOCAL_ID_X; begin < unit.rows; begin += 4u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            uint i = begin + k * WORKGROUP;
            uint at = min(i, unit.rows - 1u);
            slot[k] = i == at ? from[at] - own_base : 0xffffffffu;
            a[k] = load_value(unit.first + at);
        }
        if (!all_valid) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                uint at = min(begin + k * WORKGROUP, unit.rows - 1u);
                if (((column32_from(args->valid, unit.first + at)[0] >> bit) & 1u) == 0u) {
                    slot[k] = 0xffffffffu;
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            if (slot[k] < own_slots) {
                add_shared(shared, slot[k] * copies + copy, entries, a[k]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot_2 = LOCAL_ID_X; slot_2 < own_slots; slot_2 += WORKGROUP) {
        uint place = absent(args->places) ? own_base + slot_2
                : column32_from(args->places, group * own_slots + slot_2)[0];
        if (place == 0xffffffffu) continue;
        uint4 sum = (uint4)(0u);
        uint rows_of = 0u;
        for (uint k = 0u; k < copies; ++k) {
            uint entry = slot_2 * copies + k;
            sum = add_128(sum, sum_of(shared, entry, entries));
            if (COUNTED == 1u) {
                rows_of += shared->sh_sums[sum_words() * entries + entry];
            }
        }
        flush(args, place, rows_of, sum, unit.whole || !absent(args->places));
    }
}
#endif

#if VALUE_BITS >= 32
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    Unit unit = unit_of(args->units, group / args->ranges, args->rows, WORKGROUP * ITEMS);
    uint own_slots = args->slots;
    uint own_base = absent(args->places) ? unit.base + group % args->ranges * own_slots : 0u;
    uint words = sum_words() + COUNTED;
    uint copies = 1u;
    while (2u * copies * words * own_slots <= TABLE && copies < 32u) {
        copies *= 2u;
    }
    uint entries = own_slots * copies;
    uint copy = LOCAL_ID_X & (copies - 1u);
    for (uint i = LOCAL_ID_X; i < words * entries; i += WORKGROUP) {
        shared->sh_sums[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(args->codes, unit.first);
    bool all_valid = absent(args->valid);
    uint bit = args->valid_bit;
    uint slot[4];
    uint4 a[4];
    for (uint begin = LOCAL_ID_X; begin < unit.rows; begin += 4u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            uint i = begin + k * WORKGROUP;
            uint at = min(i, unit.rows - 1u);
            slot[k] = i == at ? from[at] - own_base : 0xffffffffu;
            a[k] = load_value(args, unit.first + at);
        }
        if (!all_valid) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                uint at = min(begin + k * WORKGROUP, unit.rows - 1u);
                if (((column32_from(args->valid, unit.first + at)[0] >> bit) & 1u) == 0u) {
                    slot[k] = 0xffffffffu;
                }
            }
        }
        UNROLL
        for (uint k = 0u; k < 4u; ++k) {
            if (slot[k] < own_slots) {
                add_shared(shared, slot[k] * copies + copy, entries, a[k]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slot_2 = LOCAL_ID_X; slot_2 < own_slots; slot_2 += WORKGROUP) {
        uint place = absent(args->places) ? own_base + slot_2
                : column32_from(args->places, group * own_slots + slot_2)[0];
        if (place == 0xffffffffu) continue;
        uint4 sum = (uint4)(0u);
        uint rows_of = 0u;
        for (uint k = 0u; k < copies; ++k) {
            uint entry = slot_2 * copies + k;
            sum = add_128(sum, sum_of(shared, entry, entries));
            if (COUNTED == 1u) {
                rows_of += shared->sh_sums[sum_words() * entries + entry];
            }
        }
        flush(args, place, rows_of, sum, unit.whole || !absent(args->places));
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_sums(
    __global uchar* codes,
    __global uchar* units,
    __global uchar* places,
    __global uchar* value,
    __global uchar* value_2,
    __global uchar* valid,
    __global uchar* counts,
    __global uchar* state,
    __global uchar* state_2,
    __global uchar* marks,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)codes + scalars.codes),
        as_uint2((ulong)units + scalars.units),
        as_uint2((ulong)places + scalars.places),
        as_uint2((ulong)value + scalars.value),
        as_uint2((ulong)value_2 + scalars.value_2),
        as_uint2((ulong)valid + scalars.valid),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)state + scalars.state),
        as_uint2((ulong)state_2 + scalars.state_2),
        as_uint2((ulong)marks + scalars.marks),
        scalars.rows,
        scalars.slots,
        scalars.ranges,
        scalars.bits,
        scalars.shift,
        scalars.kind,
        scalars.valid_bit,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

