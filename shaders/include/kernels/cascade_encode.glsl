// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint scheme = SCHEME;
layout(push_constant) uniform Push {
    uvec2 values;
    uvec2 parts;
    uvec2 slots;
    uvec2 sizes;
    uint part_count;
    uint first_block;
    uint first_group;
    uint end_group;
};
