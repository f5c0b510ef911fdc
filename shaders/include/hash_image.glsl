// Hash images, whose pixels are the slots of a hash table (GARUDA 3.1); include it after the declarations of a draw.
#include "mix.glsl"
#include "point.glsl"

// Pixels of a hash image have the row (31 bits) with a flag in the highest bit, and the key: RGBA16UI for keys of 32
// bits (GARUDA 5, "image storage efficiency"), RGBA32UI for keys of 64 bits.
const uint TAKEN = 1u << 31;

#if KEY_BITS == 32
uvec4 texel_of(uint key, uint row) {
    uint held = row | TAKEN;
    return uvec4(key & 0xffffu, key >> 16, held & 0xffffu, held >> 16);
}
uint held_in(uvec4 texel) { return texel.z | texel.w << 16; }
uint key_in(uvec4 texel) { return texel.x | texel.y << 16; }
#else
uvec4 texel_of(uvec2 key, uint row) { return uvec4(row | TAKEN, key, 0u); }
uint held_in(uvec4 texel) { return texel.x; }
uvec2 key_in(uvec4 texel) { return texel.yz; }
#endif

// The pixel of a key in a hash image of 2^log2_width times 2^log2_height: two hashes that do not depend on one another.
uvec2 pixel_of(WORD(KEY_BITS) key) {
    WORD(KEY_BITS) mixed = mix_of(key, seed);
#if KEY_BITS == 32
    uint x = mixed, y = mixed << log2_width;
#else
    uint x = mixed.x, y = mixed.y;
#endif
    return uvec2(log2_width == 0u ? 0u : x >> 32u - log2_width, log2_height == 0u ? 0u : y >> 32u - log2_height);
}

// The pixel with a number, row by row, in an image whose width is a power of 2.
uvec2 pixel_at(uint number, uint image_width) {
    return uvec2(number & image_width - 1u, number >> findMSB(image_width));
}

// Where the pixel of a key is among all, row by row.
uint number_of(WORD(KEY_BITS) key) {
    uvec2 pixel = pixel_of(key);
    return pixel.y << log2_width | pixel.x;
}
