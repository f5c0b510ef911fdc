// Joins the units of a partitioned hash join: chains the left rows of a unit in a hash table in shared memory and looks the right
// rows up in it. Every pair of rows with equal keys is an output row: the key, a payload of each side, and the numbers of both.
// One workgroup per unit; it takes right rows workgroup*items at a time.
// Inputs: units, uint32[4 * units]: left from, left to, right from, right to; left_keys and right_keys, words of KEY_BITS;
// left_payload and right_payload, words of 32 * left_words and 32 * right_words bits, absent: the row numbers.
// In and out: places. PLACING 0: uint32[units], receives the output rows of each unit, and nothing else is written. PLACING 1:
// uint64[units], the output row of each unit's first; rows first to first + out_rows - 1 are written, from 0 on. PLACING 2:
// uint32[3], zero before: output rows reserved, and a 64-bit count of all, those that found no room among out_rows included; where
// the two differ or pass out_rows, rows are missing.
// Outputs: keys_out, words of KEY_BITS; left_out and right_out, payload; left_rows and right_rows, uint32; each may be absent.
// Preconditions: no unit has more than table left rows; heads is a power of 2; a workgroup consists of whole subgroups; out_rows
// is at most 2^31; mixed 1: keys are mixed with seed, and those of a unit agree in the low shift bits, at most 16.
// Source: RT 3.2.2; GFTR 3.2 and 4.3. The table is RT's chunk of shared memory with chains instead of a scan.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#include "memory.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)

#define Key WORD(KEY_BITS)

layout(constant_id = 2) const uint mixed = MIXED;
layout(constant_id = 3) const uint table = TABLE;
layout(constant_id = 4) const uint heads = HEADS;
layout(constant_id = 5) const uint placing = PLACING;
layout(constant_id = 6) const uint unique = UNIQUE; // 1: no two left rows have the same key
layout(constant_id = 7) const uint left_words = LEFT_WORDS;
layout(constant_id = 8) const uint right_words = RIGHT_WORDS;

layout(push_constant) uniform Push {
    uvec2 units, left_keys, right_keys, left_payload, right_payload, places;
    uvec2 keys_out, left_out, right_out, left_rows, right_rows;
    uint first_lo, first_hi, out_rows, shift, seed;
    GROUP_RANGE
};

layout(buffer_reference, std430, buffer_reference_align = 4) coherent volatile buffer Cursor { uint at[]; };

shared uint sh_head[heads];  // by chain: 1 + its first left row, counted within the unit; 0: none
shared uint sh_node[table];  // by left row: 1 + the next of its chain, and in the high half bits of its key
shared uint sh_start, sh_skip, sh_room; // of the output rows of a batch, see place

uint bits_of(uint key) { return mixed == 1u ? key : mix_of(key, 0u); }
uvec2 bits_of(uvec2 key) { return mixed == 1u ? key : mix_of(key, 0u); }
uint chain_of(uint bits) { return bits >> shift & heads - 1u; }
uint chain_of(uvec2 bits) { return bits.x >> shift & heads - 1u; }
uint tag_of(uint bits) { return bits >> 16; }
uint tag_of(uvec2 bits) { return bits.y >> 16; }

// 1 + the first left row of a chain from node on that has the key; 0: none.
uint match_of(Key key, uint tag, uint node, uint left_first) {
    bool decided = KEY_BITS == 32 && mixed == 1u && shift == 16u; // by the tag
    while (node > 0u) {
        uint entry = sh_node[node - 1u];
        if (entry >> 16 == tag && (decided || COLUMN_FROM(KEY_BITS)(left_keys, left_first + node - 1u).at[0] == key)) break;
        node = entry & 0xffffu;
    }
    return node;
}

uint next_match_of(Key key, uint match, uint left_first) {
    return match_of(key, tag_of(bits_of(key)), sh_node[match - 1u] & 0xffffu, left_first);
}

// Row row of a payload column of one or two words behind row first; the number of the row where the column is absent.
uvec2 payload_of(uvec2 column, uint words, uint first, uint row) {
    if (absent(column)) return uvec2(first + row, 0u);
    if (words == 2u) return column64_from(column, first).at[row];
    return uvec2(column32_from(column, first).at[row], 0u);
}

void put(uvec2 column, uint words, uint first, uint row, uvec2 value) {
    if (absent(column)) return;
    if (words == 2u) column64_from(column, first).at[row] = value;
    else column32_from(column, first).at[row] = value.x;
}

// Finds room for n output rows behind done others of the unit: the first sh_skip of them have none, the sh_room after them begin at
// output row sh_start, and the rest have none.
void place(uint unit, uint done, uint n) {
    sh_skip = 0u;
    if (placing == 1u) {
        uvec2 start = subtract(add(column64_from(places, unit).at[0], uvec2(done, 0u)), uvec2(first_lo, first_hi));
        sh_start = start.x;
        sh_room = start.y == 0u && start.x < out_rows ? out_rows - start.x : 0u;
        if (start.y >> 31 == 1u) { // before the first row that is wanted
            uvec2 before = subtract(uvec2(0u), start);
            sh_skip = before.y == 0u ? before.x : ~0u;
            sh_start = 0u;
            sh_room = out_rows;
        }
        return;
    }
    Cursor cursor = Cursor(places);
    uint counted = atomicAdd(cursor.at[1], n);
    if (counted + n < n) atomicAdd(cursor.at[2], 1u);
    sh_room = 0u;
    uint reserved = atomicAdd(cursor.at[0], 0u);
    if (n <= 0x10000u) {
        if (reserved > out_rows) return;
        // What is reserved passes out_rows only by what workgroups reserve at the same time: far less than 2^31.
        sh_start = atomicAdd(cursor.at[0], n);
        if (sh_start <= out_rows && n <= out_rows - sh_start) sh_room = n;
        return;
    }
    for (uint turn = 0u; turn < 0x1000u && n <= out_rows && reserved <= out_rows - n; ++turn) {
        sh_start = atomicCompSwap(cursor.at[0], reserved, reserved + n);
        if (sh_start == reserved) {
            sh_room = n;
            return;
        }
        reserved = sh_start;
    }
}

#define BUILD_IN_FLIGHT 8u // left keys of an invocation whose loads overlap
const uint batch_rows = WORKGROUP_SIZE * items;

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    uint left_first = rows.x, left_count = rows.y - rows.x, right_first = rows.z, right_count = rows.w - rows.z;
    uint run = gl_SubgroupID * gl_SubgroupSize * items + gl_SubgroupInvocationID;
    COLUMN(KEY_BITS) left = COLUMN_FROM(KEY_BITS)(left_keys, left_first), right = COLUMN_FROM(KEY_BITS)(right_keys, right_first);

    Key key[items]; // of right rows; the first ones are under way while the table is built
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        if (run + k * gl_SubgroupSize < right_count) key[k] = right.at[run + k * gl_SubgroupSize];
    }
    for (uint i = INVOCATION; i < heads; i += WORKGROUP_SIZE) sh_head[i] = 0u;
    barrier();
    for (uint i = INVOCATION; i < left_count; i += BUILD_IN_FLIGHT * WORKGROUP_SIZE) {
        Key own[BUILD_IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) own[k] = left.at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) {
                Key bits = bits_of(own[k]);
                sh_node[i + k * WORKGROUP_SIZE] = tag_of(bits) << 16 | atomicExchange(sh_head[chain_of(bits)], i + k * WORKGROUP_SIZE + 1u);
            }
        }
    }
    barrier();

    uint done = 0u;
    for (uint first = 0u; first < right_count; first += batch_rows) {
        uint count = min(right_count - first, batch_rows), own = 0u;
        // 1 + the left row, counted within the unit, of the first match, and in the high half the number of further ones.
        uint match[items];
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            match[k] = 0u;
            if (run + k * gl_SubgroupSize < count) {
                Key bits = bits_of(key[k]);
                match[k] = match_of(key[k], tag_of(bits), sh_head[chain_of(bits)], left_first);
                own += min(match[k], 1u);
                if (unique == 0u && match[k] > 0u) {
                    for (uint m = next_match_of(key[k], match[k], left_first); m > 0u; m = next_match_of(key[k], m, left_first)) {
                        match[k] += 0x10000u;
                        ++own;
                    }
                }
            }
        }
        uvec2 left_value[items], right_value[items];
        if (placing > 0u) {
            [[unroll]] for (uint k = 0u; k < items; ++k) {
                if (match[k] > 0u) {
                    left_value[k] = payload_of(left_payload, left_words, left_first, (match[k] & 0xffffu) - 1u);
                    right_value[k] = payload_of(right_payload, right_words, right_first + first, run + k * gl_SubgroupSize);
                }
            }
        }
        uint all, at = workgroup_sum(subgroup_sum(own), all);
        if (placing > 0u && all > 0u) {
            if (INVOCATION == 0u) place(unit, done, all);
            barrier();
            uint skip = sh_skip, room = sh_room, start = sh_start;
            [[unroll]] for (uint k = 0u; k < items; ++k) {
                uint m = match[k] & 0xffffu, more = match[k] >> 16, row = run + k * gl_SubgroupSize;
                while (subgroupAny(m > 0u)) {
                    uvec4 matched = subgroupBallot(m > 0u);
                    if (m > 0u) {
                        uint j = at + subgroupBallotExclusiveBitCount(matched), to = j - skip;
                        if (j >= skip && to < room) {
                            if (!absent(keys_out)) COLUMN_FROM(KEY_BITS)(keys_out, start).at[to] = mixed == 1u ? unmix_of(key[k], seed) : key[k];
                            put(left_out, left_words, start, to, left_value[k]);
                            put(right_out, right_words, start, to, right_value[k]);
                            put(left_rows, 1u, start, to, uvec2(left_first + m - 1u, 0u));
                            put(right_rows, 1u, start, to, uvec2(right_first + first + row, 0u));
                        }
                        m = more > 0u ? next_match_of(key[k], m, left_first) : 0u;
                        if (more > 0u) left_value[k] = payload_of(left_payload, left_words, left_first, m - 1u);
                        more -= min(more, 1u);
                    }
                    at += subgroupBallotBitCount(matched);
                }
            }
        }
        done += all;
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint row = first + batch_rows + run + k * gl_SubgroupSize;
            if (row < right_count) key[k] = right.at[row];
        }
        barrier();
    }
    if (placing == 0u && INVOCATION == 0u) column32_from(places, unit).at[0] = done;
}
