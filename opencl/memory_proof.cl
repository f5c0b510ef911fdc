// Adds one to each word, where the memory of the host should see it.
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void memory_proof(__global uint* words) {
    words[get_group_id(0) * WORKGROUP + get_local_id(0)] += 1u;
}
