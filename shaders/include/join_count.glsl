// What becomes of a right row in kernels that count.
#if SHARED
#include "workgroup_total.glsl"
#else
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uvec2)
#endif

uint own_matches = 0u; // of this invocation's rows: tables are small enough for 32 bits

void looked_up(uint k, uint matches) { own_matches += matches; }
void batch_looked_up(uint row) {}

void put_count(uint unit) {
#if SHARED
    uvec2 all = workgroup_total(uvec2(own_matches, 0u));
#else
    uvec2 all;
    workgroup_sum(subgroup_sum(uvec2(own_matches, 0u)), all);
#endif
    if (INVOCATION == 0u) column64_from(counts, unit).at[0] = all;
}
