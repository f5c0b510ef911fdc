// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint piece = PIECE;
layout(push_constant) uniform Push {
    uvec2 texts;
    uvec2 starts;
    uvec2 states;
    uvec2 hashes;
    uint rows;
    uint width;
    uint begin;
    uint coded;
    uint folded;
    uint kept;
    uint kept_2;
    uint first_group;
    uint end_group;
};
