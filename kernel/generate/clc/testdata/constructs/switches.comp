// switch with cases that fall through, a default in the middle, in loops, with returns, on signed values.
uint plain_switch(uint a) {
    uint r = 1u;
    switch (a % 7u) {
    case 0u:
        r = 10u;
        break;
    case 1u:
        r += 3u; // falls through
    case 2u:
    case 3u:
        r *= 5u;
        break;
    case 4u: {
        uint t = a >> 3;
        if (t > 9u) break;
        r = t;
        break;
    }
    default:
        r = 99u;
    }
    return r;
}

uint middle(uint a) {
    uint r = 0u;
    switch (a & 3u) {
    case 0u:
        r = 1u;
        break;
    default:
        r = 2u; // falls through
    case 1u:
        r += 10u;
        break;
    case 3u:
        return 77u;
    }
    return r;
}

uint in_loop(uint a) {
    uint sum = 0u;
    for (uint i = 0u; i < 12u; ++i) {
        switch (a >> i & 3u) {
        case 0u:
            continue;
        case 1u:
            sum += i;
            break;
        case 2u:
            for (uint j = 0u; j < 3u; ++j) {
                if (j == 1u) continue;
                sum += j;
            }
            break;
        default:
            sum ^= 5u;
        }
        if (sum > 40u) break;
        sum += 100u;
    }
    return sum;
}

uint on_int(int a) {
    switch (a) {
    case -1: return 1u;
    case 0: return 2u;
    case 31: return 3u;
    }
    return 4u;
}

void main() {
    RESULT(0u) = plain_switch(VALUE(0u));
    RESULT(1u) = middle(VALUE(1u));
    RESULT(2u) = in_loop(VALUE(2u));
    RESULT(3u) = on_int(int(VALUE(3u)));
    RESULT(4u) = on_int(findMSB(VALUE(0u)));
}
