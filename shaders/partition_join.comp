// Joins the units of a partitioned hash join: chains the left rows of a unit in a hash table in shared memory and looks the right
// rows up in it. Every pair of rows with equal keys is an output row, as in join_output.glsl.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, uint32[4 * units]: left from, left to, right from, right to; left_keys and right_keys, words of KEY_BITS;
// left_payload, right_payload, left_payload_2 and right_payload_2, words of 32 times left_words, ... bits, absent: the row numbers.
// In and out: places. PLACING 0: uint32[units], receives the output rows of each unit, and nothing else is written. PLACING 1:
// uint64[units], the output row of each unit's first, less first_row. PLACING 2: uint32[3], zero before: output rows reserved
// from first_row on, and a 64-bit count of all, those that found no room among out_rows included; where the two differ or pass
// out_rows, rows are missing. PLACING 3: the same for pages of page_rows rows that invocations take one after the other; rows are
// missing where more than out_rows are taken. From word 64 on a bitmap, all set before, in which rows that stay empty are cleared.
// Outputs: keys_out, words of KEY_BITS, or of 64 bits; left_out, right_out, left_out_2 and right_out_2, payload; each may be absent. There are no
// second columns where left_words_2 or right_words_2 is 0.
// Preconditions: no unit has more than table left rows; heads is a power of 2; a workgroup consists of whole subgroups; output rows
// are less than 2^31; mixed 1: keys are mixed with seed, and those of a unit agree in the low shift bits, at most 16; decided 1: KEY_BITS is
// 32, mixed 1, and heads << shift at least 2^16.
// Source: RT 3.2.2; GFTR 3.2 and 4.3. The table is RT's chunk of shared memory with chains instead of a scan.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "kernels/partition_join.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)

#include "join_walking.glsl"

shared uint sh_head[heads]; // by chain: 1 + its first left row, counted within the unit; 0: none
shared uint sh_node[table]; // by left row: 1 + the next of its chain, and in the high half bits of its key

uint bits_of(uint key) { return mixed == 1u ? key : mix_of(key, 0u); }
uvec2 bits_of(uvec2 key) { return mixed == 1u ? key : mix_of(key, 0u); }
uint chain_of(uint bits) { return bits >> shift & heads - 1u; }
uint chain_of(uvec2 bits) { return bits.x >> shift & heads - 1u; }
uint tag_of(uint bits) { return bits >> 16; }
uint tag_of(uvec2 bits) { return bits.y >> 16; }

COLUMN(KEY_BITS) unit_keys; // left keys of the unit

// Whether left row node - 1 has the key, and 1 + the next of its chain; 0: it is the last one.
bool matches_at(Key key, uint node, out uint next) {
    uint entry = sh_node[node - 1u];
    next = entry & 0xffffu;
    return entry >> 16 == tag_of(bits_of(key)) && (decided == 1u || unit_keys.at[node - 1u] == key);
}

// 1 + the first left row of a chain from node on that has the key; 0: none.
uint match_of(Key key, uint node) {
    for (uint next; node > 0u && !matches_at(key, node, next);) node = next;
    return node;
}

uint first_match(Key key) { return match_of(key, sh_head[chain_of(bits_of(key))]); }
uint next_match(Key key, uint at) { return match_of(key, sh_node[at - 1u] & 0xffffu); }
uint left_row(uint at) { return at - 1u; }

uint first_stop(Key key, inout uint cursor) { return sh_head[chain_of(bits_of(key))]; }

const uint build_in_flight = kept == 1u ? 8u : 1u; // left keys of an invocation whose loads overlap; CPU cores do that themselves

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    uint left_first = rows.x, left_count = rows.y - rows.x, right_first = rows.z, right_count = rows.w - rows.z;
    uint run = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    unit_keys = COLUMN_FROM(KEY_BITS)(left_keys, left_first);
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, right_first);

    Key key[items]; // of right rows; the first ones are under way while the table is built
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (kept == 1u && run + k * gl_SubgroupSize < right_count) key[k] = right.at[run + k * gl_SubgroupSize];
    }
    for (uint i = INVOCATION; i < heads; i += WORKGROUP_SIZE) sh_head[i] = 0u;
    barrier();
    for (uint i = INVOCATION; i < left_count; i += build_in_flight * WORKGROUP_SIZE) {
        Key own[build_in_flight];
        [[unroll]] for (uint k = 0u; k < build_in_flight; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) own[k] = unit_keys.at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < build_in_flight; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) {
                Key bits = bits_of(own[k]);
                sh_node[i + k * WORKGROUP_SIZE] = tag_of(bits) << 16 | atomicExchange(sh_head[chain_of(bits)], i + k * WORKGROUP_SIZE + 1u);
            }
        }
    }
    barrier();

    uint done = 0u;
    if (kept == 0u) done = walk_unit(unit, left_first, right_first, right_count);
    for (uint first = 0u; kept == 1u && first < right_count; first += batch_rows) {
        join_batch(unit, left_first, right_first + first, run, min(right_count - first, batch_rows), key, done);
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint row = first + batch_rows + run + k * gl_SubgroupSize;
            if (row < right_count) key[k] = right.at[row];
        }
        barrier();
    }
    if (placing == 0u && INVOCATION == 0u) column32_from(places, unit).at[0] = done;
    if (placing == 3u) leave_page();
}
