// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint piece = PIECE;
layout(push_constant) uniform Push {
    uvec2 left_texts;
    uvec2 left_starts;
    uvec2 left_ids;
    uvec2 right_texts;
    uvec2 right_starts;
    uvec2 right_ids;
    uvec2 keep;
    uint rows;
    uint left_width;
    uint left_first;
    uint right_width;
    uint right_first;
    uint begin;
    uint first_group;
    uint end_group;
};
