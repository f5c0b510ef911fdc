package kernel_test

import (
	"cmp"
	"slices"

	"github.com/spirjoin/spirjoin/kernel"
)

// serials are distinct payload values, so that the order of equal keys shows.
func (m *maker) serials(n int) []uint64 {
	values := make([]uint64, n)
	first := m.Uint64()
	for i := range values {
		values[i] = first + uint64(i)*0x9e3779b97f4a7c15
	}
	return values
}

// payloadArgs are the arguments of a payload of given width: nothing where it is 0.
func payloadArgs(bits uint32, in, outOrder []uint64) (inArg, outArg any) {
	if bits == 0 {
		return nil, nil
	}
	return inOf(bits, in), outOf(bits, outOrder)
}

func (m *maker) blockSort() *kernelCase {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], int(kernel.TileRows(kernel.Named(m.config)))
	keys, payload := m.column(m.rows, keyBits, 0), m.serials(m.rows)
	numbered := m.IntN(3) == 0
	order := make([]int, m.rows)
	for i := range order {
		order[i] = i
		if numbered {
			payload[i] = uint64(i)
		}
	}
	for first := 0; first < m.rows; first += tile {
		slices.SortStableFunc(order[first:min(first+tile, m.rows)], func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	}
	sortedKeys, sortedPayload := make([]uint64, m.rows), make([]uint64, m.rows)
	for i, from := range order {
		sortedKeys[i], sortedPayload[i] = keys[from], payload[from]
	}
	payloadIn, payloadOut := payloadArgs(payloadBits, payload, sortedPayload)
	if numbered {
		payloadIn = nil
	}
	return m.newCase(m.tileGroups(), []uint32{uint32(m.rows), m.tiles()},
		inOf(keyBits, keys), payloadIn, outOf(keyBits, sortedKeys), payloadOut)
}

// merge is a merge of one or of many pairs of runs, and what comes of it.
type merge struct {
	keys, payload   [2][]uint64 // left and right; with a run both are one column
	run             int
	merged, carried []uint64 // keys and payload
	fromLeft        []bool   // by merged row
}

// newMerge draws runs of about rows rows.
func (m *maker) newMerge(rows, run int) merge {
	bits := m.config["key_bits"]
	d := merge{run: run}
	if run > 0 {
		keys, payload := m.column(rows, bits, 0), m.serials(rows)
		for left := 0; left < rows; left += run {
			slices.Sort(keys[left:min(left+run, rows)])
		}
		d.keys, d.payload = [2][]uint64{keys, keys}, [2][]uint64{payload, payload}
		for left := 0; left < rows; left += 2 * run {
			right, end := min(left+run, rows), min(left+2*run, rows)
			d.append(keys[left:right], keys[right:end], payload[left:right], payload[right:end])
		}
		return d
	}
	left := []int{0, rows, rows / 2, m.IntN(rows + 1), rows - min(rows, 1)}[m.IntN(5)]
	apart := uint64(0) // all left keys may lie below all right ones, or above
	if m.IntN(4) == 0 {
		apart = 1 << (bits - 1)
	}
	flip := m.IntN(2)
	for side, n := range []int{left, rows - left} {
		d.keys[side], d.payload[side] = m.column(n, bits, 0), m.serials(n)
		for i := range d.keys[side] {
			if apart > 0 {
				d.keys[side][i] = d.keys[side][i]&(apart-1) | apart*uint64(side^flip)
			}
		}
		slices.Sort(d.keys[side])
	}
	d.append(d.keys[0], d.keys[1], d.payload[0], d.payload[1])
	return d
}

func (d *merge) append(left, right, leftPayload, rightPayload []uint64) {
	keys, payload := slices.Concat(left, right), slices.Concat(leftPayload, rightPayload)
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	for _, from := range order {
		d.merged, d.carried = append(d.merged, keys[from]), append(d.carried, payload[from])
		d.fromLeft = append(d.fromLeft, from < len(left))
	}
}

// splits counts the left rows of each merge before each tile.
func (d *merge) splits(tile int) (splits []uint32) {
	left := uint32(0)
	for i, isLeft := range d.fromLeft {
		if d.run > 0 && i%(2*d.run) == 0 {
			left = 0
		}
		if i%tile == 0 {
			splits = append(splits, left)
		}
		if isLeft {
			left++
		}
	}
	return splits
}

// rows are the first parameters of the merge kernels.
func (d *merge) rows() []uint32 {
	if d.run > 0 {
		return []uint32{uint32(len(d.keys[0])), 0, uint32(d.run)}
	}
	return []uint32{uint32(len(d.keys[0])), uint32(len(d.keys[1])), 0}
}

func (m *maker) mergePartition() *kernelCase {
	bits := m.config["key_bits"]
	tile := 1 + m.IntN(9)
	run := m.IntN(3) * tile
	if tile%2 == 0 {
		run = m.IntN(5) * tile / 2
	}
	d := m.newMerge(max(0, m.rows*tile-m.IntN(tile)), run)
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), append(d.rows(), uint32(m.rows), uint32(tile)),
		inOf(bits, d.keys[0]), inOf(bits, d.keys[1]), out(d.splits(tile)))
}

func (m *maker) mergeTiles() *kernelCase {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], int(kernel.TileRows(kernel.Named(m.config)))
	run, whole := m.IntN(4)*tile, false
	switch choice := m.IntN(3); {
	case choice == 0 && tile%2 == 0:
		run = tile / 2
	case choice == 1 && tile%2 == 0 && m.config["serial"] == 1: // several merges in a tile
		for run = 1 + m.IntN(tile/2); tile%(2*run) != 0; {
			run--
		}
		whole = true
	}
	d := m.newMerge(m.rows, run)
	var splits any = d.splits(tile)
	if whole {
		splits = nil
	}
	leftPayload, payloadOut := payloadArgs(payloadBits, d.payload[0], d.carried)
	rightPayload, _ := payloadArgs(payloadBits, d.payload[1], nil)
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), append(d.rows(), m.tiles()),
		inOf(keyBits, d.keys[0]), inOf(keyBits, d.keys[1]), leftPayload, rightPayload, splits, outOf(keyBits, d.merged), payloadOut)
}

// sortedSides are sorted keys of both sides, of which many are equal; the left ones are few enough that all pairs of rows can be made.
func (m *maker) sortedSides(leftRows, rightRows int) (left, right []uint64) {
	keyBits := m.config["key_bits"]
	bound := uint64(leftRows + 1)
	if m.IntN(3) == 0 {
		bound = 0
	}
	left, right = m.column(leftRows, keyBits, bound), m.column(rightRows, keyBits, bound)
	for i := range right {
		if leftRows > 0 && m.IntN(2) == 0 {
			right[i] = left[m.IntN(leftRows)]
		}
	}
	slices.Sort(left)
	slices.Sort(right)
	return left, right
}

// tilesOf cuts the right side into tiles and finds for each the left rows that are not less than its first key and not greater than
// its last.
func tilesOf(left, right []uint64, tileRows int) (leftBounds, rightBounds []uint32) {
	low, high := 0, 0
	for first := 0; first < len(right); first += tileRows {
		end := min(first+tileRows, len(right))
		for low < len(left) && left[low] < right[first] {
			low++
		}
		for high < len(left) && left[high] <= right[end-1] {
			high++
		}
		leftBounds, rightBounds = append(leftBounds, uint32(low), uint32(high)), append(rightBounds, uint32(first), uint32(end))
	}
	return leftBounds, rightBounds
}

func (m *maker) mergeUnits() *kernelCase {
	tileRows, pieceRows := 1+m.IntN(6), 1+m.Uint32N(4)
	left, right := m.sortedSides(m.IntN(3*m.rows+3), max(0, m.rows*tileRows-m.IntN(tileRows)))
	leftBounds, rightBounds := tilesOf(left, right, tileRows)
	counts := make([]uint32, m.rows)
	for tile := range counts {
		for row := leftBounds[2*tile]; row < leftBounds[2*tile+1]; row += pieceRows {
			counts[tile]++
		}
	}
	keyBits := m.config["key_bits"]
	return m.newCase(kernel.Groups(kernel.Named(m.config), uint64(m.rows)), []uint32{uint32(len(left)), uint32(len(right)), uint32(m.rows), uint32(tileRows), pieceRows},
		inOf(keyBits, left), inOf(keyBits, right), out(leftBounds), out(rightBounds), out(counts))
}

func (m *maker) mergeJoin() *kernelCase {
	m.set("placing", kernel.AtOffsets, kernel.Reserving)
	words := m.payloadWords()
	return m.joinCase(m.sortedUnits(), words)
}

func (m *maker) mergeCount() *kernelCase { return m.unitCounts(m.sortedUnits()) }

func (m *maker) mergeMark() *kernelCase { return m.unitMarks(m.sortedUnits()) }

// sortedUnits are the units of sorted sides with m.rows right rows, and one without rows.
func (m *maker) sortedUnits() (u joinedUnits) {
	table := m.setByShape("table", 700, 9)
	left, right := m.sortedSides(min(m.IntN(3*int(table)+2), 1+200_000/(m.rows+1)), m.rows)
	leftBounds, rightBounds := tilesOf(left, right, int(kernel.TileRows(kernel.Named(m.config))))
	u.keys, u.units = [2][]uint64{left, right}, []uint32{0, 0, 0, 0}
	for tile := range len(leftBounds) / 2 {
		for first, end := leftBounds[2*tile], leftBounds[2*tile+1]; first < end; first += table {
			u.units = append(u.units, first, min(first+table, end), rightBounds[2*tile], rightBounds[2*tile+1])
		}
	}
	for unit := range slices.Chunk(u.units, 4) {
		before := len(u.rows)
		numbers := make(map[uint64][]uint32)
		for l := unit[0]; l < unit[1]; l++ {
			numbers[left[l]] = append(numbers[left[l]], l)
		}
		for r := unit[2]; r < unit[3]; r++ {
			for _, l := range numbers[right[r]] {
				u.rows = append(u.rows, joined{right[r], l, r})
			}
		}
		u.counts, u.offsets = append(u.counts, uint32(len(u.rows)-before)), append(u.offsets, uint64(before))
	}
	return u
}
