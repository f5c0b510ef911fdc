// Generated from the catalogue of package kernel by go generate; do not edit.
layout(push_constant) uniform Push {
    uvec2 pixels;
    uvec2 values;
    uint instance_points;
    uint target_width;
    uint target_height;
};
