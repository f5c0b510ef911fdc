package join

// KeepHashBits makes keys collide whose codes are hashes: it keeps so many bits of these.
func (e *Engine) KeepHashBits(bits int) { e.hashBits = &bits }
