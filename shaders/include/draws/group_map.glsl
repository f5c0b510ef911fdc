// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 rest;
    uvec2 map;
    uvec2 heads;
    uvec2 next;
    uvec2 next_rows;
    uint log2_width;
    uint log2_height;
    uint seed;
    uint rows;
    uint vertices;
    uint target_width;
    uint target_height;
};
