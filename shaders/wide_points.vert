// Draws points into several targets.
// One invocation per point; pixels, uint32[points], and values, uint32[points], may be absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "draws/wide_points.glsl"
#include "points.glsl"

layout(location = 0) flat out uvec4 colour;

void main() {
    uint n = draw_point();
    colour = uvec4(n, absent(values) ? n : column32_from(values, n).at[0], gl_VertexIndex, gl_InstanceIndex);
}
