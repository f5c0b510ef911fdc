// Arithmetic that reads the same for 32-bit words and for 64-bit ones, which are uvec2: x low, y high.
uint widen(uint a, uint like) { return a; }
uvec2 widen(uint a, uvec2 like) { return uvec2(a, 0u); }
uvec2 widen(uvec2 a, uvec2 like) { return a; }

uint add(uint a, uint b) { return a + b; }
uvec2 add(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uint subtract(uint a, uint b) { return a - b; }
uvec2 subtract(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

bool less(uint a, uint b) { return a < b; }
bool less(uvec2 a, uvec2 b) { return a.y == b.y ? a.x < b.x : a.y < b.y; }
