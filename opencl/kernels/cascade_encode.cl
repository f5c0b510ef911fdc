// Kernel cascade_encode in OpenCL C 1.2, translated from shaders/cascade_encode.comp by make generate; do not edit.
// Variants:
//   value_bits=32 shared=0
//   value_bits=32 shared=1
//   value_bits=64 shared=0
//   value_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "cascade_encode: this variant needs subgroups"
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

typedef struct {
    ulong values;
    ulong parts;
    ulong slots;
    ulong sizes;
    uint part_count;
    uint first_block;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 values;
    uint2 parts;
    uint2 slots;
    uint2 sizes;
    uint part_count;
    uint first_block;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

typedef struct {
    uint scheme;
    uint width;
    uint length_width;
    uint runs;
    uint least_run;
} Header;

INLINE uint entries_of(Header h, uint count) {
    return (h.scheme & 1u) != 0u ? h.runs : count;
}

typedef struct {
    uint reference;
    uint values;
    uint lengths;
    uint end;
} Layout;

INLINE uint word_of(Header h) {
    return h.scheme | (h.width << 3u) | (h.length_width << 10u) | ((h.runs - 1u) << 14u) | (h.least_run << 24u);
}

#define RLE ((SCHEME & 1u) != 0u)

#define DELTA ((SCHEME & 2u) != 0u)

#define SKIPPED (DELTA ? 1u : 0u)

#define PACK ((SCHEME & 4u) != 0u)

#if VALUE_BITS == 32
typedef struct {
    uint sh_value[1024];
    uint sh_heads[32];
    uint sh_before[33];
    uint sh_range[4];
    uint sh_lengths[2];
    uint sh_start[1024];
} Shared;

INLINE void load_block(__local Shared* shared, uint2 values, uint first, uint count) {
    __global uint* from = column32_from(values, first);
    uint value[ITEMS];
    for (uint i = LOCAL_ID_X; i < count; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            value[k] = from[min(i + k * WORKGROUP, count - 1u)];
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (i + k * WORKGROUP < count) {
                shared->sh_value[i + k * WORKGROUP] = value[k];
            }
        }
    }
}

typedef struct {
    uint greatest;
    uint complement;
} Range;

INLINE Range no_range(void) {
    return (Range){0u, 0u};
}

INLINE uint subtract(uint a, uint b) {
    return a - b;
}

INLINE uint flipped(uint v) {
    return v ^ 0x80000000u;
}

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE uint greater(uint a, uint b) {
    return less(a, b) ? b : a;
}

INLINE void add_to(Range* range, uint v) {
    range->greatest = greater(range->greatest, flipped(v));
    range->complement = greater(range->complement, ~flipped(v));
}

INLINE uint high_word(uint v) {
    return v;
}

INLINE void combine_low(uint r, Range own) {
}

INLINE uint bits_of(uint v) {
    return 31u - clz(v) + 1u;
}

INLINE Header header_for(__local Shared* shared, uint scheme, uint runs) {
    if ((scheme & 1u) == 0u) return (Header){scheme, 0u, 0u, 1u, 0u};
    uint least = min(~shared->sh_lengths[1] - 1u, 255u);
    return (Header){scheme, 0u, bits_of(shared->sh_lengths[0] - 1u - least), runs, least};
}

INLINE Range combined(__local Shared* shared, uint r) {
    return (Range){shared->sh_range[4u * r], shared->sh_range[4u * r + 1u]};
}

INLINE uint width_of(Range range, bool any_) {
    return any_ ? bits_of(subtract(range.greatest, ~range.complement)) : 0u;
}

INLINE uint reference_of(Range range, bool any_) {
    return any_ ? flipped(~range.complement) : 0u;
}

INLINE Layout layout_of(Header h, uint count) {
    uint packed = entries_of(h, count);
    uint reference = 1u;
    if ((h.scheme & 2u) != 0u) {
        ++reference;
        --packed;
    }
    uint values = (h.scheme & 4u) != 0u ? reference + 1u : reference;
    uint lengths = values + (packed * h.width + 31u) / 32u;
    uint end = (h.scheme & 1u) != 0u ? lengths + (h.runs * h.length_width + 31u) / 32u : lengths;
    return (Layout){reference, values, lengths, end};
}

INLINE uint raw_words(uint count) {
    return 1u + count * 1u;
}

INLINE void put_raw(__local Shared* shared, __global uint* to, uint count) {
    if (LOCAL_ID_X == 0u) {
        to[0] = word_of((Header){0u, 32u, 0u, 1u, 0u});
    }
    for (uint j = LOCAL_ID_X; j < count * 1u; j += WORKGROUP) {
        to[1u + j] = shared->sh_value[j];
    }
}

INLINE void put_value(__global uint* to, uint at, uint v) {
    to[at] = v;
}

INLINE uint code_of(__local Shared* shared, uint k, uint reference) {
    uint at = RLE ? shared->sh_start[k + SKIPPED] : k + SKIPPED;
    uint v = shared->sh_value[at];
    if (DELTA) {
        v = subtract(v, shared->sh_value[at - 1u]);
    }
    return subtract(v, reference);
}

INLINE uint from_bit(uint code, uint shift) {
    return shift < 32u ? code >> shift : 0u;
}

INLINE uint low_bits(uint code) {
    return code;
}

INLINE void put_values(__local Shared* shared, __global uint* to, uint at, uint n, uint width, uint context) {
    uint words = (n * width + 31u) / 32u;
    for (uint base = 0u; base < words; base += WORKGROUP) {
        uint j = min(base + LOCAL_ID_X, words - 1u);
        uint k = j * 32u / max(width, 1u);
        uint word = 0u;
        for (uint bit = k * width; bit < j * 32u + 32u && k < n; bit += width, ++k) {
            uint code = code_of(shared, k, context);
            word |= bit < j * 32u ? from_bit(code, j * 32u - bit) : low_bits(code) << (bit - j * 32u);
        }
        if (base + LOCAL_ID_X < words) {
            to[at + j] = word;
        }
    }
}
#endif

#if SHARED == 0
INLINE uint2 rows_of_block(uint2 parts, uint count, uint block) {
    __global uint2* part = (__global uint2*)as_ulong(parts);
    uint low = 0u;
    uint left = count;
    while (left > 1u) {
        uint step = (left + subgroup_size() - 1u) / subgroup_size();
        uint at = low + subgroup_local_id() * step;
        bool begun = subgroup_local_id() * step < left && part[min(at, count)].y <= block;
        uint next = subgroup_max(begun ? subgroup_local_id() * step : 0u);
        low += next;
        left = min(step, left - next);
    }
    uint first = part[low].x + (block - part[low].y) * 0x400u;
    return (uint2)(first, min(0x400u, part[low + 1u].x - first));
}

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
}
#endif

#if SHARED == 1
INLINE uint2 rows_of_block(uint2 parts, uint count, uint block) {
    __global uint2* part = (__global uint2*)as_ulong(parts);
    uint low = 0u;
    uint high = count;
    while (low + 1u < high) {
        uint middle = (low + high) / 2u;
        if (part[middle].y <= block) {
            low = middle;
        } else {
            high = middle;
        }
    }
    uint first = part[low].x + (block - part[low].y) * 0x400u;
    return (uint2)(first, min(0x400u, part[low + 1u].x - first));
}
#endif

#if VALUE_BITS == 64
typedef struct {
    uint2 sh_value[1024];
    uint sh_heads[32];
    uint sh_before[33];
    uint sh_range[4];
    uint sh_lengths[2];
    uint sh_start[1024];
} Shared;

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE void load_block(__local Shared* shared, uint2 values, uint first, uint count) {
    __global uint2* from = column64_from(values, first);
    uint2 value[ITEMS];
    for (uint i = LOCAL_ID_X; i < count; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            value[k] = from[min(i + k * WORKGROUP, count - 1u)];
        }
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (i + k * WORKGROUP < count) {
                shared->sh_value[i + k * WORKGROUP] = value[k];
            }
        }
    }
}

typedef struct {
    uint2 greatest;
    uint2 complement;
} Range;

INLINE Range no_range(void) {
    return (Range){(uint2)(0u), (uint2)(0u)};
}

INLINE uint2 subtract(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) - as_ulong(b));
}

INLINE uint2 flipped(uint2 v) {
    return (uint2)(v.x, v.y ^ 0x80000000u);
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE uint2 greater(uint2 a, uint2 b) {
    return less(a, b) ? b : a;
}

INLINE void add_to(Range* range, uint2 v) {
    range->greatest = greater(range->greatest, flipped(v));
    range->complement = greater(range->complement, ~flipped(v));
}

INLINE uint high_word(uint2 v) {
    return v.y;
}

INLINE uint low_word(uint2 v) {
    return v.x;
}

INLINE uint bits_of_uint(uint v) {
    return 31u - clz(v) + 1u;
}

INLINE Header header_for(__local Shared* shared, uint scheme, uint runs) {
    if ((scheme & 1u) == 0u) return (Header){scheme, 0u, 0u, 1u, 0u};
    uint least = min(~shared->sh_lengths[1] - 1u, 255u);
    return (Header){scheme, 0u, bits_of_uint(shared->sh_lengths[0] - 1u - least), runs, least};
}

INLINE Range combined(__local Shared* shared, uint r) {
    return (Range){(uint2)(shared->sh_range[4u * r + 2u], shared->sh_range[4u * r]),
            (uint2)(shared->sh_range[4u * r + 3u], shared->sh_range[4u * r + 1u])};
}

INLINE uint bits_of_uint2(uint2 v) {
    return v.y > 0u ? 32u + bits_of_uint(v.y) : bits_of_uint(v.x);
}

INLINE uint width_of(Range range, bool any_) {
    return any_ ? bits_of_uint2(subtract(range.greatest, ~range.complement)) : 0u;
}

INLINE uint2 reference_of(Range range, bool any_) {
    return any_ ? flipped(~range.complement) : (uint2)(0u);
}

INLINE Layout layout_of(Header h, uint count) {
    uint packed = entries_of(h, count);
    uint reference = 1u;
    if ((h.scheme & 2u) != 0u) {
        reference += 2u;
        --packed;
    }
    uint values = (h.scheme & 4u) != 0u ? reference + 2u : reference;
    uint lengths = values + (packed * h.width + 31u) / 32u;
    uint end = (h.scheme & 1u) != 0u ? lengths + (h.runs * h.length_width + 31u) / 32u : lengths;
    return (Layout){reference, values, lengths, end};
}

INLINE uint raw_words(uint count) {
    return 1u + count * 2u;
}

INLINE void put_raw(__local Shared* shared, __global uint* to, uint count) {
    if (LOCAL_ID_X == 0u) {
        to[0] = word_of((Header){0u, 64u, 0u, 1u, 0u});
    }
    for (uint j = LOCAL_ID_X; j < count * 2u; j += WORKGROUP) {
        uint2 v = shared->sh_value[j / 2u];
        to[1u + j] = (j & 1u) == 0u ? v.x : v.y;
    }
}

INLINE void put_value(__global uint* to, uint at, uint2 v) {
    to[at] = v.x;
    to[at + 1u] = v.y;
}

INLINE uint2 code_of(__local Shared* shared, uint k, uint2 reference) {
    uint at = RLE ? shared->sh_start[k + SKIPPED] : k + SKIPPED;
    uint2 v = shared->sh_value[at];
    if (DELTA) {
        v = subtract(v, shared->sh_value[at - 1u]);
    }
    return subtract(v, reference);
}

INLINE uint from_bit_uint2_uint(uint2 code, uint shift) {
    return shift < 32u ? (code.x >> shift) | (code.y << 1u << (31u - shift)) : code.y >> (shift - 32u);
}

INLINE uint low_bits_uint2(uint2 code) {
    return code.x;
}

INLINE void put_values(__local Shared* shared, __global uint* to, uint at, uint n, uint width, uint2 context) {
    uint words = (n * width + 31u) / 32u;
    for (uint base = 0u; base < words; base += WORKGROUP) {
        uint j = min(base + LOCAL_ID_X, words - 1u);
        uint k = j * 32u / max(width, 1u);
        uint word = 0u;
        for (uint bit = k * width; bit < j * 32u + 32u && k < n; bit += width, ++k) {
            uint2 code = code_of(shared, k, context);
            word |= bit < j * 32u ? from_bit_uint2_uint(code, j * 32u - bit) : low_bits_uint2(code) << (bit - j * 32u);
        }
        if (base + LOCAL_ID_X < words) {
            to[at + j] = word;
        }
    }
}

INLINE uint from_bit_uint_uint(uint code, uint shift) {
    return shift < 32u ? code >> shift : 0u;
}

INLINE uint low_bits_uint(uint code) {
    return code;
}
#endif

INLINE void clear_heads(__local Shared* shared) {
    for (uint w = LOCAL_ID_X; w < 32u; w += WORKGROUP) {
        shared->sh_heads[w] = 0u;
    }
}

INLINE void clear_ranges(__local Shared* shared) {
    for (uint i = LOCAL_ID_X; i < 4u; i += WORKGROUP) {
        shared->sh_range[i] = 0u;
    }
    if (LOCAL_ID_X == 0u) {
        shared->sh_lengths[1] = 0u;
        shared->sh_lengths[0] = 0u;
    }
}

INLINE bool is_head(__local Shared* shared, uint i) {
    return ((shared->sh_heads[i / 32u] >> (i % 32u)) & 1u) == 1u;
}

INLINE uint heads_before(__local Shared* shared, uint end) {
    uint w = min(end / 32u, 31u);
    return shared->sh_before[w] + popcount(shared->sh_heads[w] & bits_below(end - w * 32u));
}

INLINE void place_starts(__local Shared* shared, uint count) {
    for (uint i = LOCAL_ID_X; i < count; i += WORKGROUP) {
        if (is_head(shared, i)) {
            shared->sh_start[heads_before(shared, i)] = i;
        }
    }
}

INLINE uint length_of_run(__local Shared* shared, uint run, uint runs, uint count) {
    return (run + 1u < runs ? shared->sh_start[min(run + 1u, 1023u)] : count) - shared->sh_start[run];
}

INLINE uint length_code(__local Shared* shared, uint run, uint3 runs_count_least) {
    return length_of_run(shared, run, runs_count_least.x, runs_count_least.y) - runs_count_least.z;
}

#if SHARED == 0
INLINE void mark_head(__local Shared* shared, uint base, bool head) {
    uint4 heads = subgroup_ballot(head);
    uint i = base + subgroup_id() * subgroup_size();
    if (subgroup_elect() && i < 0x400u) {
        atomic_or(&shared->sh_heads[i / 32u], heads.x << (i % 32u));
        if (subgroup_size() > 32u) {
            atomic_or(&shared->sh_heads[i / 32u + 1u], heads.y);
        }
        if (subgroup_size() > 64u) {
            atomic_or(&shared->sh_heads[i / 32u + 2u], heads.z);
            atomic_or(&shared->sh_heads[i / 32u + 3u], heads.w);
        }
    }
}

INLINE void combine_high(__local Shared* shared, uint r, Range own) {
    uint greatest_of_all = subgroup_max(high_word(own.greatest));
    if (subgroup_elect()) {
        atomic_max(&shared->sh_range[4u * r], greatest_of_all);
    }
    uint greatest_of_all_2 = subgroup_max(high_word(own.complement));
    if (subgroup_elect()) {
        atomic_max(&shared->sh_range[4u * r + 1u], greatest_of_all_2);
    }
}

INLINE void count_heads(__local Shared* shared) {
    if (subgroup_id() == 0u) {
        uint sum = 0u;
        for (uint base = 0u; base < 32u; base += subgroup_size()) {
            uint w = base + subgroup_local_id();
            uint own = w < 32u ? popcount(shared->sh_heads[w]) : 0u;
            uint before = sum + subgroup_sum_before(own);
            if (w < 32u) {
                shared->sh_before[w] = before;
            }
            sum += subgroup_sum(own);
        }
        if (subgroup_elect()) {
            shared->sh_before[32] = sum;
        }
    }
}

INLINE void combine_lengths(__local Shared* shared, uint runs, uint count) {
    uint greatest = 0u;
    uint complement = 0u;
    for (uint run = LOCAL_ID_X; run < runs; run += WORKGROUP) {
        uint length = length_of_run(shared, run, runs, count);
        greatest = max(greatest, length);
        complement = max(complement, ~length);
    }
    uint greatest_of_all = subgroup_max(greatest);
    if (subgroup_elect()) {
        atomic_max(&shared->sh_lengths[0], greatest_of_all);
    }
    uint greatest_of_all_2 = subgroup_max(complement);
    if (subgroup_elect()) {
        atomic_max(&shared->sh_lengths[1], greatest_of_all_2);
    }
}
#endif

#if VALUE_BITS == 32
INLINE void put_lengths(__local Shared* shared, __global uint* to, uint at, uint n, uint width, uint3 context) {
    uint words = (n * width + 31u) / 32u;
    for (uint base = 0u; base < words; base += WORKGROUP) {
        uint j = min(base + LOCAL_ID_X, words - 1u);
        uint k = j * 32u / max(width, 1u);
        uint word = 0u;
        for (uint bit = k * width; bit < j * 32u + 32u && k < n; bit += width, ++k) {
            uint code = length_code(shared, k, context);
            word |= bit < j * 32u ? from_bit(code, j * 32u - bit) : low_bits(code) << (bit - j * 32u);
        }
        if (base + LOCAL_ID_X < words) {
            to[at + j] = word;
        }
    }
}
#endif

#if VALUE_BITS == 32 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint2 rows = rows_of_block(args->parts, args->part_count, args->first_block + group);
    uint count = rows.y;
    clear_heads(shared);
    clear_ranges(shared);
    load_block(shared, args->values, rows.x, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    Range own = no_range();
    if (RLE || PACK) {
        for (uint base = 0u; base < count; base += WORKGROUP) {
            uint i = min(base + (subgroup_id() * subgroup_size() + subgroup_local_id()), count - 1u);
            uint v = shared->sh_value[i];
            uint before = shared->sh_value[max(i, 1u) - 1u];
            bool head = base + (subgroup_id() * subgroup_size() + subgroup_local_id()) < count &&
                    (!RLE || i == 0u || v != before);
            if (RLE) {
                mark_head(shared, base, head);
            }
            if (PACK && head && i >= SKIPPED) {
                add_to(&own, DELTA ? subtract(v, before) : v);
            }
        }
        if (PACK) {
            combine_high(shared, 0u, own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        count_heads(shared);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint entries = RLE ? shared->sh_before[32] : count;
    if (RLE) {
        place_starts(shared, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        combine_lengths(shared, entries, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Header h = header_for(shared, SCHEME, entries);
    uint n = entries - SKIPPED;
    h.width = PACK ? width_of(combined(shared, 0u), n > 0u) : 32u;
    uint reference = PACK ? reference_of(combined(shared, 0u), n > 0u) : 0u;
    Layout place = layout_of(h, count);
    __global uint* to = column32_from(args->slots, group * (raw_words(0x400u) + 3u));
    bool raw = !(RLE || PACK) || place.end >= raw_words(count);
    if (raw) {
        put_raw(shared, to, count);
    } else {
        if (LOCAL_ID_X == 0u) {
            to[0] = word_of(h);
            if (DELTA) {
                put_value(to, 1u, shared->sh_value[0]);
            }
            if (PACK) {
                put_value(to, place.reference, reference);
            }
        }
        put_values(shared, to, place.values, n, h.width, reference);
        if (RLE) {
            put_lengths(shared, to, place.lengths, entries, h.length_width, (uint3)(entries, count, 1u + h.least_run));
        }
    }
    if (LOCAL_ID_X == 0u) {
        column32_from(args->sizes, group)[0] = raw ? raw_words(count) : place.end;
    }
}
#endif

#if SHARED == 1
INLINE void mark_head(__local Shared* shared, uint base, bool head) {
    uint i = base + LOCAL_ID_X;
    if (head) {
        atomic_or(&shared->sh_heads[i / 32u], 1u << (i % 32u));
    }
}

INLINE void combine_high(__local Shared* shared, uint r, Range own) {
    atomic_max(&shared->sh_range[4u * r], high_word(own.greatest));
    atomic_max(&shared->sh_range[4u * r + 1u], high_word(own.complement));
}

INLINE void count_heads(__local Shared* shared) {
    if (LOCAL_ID_X == 0u) {
        uint sum = 0u;
        for (uint w = 0u; w < 32u; ++w) {
            shared->sh_before[w] = sum;
            sum += popcount(shared->sh_heads[w]);
        }
        shared->sh_before[32] = sum;
    }
}

INLINE void combine_lengths(__local Shared* shared, uint runs, uint count) {
    uint greatest = 0u;
    uint complement = 0u;
    for (uint run = LOCAL_ID_X; run < runs; run += WORKGROUP) {
        uint length = length_of_run(shared, run, runs, count);
        greatest = max(greatest, length);
        complement = max(complement, ~length);
    }
    atomic_max(&shared->sh_lengths[0], greatest);
    atomic_max(&shared->sh_lengths[1], complement);
}
#endif

#if VALUE_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint2 rows = rows_of_block(args->parts, args->part_count, args->first_block + group);
    uint count = rows.y;
    clear_heads(shared);
    clear_ranges(shared);
    load_block(shared, args->values, rows.x, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    Range own = no_range();
    if (RLE || PACK) {
        for (uint base = 0u; base < count; base += WORKGROUP) {
            uint i = min(base + LOCAL_ID_X, count - 1u);
            uint v = shared->sh_value[i];
            uint before = shared->sh_value[max(i, 1u) - 1u];
            bool head = base + LOCAL_ID_X < count && (!RLE || i == 0u || v != before);
            if (RLE) {
                mark_head(shared, base, head);
            }
            if (PACK && head && i >= SKIPPED) {
                add_to(&own, DELTA ? subtract(v, before) : v);
            }
        }
        if (PACK) {
            combine_high(shared, 0u, own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        count_heads(shared);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint entries = RLE ? shared->sh_before[32] : count;
    if (RLE) {
        place_starts(shared, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        combine_lengths(shared, entries, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Header h = header_for(shared, SCHEME, entries);
    uint n = entries - SKIPPED;
    h.width = PACK ? width_of(combined(shared, 0u), n > 0u) : 32u;
    uint reference = PACK ? reference_of(combined(shared, 0u), n > 0u) : 0u;
    Layout place = layout_of(h, count);
    __global uint* to = column32_from(args->slots, group * (raw_words(0x400u) + 3u));
    bool raw = !(RLE || PACK) || place.end >= raw_words(count);
    if (raw) {
        put_raw(shared, to, count);
    } else {
        if (LOCAL_ID_X == 0u) {
            to[0] = word_of(h);
            if (DELTA) {
                put_value(to, 1u, shared->sh_value[0]);
            }
            if (PACK) {
                put_value(to, place.reference, reference);
            }
        }
        put_values(shared, to, place.values, n, h.width, reference);
        if (RLE) {
            put_lengths(shared, to, place.lengths, entries, h.length_width, (uint3)(entries, count, 1u + h.least_run));
        }
    }
    if (LOCAL_ID_X == 0u) {
        column32_from(args->sizes, group)[0] = raw ? raw_words(count) : place.end;
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 0
INLINE void combine_low(__local Shared* shared, uint r, Range own) {
    uint greatest_of_all = subgroup_max(high_word(own.greatest) == shared->sh_range[4u * r] ? low_word(own.greatest)
            : 0u);
    if (subgroup_elect()) {
        atomic_max(&shared->sh_range[4u * r + 2u], greatest_of_all);
    }
    uint greatest_of_all_2 = subgroup_max(high_word(own.complement) == shared->sh_range[4u * r + 1u]
            ? low_word(own.complement) : 0u);
    if (subgroup_elect()) {
        atomic_max(&shared->sh_range[4u * r + 3u], greatest_of_all_2);
    }
}
#endif

#if VALUE_BITS == 64
INLINE void put_lengths(__local Shared* shared, __global uint* to, uint at, uint n, uint width, uint3 context) {
    uint words = (n * width + 31u) / 32u;
    for (uint base = 0u; base < words; base += WORKGROUP) {
        uint j = min(base + LOCAL_ID_X, words - 1u);
        uint k = j * 32u / max(width, 1u);
        uint word = 0u;
        for (uint bit = k * width; bit < j * 32u + 32u && k < n; bit += width, ++k) {
            uint code = length_code(shared, k, context);
            word |= bit < j * 32u ? from_bit_uint_uint(code, j * 32u - bit) : low_bits_uint(code) << (bit - j * 32u);
        }
        if (base + LOCAL_ID_X < words) {
            to[at + j] = word;
        }
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint2 rows = rows_of_block(args->parts, args->part_count, args->first_block + group);
    uint count = rows.y;
    clear_heads(shared);
    clear_ranges(shared);
    load_block(shared, args->values, rows.x, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    Range own = no_range();
    if (RLE || PACK) {
        for (uint base = 0u; base < count; base += WORKGROUP) {
            uint i = min(base + (subgroup_id() * subgroup_size() + subgroup_local_id()), count - 1u);
            uint2 v = shared->sh_value[i];
            uint2 before = shared->sh_value[max(i, 1u) - 1u];
            bool head = base + (subgroup_id() * subgroup_size() + subgroup_local_id()) < count &&
                    (!RLE || i == 0u || any(v != before));
            if (RLE) {
                mark_head(shared, base, head);
            }
            if (PACK && head && i >= SKIPPED) {
                add_to(&own, DELTA ? subtract(v, before) : v);
            }
        }
        if (PACK) {
            combine_high(shared, 0u, own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        count_heads(shared);
    }
    if (PACK) {
        combine_low(shared, 0u, own);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint entries = RLE ? shared->sh_before[32] : count;
    if (RLE) {
        place_starts(shared, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        combine_lengths(shared, entries, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Header h = header_for(shared, SCHEME, entries);
    uint n = entries - SKIPPED;
    h.width = PACK ? width_of(combined(shared, 0u), n > 0u) : 64u;
    uint2 reference = PACK ? reference_of(combined(shared, 0u), n > 0u) : (uint2)(0u);
    Layout place = layout_of(h, count);
    __global uint* to = column32_from(args->slots, group * (raw_words(0x400u) + 3u));
    bool raw = !(RLE || PACK) || place.end >= raw_words(count);
    if (raw) {
        put_raw(shared, to, count);
    } else {
        if (LOCAL_ID_X == 0u) {
            to[0] = word_of(h);
            if (DELTA) {
                put_value(to, 1u, shared->sh_value[0]);
            }
            if (PACK) {
                put_value(to, place.reference, reference);
            }
        }
        put_values(shared, to, place.values, n, h.width, reference);
        if (RLE) {
            put_lengths(shared, to, place.lengths, entries, h.length_width, (uint3)(entries, count, 1u + h.least_run));
        }
    }
    if (LOCAL_ID_X == 0u) {
        column32_from(args->sizes, group)[0] = raw ? raw_words(count) : place.end;
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 1
INLINE void combine_low(__local Shared* shared, uint r, Range own) {
    atomic_max(&shared->sh_range[4u * r + 2u],
            high_word(own.greatest) == shared->sh_range[4u * r] ? low_word(own.greatest) : 0u);
    atomic_max(&shared->sh_range[4u * r + 3u],
            high_word(own.complement) == shared->sh_range[4u * r + 1u] ? low_word(own.complement) : 0u);
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint2 rows = rows_of_block(args->parts, args->part_count, args->first_block + group);
    uint count = rows.y;
    clear_heads(shared);
    clear_ranges(shared);
    load_block(shared, args->values, rows.x, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    Range own = no_range();
    if (RLE || PACK) {
        for (uint base = 0u; base < count; base += WORKGROUP) {
            uint i = min(base + LOCAL_ID_X, count - 1u);
            uint2 v = shared->sh_value[i];
            uint2 before = shared->sh_value[max(i, 1u) - 1u];
            bool head = base + LOCAL_ID_X < count && (!RLE || i == 0u || any(v != before));
            if (RLE) {
                mark_head(shared, base, head);
            }
            if (PACK && head && i >= SKIPPED) {
                add_to(&own, DELTA ? subtract(v, before) : v);
            }
        }
        if (PACK) {
            combine_high(shared, 0u, own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        count_heads(shared);
    }
    if (PACK) {
        combine_low(shared, 0u, own);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint entries = RLE ? shared->sh_before[32] : count;
    if (RLE) {
        place_starts(shared, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (RLE) {
        combine_lengths(shared, entries, count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Header h = header_for(shared, SCHEME, entries);
    uint n = entries - SKIPPED;
    h.width = PACK ? width_of(combined(shared, 0u), n > 0u) : 64u;
    uint2 reference = PACK ? reference_of(combined(shared, 0u), n > 0u) : (uint2)(0u);
    Layout place = layout_of(h, count);
    __global uint* to = column32_from(args->slots, group * (raw_words(0x400u) + 3u));
    bool raw = !(RLE || PACK) || place.end >= raw_words(count);
    if (raw) {
        put_raw(shared, to, count);
    } else {
        if (LOCAL_ID_X == 0u) {
            to[0] = word_of(h);
            if (DELTA) {
                put_value(to, 1u, shared->sh_value[0]);
            }
            if (PACK) {
                put_value(to, place.reference, reference);
            }
        }
        put_values(shared, to, place.values, n, h.width, reference);
        if (RLE) {
            put_lengths(shared, to, place.lengths, entries, h.length_width, (uint3)(entries, count, 1u + h.least_run));
        }
    }
    if (LOCAL_ID_X == 0u) {
        column32_from(args->sizes, group)[0] = raw ? raw_words(count) : place.end;
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void cascade_encode(
    __global uchar* values,
    __global uchar* parts,
    __global uchar* slots,
    __global uchar* sizes,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)parts + scalars.parts),
        as_uint2((ulong)slots + scalars.slots),
        as_uint2((ulong)sizes + scalars.sizes),
        scalars.part_count,
        scalars.first_block,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

