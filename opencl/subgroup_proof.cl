// Writes what the operations of a subgroup prelude return, RESULTS words for each invocation and round. Between the
// rounds the invocations of a subgroup take different ways; in the second they must meet again.
#define RESULTS 20u

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void subgroup_proof(__global uint* out) {
    uint lane = subgroup_local_id(), mask = subgroup_size() - 1u;
    uint value = (uint)get_global_id(0) * 2654435769u;
    for (uint round = 0u; round < 2u; ++round) {
        bool set = (value >> 27u & 3u) == 1u;
        uint4 ballot = subgroup_ballot(set);
        __global uint* to = out + ((uint)get_global_id(0) * 2u + round) * RESULTS;
        to[0] = subgroup_size();
        to[1] = lane;
        to[2] = subgroup_id();
        to[3] = subgroup_count();
        to[4] = subgroup_elect();
        to[5] = subgroup_any(value == 0u);
        to[6] = subgroup_all(value != 0u);
        to[7] = ballot.x;
        to[8] = subgroup_ballot_bit_count(ballot);
        to[9] = subgroup_ballot_exclusive_bit_count(ballot);
        to[10] = any(ballot != 0u) ? subgroup_ballot_find_lsb(ballot) : 0u;
        to[11] = any(ballot != 0u) ? subgroup_ballot_find_msb(ballot) : 0u;
        to[12] = subgroup_lt_mask().x;
        to[13] = subgroup_shuffle(value, (lane * 5u + 3u) & mask);
        to[14] = subgroup_shuffle_xor(value, 2u);
        to[15] = subgroup_broadcast(value, 1u);
        to[16] = subgroup_add(value);
        to[17] = subgroup_exclusive_add(value);
        to[18] = subgroup_max(value);
        to[19] = subgroup_exclusive_max(value);
        for (uint turn = 0u; turn < lane % 7u; ++turn) value = value * 1664525u + 1013904223u;
        subgroup_barrier();
    }
}
