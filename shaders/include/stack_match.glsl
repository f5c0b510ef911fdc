// A row of the other side and the images of a stack.
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform utexture2DArray stack;

// The row that an image has at a pixel, if it has the key: with TAKEN, else 0. `ends` tells that the image has no row
// there, and so no image above has one.
uint partner_in(uint image, uvec2 pixel, WORD(KEY_BITS) key, out bool ends) {
    uvec4 texel = texelFetch(stack, ivec3(pixel, image), 0);
    uint held = held_in(texel);
    ends = held < TAKEN;
    return !ends && key_in(texel) == key ? held : 0u;
}
