// Writes the pixel of a point.
layout(location = 0) flat in uvec4 texel;
layout(location = 0) out uvec4 pixel;

void main() { pixel = texel; }
