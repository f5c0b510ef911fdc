// 64-bit arithmetic in pairs of words.
uvec2 add(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
uvec2 subtract(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}
bool less(uvec2 a, uvec2 b) { return a.y == b.y ? a.x < b.x : a.y < b.y; }
uvec2 multiply(uvec2 a, uvec2 b) {
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    return uvec2(low, high + a.x * b.y + a.y * b.x);
}
uvec2 shift_left(uvec2 a, uint n) {
    if (n >= 32u) return uvec2(0u, a.x << (n - 32u & 31u));
    return n == 0u ? a : uvec2(a.x << n, a.y << n | a.x >> 32u - n);
}
void main() {
    uvec2 a = uvec2(VALUE(0u), VALUE(1u)), b = uvec2(VALUE(2u), VALUE(3u));
    uvec2 sum = add(a, b), rest = subtract(a, b), product = multiply(a, b), moved = shift_left(a, b.x & 63u);
    RESULT(0u) = sum.x;
    RESULT(1u) = sum.y;
    RESULT(2u) = rest.x;
    RESULT(3u) = rest.y;
    RESULT(4u) = product.x;
    RESULT(5u) = product.y;
    RESULT(6u) = moved.x;
    RESULT(7u) = moved.y;
    RESULT(8u) = uint(less(a, b)) + 2u * uint(less(b, a)) + 4u * uint(less(a, a));
}
