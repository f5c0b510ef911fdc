// A candidate: a row of the other side and a row in a flattened stack with the same pixel of the hash image.
#extension GL_EXT_samplerless_texture_functions : require
#include "uint64.glsl"

layout(set = 0, binding = 0) uniform utexture2DArray flattened;

// The candidate number from + index: x the row of the other side, counted from first_row, and y its partner in the
// stack, with TAKEN; y is 0 if they do not match.
uvec2 candidate(uint index) {
    uint carry;
    uvec2 number = uvec2(uaddCarry(from_low, index, carry), 0u);
    number.y = from_high + carry;
    uint low = 0u, high = rows; // the last row whose first candidate is not after this one
    while (high - low > 1u) {
        uint middle = low + (high - low) / 2u;
        if (less(number, column64_from(candidates, middle).at[0])) high = middle; else low = middle;
    }
    WORD(KEY_BITS) key = COLUMN_FROM(KEY_BITS)(keys, first_row + low).at[0];
    uint slot = column32_from(begins, number_of(key)).at[0] + (number.x - column64_from(candidates, low).at[0].x);
    uvec4 texel = texelFetch(flattened, ivec3(pixel_at(slot, uint(textureSize(flattened, 0).x)), 0), 0);
    return uvec2(low, key_in(texel) == key ? held_in(texel) : 0u);
}
