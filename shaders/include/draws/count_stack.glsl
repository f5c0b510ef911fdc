// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 ids;
    uvec2 stack_ids;
    uvec2 marks;
    uvec2 stack_marks;
    uvec2 counts;
    uint log2_width;
    uint log2_height;
    uint seed;
    uint first_row;
    uint images;
    uint target_width;
    uint target_height;
};
