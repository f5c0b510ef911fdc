// A hash table of rows in device memory with open addressing. The low bits of a hash, those of mask, say where the
// slots of a key begin; rows lie at most patience slots behind. A slot holds 1 + a row in the bits of mask and the hash
// in the others, so that hardly any key of another row is looked at; 0 if it is empty.
uint hash_of(uint key) { return mix_of(key, seed); }
uint hash_of(uvec2 key) { return mix_of(key, seed).x; }
