// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(push_constant) uniform Push {
    uvec2 offsets;
    uvec2 begins;
    uvec2 left_ids;
    uvec2 right_ids;
    uvec2 left_out;
    uvec2 right_out;
    uint left_rows;
    uint out_rows;
    uint base_lo;
    uint base_hi;
    uint first_group;
    uint end_group;
};
