// Blocks of the cascaded codec (docs/codec.md): parts, headers and layouts, and a block in shared memory with a bitmap of
// the values that begin a run.
#include "uint64.glsl"
#include "bitmap.glsl"
#if SHARED
#define PLACE INVOCATION
#else
#include "subgroup_sum.glsl"
#extension GL_KHR_shader_subgroup_ballot : require
#define PLACE ORDER
#endif

#define Value WORD(VALUE_BITS)
#define ValueColumn COLUMN(VALUE_BITS)

const uint block_values = 1024u, value_words = VALUE_BITS / 32u, head_words = block_values / 32u;
const uint layer_rle = 1u, layer_delta = 2u, layer_pack = 4u;

shared Value sh_value[block_values];
shared uint sh_start[block_values];    // first value of each run
shared uint sh_heads[head_words];      // bitmap of the values that begin a run
shared uint sh_before[head_words + 1]; // heads before each word, and all

// The first row and the number of rows of a block of some parts, each with its first row and block.
uvec2 rows_of_block(uvec2 parts, uint count, uint block) {
    Column64 part = Column64(parts);
    uint low = 0u;
#if SHARED
    for (uint high = count; low + 1u < high;) {
        uint middle = (low + high) / 2u;
        if (part.at[middle].y <= block) low = middle; else high = middle;
    }
#else
    // Each round divides what is left by the size of a subgroup: a part that begins behind the block ends the search.
    for (uint left = count; left > 1u;) {
        uint step = (left + gl_SubgroupSize - 1u) / gl_SubgroupSize;
        uint at = low + gl_SubgroupInvocationID * step;
        bool begun = gl_SubgroupInvocationID * step < left && part.at[min(at, count)].y <= block;
        uint next = subgroupMax(begun ? gl_SubgroupInvocationID * step : 0u);
        low += next;
        left = min(step, left - next);
    }
#endif
    uint first = part.at[low].x + (block - part.at[low].y) * block_values;
    return uvec2(first, min(block_values, part.at[low + 1u].x - first));
}

// The header: width is the bits of a value, length_width those of a run length, less 1 + least_run.
struct Header { uint scheme, width, length_width, runs, least_run; };

uint word_of(Header h) {
    return h.scheme | h.width << 3 | h.length_width << 10 | (h.runs - 1u) << 14 | h.least_run << 24;
}

Header header_of(uint word) {
    return Header(word & 7u, word >> 3 & 127u, word >> 10 & 15u, (word >> 14 & 1023u) + 1u, word >> 24);
}

// The number of values or runs of a block of count values.
uint entries_of(Header h, uint count) { return (h.scheme & layer_rle) != 0u ? h.runs : count; }

// Where the parts of a block begin, in words, and where it ends.
struct Layout { uint reference, values, lengths, end; };

Layout layout_of(Header h, uint count) {
    uint packed = entries_of(h, count), reference = 1u;
    if ((h.scheme & layer_delta) != 0u) {
        reference += value_words;
        --packed;
    }
    uint values = (h.scheme & layer_pack) != 0u ? reference + value_words : reference;
    uint lengths = values + (packed * h.width + 31u) / 32u;
    uint end = (h.scheme & layer_rle) != 0u ? lengths + (h.runs * h.length_width + 31u) / 32u : lengths;
    return Layout(reference, values, lengths, end);
}

// The size of a block of count values that is stored as it is.
uint raw_words(uint count) { return 1u + count * value_words; }

// Brings count values to shared memory.
void load_block(uvec2 values, uint first, uint count) {
    ValueColumn from = COLUMN_FROM(VALUE_BITS)(values, first);
    for (uint i = INVOCATION; i < count; i += items * WORKGROUP_SIZE) {
        Value value[items];
        [[unroll]] for (uint k = 0u; k < items; ++k) value[k] = from.at[min(i + k * WORKGROUP_SIZE, count - 1u)];
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            if (i + k * WORKGROUP_SIZE < count) sh_value[i + k * WORKGROUP_SIZE] = value[k];
        }
    }
}

void clear_heads() {
    for (uint w = INVOCATION; w < head_words; w += WORKGROUP_SIZE) sh_heads[w] = 0u;
}

// Adds heads to the bitmap: value i = base + PLACE, which may lie behind the block. All invocations call it.
void mark_head(uint base, bool head) {
#if SHARED
    uint i = base + PLACE;
    if (head) atomicOr(sh_heads[i / 32u], 1u << i % 32u);
#else
    uvec4 heads = subgroupBallot(head);
    uint i = base + gl_SubgroupID * gl_SubgroupSize;
    if (subgroupElect() && i < block_values) {
        atomicOr(sh_heads[i / 32u], heads.x << i % 32u);
        if (gl_SubgroupSize > 32u) atomicOr(sh_heads[i / 32u + 1u], heads.y);
        if (gl_SubgroupSize > 64u) {
            atomicOr(sh_heads[i / 32u + 2u], heads.z);
            atomicOr(sh_heads[i / 32u + 3u], heads.w);
        }
    }
#endif
}

// Counts the heads before each word. A barrier lies before and after.
void count_heads() {
#if SHARED
    if (INVOCATION == 0u) {
        uint sum = 0u;
        for (uint w = 0u; w < head_words; ++w) {
            sh_before[w] = sum;
            sum += uint(bitCount(sh_heads[w]));
        }
        sh_before[head_words] = sum;
    }
#else
    if (gl_SubgroupID == 0u) {
        uint sum = 0u;
        for (uint base = 0u; base < head_words; base += gl_SubgroupSize) {
            uint w = base + gl_SubgroupInvocationID, own = w < head_words ? uint(bitCount(sh_heads[w])) : 0u;
            uint before = sum + subgroup_sum_before(own);
            if (w < head_words) sh_before[w] = before;
            sum += subgroup_sum(own);
        }
        if (subgroupElect()) sh_before[head_words] = sum;
    }
#endif
}

bool is_head(uint i) { return (sh_heads[i / 32u] >> i % 32u & 1u) == 1u; }

// The number of heads among the values before end, which is at most 1024.
uint heads_before(uint end) {
    uint w = min(end / 32u, head_words - 1u);
    return sh_before[w] + uint(bitCount(sh_heads[w] & bits_below(end - w * 32u)));
}
