// What becomes of a right row in kernels that count.
#include "subgroup_sum.glsl"
DEFINE_WORKGROUP_SUM(uint)

uint own_matches = 0u; // of this invocation's rows

void looked_up(uint row, uint matches) { own_matches += matches; }

void put_count(uint unit) {
    uint all;
    workgroup_sum(subgroup_sum(own_matches), all);
    if (INVOCATION == 0u) column32_from(counts, unit).at[0] = all;
}
