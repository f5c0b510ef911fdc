// Moves rows to where their digit belongs, one pass of a radix sort or partition: a row goes to the place of its digit
// in its tile + its rank among the tile's rows of the same digit, in their order.
// SERIAL 0: one workgroup per tile of workgroup*items rows. SERIAL 1, for CPU cores: tiles have items rows, and a
// workgroup moves as many of them as it has invocations, one after the other, each round as many rows. SHARED 1: SERIAL
// 0 without subgroups.
// LOOKBACK 0: the places of a tile are offsets[digit*tiles + tile].
// LOOKBACK 1: they are offsets[digit] + the rows of that digit in the tiles before, which a workgroup learns from those
// tiles while they run.
// Inputs: keys_in, words of KEY_BITS[rows], or with narrow 1 of 64 bits, whose low words are the keys; payload_in and
// the two after it, of which columns are moved, words of PAYLOAD_BITS[rows], a single absent one of 32
// bits: the row numbers from first_row; offsets, uint32.
// In and out: chain, uint32[(ahead + tiles) * 256], zero before: behind ahead rows that stay zero what is known of each
// tile, a word per digit: 0 nothing, 1 << 30 | rows of the tile, or 2 << 30 | rows of all tiles up to it.
// Outputs: keys_out and payload_out, like the inputs, but keys mixed where mixed is 1; they overlap no input.
// next_offsets, uint32[256], absent or what offsets is for rows behind these.
// Preconditions: bits is 1 to 8, or with SERIAL 1 2^bits is at most digits; a digit as in digit.glsl; SERIAL 1: the
// rows of a digit in a tile go behind those in the tile before; SERIAL 0: workgroup*items is at most 65536, workgroup
// is a multiple of the subgroup's size, no subgroup is smaller than subgroup; LOOKBACK 1: rows less than 2^30. No
// workgroup waits forever: if the word of a tile is missing after patience looks, it counts that tile itself.
// Source: "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", sections 3 and 4; the fallback as in
// "Decoupled Fallback: A Portable Single-Pass GPU Scan".
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/radix_scatter.glsl"
#include "group.glsl"
#include "digit.glsl"
#include "mix.glsl"
#include "uint64.glsl"
#if !SHARED
#include "subgroup_sum.glsl"
#endif

#define Key WORD(KEY_BITS)
#if PAYLOAD_BITS
#define Payload WORD(PAYLOAD_BITS)
#endif

#define PAYLOAD_IN(c) (c == 0u ? payload_in : c == 1u ? payload_in_2 : payload_in_3)
#define PAYLOAD_OUT(c) (c == 0u ? payload_out : c == 1u ? payload_out_2 : payload_out_3)

Key as_moved(Key key, uint own_seed) { return mixed == 0u ? key : mix_of(key, own_seed); }
Key as_moved(Key key) { return as_moved(key, seed); }

#if SERIAL

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require

// where the next row of a digit goes; behind them a word for invocations without a row
shared uint sh_cursor[digits + 1u];

// at most so many subgroups, which take them in their order
const uint turns = (WORKGROUP_SIZE + subgroup - 1u) / subgroup;

// lavapipe turns a kernel with a barrier into one that keeps its variables in memory.
#define MEET if (turns > 1u) barrier(); else subgroupBarrier();

#define LOOK_AT(j)                                                          \
    {                                                                       \
        bool same = subgroupShuffle(digit, j) == digit;                     \
        before += uint(same && j < gl_SubgroupInvocationID);                \
        after += uint(same && j > gl_SubgroupInvocationID && j < neighbours); \
    }

void main() {
    uint group = GROUP;
    if (group >= end_group) return;
    uint tile = group * WORKGROUP_SIZE, digits = 1u << bits;
    for (uint digit = INVOCATION; digit < digits; digit += WORKGROUP_SIZE)
        sh_cursor[digit] = column32_from(offsets, digit * tiles + tile).at[0];
    MEET
    uint begin = tile * items, count = rows_left(rows, begin, items * WORKGROUP_SIZE), own_seed = seed;
    COLUMN(KEY_BITS) keys = COLUMN_FROM(KEY_BITS)(keys_in, begin << narrow);
    Digit place = Digit(shift, digits - 1u);
    uvec2 to_keys = keys_out;
#if PAYLOAD_BITS
    bool numbered = absent(payload_in);
    uint number = first_row + begin;
    uvec2 from_payload = payload_in, from_payload_2 = payload_in_2, from_payload_3 = payload_in_3;
    uvec2 to_payload = payload_out, to_payload_2 = payload_out_2, to_payload_3 = payload_out_3;
#endif
    // at least so many if that is less than the subgroup's size
    uint neighbours = WORKGROUP_SIZE - gl_SubgroupID * gl_SubgroupSize;
    for (uint first = 0u; first < count; first += WORKGROUP_SIZE) {
        uint i = first + ORDER, digit = digits, before = 0u, after = 0u; // rows of the same digit in neighbours
        Key key = Key(0u);
        if (i < count) {
            key = as_moved(keys.at[i << narrow], own_seed);
            digit = digit_of(key, place);
        }
        [[unroll]] for (uint j = 0u; j < subgroup; ++j) LOOK_AT(j)
        for (uint j = subgroup; j < gl_SubgroupSize; ++j) LOOK_AT(j)
        uint to;
        for (uint turn = 0u; turn < turns; ++turn) {
            if (turns == 1u || gl_SubgroupID == turn) {
                to = sh_cursor[digit] + before;
                subgroupBarrier();
                if (after == 0u) sh_cursor[digit] = to + 1u;
            }
            MEET
        }
        if (i < count) {
            COLUMN_FROM(KEY_BITS)(to_keys, to).at[0] = key;
#if PAYLOAD_BITS
            Payload value = widen(number + i, Payload(0u));
            if (!numbered) value = COLUMN_FROM(PAYLOAD_BITS)(from_payload, begin).at[i];
            COLUMN_FROM(PAYLOAD_BITS)(to_payload, to).at[0] = value;
            if (columns > 1u)
                COLUMN_FROM(PAYLOAD_BITS)(to_payload_2, to).at[0] =
                    COLUMN_FROM(PAYLOAD_BITS)(from_payload_2, begin).at[i];
            if (columns > 2u)
                COLUMN_FROM(PAYLOAD_BITS)(to_payload_3, to).at[0] =
                    COLUMN_FROM(PAYLOAD_BITS)(from_payload_3, begin).at[i];
#endif
        }
    }
}

#else

#extension GL_EXT_control_flow_attributes : require

// The page of 4 GiB that a row lies in, and the row there: NVIDIA's compiler computes the byte offset of an index in
// unsigned 32 bits.
#define PAGE(bits, base, row) COLUMN(bits)(far == 0u ? base : uvec2((base).x, (base).y + ((row) >> 31u - (bits) / 32u)))
#define IN_PAGE(bits, row) (far == 0u ? row : (row) & (1u << 31u - (bits) / 32u) - 1u)

#if SHARED

#include "radix_scatter_shared.glsl"

#else

#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
DEFINE_WORKGROUP_SUM(uint)

const uint tile_rows = WORKGROUP_SIZE * items;
const uint own_digits = (max_digits + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
#if KEY_BITS == 64 || PAYLOAD_BITS == 64
const uint column_words = 2u * tile_rows;
#else
const uint column_words = tile_rows;
#endif
const uint exchange_words = column_words < max_digits ? max_digits : column_words;

// Each subgroup has counters of its own; where they do not fit, a few share some and take turns in their order.
const uint subgroups = (WORKGROUP_SIZE + subgroup - 1u) / subgroup;
const uint most_counter_rows = exchange_words / max_digits;
const uint turns = (subgroups + most_counter_rows - 1u) / most_counter_rows;
const uint counter_rows = (subgroups + turns - 1u) / turns;

shared uint sh_data[exchange_words]; // first counters, [counter row][digit]; then a column in the order of its digits
// where a row of a digit goes, less its place in sh_data; before that the counts of a stuck tile
shared uint sh_to[max_digits];
shared uint sh_shift, sh_half, sh_rows; // shift, 16 and the rows of the tile, see below
#if LOOKBACK
shared uint sh_stuck; // 1 + the tile whose word somebody misses; 0: nobody
#endif

// A compiler that knows all inputs besides the keys computes early and keeps the results in registers, which costs
// resident workgroups. The shift, the number 16 and the rows are therefore reloaded from shared memory after every
// second row: a subgroup barrier costs nothing else, and work does not move across it.
#define FENCED(k, known, sh_known) \
    if ((k) % 2u == 0u) {          \
        subgroupBarrier();         \
        known = sh_known;          \
    }

#if LOOKBACK
layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Chain { uint at[]; };
Chain word_of(uint tile, uint digit) { return Chain(element_address(chain, (tile + ahead) * max_digits + digit, 2u)); }

const uint counted = 1u << 30, summed = 2u << 30, count_mask = counted - 1u;

// Before the first row of a digit in this tile, at start in the tile, come before rows in others; all rows of the digit
// go to base and behind.
void settle(uint tile, bool last, uint digit, uint base, uint before, uint total, uint start) {
    if (tile > 0u) word_of(tile, digit).at[0] = summed | before + total;
    sh_to[digit] = base + before - start;
    if (last && !absent(next_offsets)) column32_from(next_offsets, digit).at[0] = base + before + total;
}
#endif

void put(uint place, uint value) { sh_data[place] = value; }
void put(uint place, uvec2 value) { sh_data[place] = value.x; sh_data[tile_rows + place] = value.y; }
void get(uint place, out uint value) { value = sh_data[place]; }
void get(uint place, out uvec2 value) { value = uvec2(sh_data[place], sh_data[tile_rows + place]); }

// LOAD gives in to[k] what as makes of row run + k*subgroup size of the tile, of a column from row run on, or otherwise
// behind the last row. A row has 2^log2_words words.
#define LOAD(to, column, log2_words, as, otherwise)                                                            \
    if (count == tile_rows) {                                                                                  \
        [[unroll]] for (uint k = 0u; k < items; ++k) to[k] = as(column.at[k * gl_SubgroupSize << log2_words]); \
    } else {                                                                                                   \
        [[unroll]] for (uint k = 0u; k < items; ++k) {                                                         \
            to[k] = otherwise;                                                                                 \
            if (run + k * gl_SubgroupSize < count) to[k] = as(column.at[k * gl_SubgroupSize << log2_words]);   \
        }                                                                                                      \
    }

#if PAYLOAD_BITS
#define LOAD_PAYLOAD(c)                                                                     \
    if (absent(PAYLOAD_IN(c))) {                                                            \
        [[unroll]] for (uint k = 0u; k < items; ++k)                                        \
            payload[k] = widen(first_row + begin + run + k * gl_SubgroupSize, Payload(0u)); \
    } else {                                                                                \
        COLUMN(PAYLOAD_BITS) from = COLUMN_FROM(PAYLOAD_BITS)(PAYLOAD_IN(c), begin + run);  \
        LOAD(payload, from, 0, Payload, Payload(0u))                                        \
    }
#endif

void main() {
    uint tile = GROUP;
    if (tile >= end_group) return;
    uint begin = tile * tile_rows, count = rows_left(rows, begin, tile_rows);
    uint run = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    uint mask = (1u << bits) - 1u;
    uint counters = gl_SubgroupID / turns * max_digits;

    Key key[items];
    COLUMN(KEY_BITS) keys = COLUMN_FROM(KEY_BITS)(keys_in, begin + run << narrow);
    LOAD(key, keys, narrow, as_moved, Key(~0u)) // what is missing in the last tile comes behind its rows
    for (uint i = INVOCATION; i < counter_rows * max_digits; i += WORKGROUP_SIZE) sh_data[i] = 0u;
    if (INVOCATION == 0u) {
        sh_shift = shift;
        sh_half = 16u + bits / 16u; // 16
        sh_rows = count;
#if LOOKBACK
        sh_stuck = 0u;
#endif
    }
    barrier();

    // Counts the digits of each subgroup, sums the counts of the tile, publishes them, and turns each counter into the
    // place where its rows begin.
    [[unroll]] for (uint k = 0u; k < items; ++k)
        atomicAdd(sh_data[counters + digit_of(key[k], Digit(shift, mask))], 1u);
    barrier();
    uint total[own_digits];
    uint own = 0u, missing_rows = tile_rows - count, last_digit = digit_of(Key(~0u), Digit(shift, mask));
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        total[d] = 0u;
        if (digit < max_digits) {
            for (uint r = 0u; r < counter_rows; ++r) total[d] += sh_data[r * max_digits + digit];
            own += total[d];
            if (digit == last_digit) total[d] -= missing_rows;
#if LOOKBACK
            word_of(tile, digit).at[0] = (tile == 0u ? summed : counted) | total[d];
#endif
        }
    }
    uint all;
    uint first = subgroup_sum_before(own);
    first += workgroup_sum(subgroupBroadcast(first + own, gl_SubgroupSize - 1u), all);
    uint start[own_digits];
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        start[d] = first;
        if (digit < max_digits) {
            for (uint r = 0u; r < counter_rows; ++r) {
                uint n = sh_data[r * max_digits + digit];
                sh_data[r * max_digits + digit] = first;
                first += n;
            }
        }
    }
    barrier();

#if PAYLOAD_BITS
    Payload payload[items];
    if (early == 1u) { LOAD_PAYLOAD(0u) }
#endif

    // Ranks the rows of the subgroup, one set of neighbours after the other: a counter is where the next row of its
    // digit goes. Two places share a word.
    uint place[(items + 1u) / 2u];
    uint late, half_word;
    for (uint turn = 0u; turn < turns; ++turn) {
        if (gl_SubgroupID % turns == turn) {
            [[unroll]] for (uint k = 0u; k < items; ++k) {
                FENCED(k, late, sh_shift)
                uint digit = digit_of(key[k], Digit(late, mask));
                uvec4 same = subgroupBallot(true); // the neighbours with the same digit
                [[unroll]] for (uint b = 0u; b < 8u; ++b) {
                    bool set = (digit & 1u << b) != 0u;
                    uvec4 others = subgroupBallot(set);
                    same &= set ? others : ~others;
                }
                uint to = sh_data[counters + digit] + subgroupBallotExclusiveBitCount(same);
                subgroupBarrier();
                if (subgroupBallotFindMSB(same) == gl_SubgroupInvocationID) sh_data[counters + digit] = to + 1u;
                subgroupBarrier();
                if (k % 2u == 0u) place[k / 2u] = to; else place[k / 2u] |= to << 16;
            }
        }
        barrier();
    }

#define PLACE(k) ((k) % 2u == 0u ? place[(k) / 2u] << half_word >> 16 : place[(k) / 2u] >> half_word)
// EXCHANGE puts the rows of a column, from[k], into the order of their digits.
#define EXCHANGE(from)                                                                                           \
    [[unroll]] for (uint k = 0u; k < items; ++k) {                                                               \
        FENCED(k, half_word, sh_half)                                                                            \
        put(PLACE(k), from[k]);                                                                                  \
    }
    EXCHANGE(key)

#if LOOKBACK
    // Looks back: adds up the counts of the tiles before, up to one that knows the sum.
    uint before[own_digits], next[own_digits], base[own_digits]; // next: 1 + the next tile to look at
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        before[d] = 0u;
        next[d] = digit < max_digits ? tile : 0u;
        base[d] = digit < max_digits ? column32_from(offsets, digit).at[0] : 0u;
    }
    bool last = begin + count == rows;
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        for (uint look = 0u; look <= patience && next[d] > 0u;) {
            uint word[ahead];
            Chain words = word_of(next[d] - ahead, digit); // one address, so that the loads overlap
            [[unroll]] for (uint j = 0u; j < ahead; ++j) word[j] = words.at[(ahead - 1u - j) * max_digits];
            bool missing = false;
            [[unroll]] for (uint j = 0u; j < ahead; ++j) {
                missing = missing || word[j] < counted;
                if (!missing && next[d] > 0u) {
                    before[d] += word[j] & count_mask;
                    next[d] = word[j] >= summed ? 0u : next[d] - 1u;
                }
            }
            if (missing) ++look;
        }
        if (next[d] > 0u) atomicMax(sh_stuck, next[d]);
        else if (digit < max_digits) settle(tile, last, digit, base[d], before[d], total[d], start[d]);
    }
    barrier();
    if (sh_stuck > 0u) {
        for (uint stuck = sh_stuck; stuck > 0u; stuck = sh_stuck) {
            barrier();
            for (uint i = INVOCATION; i < max_digits; i += WORKGROUP_SIZE) sh_to[i] = 0u;
            if (INVOCATION == 0u) sh_stuck = 0u;
            barrier();
            COLUMN(KEY_BITS) others = COLUMN_FROM(KEY_BITS)(keys_in, (stuck - 1u) * tile_rows << narrow);
            for (uint i = INVOCATION; i < tile_rows; i += WORKGROUP_SIZE) {
                atomicAdd(sh_to[digit_of(as_moved(others.at[i << narrow]), Digit(shift, mask))], 1u);
            }
            barrier();
            [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
                if (next[d] == stuck) {
                    before[d] += sh_to[ORDER * own_digits + d];
                    --next[d];
                    while (patience > 0u && next[d] > 0u) { // those before it may be there
                        uint word = word_of(next[d] - 1u, ORDER * own_digits + d).at[0];
                        if (word < counted) break;
                        before[d] += word & count_mask;
                        next[d] = word >= summed ? 0u : next[d] - 1u;
                    }
                }
                if (next[d] > 0u) atomicMax(sh_stuck, next[d]);
            }
            barrier();
        }
        [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
            uint digit = ORDER * own_digits + d;
            if (digit < max_digits) settle(tile, last, digit, base[d], before[d], total[d], start[d]);
        }
        barrier();
    }
#else
    [[unroll]] for (uint d = 0u; d < own_digits; ++d) {
        uint digit = ORDER * own_digits + d;
        if (digit <= mask) sh_to[digit] = column32_from(offsets, digit * tiles + tile).at[0] - start[d];
    }
    barrier();
#endif

    uint digits[(items + 3u) / 4u]; // of the rows in their new order, four in a word
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        FENCED(k, late, sh_shift)
        uint i = INVOCATION + k * WORKGROUP_SIZE;
        Key sorted;
        get(i, sorted);
        uint digit = digit_of(sorted, Digit(late, mask));
        uint to = sh_to[digit] + i;
        COLUMN(KEY_BITS) page = PAGE(KEY_BITS, keys_out, to);
        to = IN_PAGE(KEY_BITS, to);
        if (i < count) page.at[to] = sorted;
        if (k % 4u == 0u) digits[k / 4u] = digit; else digits[k / 4u] |= digit << k % 4u * 8u;
        // A shuffle is done where it stands, and so is the packing.
        if (k % 4u == 3u || k + 1u == items) digits[k / 4u] = subgroupShuffle(digits[k / 4u], gl_SubgroupInvocationID);
    }

#if PAYLOAD_BITS
    if (early == 0u) { LOAD_PAYLOAD(0u) }
    [[unroll]] for (uint c = 0u; c < columns; ++c) {
        barrier();
        EXCHANGE(payload)
        barrier();
        if (c + 1u < columns) LOAD_PAYLOAD(c + 1u) // under way while this column is written
        uint count_here;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            FENCED(k, count_here, sh_rows)
            uint i = INVOCATION + k * WORKGROUP_SIZE;
            Payload sorted;
            get(i, sorted);
            uint to = sh_to[digits[k / 4u] >> k % 4u * 8u & 255u] + i;
            COLUMN(PAYLOAD_BITS) page = PAGE(PAYLOAD_BITS, PAYLOAD_OUT(c), to);
            to = IN_PAGE(PAYLOAD_BITS, to);
            if (i < count_here) page.at[to] = sorted;
        }
    }
#endif
}

#endif

#endif
