// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint table = TABLE;
layout(constant_id = 3) const uint counted = COUNTED;
layout(constant_id = 4) const uint carried = CARRIED;
layout(push_constant) uniform Push {
    uvec2 codes;
    uvec2 units;
    uvec2 places;
    uvec2 value;
    uvec2 value_2;
    uvec2 valid;
    uvec2 counts;
    uvec2 state;
    uvec2 state_2;
    uvec2 marks;
    uint rows;
    uint slots;
    uint ranges;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_group;
    uint end_group;
};
