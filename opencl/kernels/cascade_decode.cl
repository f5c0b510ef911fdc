// Kernel cascade_decode in OpenCL C 1.2, translated from shaders/cascade_decode.comp by make generate; do not edit.
// Variants:
//   value_bits=32 shared=0
//   value_bits=32 shared=1
//   value_bits=64 shared=0
//   value_bits=64 shared=1

#ifndef SUBGROUPS
#if SHARED == 0
#error "cascade_decode: this variant needs subgroups"
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
    ulong payload;
    ulong directory;
    ulong parts;
    ulong values;
    ulong status;
    uint part_count;
    uint first_block;
    uint payload_words;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 payload;
    uint2 directory;
    uint2 parts;
    uint2 values;
    uint2 status;
    uint part_count;
    uint first_block;
    uint payload_words;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

typedef struct {
    __global uint* words;
    uint last;
} Source;

INLINE uint word_at(Source source, uint at) {
    return source.words[min(at, source.last)];
}

typedef struct {
    uint scheme;
    uint width;
    uint length_width;
    uint runs;
    uint least_run;
} Header;

INLINE Header header_of(uint word) {
    return (Header){word & 7u, (word >> 3u) & 127u, (word >> 10u) & 15u, ((word >> 14u) & 1023u) + 1u, word >> 24u};
}

INLINE uint entries_of(Header h, uint count) {
    return (h.scheme & 1u) != 0u ? h.runs : count;
}

typedef struct {
    uint reference;
    uint values;
    uint lengths;
    uint end;
} Layout;

INLINE uint funnel(uint low, uint high, uint shift) {
    return (low >> shift) | (high << 1u << (31u - shift));
}

INLINE uint mask_of(uint width) {
    return width >= 32u ? 0xffffffffu : (1u << width) - 1u;
}

INLINE uint code32(Source source, uint at, uint k, uint width) {
    uint bit = k * width;
    at += bit / 32u;
    return funnel(word_at(source, at), word_at(source, at + 1u), bit % 32u) & mask_of(width);
}

INLINE uint bits_below(uint bit) {
    return bit < 32u ? (1u << bit) - 1u : 0xffffffffu;
}

#if VALUE_BITS == 32 && SHARED == 0
typedef struct {
    uint sh_heads[32];
    uint sh_before[33];
    uint sh_grain_start[32];
    uint sh_rows;
    uint sh_grain[32];
    uint sh_value[1024];
    uint sh_start[1024];
} Shared;

INLINE uint subgroup_sum_before(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint low_word(uint v) {
    return v;
}

INLINE uint widen(uint a, uint like) {
    return a;
}

INLINE uint subgroup_sum(uint a) {
    return subgroup_add(a);
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

INLINE uint grain_of(uint k) {
    return k >> (31u - clz(max(subgroup_size(), 32u)));
}
#endif

#if VALUE_BITS == 32
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

INLINE bool valid(Header h, uint count, uint words) {
    return h.width <= 32u && h.length_width <= 10u && entries_of(h, count) <= count &&
            ((h.scheme & 4u) != 0u || h.width == 32u) && layout_of(h, count).end == words;
}

INLINE uint value_at(Source source, uint at) {
    return word_at(source, at);
}

INLINE uint code_at(Source source, uint at, uint k, uint width) {
    return code32(source, at, k, width);
}

INLINE uint add(uint a, uint b) {
    return a + b;
}

INLINE void unpack(Source source, uint at, uint width, uint reference, __global uint* to, uint count) {
    uint value[ITEMS];
    for (uint i = LOCAL_ID_X; i < count; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            value[j] = add(code_at(source, at, min(i + j * WORKGROUP, count - 1u), width), reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
}

INLINE uint times(uint a, uint b) {
    return a * b;
}
#endif

#if VALUE_BITS == 32 && SHARED == 0
INLINE void scan_grains(__local Shared* shared, uint grains, bool lengths, bool differences, bool wide) {
    if (lengths && subgroup_id() == 0u) {
        uint rows = 0u;
        for (uint base = 0u; base < grains; base += subgroup_size()) {
            uint g = base + subgroup_local_id();
            uint own = g < grains ? shared->sh_grain_start[g] : 0u;
            uint before = rows + subgroup_sum_before(own);
            if (g < grains) {
                shared->sh_grain_start[g] = before;
            }
            rows += subgroup_sum(own);
        }
        if (subgroup_elect()) {
            shared->sh_rows = rows;
        }
    }
    if (differences && subgroup_id() == subgroup_count() - 1u) {
        uint sum = 0u;
        for (uint base = 0u; base < grains; base += subgroup_size()) {
            uint g = base + subgroup_local_id();
            uint own = g < grains ? shared->sh_grain[g] : 0u;
            uint before = wide ? subgroup_sum_before(own) : widen(subgroup_sum_before(low_word(own)), own);
            if (g < grains) {
                shared->sh_grain[g] = add(sum, before);
            }
            sum = add(sum, wide ? subgroup_sum(own) : widen(subgroup_sum(low_word(own)), own));
        }
    }
}
#endif

#if VALUE_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_heads[32];
    uint sh_before[33];
    uint sh_grain[32];
    uint sh_grain_start[32];
    uint sh_rows;
    uint sh_value[1024];
    uint sh_start[1024];
} Shared;

INLINE void scan_grains(__local Shared* shared, uint grains, bool lengths, bool differences, bool wide) {
    if (LOCAL_ID_X == 0u) {
        uint sum = 0u;
        uint rows = 0u;
        for (uint g = 0u; g < 32u; ++g) {
            uint own = g < grains && differences ? shared->sh_grain[g] : 0u;
            uint own_rows = g < grains && lengths ? shared->sh_grain_start[g] : 0u;
            shared->sh_grain[g] = sum;
            shared->sh_grain_start[g] = rows;
            sum = add(sum, own);
            rows += own_rows;
        }
        shared->sh_rows = rows;
    }
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

INLINE uint grain_of(uint k) {
    return k >> (31u - clz(32u));
}
#endif

#if VALUE_BITS == 32
INLINE uint summed(__local Shared* shared, uint k, uint first, uint reference) {
    return add(add(first, times(reference, k)), add(shared->sh_value[k], shared->sh_grain[grain_of(k)]));
}
#endif

#if VALUE_BITS == 64 && SHARED == 0
typedef struct {
    uint sh_heads[32];
    uint sh_before[33];
    uint sh_grain_start[32];
    uint sh_rows;
    uint2 sh_grain[32];
    uint2 sh_value[1024];
    uint sh_start[1024];
} Shared;

INLINE uint subgroup_sum_before_uint(uint a) {
    return subgroup_exclusive_add(a);
}

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}

INLINE uint low_word(uint2 v) {
    return v.x;
}

INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}

INLINE uint subgroup_sum_uint(uint a) {
    return subgroup_add(a);
}
#endif

#if VALUE_BITS == 64
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

INLINE bool valid(Header h, uint count, uint words) {
    return h.width <= 64u && h.length_width <= 10u && entries_of(h, count) <= count &&
            ((h.scheme & 4u) != 0u || h.width == 64u) && layout_of(h, count).end == words;
}

INLINE uint2 value_at(Source source, uint at) {
    return (uint2)(word_at(source, at), word_at(source, at + 1u));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 code_at(Source source, uint at, uint k, uint width) {
    if (width <= 32u) return (uint2)(code32(source, at, k, width), 0u);
    uint bit = k * width;
    at += bit / 32u;
    uint middle = word_at(source, at + 1u);
    return (uint2)(funnel(word_at(source, at), middle, bit % 32u),
            funnel(middle, word_at(source, at + 2u), bit % 32u) & mask_of(width - 32u));
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE void unpack(Source source, uint at, uint width, uint2 reference, __global uint2* to, uint count) {
    uint2 value[ITEMS];
    for (uint i = LOCAL_ID_X; i < count; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            value[j] = add(code_at(source, at, min(i + j * WORKGROUP, count - 1u), width), reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
}

typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair multiply_extended(uint a, uint b) {
    return (uint_pair){a * b, mul_hi(a, b)};
}

INLINE uint2 times(uint2 a, uint b) {
    uint_pair value = multiply_extended(a.x, b);
    uint low = value.low;
    uint high = value.high;
    return (uint2)(low, high + a.y * b);
}
#endif

#if VALUE_BITS == 64 && SHARED == 0
INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22u, limb.y >> 10u));
    return (uint2)(sum.x, sum.y + (limb.z << 12u));
}

INLINE uint2 subgroup_sum_before_uint2(uint2 a) {
    return from_limbs(subgroup_exclusive_add_uint3(limbs(a)));
}

INLINE uint2 subgroup_sum_uint2(uint2 a) {
    return from_limbs(subgroup_add_uint3(limbs(a)));
}

INLINE void scan_grains(__local Shared* shared, uint grains, bool lengths, bool differences, bool wide) {
    if (lengths && subgroup_id() == 0u) {
        uint rows = 0u;
        for (uint base = 0u; base < grains; base += subgroup_size()) {
            uint g = base + subgroup_local_id();
            uint own = g < grains ? shared->sh_grain_start[g] : 0u;
            uint before = rows + subgroup_sum_before_uint(own);
            if (g < grains) {
                shared->sh_grain_start[g] = before;
            }
            rows += subgroup_sum_uint(own);
        }
        if (subgroup_elect()) {
            shared->sh_rows = rows;
        }
    }
    if (differences && subgroup_id() == subgroup_count() - 1u) {
        uint2 sum = (uint2)(0u);
        for (uint base = 0u; base < grains; base += subgroup_size()) {
            uint g = base + subgroup_local_id();
            uint2 own = g < grains ? shared->sh_grain[g] : (uint2)(0u);
            uint2 before = wide ? subgroup_sum_before_uint2(own) : widen(subgroup_sum_before_uint(low_word(own)), own);
            if (g < grains) {
                shared->sh_grain[g] = add(sum, before);
            }
            sum = add(sum, wide ? subgroup_sum_uint2(own) : widen(subgroup_sum_uint(low_word(own)), own));
        }
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 1
typedef struct {
    uint sh_heads[32];
    uint sh_before[33];
    uint2 sh_grain[32];
    uint sh_grain_start[32];
    uint sh_rows;
    uint2 sh_value[1024];
    uint sh_start[1024];
} Shared;

INLINE void scan_grains(__local Shared* shared, uint grains, bool lengths, bool differences, bool wide) {
    if (LOCAL_ID_X == 0u) {
        uint2 sum = (uint2)(0u);
        uint rows = 0u;
        for (uint g = 0u; g < 32u; ++g) {
            uint2 own = g < grains && differences ? shared->sh_grain[g] : (uint2)(0u);
            uint own_rows = g < grains && lengths ? shared->sh_grain_start[g] : 0u;
            shared->sh_grain[g] = sum;
            shared->sh_grain_start[g] = rows;
            sum = add(sum, own);
            rows += own_rows;
        }
        shared->sh_rows = rows;
    }
}
#endif

INLINE void clear_heads(__local Shared* shared) {
    for (uint w = LOCAL_ID_X; w < 32u; w += WORKGROUP) {
        shared->sh_heads[w] = 0u;
    }
}

INLINE uint start_of(__local Shared* shared, uint k) {
    return shared->sh_start[k] + shared->sh_grain_start[grain_of(k)];
}

INLINE uint heads_before(__local Shared* shared, uint end) {
    uint w = min(end / 32u, 31u);
    return shared->sh_before[w] + popcount(shared->sh_heads[w] & bits_below(end - w * 32u));
}

#if VALUE_BITS == 32 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint block = args->first_block + group;
    uint begin = column32_from(args->directory, block)[0];
    uint end = column32_from(args->directory, block + 1u)[0];
    bool good = begin < end && end <= args->payload_words;
    Source source = (Source){column32_from(args->payload, good ? begin : 0u), good ? end - begin - 1u : 0u};
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    uint2 rows = rows_of_block(args->parts, args->part_count, block);
    uint count = rows.y;
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & 1u) != 0u;
    bool delta = (h.scheme & 2u) != 0u;
    bool wide = false;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    uint first = delta && good ? value_at(source, 1u) : 0u;
    uint reference = (h.scheme & 4u) != 0u && good ? value_at(source, place.reference) : 0u;
    __global uint* to = column32_from(args->values, rows.x);
    if (!rle && !delta) {
        unpack(source, place.values, h.width, reference, to, good ? count : 0u);
        if (!good && LOCAL_ID_X == 0u) {
            atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
        }
        return;
    }
    clear_heads(shared);
    uint grains = grain_of(n + max(subgroup_size(), 32u) - 1u);
    for (uint g = subgroup_id(); g < grains; g += subgroup_count()) {
        uint sum = 0u;
        uint rows_2 = 0u;
        for (uint step = 0u; step < max(subgroup_size(), 32u); step += subgroup_size()) {
            uint k = g * max(subgroup_size(), 32u) + step + subgroup_local_id();
            uint code = 0u;
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) {
                code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            }
            if (k < n && rle) {
                length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            }
            uint value = add(code, reference);
            uint start = rle ? rows_2 + subgroup_sum_before(length) : 0u;
            if (delta) {
                uint before = wide ? subgroup_sum_before(code) : widen(subgroup_sum_before(low_word(code)), code);
                value = add(add(sum, before), code);
            }
            shared->sh_value[k] = value;
            shared->sh_start[k] = start;
            if (subgroup_local_id() == subgroup_size() - 1u) {
                shared->sh_grain[g] = value;
                shared->sh_grain_start[g] = start + length;
            }
            if (subgroup_size() < max(subgroup_size(), 32u)) {
                sum = add(sum, wide ? subgroup_sum(code) : widen(subgroup_sum(low_word(code)), code));
                rows_2 += subgroup_sum(length);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_grains(shared, grains, rle, delta, wide);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rle) {
        good = good && shared->sh_rows == count;
        for (uint k = LOCAL_ID_X; good && k < n; k += WORKGROUP) {
            if (delta) {
                shared->sh_value[k] = summed(shared, k, first, reference);
            }
            uint start = start_of(shared, k);
            uint next = k + 1u < n ? start_of(shared, k + 1u) : count;
            atomic_or(&shared->sh_heads[start / 32u], 1u << (start % 32u));
            for (uint w = start / 32u + 1u; w <= min(next / 32u, 31u); ++w) {
                shared->sh_before[w] = k + 1u;
            }
        }
        if (LOCAL_ID_X == 0u) {
            shared->sh_before[0] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint present = good ? count : 0u;
    uint value[ITEMS];
    for (uint i = LOCAL_ID_X; i < present; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            uint row = min(i + j * WORKGROUP, count - 1u);
            value[j] = rle ? shared->sh_value[heads_before(shared, row + 1u) - 1u]
                    : summed(shared, row, first, reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
    if (!good && LOCAL_ID_X == 0u) {
        atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
    }
}
#endif

#if VALUE_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint block = args->first_block + group;
    uint begin = column32_from(args->directory, block)[0];
    uint end = column32_from(args->directory, block + 1u)[0];
    bool good = begin < end && end <= args->payload_words;
    Source source = (Source){column32_from(args->payload, good ? begin : 0u), good ? end - begin - 1u : 0u};
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    uint2 rows = rows_of_block(args->parts, args->part_count, block);
    uint count = rows.y;
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & 1u) != 0u;
    bool delta = (h.scheme & 2u) != 0u;
    bool wide = false;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    uint first = delta && good ? value_at(source, 1u) : 0u;
    uint reference = (h.scheme & 4u) != 0u && good ? value_at(source, place.reference) : 0u;
    __global uint* to = column32_from(args->values, rows.x);
    if (!rle && !delta) {
        unpack(source, place.values, h.width, reference, to, good ? count : 0u);
        if (!good && LOCAL_ID_X == 0u) {
            atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
        }
        return;
    }
    clear_heads(shared);
    uint grains = grain_of(n + 32u - 1u);
    for (uint g = LOCAL_ID_X; g < grains; g += WORKGROUP) {
        uint sum = 0u;
        uint rows_2 = 0u;
        for (uint k = g * 32u; k < (g + 1u) * 32u; ++k) {
            uint code = 0u;
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) {
                code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            }
            if (k < n && rle) {
                length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            }
            sum = add(sum, code);
            shared->sh_value[k] = delta ? sum : add(code, reference);
            shared->sh_start[k] = rows_2;
            rows_2 += length;
        }
        shared->sh_grain[g] = sum;
        shared->sh_grain_start[g] = rows_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_grains(shared, grains, rle, delta, wide);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rle) {
        good = good && shared->sh_rows == count;
        for (uint k = LOCAL_ID_X; good && k < n; k += WORKGROUP) {
            if (delta) {
                shared->sh_value[k] = summed(shared, k, first, reference);
            }
            uint start = start_of(shared, k);
            uint next = k + 1u < n ? start_of(shared, k + 1u) : count;
            atomic_or(&shared->sh_heads[start / 32u], 1u << (start % 32u));
            for (uint w = start / 32u + 1u; w <= min(next / 32u, 31u); ++w) {
                shared->sh_before[w] = k + 1u;
            }
        }
        if (LOCAL_ID_X == 0u) {
            shared->sh_before[0] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint present = good ? count : 0u;
    uint value[ITEMS];
    for (uint i = LOCAL_ID_X; i < present; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            uint row = min(i + j * WORKGROUP, count - 1u);
            value[j] = rle ? shared->sh_value[heads_before(shared, row + 1u) - 1u]
                    : summed(shared, row, first, reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
    if (!good && LOCAL_ID_X == 0u) {
        atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
    }
}
#endif

#if VALUE_BITS == 64
INLINE uint2 summed(__local Shared* shared, uint k, uint2 first, uint2 reference) {
    return add(add(first, times(reference, k)), add(shared->sh_value[k], shared->sh_grain[grain_of(k)]));
}
#endif

#if VALUE_BITS == 64 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint block = args->first_block + group;
    uint begin = column32_from(args->directory, block)[0];
    uint end = column32_from(args->directory, block + 1u)[0];
    bool good = begin < end && end <= args->payload_words;
    Source source = (Source){column32_from(args->payload, good ? begin : 0u), good ? end - begin - 1u : 0u};
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    uint2 rows = rows_of_block(args->parts, args->part_count, block);
    uint count = rows.y;
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & 1u) != 0u;
    bool delta = (h.scheme & 2u) != 0u;
    bool wide = h.width > 22u;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    uint2 first = delta && good ? value_at(source, 1u) : (uint2)(0u);
    uint2 reference = (h.scheme & 4u) != 0u && good ? value_at(source, place.reference) : (uint2)(0u);
    __global uint2* to = column64_from(args->values, rows.x);
    if (!rle && !delta) {
        unpack(source, place.values, h.width, reference, to, good ? count : 0u);
        if (!good && LOCAL_ID_X == 0u) {
            atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
        }
        return;
    }
    clear_heads(shared);
    uint grains = grain_of(n + max(subgroup_size(), 32u) - 1u);
    for (uint g = subgroup_id(); g < grains; g += subgroup_count()) {
        uint2 sum = (uint2)(0u);
        uint rows_2 = 0u;
        for (uint step = 0u; step < max(subgroup_size(), 32u); step += subgroup_size()) {
            uint k = g * max(subgroup_size(), 32u) + step + subgroup_local_id();
            uint2 code = (uint2)(0u);
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) {
                code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            }
            if (k < n && rle) {
                length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            }
            uint2 value = add(code, reference);
            uint start = rle ? rows_2 + subgroup_sum_before_uint(length) : 0u;
            if (delta) {
                uint2 before = wide ? subgroup_sum_before_uint2(code)
                        : widen(subgroup_sum_before_uint(low_word(code)), code);
                value = add(add(sum, before), code);
            }
            shared->sh_value[k] = value;
            shared->sh_start[k] = start;
            if (subgroup_local_id() == subgroup_size() - 1u) {
                shared->sh_grain[g] = value;
                shared->sh_grain_start[g] = start + length;
            }
            if (subgroup_size() < max(subgroup_size(), 32u)) {
                sum = add(sum, wide ? subgroup_sum_uint2(code) : widen(subgroup_sum_uint(low_word(code)), code));
                rows_2 += subgroup_sum_uint(length);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_grains(shared, grains, rle, delta, wide);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rle) {
        good = good && shared->sh_rows == count;
        for (uint k = LOCAL_ID_X; good && k < n; k += WORKGROUP) {
            if (delta) {
                shared->sh_value[k] = summed(shared, k, first, reference);
            }
            uint start = start_of(shared, k);
            uint next = k + 1u < n ? start_of(shared, k + 1u) : count;
            atomic_or(&shared->sh_heads[start / 32u], 1u << (start % 32u));
            for (uint w = start / 32u + 1u; w <= min(next / 32u, 31u); ++w) {
                shared->sh_before[w] = k + 1u;
            }
        }
        if (LOCAL_ID_X == 0u) {
            shared->sh_before[0] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint present = good ? count : 0u;
    uint2 value[ITEMS];
    for (uint i = LOCAL_ID_X; i < present; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            uint row = min(i + j * WORKGROUP, count - 1u);
            value[j] = rle ? shared->sh_value[heads_before(shared, row + 1u) - 1u]
                    : summed(shared, row, first, reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
    if (!good && LOCAL_ID_X == 0u) {
        atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
    }
}
#endif

#if VALUE_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint block = args->first_block + group;
    uint begin = column32_from(args->directory, block)[0];
    uint end = column32_from(args->directory, block + 1u)[0];
    bool good = begin < end && end <= args->payload_words;
    Source source = (Source){column32_from(args->payload, good ? begin : 0u), good ? end - begin - 1u : 0u};
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    uint2 rows = rows_of_block(args->parts, args->part_count, block);
    uint count = rows.y;
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & 1u) != 0u;
    bool delta = (h.scheme & 2u) != 0u;
    bool wide = h.width > 22u;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    uint2 first = delta && good ? value_at(source, 1u) : (uint2)(0u);
    uint2 reference = (h.scheme & 4u) != 0u && good ? value_at(source, place.reference) : (uint2)(0u);
    __global uint2* to = column64_from(args->values, rows.x);
    if (!rle && !delta) {
        unpack(source, place.values, h.width, reference, to, good ? count : 0u);
        if (!good && LOCAL_ID_X == 0u) {
            atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
        }
        return;
    }
    clear_heads(shared);
    uint grains = grain_of(n + 32u - 1u);
    for (uint g = LOCAL_ID_X; g < grains; g += WORKGROUP) {
        uint2 sum = (uint2)(0u);
        uint rows_2 = 0u;
        for (uint k = g * 32u; k < (g + 1u) * 32u; ++k) {
            uint2 code = (uint2)(0u);
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) {
                code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            }
            if (k < n && rle) {
                length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            }
            sum = add(sum, code);
            shared->sh_value[k] = delta ? sum : add(code, reference);
            shared->sh_start[k] = rows_2;
            rows_2 += length;
        }
        shared->sh_grain[g] = sum;
        shared->sh_grain_start[g] = rows_2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_grains(shared, grains, rle, delta, wide);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rle) {
        good = good && shared->sh_rows == count;
        for (uint k = LOCAL_ID_X; good && k < n; k += WORKGROUP) {
            if (delta) {
                shared->sh_value[k] = summed(shared, k, first, reference);
            }
            uint start = start_of(shared, k);
            uint next = k + 1u < n ? start_of(shared, k + 1u) : count;
            atomic_or(&shared->sh_heads[start / 32u], 1u << (start % 32u));
            for (uint w = start / 32u + 1u; w <= min(next / 32u, 31u); ++w) {
                shared->sh_before[w] = k + 1u;
            }
        }
        if (LOCAL_ID_X == 0u) {
            shared->sh_before[0] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint present = good ? count : 0u;
    uint2 value[ITEMS];
    for (uint i = LOCAL_ID_X; i < present; i += ITEMS * WORKGROUP) {
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            uint row = min(i + j * WORKGROUP, count - 1u);
            value[j] = rle ? shared->sh_value[heads_before(shared, row + 1u) - 1u]
                    : summed(shared, row, first, reference);
        }
        UNROLL
        for (uint j = 0u; j < ITEMS; ++j) {
            if (i + j * WORKGROUP < count) {
                to[i + j * WORKGROUP] = value[j];
            }
        }
    }
    if (!good && LOCAL_ID_X == 0u) {
        atomic_max(&((__global uint*)as_ulong(args->status))[0], block + 1u);
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void cascade_decode(
    __global uchar* payload,
    __global uchar* directory,
    __global uchar* parts,
    __global uchar* values,
    __global uchar* status,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)payload + scalars.payload),
        as_uint2((ulong)directory + scalars.directory),
        as_uint2((ulong)parts + scalars.parts),
        as_uint2((ulong)values + scalars.values),
        as_uint2((ulong)status + scalars.status),
        scalars.part_count,
        scalars.first_block,
        scalars.payload_words,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}

