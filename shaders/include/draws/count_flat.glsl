// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 begins;
    uvec2 candidates;
    uvec2 ids;
    uvec2 stack_ids;
    uvec2 marks;
    uvec2 stack_marks;
    uvec2 found;
    uint log2_width;
    uint log2_height;
    uint seed;
    uint first_row;
    uint rows;
    uint from_low;
    uint from_high;
    uint target_width;
    uint target_height;
};
