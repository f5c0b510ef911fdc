// in, out and inout, of which a call copies in and out in an order that shows where they are the same variable.
uint both(inout uint a, inout uint b) {
    a += 1u;
    b *= 3u;
    return a ^ b;
}
uint in_and_out(uint a, out uint b) {
    b = a + 1u;
    return a * b;
}
uint twice(inout uint a) {
    a = a * 2u + 1u;
    return a;
}
uint own_copy(uint a) {
    a ^= a >> 3;
    a += 5u;
    return a;
}
void maybe(bool set, inout uvec2 a) {
    if (set) a.y = 17u;
    else a.x -= 1u;
}
uint kept_total; // a global variable of the invocation
uint note(uint a) {
    kept_total += a;
    return kept_total;
}
void through(inout uint a) { twice(a); kept_total ^= a; }

void main() {
    uint x = VALUE(0u), y = VALUE(1u), z;
    kept_total = 1u;
    RESULT(0u) = both(x, y) + x + y;
    RESULT(1u) = both(x, x); // the second copy out wins
    RESULT(2u) = x;
    RESULT(3u) = in_and_out(x, x) + x;
    x = twice(x);
    RESULT(4u) = x + own_copy(x) + x;
    z = twice(y) + y * twice(y);
    RESULT(5u) = z ^ y;
    uint a[3];
    a[0] = x; a[1] = y; a[2] = z;
    uint at = VALUE(2u) % 3u;
    RESULT(6u) = twice(a[at]) + a[0] + 3u * a[1] + 5u * a[2];
    uvec2 v = uvec2(x, y);
    maybe(VALUE(3u) > 7u, v);
    RESULT(7u) = v.x ^ v.y << 4;
    twice(v.x);
    RESULT(8u) = v.x;
    RESULT(9u) = note(x) * 2u + note(y) - kept_total;
    through(y);
    RESULT(10u) = y + kept_total;
    uint i = 0u;
    a[i++] = i;
    a[i] = twice(i) + i;
    RESULT(11u) = a[0] + a[1] * 3u + i * 7u;
    uint p = 3u, q = p++ * 2u + --p;
    RESULT(12u) = p * 16u + q;
}
