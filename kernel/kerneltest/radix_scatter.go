package kerneltest

import (
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.RadixScatter, radixScatterCase, radixScatterBenchmark)
}

func radixScatterCase(m *maker) *Case {
	keys, mixed, d, counts, digit := m.radix()
	keyBits, payloadBits, lookback := m.config["key_bits"], m.config["payload_bits"], m.config["lookback"] == 1
	tiles, tileRows := int(m.tiles()), m.tileRows()
	columns := 1
	if payloadBits > 0 {
		columns = int(m.byShape("columns", 1, 3))
	}
	m.byShape("far", 0, 1)
	m.drawDear("early", 0, 1)
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
	var chain, nextOffsets argument
	if lookback {
		m.byShape("patience", 100, 0)
		// The shader looks at all 256 digits; those that cannot occur have no rows.
		offsets = make([]uint32, 256)
		ahead := int(m.byShape("ahead", 4, 1))
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
		chain = changed(known, words)
		if m.IntN(2) == 0 {
			nextOffsets = out(after)
		}
	}
	column, _ := m.narrow(keys)
	args := kernel.RadixScatterArgsOf[argument]{
		KeysIn: column, Offsets: in(offsets), Chain: chain, KeysOut: outOf(keyBits, keysOut),
		NextOffsets: nextOffsets, Rows: uint32(m.rows), Tiles: uint32(tiles), FirstRow: firstRow,
		Shift: d.shift, Bits: d.bits, Seed: d.seed,
	}
	for c := range columns {
		if payloadBits > 0 {
			args.PayloadOut[c] = outOf(payloadBits, payloadOut[c])
			if !numbered {
				args.PayloadIn[c] = inOf(payloadBits, payload[c])
			}
		}
	}
	c := m.newCase(m.tileGroups(), args)
	c.FirstGroup = uint32(first)
	return c
}

func radixScatterBenchmark(m *maker) *Dispatch {
	count, keyBits, tiles := m.digitCounts(), m.config["key_bits"], int(m.tiles())
	NewDispatch(kernel.RadixHistogram.KernelSpec, m.config, m.rows, count).RunReference()
	offsets, sum := backend.Words(count.Counts), uint32(0)
	for i, n := range offsets {
		offsets[i] = sum
		sum += n
	}
	args := kernel.RadixScatterArgsOf[[]byte]{
		KeysIn: count.Keys, Offsets: count.Counts, KeysOut: zeros(m.rows, keyBits), Rows: count.Rows,
		Tiles: count.Tiles, Shift: count.Shift, Bits: count.Bits,
	}
	if m.config["lookback"] == 1 {
		args.Offsets = words(256, 32, func(digit int) uint64 { return uint64(offsets[digit*tiles]) })
		args.Chain = zeros(int(kernel.ChainWords(count.Tiles)), 32)
	}
	args.PayloadIn[0], args.PayloadOut[0] = m.payload(m.config["payload_bits"])
	return m.dispatch(m.rows, args)
}
