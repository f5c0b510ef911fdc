// Structures, arrays, arrays of structures, structures of arrays, constant arrays: made, copied, indexed, passed.
struct Pair { uint low, high; };
struct Box { Pair pair[3]; uint count; uvec2 wide; bool full; };

const uint primes[6] = {2u, 3u, 5u, 7u, 11u, 13u};

Pair swapped(Pair p) { return Pair(p.high, p.low); }
void fill(inout Box box, uint seed) {
    for (uint i = 0u; i < 3u; ++i) box.pair[i] = Pair(seed + i, seed * (i + 1u));
    box.count += 3u;
    box.full = box.count > 4u;
}
uint total(Box box) {
    uint sum = box.count;
    for (uint i = 0u; i < 3u; ++i) {
        Pair p = swapped(box.pair[i]);
        sum += p.low ^ p.high << 1;
    }
    return box.full ? sum : ~sum;
}
uint sum_of(uint a[4]) { return a[0] + 3u * a[1] + 5u * a[2] + 7u * a[3]; }
uint changes_own(uint a[4], uint at) {
    a[at & 3u] = 1000u;
    return sum_of(a);
}
void rotate(inout uint a[4]) {
    uint first = a[0];
    for (uint i = 0u; i < 3u; ++i) a[i] = a[i + 1u];
    a[3] = first;
}
void split(uint a, out uint parts[2]) {
    parts[0] = a & 0xffffu;
    parts[1] = a >> 16;
}

void main() {
    Box box;
    box.count = VALUE(0u) & 3u;
    box.wide = uvec2(VALUE(1u), VALUE(2u));
    fill(box, VALUE(0u));
    RESULT(0u) = total(box);
    Box other = box;
    other.pair[VALUE(3u) % 3u].high = 5u;
    other.wide.y = 9u;
    other.wide[VALUE(3u) & 1u] += 4u;
    RESULT(1u) = total(other) + other.wide.x + other.wide.y;
    RESULT(2u) = total(box) + box.wide.y;
    uint a[4];
    for (uint i = 0u; i < 4u; ++i) a[i] = VALUE(i);
    RESULT(3u) = changes_own(a, VALUE(0u)) - sum_of(a);
    rotate(a);
    RESULT(4u) = sum_of(a);
    uint b[4] = a;
    b[VALUE(1u) & 3u] ^= 1u;
    RESULT(5u) = sum_of(a) ^ sum_of(b);
    RESULT(6u) = primes[VALUE(2u) % 6u];
    uint parts[2];
    split(VALUE(3u), parts);
    RESULT(7u) = parts[0] * 3u + parts[1];
    uint grid[2][3];
    for (uint i = 0u; i < 6u; ++i) grid[i / 3u][i % 3u] = VALUE(i & 3u) + i;
    RESULT(8u) = grid[VALUE(0u) & 1u][VALUE(1u) % 3u];
    RESULT(9u) = uint(a == b);
    Pair made[2] = {Pair(1u, VALUE(0u)), swapped(Pair(VALUE(1u), 4u))};
    RESULT(10u) = made[VALUE(2u) & 1u].low + made[1].high;
}
