package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.UnmixKeys, unmixCase, unmixBenchmark)
}

func unmixCase(m *maker) *Case {
	keyBits := m.config["key_bits"]
	keys, seed := m.column(m.rows, keyBits, 0), m.Uint32()
	mixed := make([]uint64, len(keys))
	for i, key := range keys {
		mixed[i] = kernel.Mix(key, seed)
		if keyBits == 32 {
			mixed[i] = uint64(kernel.Mix(uint32(key), seed))
		}
	}
	high, width := m.Uint32(), keyBits
	if keyBits == 32 && m.byShape("widened", 0, 1) == 1 {
		width = 64
		for i := range keys {
			keys[i] |= uint64(high) << 32
		}
	}
	return m.newCase(m.groups(), kernel.UnmixKeysArgsOf[argument]{
		Keys: inOf(keyBits, mixed), Unmixed: outOf(width, keys), Rows: uint32(m.rows), Seed: seed, High: high,
	})
}

func unmixBenchmark(m *maker) *Dispatch {
	keyBits := m.config["key_bits"]
	return m.dispatch(m.rows, kernel.UnmixKeysArgsOf[[]byte]{
		Keys: m.random(m.rows, keyBits), Unmixed: zeros(m.rows, keyBits), Rows: uint32(m.rows), Seed: 1,
	})
}
