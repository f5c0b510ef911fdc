// A hash table of rows in device memory with open addressing: a slot holds 1 + a row, 0 if it is empty. The slots of a key begin at a
// mix of it; rows lie at most patience slots behind.
uint home_of(uint key) { return mix_of(key, seed) & mask; }
uint home_of(uvec2 key) { return mix_of(key, seed).x & mask; }
