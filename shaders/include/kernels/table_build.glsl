// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint patience = PATIENCE;
layout(constant_id = 3) const uint distinct = DISTINCT;
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 slots;
    uvec2 lost;
    uvec2 lost_rows;
    uvec2 repeats;
    uint rows;
    uint mask;
    uint seed;
    uint first_group;
    uint end_group;
};
