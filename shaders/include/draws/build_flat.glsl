// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 nexts;
    uint log2_width;
    uint log2_height;
    uint seed;
    uint target_width;
    uint target_height;
};
