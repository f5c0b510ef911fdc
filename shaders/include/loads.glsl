// Loads of 16 bytes, each of PER_LOAD values of IN_BITS.
#define Value WORD(IN_BITS)
#define PER_LOAD (128u / IN_BITS)
#define IN_FLIGHT 8u // loads of an invocation that overlap

struct Values { Value at[PER_LOAD]; };

Values load_values(uvec2 address, uint load) {
    uvec4 words = Column128(address).at[load];
#if IN_BITS == 64
    return Values(Value[](words.xy, words.zw));
#else
    return Values(Value[](words.x, words.y, words.z, words.w));
#endif
}

Values no_values() {
#if IN_BITS == 64
    return Values(Value[](Value(0), Value(0)));
#else
    return Values(Value[](0u, 0u, 0u, 0u));
#endif
}
