// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(push_constant) uniform Push {
    uvec2 values;
    uvec2 validity;
    uvec2 codes;
    uint rows;
    uint first_value;
    uint first_valid;
    uint first_code;
    uint least;
    uint least_2;
    uint null;
    uint null_2;
    uint span;
    uint span_2;
    uint shift;
    uint mark;
    uint merge;
    uint value_bits;
    uint meaning;
    uint first_group;
    uint end_group;
};
