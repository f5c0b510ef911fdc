// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint patience = PATIENCE;
layout(constant_id = 3) const uint unique = UNIQUE;
layout(constant_id = 4) const uint distinct = DISTINCT;
layout(constant_id = 5) const uint seed = SEED;
layout(push_constant) uniform Push {
    uvec2 slots;
    uvec2 left_keys;
    uvec2 right_keys;
    uvec2 repeats;
    uvec2 counts;
    uint rows;
    uint mask;
    uint first_group;
    uint end_group;
};
