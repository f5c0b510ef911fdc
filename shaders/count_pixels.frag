// Counts a row at the pixel of its key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "colour_one.glsl"
