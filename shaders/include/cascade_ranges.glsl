// Ranges of values, of differences and of run lengths of a block, for kernels that encode. cascade.glsl comes before.
// An invocation collects its own range; the workgroup combines them by atomic operations in shared memory, the high
// words of 64-bit values first.
#ifndef RANGES
#define RANGES 1
#endif

// Greatest value and complement of the least one: high words, then low words; greatest length, complement of the least.
shared uint sh_range[4 * RANGES], sh_lengths[2];

struct Range { Value greatest, complement; }; // in signed order as unsigned numbers

uint flipped(uint v) { return v ^ 0x80000000u; }
uvec2 flipped(uvec2 v) { return uvec2(v.x, v.y ^ 0x80000000u); }

uint high_word(uint v) { return v; }
uint high_word(uvec2 v) { return v.y; }
uint low_word(uint v) { return 0u; }
uint low_word(uvec2 v) { return v.x; }

Value greater(Value a, Value b) { return less(a, b) ? b : a; }

Range no_range() { return Range(Value(0), Value(0)); }

void add_to(inout Range range, Value v) {
    range.greatest = greater(range.greatest, flipped(v));
    range.complement = greater(range.complement, ~flipped(v));
}

void clear_ranges() {
    for (uint i = INVOCATION; i < 4u * RANGES; i += WORKGROUP_SIZE) sh_range[i] = 0u;
    if (INVOCATION == 0u) sh_lengths[0] = sh_lengths[1] = 0u;
}

#if SHARED
#define COMBINE_MAX(to, own) atomicMax(to, own)
#else
#define COMBINE_MAX(to, own)                         \
    {                                                \
        uint greatest_of_all = subgroupMax(own);     \
        if (subgroupElect()) atomicMax(to, greatest_of_all); \
    }
#endif

// All invocations call these one after the other, with a barrier before, between and after.
void combine_high(uint r, Range own) {
    COMBINE_MAX(sh_range[4u * r], high_word(own.greatest));
    COMBINE_MAX(sh_range[4u * r + 1u], high_word(own.complement));
}
void combine_low(uint r, Range own) {
#if VALUE_BITS == 64
    COMBINE_MAX(sh_range[4u * r + 2u], high_word(own.greatest) == sh_range[4u * r] ? low_word(own.greatest) : 0u);
    COMBINE_MAX(sh_range[4u * r + 3u],
        high_word(own.complement) == sh_range[4u * r + 1u] ? low_word(own.complement) : 0u);
#endif
}

// The range that they have combined.
Range combined(uint r) {
#if VALUE_BITS == 64
    return Range(uvec2(sh_range[4u * r + 2u], sh_range[4u * r]), uvec2(sh_range[4u * r + 3u], sh_range[4u * r + 1u]));
#else
    return Range(sh_range[4u * r], sh_range[4u * r + 1u]);
#endif
}

uint bits_of(uint v) { return uint(findMSB(v) + 1); }
uint bits_of(uvec2 v) { return v.y > 0u ? 32u + bits_of(v.y) : bits_of(v.x); }

// The bits of greatest - least, and the least; of no values 0.
uint width_of(Range range, bool any) { return any ? bits_of(subtract(range.greatest, ~range.complement)) : 0u; }
Value reference_of(Range range, bool any) { return any ? flipped(~range.complement) : Value(0); }

// Writes the first value of each run. Barriers lie before and after.
void place_starts(uint count) {
    for (uint i = INVOCATION; i < count; i += WORKGROUP_SIZE) {
        if (is_head(i)) sh_start[heads_before(i)] = i;
    }
}

uint length_of_run(uint run, uint runs, uint count) {
    return (run + 1u < runs ? sh_start[min(run + 1u, block_values - 1u)] : count) - sh_start[run];
}

// Combines the lengths of runs. Barriers lie before and after.
void combine_lengths(uint runs, uint count) {
    uint greatest = 0u, complement = 0u;
    for (uint run = INVOCATION; run < runs; run += WORKGROUP_SIZE) {
        uint length = length_of_run(run, runs, count);
        greatest = max(greatest, length);
        complement = max(complement, ~length);
    }
    COMBINE_MAX(sh_lengths[0], greatest);
    COMBINE_MAX(sh_lengths[1], complement);
}

// A header for a scheme, without the width of values.
Header header_for(uint scheme, uint runs) {
    if ((scheme & layer_rle) == 0u) return Header(scheme, 0u, 0u, 1u, 0u);
    uint least = min(~sh_lengths[1] - 1u, 255u);
    return Header(scheme, 0u, bits_of(sh_lengths[0] - 1u - least), runs, least);
}
