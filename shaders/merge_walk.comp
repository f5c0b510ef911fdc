// merge_join for devices that run invocations on CPU cores: the same arguments, output and preconditions, with output
// rows as in join_walking.glsl. One workgroup per unit.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/merge_walk.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 1u // CPU cores have loads overlap by themselves
#define PAGED 0
#define SHARED 0

const uint mixed = 0u, seed = 0u, unique = 0u, widened = 0u, high = 0u;

#include "join_walking.glsl"
#include "sorted_left.glsl"

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    left_count = rows.y - rows.x;
    load_left(rows.x);
    barrier();
    walk_unit(unit, rows.x, rows.z, rows.w - rows.z);
}
