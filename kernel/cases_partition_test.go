package kernel_test

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// unitsOf cuts partitions of random sizes into units and returns where partitions begin on both sides, the counts of units,
// and their rows.
func (m *maker) unitsOf(partitions int, leftRows, rightRows, mostLeft uint32) (starts [2][]uint32, counts []uint32, oversized uint32, units []uint32) {
	for side := range starts {
		starts[side] = make([]uint32, partitions+1)
		for p := range partitions {
			size := uint32(0)
			switch m.IntN(4) {
			case 1:
				size = m.Uint32N(2 * [2]uint32{leftRows, rightRows}[side])
			case 2:
				size = [2]uint32{leftRows, rightRows}[side] * m.Uint32N(3)
			case 3:
				size = m.Uint32N(mostLeft + 3)
			}
			starts[side][p+1] = starts[side][p] + size
		}
	}
	counts = make([]uint32, partitions)
	for p := range partitions {
		if starts[0][p+1]-starts[0][p] > mostLeft {
			if starts[1][p+1] > starts[1][p] {
				oversized++
			}
			continue
		}
		for left := starts[0][p]; left < starts[0][p+1]; left += leftRows {
			for right := starts[1][p]; right < starts[1][p+1]; right += rightRows {
				counts[p]++
				units = append(units, left, min(left+leftRows, starts[0][p+1]), right, min(right+rightRows, starts[1][p+1]))
			}
		}
	}
	return starts, counts, oversized, units
}

func (m *maker) partitionUnits() *kernelCase {
	leftRows, rightRows := 1+m.Uint32N(50), 1+m.Uint32N(80)
	mostLeft := leftRows * m.Uint32N(4)
	starts, counts, oversized, _ := m.unitsOf(m.rows, leftRows, rightRows, mostLeft)
	before := m.Uint32N(5)
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), leftRows, rightRows, mostLeft},
		starts[0], starts[1], out(counts), changed{out([]uint32{before}), out([]uint32{before + oversized})})
}

func (m *maker) partitionPieces() *kernelCase {
	leftRows, rightRows := 1+m.Uint32N(50), 1+m.Uint32N(80)
	starts, counts, _, units := m.unitsOf(m.rows/3+1, leftRows, rightRows, 100)
	units = units[:4*min(m.rows, len(units)/4)]
	offsets := make([]uint32, len(counts)+1)
	for p, n := range counts {
		offsets[p+1] = offsets[p] + n
	}
	stride := 1 + m.Uint32N(2)
	for side := range starts {
		if stride == 2 {
			bounds := make([]uint32, 0, 2*len(counts))
			for p := range counts {
				bounds = append(bounds, starts[side][p], starts[side][p+1])
			}
			starts[side] = bounds
		}
	}
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(len(units)/4)), []uint32{uint32(len(units) / 4), uint32(len(counts)), leftRows, rightRows, stride},
		offsets, starts[0], starts[1], out(units))
}

// joinedUnits are the units of a join and what comes of it.
type joinedUnits struct {
	units   []uint32
	keys    [2][]uint64
	rows    []joined // unit by unit
	counts  []uint32 // of rows, by unit
	offsets []uint64
	ordered bool   // rows of a unit are in the order of its right rows
	shift   uint32 // of a partitioned join
}

func (m *maker) partitionJoin() *kernelCase {
	m.set("placing", kernel.AtOffsets, kernel.Reserving)
	words := m.payloadWords()
	u := m.partitionedUnits(m.setByShape("seed", 0x12345678, 0xfedcba98))
	c := m.joinCase(u, words)
	c.call.Params = append(c.call.Params, u.shift, joinHigh)
	return c
}

func (m *maker) partitionCount() *kernelCase {
	u := m.partitionedUnits(m.Uint32())
	return m.unitCounts(u, u.shift)
}

func (m *maker) partitionMark() *kernelCase {
	u := m.partitionedUnits(m.Uint32())
	return m.unitMarks(u, u.shift)
}

// unitCounts and unitMarks make cases of kernels that make no output rows.
func (m *maker) unitCounts(u joinedUnits, params ...uint32) *kernelCase {
	keyBits := m.config["key_bits"]
	return m.newCase(uint32(len(u.counts)), params, u.units, inOf(keyBits, u.keys[0]), inOf(keyBits, u.keys[1]), out(u.counts))
}

func (m *maker) unitMarks(u joinedUnits, params ...uint32) *kernelCase {
	keyBits := m.config["key_bits"]
	return m.newCase(uint32(len(u.counts)), params, u.units, inOf(keyBits, u.keys[0]), inOf(keyBits, u.keys[1]), m.marks(len(u.keys[1]), u.rows))
}

// marks is a bitmap of right rows, with some bits set before, to which those with a match come.
func (m *maker) marks(rightRows int, rows []joined) changed {
	before := make([]uint32, (rightRows+31)/32)
	for i := range before {
		before[i] = m.Uint32() & m.Uint32() & m.Uint32() * m.Uint32N(2)
	}
	after := slices.Clone(before)
	for _, row := range rows {
		after[row.right/32] |= 1 << (row.right % 32)
	}
	return changed{out(before), out(after)}
}

// partitionedUnits are units that take their rows anywhere in the columns, whose keys are mixed with a seed.
func (m *maker) partitionedUnits(seed uint32) (u joinedUnits) {
	keyBits := m.config["key_bits"]
	mixed := m.setByShape("mixed", 1, 0) == 1
	if _, may := m.config["unique"]; may {
		u.ordered = m.setByShape("unique", 0, 1) == 1
	}
	m.setByShape("table", 700, 9)
	m.setByShape("heads", 256, 8)
	shift := uint32(0)
	if mixed {
		shift = []uint32{16, 8, 5, 0}[m.IntN(4)]
		if keyBits == 32 && m.config["heads"]<<shift >= 1<<16 {
			m.set("decided", 1, 0)
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
	var counts []uint32
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
		if u.ordered {
			slices.Sort(left)
			left = slices.Compact(left)
			m.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		for side, column := range [2][]uint64{left, drawn[sizes[0]:]} {
			keys[side] = append(keys[side], m.column(m.IntN(3), keyBits, 0)...) // rows of nobody
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
		counts = append(counts, uint32(len(rows)-before))
	}
	for side := range keys {
		for i, key := range keys[side] {
			keys[side][i] = stored(key)
		}
	}
	u.units, u.keys, u.rows, u.counts, u.offsets, u.shift = units, keys, rows, counts, offsets, shift
	return u
}

// joined is an output row of a join.
type joined struct {
	key         uint64
	left, right uint32
}

// payloadWords sets how wide payload columns are: left, right, and the second ones.
func (m *maker) payloadWords() [4]uint32 {
	return [4]uint32{m.setByShape("left_words", 1, 2), m.setByShape("right_words", 2, 1), m.setByShape("left_words_2", 2, 0), m.setByShape("right_words_2", 0, 1)}
}

const joinHigh = 0xfeedbeef // of widened keys

// joinCase makes a case of what all kernels that join share: payload, places, outputs, and the first two parameters.
func (m *maker) joinCase(u joinedUnits, words [4]uint32) *kernelCase {
	keyBits := m.config["key_bits"]
	return m.outputCase(uint32(len(u.counts)), []any{u.units, inOf(keyBits, u.keys[0]), inOf(keyBits, u.keys[1])},
		[2]int{len(u.keys[0]), len(u.keys[1])}, u.rows, u.ordered, u.offsets, words)
}

// outputCase does so for groups that make rows in their order, from offsets on, which the kernel must keep if ordered.
func (m *maker) outputCase(groups uint32, inputs []any, sizes [2]int, rows []joined, ordered bool, offsets []uint64, words [4]uint32) *kernelCase {
	keyBits, reserving, paged := m.config["key_bits"], m.config["placing"] == kernel.Reserving, m.config["paged"] == 1
	keysBits, high := keyBits, uint64(0)
	if _, may := m.config["widened"]; may && keyBits == 32 && m.setByShape("widened", 0, 1) == 1 {
		keysBits, high = 64, joinHigh
	}
	total, first := len(rows), m.IntN(3)
	room := total + m.IntN(3)
	if paged {
		room += int(groups * m.config["workgroup"] * (m.setByShape("page_rows", 3, 1) - 1))
	}
	short := (paged || reserving) && m.distribution == "extreme" && total > 1
	if short {
		room = m.IntN(total)
	}
	const untouched = marker * (1<<64 - 1) / 255
	outs := [5][]uint64{} // keys, and payload: left, right, left, right
	for i := range outs {
		outs[i] = slices.Repeat([]uint64{untouched}, first+room)
	}
	args := inputs
	var payload [4][]uint64
	for i := range payload {
		size := sizes[i%2]
		payload[i] = m.column(size, 64, 0)
		column := inOf(32*max(1, words[i]), payload[i])
		if m.IntN(3) == 0 {
			column = nil
			for row := range payload[i] {
				payload[i][row] = uint64(row)
			}
		}
		args = append(args, column)
	}
	for i, r := range rows {
		if !short {
			outs[0][first+i] = r.key | high<<32
			for p, number := range [4]uint32{r.left, r.right, r.left, r.right} {
				if words[p] > 0 {
					outs[1+p][first+i] = payload[p][number]
				}
			}
		}
	}
	var places any
	switch {
	case paged:
		all := append(make([]uint32, kernel.BitmapWord), slices.Repeat([]uint32{^uint32(0)}, (first+room+31)/32)...)
		after := slices.Clone(all)
		after[0], after[1] = uint32(total), uint32(total)
		places = changed{out(all), out(after)}
	case reserving:
		places = changed{out(make([]uint32, 3)), out([]uint32{uint32(total), uint32(total), 0})}
	default:
		places = changed{out(offsets), out(offsets)}
	}
	args = append(args, places)
	widths := [5]int{int(keysBits / 8)}
	for i := range outs {
		if i > 0 {
			widths[i] = int(4 * max(1, words[i-1]))
		}
		var column any
		if m.IntN(5) > 0 {
			column = outOf(uint32(8*widths[i]), outs[i])
		}
		args = append(args, column)
	}
	c := m.newCase(groups, []uint32{uint32(first), uint32(room)}, args...)
	if !ordered || reserving {
		c.canonical = func(args [][]byte) { sortRows(args[8:], widths[:], first+room) }
	}
	if paged { // rows are packed, as if no page had stayed empty in part
		c.canonical = func(args [][]byte) {
			places := backend.Words(args[7])
			taken, bitmap, rows := int(places[0]), places[kernel.BitmapWord:], 0
			if taken%int(m.config["page_rows"]) > 0 && taken != total || taken > room {
				return
			}
			for row := range taken {
				if at := first + row; bitmap[at/32]>>(at%32)&1 == 0 {
					bitmap[at/32] |= 1 << (at % 32)
					continue
				}
				for i, width := range widths {
					if column := args[8+i]; column != nil && rows < row {
						copy(column[(first+rows)*width:][:width], column[(first+row)*width:][:width])
						copy(column[(first+row)*width:][:width], slices.Repeat([]byte{marker}, width))
					}
				}
				rows++
			}
			places[0] = uint32(rows)
			sortRows(args[8:], widths[:], first+room)
		}
	}
	if short { // which rows find room is open
		c.canonical = func(args [][]byte) {
			clear(args[7][:4])
			if paged {
				clear(backend.Words(args[7])[kernel.BitmapWord:])
			}
			for i, width := range widths {
				if args[8+i] != nil {
					clear(args[8+i][first*width:][:room*width])
				}
			}
		}
	}
	return c
}

// tableOf puts rows into a hash table in random order, as the kernel does; lost are those that find no slot.
func (m *maker) tableOf(hashes []uint32, slots int, patience uint32) (table []uint32, lost uint32) {
	table = make([]uint32, slots)
next:
	for _, row := range m.Perm(len(hashes)) {
		for tries := range patience {
			if slot := &table[(hashes[row]+tries)%uint32(slots)]; *slot == 0 {
				*slot = hashes[row]/uint32(slots)*uint32(slots) + uint32(row) + 1
				continue next
			}
		}
		lost++
	}
	return table, lost
}

// hashesOf are the hashes of keys in a table.
func hashesOf(keys []uint64, keyBits, seed uint32) []uint32 {
	hashes := make([]uint32, len(keys))
	for i, key := range keys {
		hashes[i] = uint32(kernel.Mix(key, seed))
		if keyBits == 32 {
			hashes[i] = kernel.Mix(uint32(key), seed)
		}
	}
	return hashes
}

func (m *maker) tableBuild() *kernelCase {
	keyBits, patience, seed := m.config["key_bits"], m.setByShape("patience", 8192, 1), m.Uint32()
	keys, slots := m.column(m.rows, keyBits, 0), 2<<bits.Len(uint(m.rows))
	hashes := hashesOf(keys, keyBits, seed)
	table, lost := m.tableOf(hashes, slots, patience)
	before := m.Uint32N(3)
	c := m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(m.rows), uint32(slots - 1), seed}, inOf(keyBits, keys),
		changed{out(make([]uint32, slots)), out(table)}, changed{out([]uint32{before}), out([]uint32{before + lost})})
	// Which row is in which of the slots that it may have is open: a table in order counts as empty.
	c.canonical = func(args [][]byte) {
		table, seen := backend.Words(args[1])[:slots], make([]bool, m.rows)
		for slot, entry := range table {
			if entry == 0 {
				continue
			}
			row := int(entry)%slots - 1
			if row < 0 || row >= m.rows || seen[row] || entry/uint32(slots) != hashes[row]/uint32(slots) {
				return
			}
			seen[row] = true
			distance := (uint32(slot) - hashes[row]) % uint32(slots)
			for d := range distance {
				if table[(hashes[row]+d)%uint32(slots)] == 0 {
					return
				}
			}
			if distance >= patience {
				return
			}
		}
		clear(table)
	}
	return c
}

func (m *maker) tableProbe() *kernelCase {
	seed := m.setByShape("seed", 0x12345678, 0xfedcba98)
	unique := m.setByShape("unique", 0, 1) == 1
	m.set("placing", kernel.AtOffsets, kernel.Reserving)
	words := m.payloadWords()
	t := m.probedTable(seed, unique)
	c := m.outputCase(m.tileGroups(), t.inputs, t.sizes, t.rows, false, t.offsets, words)
	c.call.Params = append(c.call.Params, t.params...)
	return c
}

func (m *maker) tableCount() *kernelCase {
	seed := m.setByShape("seed", 0x12345678, 0xfedcba98)
	t := m.probedTable(seed, m.setByShape("unique", 0, 1) == 1)
	return m.newCase(m.tileGroups(), t.params, append(t.inputs, out(t.counts))...)
}

func (m *maker) tableMark() *kernelCase {
	t := m.probedTable(m.setByShape("seed", 0x12345678, 0xfedcba98), m.IntN(2) == 0)
	return m.newCase(m.tileGroups(), t.params, append(t.inputs, m.marks(m.rows, t.rows))...)
}

// probedTable is a hash table, right rows, and what comes of a join.
type probedTable struct {
	inputs  []any
	params  []uint32
	sizes   [2]int
	rows    []joined // tile by tile
	counts  []uint32 // of rows, by tile
	offsets []uint64
}

func (m *maker) probedTable(seed uint32, unique bool) (t probedTable) {
	keyBits := m.config["key_bits"]
	patience := m.setByShape("patience", 8192, 3000)
	size := m.IntN(m.rows + 2)
	if m.distribution == "equal" || m.distribution == "extreme" || m.distribution == "few" {
		size = min(size, 12)
	}
	bound := uint64(2*size + 1)
	if m.IntN(2) == 0 {
		bound = 0
	}
	left, right := m.column(size, keyBits, bound), m.column(m.rows, keyBits, bound)
	if unique {
		slices.Sort(left)
		left = slices.Compact(left)
		m.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	}
	for i := range right {
		if len(left) > 0 && m.IntN(2) == 0 {
			right[i] = left[m.IntN(len(left))]
		}
	}
	slots := 2 << bits.Len(uint(len(left)))
	table, _ := m.tableOf(hashesOf(left, keyBits, seed), slots, patience)
	numbers := make(map[uint64][]uint32)
	for l, key := range left {
		numbers[key] = append(numbers[key], uint32(l))
	}
	tileRows := int(kernel.TileRows(kernel.Named(m.config)))
	t.counts, t.offsets = make([]uint32, m.tiles()), make([]uint64, m.tiles())
	for tile := range t.counts {
		t.offsets[tile] = uint64(len(t.rows))
		for r := tile * tileRows; r < min((tile+1)*tileRows, m.rows); r++ {
			for _, l := range numbers[right[r]] {
				t.rows = append(t.rows, joined{right[r], l, uint32(r)})
				t.counts[tile]++
			}
		}
	}
	t.inputs, t.sizes = []any{table, inOf(keyBits, left), inOf(keyBits, right)}, [2]int{len(left), len(right)}
	t.params = []uint32{uint32(m.rows), uint32(slots - 1)}
	return t
}

// sortRows sorts rows, whose columns have values of widths bytes; some columns may be absent.
func sortRows(columns [][]byte, widths []int, rows int) {
	joined := make([][]byte, rows)
	for i, column := range columns {
		for r := range joined {
			if column != nil {
				joined[r] = append(joined[r], column[r*widths[i]:(r+1)*widths[i]]...)
			}
		}
	}
	slices.SortFunc(joined, bytes.Compare)
	for r, row := range joined {
		for i, column := range columns {
			if column != nil {
				copy(column[r*widths[i]:], row[:widths[i]])
				row = row[widths[i]:]
			}
		}
	}
}
