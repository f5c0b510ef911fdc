// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(push_constant) uniform Push {
    uvec2 ids;
    uvec2 units;
    uvec2 offsets;
    uvec2 value;
    uvec2 value_2;
    uvec2 value_3;
    uvec2 valid;
    uvec2 state;
    uvec2 state_2;
    uvec2 state_3;
    uint count;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_row;
    uint first_row_high;
    uint flip;
    uint first_group;
    uint end_group;
};
