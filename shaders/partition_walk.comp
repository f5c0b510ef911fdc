// partition_join for devices that run invocations on CPU cores: the same arguments, output and preconditions, with
// output rows as in join_walking.glsl. One workgroup per unit.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "memory.glsl"
#include "kernels/partition_walk.glsl"
#include "group.glsl"
#include "uint64.glsl"
#include "mix.glsl"

#define Key WORD(KEY_BITS)
#define BUILD_IN_FLIGHT 1u // CPU cores have loads overlap by themselves
#define SHARED 0

#include "join_walking.glsl"
#include "unit_table.glsl"

void main() {
    uint unit = GROUP;
    if (unit >= end_group) return;
    uvec4 rows = Column128(element_address(units, unit, 4u)).at[0];
    unit_keys = COLUMN_FROM(KEY_BITS)(left_keys, rows.x);
    build_table(rows.y - rows.x);
    barrier();
    walk_unit(unit, rows.x, rows.z, rows.w - rows.z);
#if PAGED
    leave_page();
#endif
}
