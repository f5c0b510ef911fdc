// Which point a vertex is, for draws with the arguments of points.
#include "memory.glsl"
#include "mix.glsl"
#include "point.glsl"

// Puts the point of this vertex in its place and returns its number.
uint draw_point() {
    uint n = gl_InstanceIndex * instance_points + gl_VertexIndex;
    draw_at(absent(pixels) ? mix_of(n, 0u) % (target_width * target_height) : column32_from(pixels, n).at[0]);
    return n;
}
