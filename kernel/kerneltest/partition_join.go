package kerneltest

import (
	"math/rand/v2"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.PartitionJoin, partitionJoinCase, partitionJoinBenchmark)
	add(kernel.PartitionWalk, partitionJoinCase, partitionJoinBenchmark)
}

func partitionJoinCase(m *maker) *Case {
	if m.config["marked"] == 1 {
		m.set("placing", kernel.Reserving)
	} else {
		m.drawDear("placing", kernel.AtOffsets, kernel.Reserving)
	}
	words := m.payloadWords()
	j, shift := m.partitionedUnits(m.byShape("seed", 0x12345678, 0xfedcba98))
	j.words = words
	joined := m.join(j)
	c := m.newCase(j.groups, kernel.PartitionJoinArgsOf[argument]{
		Units: in(j.units), JoinColumns: joined.columns, JoinRows: joined.rows, Shift: shift, High: joinHigh,
	})
	c.canonical = joined.canonical
	return c
}

// partitionedUnits draws units that take their rows anywhere in the columns, whose keys are mixed with a seed.
func (m *maker) partitionedUnits(seed uint32) (_ join, shift uint32) {
	keyBits := m.config["key_bits"]
	mixed, unique := m.byShape("mixed", 1, 0) == 1, false
	if _, may := m.config["unique"]; may {
		unique = m.byShape("unique", 0, 1) == 1
	}
	m.byShape("table", 700, 9)
	m.byShape("heads", 256, 8)
	if mixed {
		shift = []uint32{16, 8, 5, 0}[m.IntN(4)]
		if keyBits == 32 && m.config["heads"]<<shift >= 1<<16 {
			m.drawDear("decided", 1, 0)
		}
	}
	stored := func(key uint64) uint64 { // in the columns, of what keys_out gets
		switch {
		case mixed && keyBits == 64:
			return kernel.Mix(key, seed)
		case mixed:
			return uint64(kernel.Mix(uint32(key), seed))
		}
		return key
	}
	unmixed := func(key uint64) uint64 {
		switch {
		case mixed && keyBits == 64:
			return kernel.Unmix(key, seed)
		case mixed:
			return uint64(kernel.Unmix(uint32(key), seed))
		}
		return key
	}
	// Units of about rows right rows in all, whose keys agree in shift bits.
	var units []uint32
	var keys [2][]uint64
	var counts []uint64
	var offsets []uint64
	var rows []joined
	for right := 0; right < m.rows || len(units) == 0; {
		sizes := [2]int{m.IntN(int(m.config["table"]) + 1), m.IntN(m.rows + 2)}
		if m.distribution == "equal" || m.distribution == "extreme" || m.distribution == "few" {
			sizes[0] = min(sizes[0], 12)
		}
		right += sizes[1] + 1
		drawn := m.column(sizes[0]+sizes[1], keyBits, uint64(2*sizes[0]+1))
		if m.IntN(3) == 0 {
			drawn = m.column(sizes[0]+sizes[1], keyBits, 0)
			for i := range sizes[1] {
				if sizes[0] > 0 && m.IntN(2) == 0 {
					drawn[sizes[0]+i] = drawn[m.IntN(sizes[0])]
				}
			}
		}
		low, high := m.Uint64(), m.Uint64()
		alike := m.IntN(2) == 0 // in the highest 16 bits too
		for i, key := range drawn {
			key = stored(key)<<shift | low&(1<<shift-1)
			if alike && shift < 16 {
				key = key&(1<<(keyBits-16)-1) | high<<(keyBits-16)
			}
			drawn[i] = unmixed(key & (^uint64(0) >> (64 - keyBits)))
		}
		left := drawn[:sizes[0]:sizes[0]]
		if unique {
			slices.Sort(left)
			left = slices.Compact(left)
			m.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		for side, column := range [2][]uint64{left, drawn[sizes[0]:]} {
			keys[side] = append(keys[side], m.column(m.IntN(3), keyBits, 0)...) // rows of no unit
			units = append(units, uint32(len(keys[side])), uint32(len(keys[side])+len(column)))
			keys[side] = append(keys[side], column...)
		}
		at := len(units) - 4
		offsets = append(offsets, uint64(len(rows)))
		before := len(rows)
		numbers := make(map[uint64][]uint32)
		for l := units[at]; l < units[at+1]; l++ {
			numbers[keys[0][l]] = append(numbers[keys[0][l]], l)
		}
		for r := units[at+2]; r < units[at+3]; r++ {
			for _, l := range numbers[keys[1][r]] {
				rows = append(rows, joined{keys[1][r], l, r})
			}
		}
		counts = append(counts, uint64(len(rows)-before))
	}
	for side := range keys {
		for i, key := range keys[side] {
			keys[side][i] = stored(key)
		}
	}
	return join{
		units: units, groups: uint32(len(counts)), left: keys[0], right: keys[1], rows: rows, ordered: unique,
		counts: counts, offsets: offsets,
	}, shift
}

// LongChain is a case of [kernel.PartitionWalk] in which all left rows of a unit are in one chain, which the
// invocations of a subgroup walk through for each of their rows: the most trips that loops of an invocation take, in
// the shape that software drivers get.
func LongChain(subgroupSize uint32) (*Case, error) {
	const workgroup, tableRows, batches = 128, 1280, 3
	const batchRows = kernel.WalkedRows * workgroup
	spec := kernel.PartitionWalk.KernelSpec
	config, err := kernel.Defaults(spec, backend.Config{
		"key_bits": 64, "workgroup": workgroup, "items": kernel.WalkedRows, "table": tableRows, "heads": 2048,
		"mixed":   1,
		"placing": kernel.AtOffsets, "paged": 0,
	})
	if err != nil {
		return nil, err
	}
	left, right := slices.Repeat([]uint64{7}, tableRows), make([]uint64, batches*batchRows)
	unmixed := uint64(kernel.Unmix(uint64(7), 0))
	var rows []joined
	for i := range right {
		if i%batchRows < kernel.WalkedRows*int(subgroupSize) { // rows of the first subgroup in every batch
			right[i] = 7
			for l := range left {
				rows = append(rows, joined{unmixed, uint32(l), uint32(i)})
			}
		}
	}
	m := &maker{rand.New(rand.NewPCG(1, 1)), spec, config, len(right), "random", Drawn}
	joined := m.join(join{
		groups: 1, left: left, right: right, rows: rows, counts: []uint64{uint64(len(rows))},
		offsets: []uint64{0}, words: [4]uint32{1, 1, 0, 0},
	})
	c := m.newCase(1, kernel.PartitionJoinArgsOf[argument]{
		Units: in([]uint32{0, tableRows, 0, uint32(len(right))}), JoinColumns: joined.columns,
		JoinRows: joined.rows,
	})
	c.canonical = joined.canonical
	return c, nil
}

// HotBatches is a case of [kernel.PartitionJoin] in which each of several batches of a unit makes more than 2^16 output
// rows, which take the room that there is in another way than fewer rows do.
func HotBatches(subgroupSize, shared uint32) (*Case, error) {
	const batches, tableRows = 3, 700
	workgroup := max(64, subgroupSize)
	spec := kernel.PartitionJoin.KernelSpec
	config, err := kernel.Defaults(spec, backend.Config{
		"key_bits": 32, "workgroup": workgroup, "items": 4, "table": tableRows, "heads": 256, "mixed": 1,
		"placing": kernel.Reserving, "paged": 0, "marked": 0, "shared": shared,
	})
	if err != nil {
		return nil, err
	}
	left, right := slices.Repeat([]uint64{7}, tableRows), slices.Repeat([]uint64{7}, batches*int(4*workgroup))
	var rows []joined
	for i := range right {
		for l := range left {
			rows = append(rows, joined{uint64(kernel.Unmix(uint32(7), 0)), uint32(l), uint32(i)})
		}
	}
	m := &maker{rand.New(rand.NewPCG(1, 1)), spec, config, len(right), "random", Drawn}
	joined := m.join(join{
		groups: 1, left: left, right: right, rows: rows, counts: []uint64{uint64(len(rows))},
		offsets: []uint64{0}, words: [4]uint32{1, 1, 0, 0},
	})
	c := m.newCase(1, kernel.PartitionJoinArgsOf[argument]{
		Units: in([]uint32{0, tableRows, 0, uint32(len(right))}), JoinColumns: joined.columns,
		JoinRows: joined.rows, High: joinHigh,
	})
	c.canonical = joined.canonical
	return c, nil
}

// partitionJoinBenchmark joins partitions that fill a table.
func partitionJoinBenchmark(m *maker) *Dispatch {
	units, unitRows, columns, rows := m.joinOfPairs(int(m.config["table"]), spread)
	if m.config["marked"] == 1 {
		m.set("placing", kernel.Reserving)
		m.set("sides", bothSides)
		wordsEach := uint64(rows.OutRows+31) / 32 // enough for either side
		columns.Places = words(kernel.BitmapWord+2*int(wordsEach), 32, func(i int) uint64 {
			return map[int]uint64{kernel.MarksWord: kernel.BitmapWord,
				kernel.MarksWord + 1: kernel.BitmapWord + wordsEach}[i]
		})
	}
	return m.dispatch(units*m.tileRows(), kernel.PartitionJoinArgsOf[[]byte]{
		Units: unitRows, JoinColumns: columns, JoinRows: rows,
	})
}
