// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(push_constant) uniform Push {
    uvec2 offsets;
    uvec2 left_starts;
    uvec2 right_starts;
    uvec2 units;
    uint count;
    uint partitions;
    uint left_rows;
    uint right_rows;
    uint stride;
    uint first_group;
    uint end_group;
};
