// Puts a pair into its pixel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "colour_pair.glsl"
