package kernel_test

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

// mix returns what digits are cut from: draws whether it is the key or the mix of the key and a seed.
func (m *maker) mix(keyBits uint32) (mix func(key uint64) uint64, seed uint32) {
	seed = m.Uint32()
	mixed := m.setByShape("mixed", 0, 1) == 1
	return func(key uint64) uint64 {
		switch {
		case mixed && keyBits == 64:
			return kernel.Mix(key, seed)
		case mixed:
			return uint64(kernel.Mix(uint32(key), seed))
		}
		return key
	}, seed
}

// radix draws keys and a digit and returns them, the mixed keys if mixed they shall be, and the counts of each tile. A digit of a
// wide key lies in one of its words.
func (m *maker) radix() (keys, mixed []uint64, place []uint32, counts []uint32, digit func(mixed uint64) int) {
	keyBits := m.config["key_bits"]
	most := uint32(8)
	if m.config["serial"] == 1 {
		most = uint32(bits.Len32(m.setByShape("digits", 256, 1024)) - 1)
	}
	bits := 1 + m.Uint32N(most)
	if m.IntN(2) == 0 {
		bits = most
	}
	shift := m.Uint32N(keyBits)
	if shift < 32 && keyBits == 64 {
		shift = min(shift, 32-bits)
	}
	mix, seed := m.mix(keyBits)
	keys = m.column(m.rows, keyBits, 0)
	digit = func(mixed uint64) int { return int(mixed >> shift & (1<<bits - 1)) }
	tiles := m.tiles()
	counts = make([]uint32, tiles<<bits)
	mixed = make([]uint64, len(keys))
	for i, key := range keys {
		mixed[i] = mix(key)
		counts[digit(mixed[i])*int(tiles)+i/int(kernel.TileRows(kernel.Named(m.config)))]++
	}
	return keys, mixed, []uint32{shift, bits, seed}, counts, digit
}

func (m *maker) radixHistogram() *kernelCase {
	keys, _, place, counts, _ := m.radix()
	column, high := m.narrow(keys)
	return m.newCase(m.tileGroups(), append([]uint32{uint32(m.rows), m.tiles()}, place...), column, out(counts), high)
}

// narrow returns a column of keys: some of 32 bits are the low words of wide ones, of which few may have another high word than
// the others.
func (m *maker) narrow(keys []uint64) (column, high any) {
	keyBits := m.config["key_bits"]
	if keyBits == 64 || m.setByShape("narrow", 1, 0) == 0 {
		return inOf(keyBits, keys), nil
	}
	expected, differing, wide := m.Uint32(), uint32(0), slices.Clone(keys)
	for i := range wide {
		word := expected
		if m.distribution == "random" && m.IntN(100) == 0 {
			word = m.Uint32()
		}
		differing |= word ^ expected
		wide[i] |= uint64(word) << 32
	}
	return wide, changed{out([]uint32{expected, 0}), out([]uint32{expected, differing})}
}

func (m *maker) radixCounts() *kernelCase {
	keyBits := m.config["key_bits"]
	mix, seed := m.mix(keyBits)
	passes := 1 + m.Uint32N(min(keyBits/8, m.config["counters"]/256))
	keys := m.column(m.rows, keyBits, 0)
	before, after := make([]uint32, 256*passes), make([]uint32, 256*passes)
	for i := range before {
		before[i] = m.Uint32N(3)
		after[i] = before[i]
	}
	params := []uint32{uint32(m.rows), passes, 0, 0, 0, 0, seed}
	for pass := range passes {
		bits := 1 + m.Uint32N(8)
		shift := m.Uint32N(keyBits)
		if shift < 32 && keyBits == 64 {
			shift = min(shift, 32-bits)
		}
		params[2+pass/4] |= shift << (pass % 4 * 8)
		params[4+pass/4] |= bits << (pass % 4 * 8)
		for _, key := range keys {
			after[256*pass+uint32(mix(key)>>shift&(1<<bits-1))]++
		}
	}
	column, high := m.narrow(keys)
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), params, column, changed{out(before), out(after)}, high)
}

func (m *maker) unmix() *kernelCase {
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
	if keyBits == 32 && m.setByShape("widened", 0, 1) == 1 {
		width = 64
		for i := range keys {
			keys[i] |= uint64(high) << 32
		}
	}
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), seed, high}, inOf(keyBits, mixed), outOf(width, keys))
}

func (m *maker) partitionStarts() *kernelCase {
	keyBits := m.config["key_bits"]
	width := max(1, uint32(bits.Len32(uint32(m.rows))))
	shift := m.Uint32N(keyBits)
	shift -= min(shift, max(0, shift%32+width-min(shift%32+width, 32)))
	digit := func(key uint64) uint32 { return uint32(key >> shift & (1<<width - 1)) }
	keys := m.column(m.IntN(5*m.rows+2), keyBits, 0)
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(digit(a), digit(b)) })
	starts := make([]uint32, m.rows)
	for _, key := range keys {
		if d := int(digit(key)) + 1; d < len(starts) {
			starts[d]++
		}
	}
	for d := 1; d < len(starts); d++ {
		starts[d] += starts[d-1]
	}
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), uint32(len(keys)), shift, width}, inOf(keyBits, keys), out(starts))
}

func (m *maker) radixStarts() *kernelCase {
	tiles, end := 1+m.IntN(5), m.Uint32()
	offsets, starts := narrow(m.column(m.rows*tiles, 32, 0)), make([]uint32, m.rows+1)
	for i := range m.rows {
		starts[i] = offsets[i*tiles]
	}
	starts[m.rows] = end
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)+1), []uint32{uint32(m.rows), uint32(tiles), end}, offsets, out(starts))
}

func (m *maker) radixScatter() *kernelCase {
	keys, mixed, place, counts, digit := m.radix()
	keyBits, payloadBits, lookback := m.config["key_bits"], m.config["payload_bits"], m.config["lookback"] == 1
	tiles, tileRows := int(m.tiles()), int(kernel.TileRows(kernel.Named(m.config)))
	columns := 1
	if payloadBits > 0 {
		columns = int(m.setByShape("columns", 1, 3))
	}
	m.setByShape("far", 0, 1)
	// Places of different workgroups need not be the plain scan of the counts.
	gaps, together := m.IntN(3) == 0, int(kernel.TilesPerGroup(kernel.Named(m.config))) // tiles that a workgroup moves
	begins, sum := make([]uint32, len(counts)), uint32(0)
	for i, n := range counts {
		if gaps && (i%tiles == 0 || !lookback && i%tiles%together == 0) {
			sum += m.Uint32N(3)
		}
		begins[i] = sum
		sum += n
	}
	next := slices.Clone(begins)
	numbered := columns == 1 && payloadBits == 32 && m.IntN(3) == 0
	firstRow := m.Uint32()
	const untouched = marker * (1<<64 - 1) / 255
	keysOut := slices.Repeat([]uint64{untouched}, int(sum))
	var payload, payloadOut [kernel.MaxColumns][]uint64
	for c := range columns {
		payload[c], payloadOut[c] = m.column(m.rows, max(32, payloadBits), 0), slices.Clone(keysOut)
	}
	first := 0 // tile that runs; of those before it, the chain says more or less
	if lookback && m.IntN(2) == 0 {
		first = m.IntN(tiles)
	}
	for i, key := range mixed {
		to := &next[digit(key)*tiles+i/tileRows]
		if i/tileRows < first {
			*to++
			continue
		}
		keysOut[*to] = key
		for c := range columns {
			payloadOut[c][*to] = payload[c][i]
			if numbered {
				payloadOut[c][*to] = uint64(firstRow + uint32(i))
			}
		}
		*to++
	}
	offsets := begins
	var chain, nextOffsets any
	if lookback {
		m.setByShape("patience", 100, 0)
		// The shader looks at all 256 digits; those that cannot occur have no rows.
		offsets = make([]uint32, 256)
		ahead := int(m.setByShape("ahead", 4, 1))
		words, after := make([]uint32, 256*(ahead+tiles)), make([]uint32, 256)
		known := slices.Clone(words)
		for d := range 256 {
			if d*tiles < len(begins) {
				offsets[d] = begins[d*tiles]
			}
			rows := uint32(0)
			for t := range tiles {
				own := uint32(0)
				if d*tiles < len(counts) {
					own = counts[d*tiles+t]
				}
				rows += own
				word := 256*(ahead+t) + d
				words[word] = 2<<30 | rows
				if t < first {
					known[word] = [...]uint32{0, 1<<30 | own, 2<<30 | rows}[m.IntN(3)]
					words[word] = known[word]
				}
			}
			after[d] = offsets[d] + rows
		}
		chain = changed{out(known), out(words)}
		if m.IntN(2) == 0 {
			nextOffsets = out(after)
		}
	}
	column, _ := m.narrow(keys)
	args := []any{column}
	var outs []any
	for c := range kernel.MaxColumns {
		var from, to any
		if c < columns && payloadBits > 0 {
			to = outOf(payloadBits, payloadOut[c])
			if !numbered {
				from = inOf(payloadBits, payload[c])
			}
		}
		args, outs = append(args, from), append(outs, to)
	}
	args = append(append(append(args, offsets, chain, outOf(keyBits, keysOut)), outs...), nextOffsets)
	c := m.newCase(m.tileGroups(), append([]uint32{uint32(m.rows), uint32(tiles), firstRow}, place...), args...)
	c.firstGroup = uint32(first)
	return c
}

func (m *maker) histogram() *kernelCase {
	keyBits := m.config["key_bits"]
	bits, shift := 1+m.Uint32N(kernel.MaxHistogramBits), m.Uint32N(keyBits)
	keys := m.column(m.rows, keyBits, 0)
	before := m.column(1<<bits, 64, 1<<20)
	after := slices.Clone(before)
	for _, key := range keys {
		after[key>>shift&(1<<bits-1)]++
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), shift, bits}, inOf(keyBits, keys), changed{out(before), out(after)})
}
