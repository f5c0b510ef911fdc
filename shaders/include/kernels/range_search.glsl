// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint batch = BATCH;
layout(constant_id = 3) const uint stage = STAGE;
layout(push_constant) uniform Push {
    uvec2 left_keys;
    uvec2 right_keys;
    uvec2 begins;
    uvec2 counts;
    uvec2 tile_totals;
    uint left_rows;
    uint right_rows;
    uint tiles;
    uint first_group;
    uint end_group;
};
