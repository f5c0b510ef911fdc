// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint slots = SLOTS;
layout(constant_id = 3) const uint patience = PATIENCE;
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 units;
    uvec2 ids;
    uvec2 places;
    uvec2 keys_out;
    uvec2 found;
    uint rows;
    uint digit;
    uint room;
    uint seed;
    uint first_group;
    uint end_group;
};
