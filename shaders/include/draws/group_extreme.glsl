// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 ids;
    uvec2 value;
    uvec2 value_2;
    uvec2 valid;
    uvec2 state;
    uvec2 state_2;
    uint bits;
    uint shift;
    uint kind;
    uint valid_bit;
    uint first_row;
    uint first_row_high;
    uint rows;
    uint vertices;
    uint flip;
    uint word;
    uint target_width;
    uint target_height;
};
