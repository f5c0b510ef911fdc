// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(push_constant) uniform Push {
    uvec2 source;
    uvec2 destination;
    uint rows;
    uint source_first;
    uint source_stride;
    uint destination_first;
    uint destination_stride;
    uint first_group;
    uint end_group;
};
