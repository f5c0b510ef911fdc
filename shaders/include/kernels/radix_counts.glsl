// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint mixed = MIXED;
layout(constant_id = 3) const uint counters = COUNTERS;
layout(constant_id = 4) const uint narrow = NARROW;
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 counts;
    uvec2 high;
    uvec2 offsets;
    uint rows;
    uint passes;
    uint shifts_0;
    uint shifts_1;
    uint bits_0;
    uint bits_1;
    uint seed;
    uint first_group;
    uint end_group;
};
