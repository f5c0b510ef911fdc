// The colour of a point as it is.
#version 460

layout(location = 0) flat in uint colour;
layout(location = 0) out uint pixel;

void main() { pixel = colour; }
