// Decodes blocks of the cascaded codec (docs/codec.md). Payload and directory are untrusted: a block that does not
// follow the format leaves its rows as they are.
// One workgroup per block, of any size: workgroup g decodes block b = first_block + g.
// Inputs: payload, uint32[payload_words]; directory, uint32: block b is the words directory[b] to directory[b + 1] - 1;
// parts, uvec2[part_count + 1], the first row and the first block of each part, and the numbers of all rows and blocks.
// Outputs: values, words of VALUE_BITS; status[0], raised to b + 1 of blocks that are wrong.
// Precondition: SHARED 0: a workgroup consists of whole subgroups.
// Source: "Scaling Joins to a Thousand GPUs", section 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/cascade_decode.glsl"
#include "group.glsl"
#include "cascade.glsl"

// Prefixes of differences and of run lengths are sums within a grain of consecutive entries, and sums of grains. A
// subgroup adds up a grain, in steps if it is smaller; without subgroups one invocation does.
#define MOST_GRAINS 32
#if SHARED
#define GRAIN 32u
#else
#define GRAIN max(gl_SubgroupSize, 32u)
#endif
uint grain_of(uint k) { return k >> findMSB(GRAIN); }

shared Value sh_grain[MOST_GRAINS];      // sum of the differences of a grain, then of those before it
shared uint sh_grain_start[MOST_GRAINS]; // sum of the lengths of a grain, then of those before it
shared uint sh_rows;                     // sum of all lengths

// Codes up to this width have sums of less than 2^32.
const uint narrow_bits = 22u;

// A block in the payload.
struct Source { Column32 words; uint last; };

uint word_at(Source source, uint at) { return source.words.at[min(at, source.last)]; }

// 32 bits that begin in the lower word.
uint funnel(uint low, uint high, uint shift) { return low >> shift | (high << 1) << 31u - shift; }
uint mask_of(uint width) { return width >= 32u ? ~0u : (1u << width) - 1u; }

// Code k of width bits; the first one begins in word at.
uint code32(Source source, uint at, uint k, uint width) {
    uint bit = k * width;
    at += bit / 32u;
    return funnel(word_at(source, at), word_at(source, at + 1u), bit % 32u) & mask_of(width);
}

#if VALUE_BITS == 64
uvec2 code_at(Source source, uint at, uint k, uint width) {
    if (width <= 32u) return uvec2(code32(source, at, k, width), 0u);
    uint bit = k * width;
    at += bit / 32u;
    uint middle = word_at(source, at + 1u);
    return uvec2(funnel(word_at(source, at), middle, bit % 32u),
        funnel(middle, word_at(source, at + 2u), bit % 32u) & mask_of(width - 32u));
}
uvec2 value_at(Source source, uint at) { return uvec2(word_at(source, at), word_at(source, at + 1u)); }
uvec2 times(uvec2 a, uint b) {
    uint high, low;
    umulExtended(a.x, b, high, low);
    return uvec2(low, high + a.y * b);
}
#else
uint code_at(Source source, uint at, uint k, uint width) { return code32(source, at, k, width); }
uint value_at(Source source, uint at) { return word_at(source, at); }
uint times(uint a, uint b) { return a * b; }
#endif

uint low_word(uint v) { return v; }
uint low_word(uvec2 v) { return v.x; }

// Writes count values that are packed alone.
void unpack(Source source, uint at, uint width, Value reference, ValueColumn to, uint count) {
    for (uint i = INVOCATION; i < count; i += items * WORKGROUP_SIZE) {
        Value value[items];
        [[unroll]] for (uint j = 0u; j < items; ++j)
            value[j] = add(code_at(source, at, min(i + j * WORKGROUP_SIZE, count - 1u), width), reference);
        [[unroll]] for (uint j = 0u; j < items; ++j) {
            if (i + j * WORKGROUP_SIZE < count) to.at[i + j * WORKGROUP_SIZE] = value[j];
        }
    }
}

bool valid(Header h, uint count, uint words) {
    return h.width <= VALUE_BITS && h.length_width <= 10u && entries_of(h, count) <= count &&
        ((h.scheme & layer_pack) != 0u || h.width == VALUE_BITS) && layout_of(h, count).end == words;
}

// Replaces the sums of grains, of lengths and of differences, by the sums before them. Differences that are not wide
// have sums of less than 2^32.
#if SHARED
void scan_grains(uint grains, bool lengths, bool differences, bool wide) {
    if (INVOCATION == 0u) {
        Value sum = Value(0);
        uint rows = 0u;
        for (uint g = 0u; g < MOST_GRAINS; ++g) {
            Value own = g < grains && differences ? sh_grain[g] : Value(0);
            uint own_rows = g < grains && lengths ? sh_grain_start[g] : 0u;
            sh_grain[g] = sum;
            sh_grain_start[g] = rows;
            sum = add(sum, own);
            rows += own_rows;
        }
        sh_rows = rows;
    }
}
#else
void scan_grains(uint grains, bool lengths, bool differences, bool wide) {
    if (lengths && gl_SubgroupID == 0u) {
        uint rows = 0u;
        for (uint base = 0u; base < grains; base += gl_SubgroupSize) {
            uint g = base + gl_SubgroupInvocationID, own = g < grains ? sh_grain_start[g] : 0u;
            uint before = rows + subgroup_sum_before(own);
            if (g < grains) sh_grain_start[g] = before;
            rows += subgroup_sum(own);
        }
        if (subgroupElect()) sh_rows = rows;
    }
    if (differences && gl_SubgroupID == gl_NumSubgroups - 1u) {
        Value sum = Value(0);
        for (uint base = 0u; base < grains; base += gl_SubgroupSize) {
            uint g = base + gl_SubgroupInvocationID;
            Value own = g < grains ? sh_grain[g] : Value(0);
            Value before = wide ? subgroup_sum_before(own) : widen(subgroup_sum_before(low_word(own)), own);
            if (g < grains) sh_grain[g] = add(sum, before);
            sum = add(sum, wide ? subgroup_sum(own) : widen(subgroup_sum(low_word(own)), own));
        }
    }
}
#endif

// Entry k of entries that are differences, and the first value of run k.
Value summed(uint k, Value first, Value reference) {
    return add(add(first, times(reference, k)), add(sh_value[k], sh_grain[grain_of(k)]));
}
uint start_of(uint k) { return sh_start[k] + sh_grain_start[grain_of(k)]; }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint block = first_block + group;
    uint begin = column32_from(directory, block).at[0], end = column32_from(directory, block + 1u).at[0];
    bool good = begin < end && end <= payload_words;
    Source source = Source(column32_from(payload, good ? begin : 0u), good ? end - begin - 1u : 0u);
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    uvec2 rows = rows_of_block(parts, part_count, block);
    uint count = rows.y;
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & layer_rle) != 0u, delta = (h.scheme & layer_delta) != 0u;
    bool wide = VALUE_BITS == 64u && h.width > narrow_bits;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    Value first = delta && good ? value_at(source, 1u) : Value(0);
    Value reference = (h.scheme & layer_pack) != 0u && good ? value_at(source, place.reference) : Value(0);
    ValueColumn to = COLUMN_FROM(VALUE_BITS)(values, rows.x);
    if (!rle && !delta) { // of all invocations alike
        unpack(source, place.values, h.width, reference, to, good ? count : 0u);
        if (!good && INVOCATION == 0u) atomicMax(Column32(status).at[0], block + 1u);
        return;
    }

    // Entries, and where runs begin: sums within grains. Grains are full.
    clear_heads();
    uint grains = grain_of(n + GRAIN - 1u);
#if SHARED
    for (uint g = INVOCATION; g < grains; g += WORKGROUP_SIZE) {
        Value sum = Value(0);
        uint rows = 0u;
        for (uint k = g * GRAIN; k < (g + 1u) * GRAIN; ++k) {
            Value code = Value(0);
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            if (k < n && rle) length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            sum = add(sum, code);
            sh_value[k] = delta ? sum : add(code, reference);
            sh_start[k] = rows;
            rows += length;
        }
        sh_grain[g] = sum;
        sh_grain_start[g] = rows;
    }
#else
    for (uint g = gl_SubgroupID; g < grains; g += gl_NumSubgroups) {
        Value sum = Value(0);
        uint rows = 0u;
        for (uint step = 0u; step < GRAIN; step += gl_SubgroupSize) {
            uint k = g * GRAIN + step + gl_SubgroupInvocationID;
            Value code = Value(0);
            uint length = 0u;
            if (k < n && (!delta || k > 0u)) code = code_at(source, place.values, delta ? k - 1u : k, h.width);
            if (k < n && rle) length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
            Value value = add(code, reference);
            uint start = rle ? rows + subgroup_sum_before(length) : 0u;
            if (delta) {
                Value before = wide ? subgroup_sum_before(code) : widen(subgroup_sum_before(low_word(code)), code);
                value = add(add(sum, before), code);
            }
            sh_value[k] = value;
            sh_start[k] = start;
            if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) {
                sh_grain[g] = value;
                sh_grain_start[g] = start + length;
            }
            if (gl_SubgroupSize < GRAIN) {
                sum = add(sum, wide ? subgroup_sum(code) : widen(subgroup_sum(low_word(code)), code));
                rows += subgroup_sum(length);
            }
        }
    }
#endif
    barrier();
    scan_grains(grains, rle, delta, wide);
    barrier();
    if (rle) {
        good = good && sh_rows == count;
        for (uint k = INVOCATION; good && k < n; k += WORKGROUP_SIZE) {
            if (delta) sh_value[k] = summed(k, first, reference);
            uint start = start_of(k), next = k + 1u < n ? start_of(k + 1u) : count;
            atomicOr(sh_heads[start / 32u], 1u << start % 32u);
            // Runs up to this one begin before the words that begin in it.
            for (uint w = start / 32u + 1u; w <= min(next / 32u, head_words - 1u); ++w) sh_before[w] = k + 1u;
        }
        if (INVOCATION == 0u) sh_before[0] = 0u;
        barrier();
    }
    uint present = good ? count : 0u;
    for (uint i = INVOCATION; i < present; i += items * WORKGROUP_SIZE) {
        Value value[items];
        [[unroll]] for (uint j = 0u; j < items; ++j) {
            uint row = min(i + j * WORKGROUP_SIZE, count - 1u);
            value[j] = rle ? sh_value[heads_before(row + 1u) - 1u] : summed(row, first, reference);
        }
        [[unroll]] for (uint j = 0u; j < items; ++j) {
            if (i + j * WORKGROUP_SIZE < count) to.at[i + j * WORKGROUP_SIZE] = value[j];
        }
    }
    if (!good && INVOCATION == 0u) atomicMax(Column32(status).at[0], block + 1u);
}
