package join

// KeepHashBits truncates hashed key codes to this many bits, so that keys collide. For tests.
func (e *Engine) KeepHashBits(bits int) { e.hashBits = &bits }

// KeepHashBits is that of [Engine].
func (h *HMG) KeepHashBits(bits int) { h.hashBits = &bits }
