// The left rows of a unit of a partitioned hash join, chained in a hash table in shared memory by bits of their keys.
// A kernel with this file has the constants mixed, table, heads and decided and the push constant shift, and defines
// BUILD_IN_FLIGHT: left keys of an invocation whose loads overlap.
shared uint sh_head[heads]; // by chain: 1 + its first left row, counted within the unit; 0: none
shared uint sh_node[table]; // by left row: 1 + the next of its chain, and in the high half bits of its key

uint bits_of(uint key) { return mixed == 1u ? key : mix_of(key, 0u); }
uvec2 bits_of(uvec2 key) { return mixed == 1u ? key : mix_of(key, 0u); }
uint chain_of(uint bits) { return bits >> shift & heads - 1u; }
uint chain_of(uvec2 bits) { return bits.x >> shift & heads - 1u; }
uint tag_of(uint bits) { return bits >> 16; }
uint tag_of(uvec2 bits) { return bits.y >> 16; }

COLUMN(KEY_BITS) unit_keys; // left keys of the unit

// Chains left_count left rows. All invocations call it; a barrier lies between it and lookups.
void build_table(uint left_count) {
    for (uint i = INVOCATION; i < heads; i += WORKGROUP_SIZE) sh_head[i] = 0u;
    barrier();
    for (uint i = INVOCATION; i < left_count; i += BUILD_IN_FLIGHT * WORKGROUP_SIZE) {
        Key own[BUILD_IN_FLIGHT];
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) own[k] = unit_keys.at[i + k * WORKGROUP_SIZE];
        }
        [[unroll]] for (uint k = 0u; k < BUILD_IN_FLIGHT; ++k) {
            if (i + k * WORKGROUP_SIZE < left_count) {
                uint row = i + k * WORKGROUP_SIZE;
                Key bits = bits_of(own[k]);
                sh_node[row] = tag_of(bits) << 16 | atomicExchange(sh_head[chain_of(bits)], row + 1u);
            }
        }
    }
}

// A chain is walked through by first_stop and matches_at.
uint first_stop(Key key, inout uint cursor) { return sh_head[chain_of(bits_of(key))]; }

// Whether left row stop - 1 has the key, and 1 + the next of its chain; 0: it is the last one.
bool matches_at(Key key, uint stop, out uint next) {
    uint entry = sh_node[stop - 1u];
    next = entry & 0xffffu;
    return entry >> 16 == tag_of(bits_of(key)) && (decided == 1u || unit_keys.at[stop - 1u] == key);
}

uint left_row(uint stop) { return stop - 1u; }

// The first stop from stop on that has the key; 0: none.
uint match_from(Key key, uint stop) {
    uint next;
    for (; stop > 0u && !matches_at(key, stop, next); stop = next) {}
    return stop;
}

uint stop_after(uint stop) { return sh_node[stop - 1u] & 0xffffu; }
