// ?:, && and || with and without side effects on their sides, nested.
uint calls;
bool called(bool a) {
    ++calls;
    return a;
}
uint counted(uint a) {
    calls += 16u;
    return a + calls;
}

void main() {
    uint a = VALUE(0u), b = VALUE(1u), c = VALUE(2u), d = VALUE(3u);
    calls = 0u;
    bool both = a < b && called(b < c), either = a < b || called(c < d);
    RESULT(0u) = uint(both) + 2u * uint(either) + 4u * calls;
    RESULT(1u) = a < b ? c < d ? 1u : b > d ? 2u : 3u : c == d ? 4u : 5u;
    RESULT(2u) = (a < b ? counted(c) : d) + calls;
    RESULT(3u) = a > 5u && (b > 5u || c > 5u && !(d > 5u)) ? 1u : 0u;
    RESULT(4u) = !(a == 0u && b == 0u) || !(c != 0u) ? a + 1u : b;
    uint e = a + (b > c ? b : c) * (d > 7u ? 2u : 3u);
    RESULT(5u) = e;
    if (called(a > b) && (called(b > c) || called(c > d))) e += 3u;
    else if (!called(d > a)) e ^= 9u;
    RESULT(6u) = e + calls * 1000u;
    uint n = 0u;
    while (n < 9u && called(n * 7u < (a & 63u))) ++n;
    RESULT(7u) = n + calls * 16u;
    for (uint i = 0u; i < 4u && (i < 2u || called(b > i)); i += a > 3u ? 1u : 2u) n += i;
    RESULT(8u) = n + calls * 16u;
    bool f = a > b, g = b > c;
    RESULT(9u) = uint(f == g) + 2u * uint(f != g) + 4u * uint(f ^^ g);
    uvec2 wide = a > b ? uvec2(a, b) : uvec2(c);
    RESULT(10u) = wide.x - wide.y;
    RESULT(11u) = counted(a) + counted(b) * calls;
    uint h = c;
    h = h + (h > d ? counted(h++) : --h);
    RESULT(12u) = h;
    RESULT(13u) = calls + (a < b ? counted(c) : d) * calls;
    RESULT(14u) = calls * 3u + uint(a < b && called(c < d)) + calls;
    if (called(a > b)) {}
    RESULT(15u) = calls;
}
