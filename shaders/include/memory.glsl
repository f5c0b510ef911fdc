// Columns of 32- and 64-bit words in device memory, by address. A 64-bit word is a uvec2: x low, y high.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#define Word32 uint
#define Word64 uvec2

// 16 bytes of a column are loaded and stored at once through Column128.
// An index of at[] must stay below 2^31, because SPIR-V takes it as signed; column32_from and column64_from take any row.
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Column32 { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Column64 { uvec2 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Column128 { uvec4 at[]; };

uvec2 element_address(uvec2 base, uint row, uint log2_bytes) {
    uint carry;
    uint low = uaddCarry(base.x, row << log2_bytes, carry);
    return uvec2(low, base.y + (row >> (32u - log2_bytes)) + carry);
}

Column32 column32_from(uvec2 base, uint row) { return Column32(element_address(base, row, 2u)); }
Column64 column64_from(uvec2 base, uint row) { return Column64(element_address(base, row, 3u)); }

bool absent(uvec2 address) { return address == uvec2(0); }

// WORD(bits) and the like name the type or function for a width that an axis gives.
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define WORD(bits) PASTE(Word, bits)
#define COLUMN(bits) PASTE(Column, bits)
#define COLUMN_FROM(bits) PASTE(PASTE(column, bits), _from)
