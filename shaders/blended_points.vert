// Draws points whose colour is a value or 1, for blending.
// One invocation per point; pixels, uint32[points], and values, float32[points], may be absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "draws/blended_points.glsl"
#include "points.glsl"

layout(location = 0) flat out float colour;

void main() {
    uint n = draw_point();
    colour = absent(values) ? 1.0 : uintBitsToFloat(column32_from(values, n).at[0]);
}
