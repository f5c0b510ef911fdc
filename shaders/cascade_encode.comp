// Encodes blocks of a column by the layers of scheme: run lengths (bit 0), differences (bit 1), frame of reference and
// bit packing (bit 2); docs/codec.md has the format. A block that they do not make smaller is stored as it is.
// One workgroup per block of up to 1,024 values, of any size, in any part.
// Inputs: values, words of VALUE_BITS; parts, uvec2[part_count + 1], the first row and the first block of each part, and
// the numbers of all rows and blocks. Outputs: slots of 1,028 or, for 64-bit values, 2,052 words: workgroup g
// encodes block first_block + g into slot g; sizes, uint32, the words of each slot that are written.
// Preconditions: slots end before word 2^32; SHARED 0: a workgroup consists of whole subgroups.
// Source: "Scaling Joins to a Thousand GPUs", section 4.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/cascade_encode.glsl"
#include "group.glsl"
#include "cascade.glsl"
#include "cascade_ranges.glsl"

const bool rle = (scheme & layer_rle) != 0u, delta = (scheme & layer_delta) != 0u, pack = (scheme & layer_pack) != 0u;
const uint skipped = delta ? 1u : 0u; // the first value is no difference

// The bits of a code from bit shift on, at most 63.
uint from_bit(uint code, uint shift) { return shift < 32u ? code >> shift : 0u; }
uint from_bit(uvec2 code, uint shift) {
    return shift < 32u ? code.x >> shift | (code.y << 1) << 31u - shift : code.y >> shift - 32u;
}
uint low_bits(uint code) { return code; }
uint low_bits(uvec2 code) { return code.x; }

Value code_of(uint k, Value reference) {
    uint at = rle ? sh_start[k + skipped] : k + skipped;
    Value v = sh_value[at];
    if (delta) v = subtract(v, sh_value[at - 1u]);
    return subtract(v, reference);
}

void put_value(Column32 to, uint at, uint v) { to.at[at] = v; }
void put_value(Column32 to, uint at, uvec2 v) {
    to.at[at] = v.x;
    to.at[at + 1u] = v.y;
}

// Writes n codes of width bits, one after the other.
#define DEFINE_PUT_CODES(name, Code, CODE, Context)                                        \
    void name(Column32 to, uint at, uint n, uint width, Context context) {                 \
        uint words = (n * width + 31u) / 32u;                                              \
        for (uint base = 0u; base < words; base += WORKGROUP_SIZE) {                       \
            uint j = min(base + INVOCATION, words - 1u), k = j * 32u / max(width, 1u), word = 0u;   \
            for (uint bit = k * width; bit < j * 32u + 32u && k < n; bit += width, ++k) {  \
                Code code = CODE(k, context);                                              \
                word |= bit < j * 32u ? from_bit(code, j * 32u - bit) : low_bits(code) << bit - j * 32u; \
            }                                                                              \
            if (base + INVOCATION < words) to.at[at + j] = word;                           \
        }                                                                                  \
    }

uint length_code(uint run, uvec3 runs_count_least) {
    return length_of_run(run, runs_count_least.x, runs_count_least.y) - runs_count_least.z;
}

DEFINE_PUT_CODES(put_values, Value, code_of, Value)
DEFINE_PUT_CODES(put_lengths, uint, length_code, uvec3)

void put_raw(Column32 to, uint count) {
    if (INVOCATION == 0u) to.at[0] = word_of(Header(0u, VALUE_BITS, 0u, 1u, 0u));
    for (uint j = INVOCATION; j < count * value_words; j += WORKGROUP_SIZE) {
#if VALUE_BITS == 64
        uvec2 v = sh_value[j / 2u];
        to.at[1u + j] = (j & 1u) == 0u ? v.x : v.y;
#else
        to.at[1u + j] = sh_value[j];
#endif
    }
}

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uvec2 rows = rows_of_block(parts, part_count, first_block + group);
    uint count = rows.y;
    clear_heads();
    clear_ranges();
    load_block(values, rows.x, count);
    barrier();
    Range own = no_range();
    if (rle || pack) {
        for (uint base = 0u; base < count; base += WORKGROUP_SIZE) {
            uint i = min(base + PLACE, count - 1u);
            Value v = sh_value[i], before = sh_value[max(i, 1u) - 1u];
            bool head = base + PLACE < count && (!rle || i == 0u || v != before);
            if (rle) mark_head(base, head);
            if (pack && head && i >= skipped) add_to(own, delta ? subtract(v, before) : v);
        }
        if (pack) combine_high(0u, own);
    }
    barrier();
    if (rle) count_heads();
    if (pack) combine_low(0u, own);
    barrier();
    uint entries = rle ? sh_before[head_words] : count;
    if (rle) place_starts(count);
    barrier();
    if (rle) combine_lengths(entries, count);
    barrier();
    Header h = header_for(scheme, entries);
    uint n = entries - skipped;
    h.width = pack ? width_of(combined(0u), n > 0u) : VALUE_BITS;
    Value reference = pack ? reference_of(combined(0u), n > 0u) : Value(0);
    Layout place = layout_of(h, count);
    Column32 to = column32_from(slots, group * (raw_words(block_values) + 3u));
    bool raw = !(rle || pack) || place.end >= raw_words(count);
    if (raw) {
        put_raw(to, count);
    } else {
        if (INVOCATION == 0u) {
            to.at[0] = word_of(h);
            if (delta) put_value(to, 1u, sh_value[0]);
            if (pack) put_value(to, place.reference, reference);
        }
        put_values(to, place.values, n, h.width, reference);
        if (rle) put_lengths(to, place.lengths, entries, h.length_width, uvec3(entries, count, 1u + h.least_run));
    }
    if (INVOCATION == 0u) column32_from(sizes, group).at[0] = raw ? raw_words(count) : place.end;
}
