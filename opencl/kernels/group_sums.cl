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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint v[TABLE]; } uint_xtable;

typedef struct { uint2 codes; uint2 units; uint2 places; uint2 value; uint2 value_2; uint2 valid; uint2 counts; uint2 state; uint2 state_2; uint2 marks; uint rows; uint slots; uint ranges; uint bits; uint shift; uint kind; uint valid_bit; uint first_group; uint end_group; } Push;

typedef struct {
    uint_xtable sh_sums;
} Shared;

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

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

typedef struct { uint first; uint rows; uint base; bool whole; } Unit;

INLINE Unit unit_of(uint2 units, uint i, uint rows, uint tile_rows) {
    if (absent(units)) {
        return (Unit){i * tile_rows, rows_left(rows, i * tile_rows, tile_rows), 0u, false};
    }
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
    uint4 value = a;
    uint4 value_2 = b;
    uint2 low = add(value.xy, value_2.xy);
    uint4 value_3 = a;
    uint4 value_4 = b;
    uint2 high = add(value_3.zw, value_4.zw);
    uint2 value_5 = low;
    uint4 value_6 = a;
    uint2 variable;
    if (less(low, value_6.xy)) {
        variable = add(high, (uint2)(1u, 0u));
    } else {
        variable = high;
    }
    uint2 value_7 = variable;
    return (uint4)(value_5.x, value_5.y, value_7.x, value_7.y);
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void add_global(uint2 low_column, uint2 high_column, uint place, uint4 a) {
    __global uint* low = column32_from(low_column, 2u * place);
    uint variable;
    if (a.x == 0u) {
        variable = 0u;
    } else {
        uint value = atomic_add(&low[0], a.x);
        variable = value > (~a.x) ? 1u : 0u;
    }
    uint carry = variable;
    uint word = a.y + carry;
    if (word >= carry) {
        uint variable_2;
        if (word == 0u) {
            variable_2 = 0u;
        } else {
            uint value_2 = atomic_add(&low[1], word);
            variable_2 = value_2 > (~word) ? 1u : 0u;
        }
        carry = variable_2;
    }
    if (absent(high_column)) {
        return;
    }
    __global uint* high = column32_from(high_column, 2u * place);
    word = a.z + carry;
    if (word >= carry) {
        uint variable_3;
        if (word == 0u) {
            variable_3 = 0u;
        } else {
            uint value_3 = atomic_add(&high[0], word);
            variable_3 = value_3 > (~word) ? 1u : 0u;
        }
        carry = variable_3;
    }
    word = a.w + carry;
    if (word != 0u) {
        atomic_add(&high[1], word);
    }
}

INLINE void flush(const Push* push, uint place, uint rows_of, uint4 sum, bool whole) {
    if (rows_of != 0u && !absent(push->marks)) {
        atomic_or(&column32_from(push->marks, place / 32u)[0], 1u << (place % 32u));
    }
    if (whole) {
        if (!absent(push->counts)) {
            column64_from(push->counts, place)[0] = (uint2)(rows_of, 0u);
        }
        if (!absent(push->state)) {
            uint4 value = sum;
            column64_from(push->state, place)[0] = value.xy;
        }
        if (!absent(push->state_2)) {
            uint4 value_2 = sum;
            column64_from(push->state_2, place)[0] = value_2.zw;
        }
        return;
    }
    if ((!absent(push->counts)) && (rows_of != 0u)) {
        add_global(push->counts, (uint2)(0u), place, (uint4)(rows_of, 0u, 0u, 0u));
    }
    if ((!absent(push->state)) && any(sum != (uint4)(0u))) {
        add_global(push->state, push->state_2, place, sum);
    }
}

typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint4 v[4u]; } uint4_x4u;

#if VALUE_BITS == 0
INLINE uint sum_words() {
    return true ? 0u : 0u + CARRIED;
}

INLINE uint4 load_value(uint row) {
    return (uint4)(0u);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums.v[sum_words() * entries + entry], 1u);
    }
}

#endif

#if VALUE_BITS == 32
INLINE uint sum_words() {
    return false ? 1u : 1u + CARRIED;
}

INLINE uint4 load_value(const Push* push, uint row) {
    uint a = (column32_from(push->value, row)[0] >> push->shift) & (4294967295u >> (32u - push->bits));
    uint variable;
    if (push->kind == 0u) {
        variable = 0u - ((a >> (push->bits - 1u)) & 1u);
    } else {
        variable = 0u;
    }
    uint fill = variable;
    uint variable_2;
    if (push->bits < 32u) {
        variable_2 = a | (fill << push->bits);
    } else {
        variable_2 = a;
    }
    return (uint4)(variable_2, fill, fill, fill);
}

#endif

#if VALUE_BITS == 32 || VALUE_BITS == 64 || VALUE_BITS == 128
INLINE uint add_word(__local Shared* shared, uint at, uint word) {
    uint value = atomic_add(&shared->sh_sums.v[at], word);
    return value > (~word) ? 1u : 0u;
}

#endif

#if VALUE_BITS == 32
INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums.v[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    if (CARRIED == 1u && (carry + a.w) != 0u) {
        atomic_add(&shared->sh_sums.v[entries + entry], carry + a.w);
    }
}

#endif

#if VALUE_BITS == 64
INLINE uint sum_words() {
    return false ? 2u : 2u + CARRIED;
}

INLINE uint4 load_value(const Push* push, uint row) {
    uint2 a = column64_from(push->value, row)[0];
    uint variable;
    if (push->kind == 0u) {
        variable = 0u - (a.y >> 31);
    } else {
        variable = 0u;
    }
    uint fill = variable;
    uint2 value = a;
    return (uint4)(value.x, value.y, fill, fill);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums.v[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    uint high = a.y + carry;
    if (high >= carry) {
        uint variable;
        if (high == 0u) {
            variable = 0u;
        } else {
            variable = add_word(shared, entries + entry, high);
        }
        carry = variable;
    }
    if (CARRIED == 1u && (carry + a.w) != 0u) {
        atomic_add(&shared->sh_sums.v[2u * entries + entry], carry + a.w);
    }
}

#endif

#if VALUE_BITS == 128
INLINE uint sum_words() {
    return true ? 4u : 4u + CARRIED;
}

INLINE uint4 load_value(const Push* push, uint row) {
    uint2 value;
    value = column64_from(push->value, row)[0];
    uint2 value_2;
    value_2 = column64_from(push->value_2, row)[0];
    return (uint4)(value.x, value.y, value_2.x, value_2.y);
}

INLINE void add_shared(__local Shared* shared, uint entry, uint entries, uint4 a) {
    if (COUNTED == 1u) {
        atomic_add(&shared->sh_sums.v[sum_words() * entries + entry], 1u);
    }
    uint carry = add_word(shared, entry, a.x);
    uint k = 1u;
    for (; k < 4u; k = k + 1) {
        uint word = ((uint*)&a)[k] + carry;
        if (word >= carry) {
            carry = add_word(shared, k * entries + entry, word);
        }
    }
}

#endif

INLINE uint4 sum_of(__local Shared* shared, uint entry, uint entries) {
    uint4 a = (uint4)(0u);
    uint words_ = sum_words();
    uint k = 0u;
    for (; k < words_; k = k + 1) {
        ((uint*)&a)[k] = shared->sh_sums.v[k * entries + entry];
    }
    uint variable;
    if (words_ == 0u) {
        variable = 0u;
    } else {
        variable = 0u - (((uint*)&a)[words_ - 1u] >> 31);
    }
    uint fill = variable;
    uint k_2 = words_;
    for (; k_2 < 4u; k_2 = k_2 + 1) {
        ((uint*)&a)[k_2] = fill;
    }
    return a;
}

#if VALUE_BITS == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    Unit unit = unit_of(push->units, group / push->ranges, push->rows, WORKGROUP * ITEMS);
    uint own_slots = push->slots;
    uint variable;
    if (absent(push->places)) {
        variable = unit.base + group % push->ranges * own_slots;
    } else {
        variable = 0u;
    }
    uint own_base = variable;
    uint words_ = sum_words() + COUNTED;
    uint copies = 1u;
    while (((2u * copies * words_ * own_slots) <= TABLE) && (copies < 32u)) {
        copies = copies * 2u;
    }
    uint entries = own_slots * copies;
    uint copy = LOCAL_ID_X & (copies - 1u);
    uint i = LOCAL_ID_X;
    for (; i < (words_ * entries); i = i + WORKGROUP) {
        shared->sh_sums.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(push->codes, unit.first);
    bool all_valid = absent(push->valid);
    uint bit = push->valid_bit;
    uint begin = LOCAL_ID_X;
    uint_x4u slot;
    uint variable_2;
    uint4_x4u a;
    for (; begin < unit.rows; begin = begin + 4u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            uint i_2 = begin + k * WORKGROUP;
            uint at = min(i_2, unit.rows - 1u);
            uint value = k;
            if (i_2 == at) {
                variable_2 = from[at] - own_base;
            } else {
                variable_2 = 4294967295u;
            }
            slot.v[value] = variable_2;
            a.v[k] = load_value(unit.first + at);
        }
        if (!all_valid) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                uint at_2 = min(begin + k_2 * WORKGROUP, unit.rows - 1u);
                if (((column32_from(push->valid, unit.first + at_2)[0] >> bit) & 1u) == 0u) {
                    slot.v[k_2] = 4294967295u;
                }
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < 4u; k_3 = k_3 + 1) {
            if (slot.v[k_3] < own_slots) {
                add_shared(shared, slot.v[k_3] * copies + copy, entries, a.v[k_3]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint slot_2 = LOCAL_ID_X;
    uint variable_3;
    for (; slot_2 < own_slots; slot_2 = slot_2 + WORKGROUP) {
        if (absent(push->places)) {
            variable_3 = own_base + slot_2;
        } else {
            variable_3 = column32_from(push->places, group * own_slots + slot_2)[0];
        }
        uint place = variable_3;
        if (place == 4294967295u) {
            continue;
        }
        uint4 sum = (uint4)(0u);
        uint rows_of = 0u;
        uint k_4 = 0u;
        for (; k_4 < copies; k_4 = k_4 + 1) {
            uint entry = slot_2 * copies + k_4;
            sum = add_128(sum, sum_of(shared, entry, entries));
            if (COUNTED == 1u) {
                rows_of = rows_of + shared->sh_sums.v[sum_words() * entries + entry];
            }
        }
        flush(push, place, rows_of, sum, unit.whole || !absent(push->places));
    }
}

#endif

#if VALUE_BITS == 32 || VALUE_BITS == 64 || VALUE_BITS == 128
INLINE void run(const Push* push, __local Shared* shared) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    Unit unit = unit_of(push->units, group / push->ranges, push->rows, WORKGROUP * ITEMS);
    uint own_slots = push->slots;
    uint variable;
    if (absent(push->places)) {
        variable = unit.base + group % push->ranges * own_slots;
    } else {
        variable = 0u;
    }
    uint own_base = variable;
    uint words_ = sum_words() + COUNTED;
    uint copies = 1u;
    while (((2u * copies * words_ * own_slots) <= TABLE) && (copies < 32u)) {
        copies = copies * 2u;
    }
    uint entries = own_slots * copies;
    uint copy = LOCAL_ID_X & (copies - 1u);
    uint i = LOCAL_ID_X;
    for (; i < (words_ * entries); i = i + WORKGROUP) {
        shared->sh_sums.v[i] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* from = column32_from(push->codes, unit.first);
    bool all_valid = absent(push->valid);
    uint bit = push->valid_bit;
    uint begin = LOCAL_ID_X;
    uint_x4u slot;
    uint variable_2;
    uint4_x4u a;
    for (; begin < unit.rows; begin = begin + 4u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 4u; k = k + 1) {
            uint i_2 = begin + k * WORKGROUP;
            uint at = min(i_2, unit.rows - 1u);
            uint value = k;
            if (i_2 == at) {
                variable_2 = from[at] - own_base;
            } else {
                variable_2 = 4294967295u;
            }
            slot.v[value] = variable_2;
            a.v[k] = load_value(push, unit.first + at);
        }
        if (!all_valid) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                uint at_2 = min(begin + k_2 * WORKGROUP, unit.rows - 1u);
                if (((column32_from(push->valid, unit.first + at_2)[0] >> bit) & 1u) == 0u) {
                    slot.v[k_2] = 4294967295u;
                }
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < 4u; k_3 = k_3 + 1) {
            if (slot.v[k_3] < own_slots) {
                add_shared(shared, slot.v[k_3] * copies + copy, entries, a.v[k_3]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint slot_2 = LOCAL_ID_X;
    uint variable_3;
    for (; slot_2 < own_slots; slot_2 = slot_2 + WORKGROUP) {
        if (absent(push->places)) {
            variable_3 = own_base + slot_2;
        } else {
            variable_3 = column32_from(push->places, group * own_slots + slot_2)[0];
        }
        uint place = variable_3;
        if (place == 4294967295u) {
            continue;
        }
        uint4 sum = (uint4)(0u);
        uint rows_of = 0u;
        uint k_4 = 0u;
        for (; k_4 < copies; k_4 = k_4 + 1) {
            uint entry = slot_2 * copies + k_4;
            sum = add_128(sum, sum_of(shared, entry, entries));
            if (COUNTED == 1u) {
                rows_of = rows_of + shared->sh_sums.v[sum_words() * entries + entry];
            }
        }
        flush(push, place, rows_of, sum, unit.whole || !absent(push->places));
    }
}

#endif

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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void group_sums(__global uchar* codes, __global uchar* units, __global uchar* places, __global uchar* value, __global uchar* value_2, __global uchar* valid, __global uchar* counts, __global uchar* state, __global uchar* state_2, __global uchar* marks, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)codes + words.codes),
        as_uint2((ulong)units + words.units),
        as_uint2((ulong)places + words.places),
        as_uint2((ulong)value + words.value),
        as_uint2((ulong)value_2 + words.value_2),
        as_uint2((ulong)valid + words.valid),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)state + words.state),
        as_uint2((ulong)state_2 + words.state_2),
        as_uint2((ulong)marks + words.marks),
        words.rows,
        words.slots,
        words.ranges,
        words.bits,
        words.shift,
        words.kind,
        words.valid_bit,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

