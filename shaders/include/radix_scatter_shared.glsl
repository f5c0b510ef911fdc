// The wide shape of radix_scatter without subgroup operations. A word for each row of the tile, its digit and its
// place, is sorted by two bits of the digit after the other: an invocation counts its neighbouring words in four
// counters of 16 bits, and a scan of these over the workgroup says where each word goes. Columns then change places in
// shared memory, one at a time.
#include "workgroup_scan.glsl"

const uint tile_rows = WORKGROUP_SIZE * items;
#if KEY_BITS == 64 || PAYLOAD_BITS == 64
const uint column_words = 2u * tile_rows;
#else
const uint column_words = tile_rows;
#endif
const uint scanned_words = 4u * WORKGROUP_SIZE;
const uint exchange_words = column_words < scanned_words ? scanned_words : column_words;

shared uint sh_data[exchange_words]; // words, counters in between, then a column
shared uint sh_to[max_digits];       // where a row of a digit goes, less its place in the sorted tile

void put(uint place, uint value) { sh_data[place] = value; }
void put(uint place, uvec2 value) { sh_data[place] = value.x; sh_data[tile_rows + place] = value.y; }
void get(uint place, out uint value) { value = sh_data[place]; }
void get(uint place, out uvec2 value) { value = uvec2(sh_data[place], sh_data[tile_rows + place]); }

void put_scanned(uint at, uvec2 counts) {
    sh_data[at] = counts.x;
    sh_data[2u * WORKGROUP_SIZE + at] = counts.y;
}
uvec2 scanned(uint at) { return uvec2(sh_data[at], sh_data[2u * WORKGROUP_SIZE + at]); }
uvec2 add_counts(uvec2 a, uvec2 b) { return a + b; }
DEFINE_WORKGROUP_SCAN(uvec2, add_counts, uvec2(0u))

// Four counters: 0 and 1 are the halves of x, 2 and 3 those of y.
uvec2 one(uint counter) {
    uint half_one = 1u << 16u * (counter & 1u);
    return counter < 2u ? uvec2(half_one, 0u) : uvec2(0u, half_one);
}
uint counted(uvec2 counts, uint counter) {
    return (counter < 2u ? counts.x : counts.y) >> 16u * (counter & 1u) & 0xffffu;
}

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * tile_rows, count = rows_left(rows, begin, tile_rows), digit_bits = bits;
    Digit digit = Digit(shift, (1u << digit_bits) - 1u);
    Key key[items];
    COLUMN(KEY_BITS) keys = COLUMN_FROM(KEY_BITS)(keys_in, begin << narrow);
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        key[k] = Key(~0u); // what is missing in the last tile comes behind its rows
        if (i < count) key[k] = as_moved(keys.at[i << narrow]);
    }
    uint word[items]; // digit << 16 | row of the tile
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        sh_data[i] = digit_of(key[k], digit) << 16 | i;
    }
    barrier();
    for (uint from = 16u; from < 16u + digit_bits; from += 2u) {
        uvec2 counts = uvec2(0u), all;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            word[k] = sh_data[INVOCATION * items + k];
            counts += one(word[k] >> from & 3u);
        }
        barrier();
        counts = workgroup_scan(counts, all);
        uint of_0 = all.x & 0xffffu, of_1 = all.x >> 16, of_2 = all.y & 0xffffu;
        counts += uvec2(of_0 << 16, of_0 + of_1 | (of_0 + of_1 + of_2) << 16);
        barrier();
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint counter = word[k] >> from & 3u;
            sh_data[counted(counts, counter)] = word[k];
            counts += one(counter);
        }
        barrier();
    }
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        word[k] = sh_data[i];
        uint own = word[k] >> 16, before = ~0u;
        if (i > 0u) before = sh_data[i - 1u] >> 16;
        if (own != before) sh_to[own] = column32_from(offsets, own * tiles + tile).at[0] - i;
    }

// MOVE puts rows of a column, from[k], into the order of their digits, and writes them to column to.
#define MOVE(bits, from, to)                                                             \
    barrier();                                                                           \
    [[unroll]] for (uint k = 0u; k < items; ++k) put(INVOCATION + k * WORKGROUP_SIZE, from[k]); \
    barrier();                                                                           \
    [[unroll]] for (uint k = 0u; k < items; ++k) {                                       \
        uint i = INVOCATION + k * WORKGROUP_SIZE, row = sh_to[word[k] >> 16] + i;        \
        WORD(bits) value;                                                                \
        get(word[k] & 0xffffu, value);                                                   \
        COLUMN(bits) page = PAGE(bits, to, row);                                         \
        if (i < count) page.at[IN_PAGE(bits, row)] = value;                              \
    }
    MOVE(KEY_BITS, key, keys_out)
#if PAYLOAD_BITS
    [[unroll]] for (uint c = 0u; c < columns; ++c) {
        Payload payload[items];
        COLUMN(PAYLOAD_BITS) from = COLUMN_FROM(PAYLOAD_BITS)(PAYLOAD_IN(c), begin);
        bool numbered = absent(PAYLOAD_IN(c));
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint i = INVOCATION + k * WORKGROUP_SIZE;
            payload[k] = widen(first_row + begin + i, Payload(0u));
            if (!numbered && i < count) payload[k] = from.at[i];
        }
        MOVE(PAYLOAD_BITS, payload, PAYLOAD_OUT(c))
    }
#endif
}
