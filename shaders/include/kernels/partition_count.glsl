// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint mixed = MIXED;
layout(constant_id = 3) const uint table = TABLE;
layout(constant_id = 4) const uint heads = HEADS;
layout(constant_id = 5) const uint unique = UNIQUE;
layout(constant_id = 6) const uint decided = DECIDED;
layout(constant_id = 7) const uint distinct = DISTINCT;
layout(push_constant) uniform Push {
    uvec2 units;
    uvec2 left_keys;
    uvec2 right_keys;
    uvec2 counts;
    uint shift;
    uint first_group;
    uint end_group;
};
