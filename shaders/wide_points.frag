// The number of a point, its colour, and 1 for each point.
#version 460

layout(location = 0) flat in uvec4 colour;
layout(location = 0) out uint number;
layout(location = 1) out uvec4 wide;
layout(location = 2) out float count;

void main() {
    number = colour.x;
    wide = colour;
    count = 1.0;
}
