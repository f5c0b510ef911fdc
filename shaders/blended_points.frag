// The colour of a point as it is.
#version 460

layout(location = 0) flat in float colour;
layout(location = 0) out float pixel;

void main() { pixel = colour; }
