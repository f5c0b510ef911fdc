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

// Prefixes of differences and of run lengths are sums within a grain of consecutive entries, and sums of grains: the
// invocations of a subgroup add up a grain, and without subgroups one invocation does.
#if SHARED
#define GRAIN 32u
#define MOST_GRAINS 32
#else
#define GRAIN gl_SubgroupSize
#define MOST_GRAINS 256
#endif

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

bool valid(Header h, uint count, uint words) {
    return h.width <= VALUE_BITS && h.length_width <= 10u && entries_of(h, count) <= count &&
        ((h.scheme & layer_pack) != 0u || h.width == VALUE_BITS) && layout_of(h, count).end == words;
}

// Replaces the sums of grains by the sums of those before; true: of differences of more than narrow_bits, too.
#if SHARED
void scan_grains(uint grains, bool differences, bool wide) {
    if (INVOCATION == 0u) {
        Value sum = Value(0);
        uint rows = 0u;
        for (uint g = 0u; g < MOST_GRAINS; ++g) {
            Value own = g < grains && differences ? sh_grain[g] : Value(0);
            uint lengths = g < grains ? sh_grain_start[g] : 0u;
            sh_grain[g] = sum;
            sh_grain_start[g] = rows;
            sum = add(sum, own);
            rows += lengths;
        }
        sh_rows = rows;
    }
}
#else
void scan_grains(uint grains, bool differences, bool wide) {
    if (gl_SubgroupID == 0u) { // lengths
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

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint block = first_block + group;
    uvec2 rows = rows_of_block(parts, part_count, block);
    uint count = rows.y;
    uint begin = column32_from(directory, block).at[0], end = column32_from(directory, block + 1u).at[0];
    bool good = begin < end && end <= payload_words;
    Source source = Source(column32_from(payload, good ? begin : 0u), good ? end - begin - 1u : 0u);
    Header h = header_of(good ? word_at(source, 0u) : 0u);
    good = good && valid(h, count, end - begin);
    Layout place = layout_of(h, count);
    bool rle = (h.scheme & layer_rle) != 0u, delta = (h.scheme & layer_delta) != 0u;
    bool wide = VALUE_BITS == 64u && h.width > narrow_bits;
    uint n = good && (rle || delta) ? entries_of(h, count) : 0u;
    Value first = delta && good ? value_at(source, 1u) : Value(0);
    Value reference = (h.scheme & layer_pack) != 0u && good ? value_at(source, place.reference) : Value(0);
    clear_heads();

    // Entries, and where runs begin: sums within grains. Grains are full.
    uint full = (n + GRAIN - 1u) / GRAIN * GRAIN;
    for (uint base = 0u; base < full; base += WORKGROUP_SIZE) {
        uint k = base + PLACE, length = 0u;
        Value code = Value(0);
        if (k < n && (!delta || k > 0u)) code = code_at(source, place.values, delta ? k - 1u : k, h.width);
        if (k < n && rle) length = code32(source, place.lengths, k, h.length_width) + 1u + h.least_run;
#if SHARED
        if (k < full) {
            sh_value[k] = delta ? code : add(code, reference);
            sh_start[k] = length;
        }
#else
        Value sum = add(code, reference);
        if (delta) sum = add(code, wide ? subgroup_sum_before(code) : widen(subgroup_sum_before(low_word(code)), code));
        uint start = subgroup_sum_before(length);
        if (k < full) {
            sh_value[k] = sum;
            sh_start[k] = start;
            if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) {
                sh_grain[k / GRAIN] = sum;
                sh_grain_start[k / GRAIN] = start + length;
            }
        }
#endif
    }
    barrier();
#if SHARED
    for (uint g = INVOCATION; g < full / GRAIN; g += WORKGROUP_SIZE) {
        Value sum = Value(0);
        uint start = 0u;
        for (uint k = g * GRAIN; k < (g + 1u) * GRAIN; ++k) {
            if (delta) {
                sum = add(sum, sh_value[k]);
                sh_value[k] = sum;
            }
            uint length = sh_start[k];
            sh_start[k] = start;
            start += length;
        }
        sh_grain[g] = sum;
        sh_grain_start[g] = start;
    }
    barrier();
#endif
    scan_grains(full / GRAIN, delta, wide);
    barrier();
    good = good && (!rle || sh_rows == count);
    if (rle && good) {
        for (uint k = INVOCATION; k < n; k += WORKGROUP_SIZE) {
            uint start = sh_start[k] + sh_grain_start[k / GRAIN];
            atomicOr(sh_heads[start / 32u], 1u << start % 32u);
        }
    }
    barrier();
    count_heads();
    barrier();
    ValueColumn to = COLUMN_FROM(VALUE_BITS)(values, rows.x);
    uint present = good ? count : 0u;
    for (uint i = INVOCATION; i < present; i += items * WORKGROUP_SIZE) {
        Value value[items];
        [[unroll]] for (uint j = 0u; j < items; ++j) {
            uint row = min(i + j * WORKGROUP_SIZE, count - 1u), k = rle ? heads_before(row + 1u) - 1u : row;
            if (delta)
                value[j] = add(add(first, times(reference, k)), add(sh_value[k], sh_grain[k / GRAIN]));
            else if (rle)
                value[j] = sh_value[k];
            else
                value[j] = add(code_at(source, place.values, k, h.width), reference);
        }
        [[unroll]] for (uint j = 0u; j < items; ++j) {
            if (i + j * WORKGROUP_SIZE < count) to.at[i + j * WORKGROUP_SIZE] = value[j];
        }
    }
    if (!good && INVOCATION == 0u) atomicMax(Column32(status).at[0], block + 1u);
}
