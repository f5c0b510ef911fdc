// Draws points whose colour is a value or their number.
// One invocation per point; pixels, uint32[points], and values, uint32[points], may be absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "draws/points.glsl"
#include "points.glsl"

layout(location = 0) flat out uint colour;

void main() {
    uint n = draw_point();
    colour = absent(values) ? n : column32_from(values, n).at[0];
}
