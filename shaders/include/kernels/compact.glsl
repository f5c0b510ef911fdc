// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint inverted = INVERTED;
layout(constant_id = 3) const uint mixed = MIXED;
layout(push_constant) uniform Push {
    uvec2 bits;
    uvec2 offsets;
    uvec2 values;
    uvec2 kept;
    uint rows;
    uint tiles;
    uint seed;
    uint first_group;
    uint end_group;
};
