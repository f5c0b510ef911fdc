// Loops with continue and break, nested, with the test first, last and in the middle; early returns; chains of if.
uint collatz(uint n) {
    uint steps = 0u;
    while (n > 1u) {
        if (steps > 40u) return 1000u;
        n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u;
        ++steps;
    }
    return steps;
}

uint nested(uint a, uint b) {
    uint sum = 0u;
    for (uint i = 0u; i < 7u; ++i) {
        if (i == (a & 3u)) continue;
        for (uint j = i; ; j += 2u) {
            if (j > 9u) break;
            if ((j ^ b) % 3u == 1u) continue;
            for (uint k = 0u, m = 5u; k < m; ++k, --m) {
                if (k == (b & 7u)) break;
                sum += i * 100u + j * 10u + k;
            }
        }
        if (sum > 5000u) break;
    }
    return sum;
}

uint last_test(uint a) {
    uint n = 0u, x = a;
    do {
        ++n;
        if ((x & 1u) != 0u) {
            x >>= 1;
            continue;
        }
        x ^= 0x55u;
        if (n == 9u) break;
    } while (x > 3u && n < 20u);
    return n * 256u + (x & 255u);
}

uint kind(uint a) {
    if (a < 10u) {
        if (a == 3u) return 33u;
    } else if (a < 100u) {
        return 2u;
    } else if (a == 0x80000000u) {
        return 4u;
    } else {
        uint b = a & 15u;
        if (b > 7u) return b;
    }
    return 5u;
}

uint kept(uint a) { // a variable that lives from one round to the next
    uint previous, changes = 0u;
    for (uint i = 0u; i < 16u; ++i) {
        uint bit = a >> i & 1u;
        if (i > 0u && bit != previous) ++changes;
        previous = bit;
    }
    return changes;
}

uint endless(uint a) {
    uint n = 0u;
    for (;;) {
        if (n * n > (a & 0xffffu)) return n;
        ++n;
    }
}

void main() {
    RESULT(0u) = collatz(VALUE(0u) & 63u);
    RESULT(1u) = nested(VALUE(0u), VALUE(1u));
    RESULT(2u) = last_test(VALUE(1u));
    RESULT(3u) = kind(VALUE(2u));
    RESULT(4u) = kept(VALUE(3u));
    RESULT(5u) = endless(VALUE(0u));
    if (VALUE(0u) > VALUE(1u)) return;
    RESULT(6u) = 7u;
}
