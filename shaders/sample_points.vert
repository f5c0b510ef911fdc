// Fetches texels, stores them and counts them; draws nothing.
// One invocation per point; the layer is the instance. pixels, uint32[points], samples, uint32[points], and counts,
// uint32[buckets], may be absent.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "draws/sample_points.glsl"
#include "memory.glsl"
#include "mix.glsl"
#include "point.glsl"

#if FLOAT
layout(set = 0, binding = 0) uniform texture2DArray image;
#else
layout(set = 0, binding = 0) uniform utexture2DArray image;
#endif

void main() {
    draw_at(0u);
    uint n = gl_InstanceIndex * instance_points + gl_VertexIndex;
    uvec2 size = uvec2(textureSize(image, 0).xy);
    uint pixel = absent(pixels) ? mix_of(n, 0u) % (size.x * size.y) : column32_from(pixels, n).at[0];
    uint texel = uint(texelFetch(image, ivec3(pixel % size.x, pixel / size.x, gl_InstanceIndex), 0).x);
    if (!absent(samples)) column32_from(samples, n).at[0] = texel;
    if (!absent(counts)) atomicAdd(Column32(counts).at[texel % buckets], 1u);
}
