// Signed and unsigned arithmetic that wraps, shifts, bits, comparisons and conversions.
void main() {
    uint a = VALUE(0u), b = VALUE(1u), s = VALUE(2u) & 31u;
    int i = int(a), j = int(b);
    RESULT(0u) = uint(i + j * 3 - 7);
    RESULT(1u) = uint(i >> s) ^ a >> s ^ uint(i << s);
    RESULT(2u) = uint(i < j) + 2u * uint(i <= j) + 4u * uint(i > -5) + 8u * uint(i >= j) + 16u * uint(a < b) + 32u * uint(i == j);
    RESULT(3u) = uint(min(i, j)) + uint(max(i, 3)) * 3u;
    RESULT(4u) = min(a, b) ^ max(a, s);
    RESULT(5u) = uint(findMSB(a)) + uint(findLSB(b)) * 64u;
    RESULT(6u) = uint(bitCount(a ^ b));
    RESULT(7u) = uint(-i) ^ ~b;
    RESULT(8u) = a / (b | 1u) + a % (b | 1u) * 7u;
    RESULT(9u) = a << 1u + s % 3u | b >> 5 & 0xffu ^ 3u;
    int k = i;
    k += 5;
    k *= j;
    k -= i >> 2;
    RESULT(10u) = uint(k);
    RESULT(11u) = uint(-1 - i) + uint(int(a) + int(0x80000000u));
    uint n = 0u;
    for (int l = -3; l < 4; ++l) n = n * 5u + uint(l & 7);
    RESULT(12u) = n;
    RESULT(13u) = 4294967295u - (a & 65535u) + (a - (b - s));
    RESULT(14u) = a - b - s - (a - (b - 1u)) * 2u % 7u;
    RESULT(15u) = uint(bool(a & 1u)) + uint(int(b > 3u));
}
