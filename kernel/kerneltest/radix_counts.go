package kerneltest

import "github.com/spirjoin/spirjoin/kernel"

func init() {
	add(kernel.RadixCounts, radixCountsCase, radixCountsBenchmark)
}

func radixCountsCase(m *maker) *Case {
	keyBits := m.config["key_bits"]
	mix, seed := m.mix(keyBits)
	passes := 1 + m.Uint32N(min(keyBits/8, m.config["counters"]/256))
	keys := m.column(m.rows, keyBits, 0)
	before, after := make([]uint32, 256*passes), make([]uint32, 256*passes)
	for i := range before {
		before[i] = m.Uint32N(3)
		after[i] = before[i]
	}
	var shifts, widths [2]uint32
	for pass := range passes {
		bits := 1 + m.Uint32N(8)
		shift := m.Uint32N(keyBits)
		if shift < 32 && keyBits == 64 {
			shift = min(shift, 32-bits)
		}
		shifts[pass/4] |= shift << (pass % 4 * 8)
		widths[pass/4] |= bits << (pass % 4 * 8)
		for _, key := range keys {
			after[256*pass+uint32(mix(key)>>shift&(1<<bits-1))]++
		}
	}
	before, after = append(before, 0), append(after, m.groups())
	offsets := make([]uint64, 256*passes)
	for i := range offsets {
		if m.groups() == 0 {
			offsets[i] = untouched
		} else if i%256 > 0 {
			offsets[i] = offsets[i-1] + uint64(after[i-1])
		}
	}
	column, high := m.narrow(keys)
	return m.newCase(m.groups(), kernel.RadixCountsArgsOf[argument]{
		Keys: column, Counts: changed(before, after), High: high, Offsets: outOf(32, offsets),
		Rows: uint32(m.rows), Passes: passes,
		Shifts0: shifts[0], Shifts1: shifts[1], Bits0: widths[0], Bits1: widths[1], Seed: seed,
	})
}

func radixCountsBenchmark(m *maker) *Dispatch {
	return m.dispatch(m.rows, kernel.RadixCountsArgsOf[[]byte]{
		Keys: m.random(m.rows, m.config["key_bits"]), Counts: zeros(4*256+1, 32), Offsets: zeros(4*256, 32),
		Rows: uint32(m.rows), Passes: 4,
		Shifts0: 0x18100800, Bits0: 0x08080808,
	})
}
