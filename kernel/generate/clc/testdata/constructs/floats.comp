// Floats, and their order as integers.
uint order(uint bits) { return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u; }
void main() {
    float a = float(VALUE(0u) & 4095u) - 2048.0, b = float(VALUE(1u) & 1023u) * 0.25, c = float(int(VALUE(2u)) >> 20);
    RESULT(0u) = floatBitsToUint(a * b + c);
    RESULT(1u) = order(floatBitsToUint(a));
    RESULT(2u) = uint(a < b) + 2u * uint(a <= c) + 4u * uint(a > c) + 8u * uint(a >= b) + 16u * uint(a == c) + 32u * uint(a != b);
    RESULT(3u) = uint(order(floatBitsToUint(a)) < order(floatBitsToUint(c)));
    RESULT(4u) = uint(b) + uint(int(a)) * 3u;
    RESULT(5u) = floatBitsToUint(min(a, c) - max(b, 1.5));
    RESULT(6u) = floatBitsToUint(-a);
    float made = uintBitsToFloat((VALUE(3u) & 0x7fffffu) | 0x3f800000u);
    RESULT(7u) = floatBitsToUint(made * 2.0 - 1.0);
    RESULT(8u) = floatBitsToUint(a > b ? a : b);
    RESULT(9u) = floatBitsToUint(float(VALUE(3u)));
    vec2 v = vec2(a, b) + c;
    RESULT(10u) = floatBitsToUint(v.x * v.y);
}
