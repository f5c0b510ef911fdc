// Counts a partner at the pixel of a row, with BY_IMAGE.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "colour_one.glsl"
