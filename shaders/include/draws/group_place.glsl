// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 keys;
    uvec2 places;
    uvec2 map;
    uvec2 group_keys;
    uint rows;
    uint vertices;
    uint target_width;
    uint target_height;
};
