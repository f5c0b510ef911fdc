package kerneltest

import (
	"cmp"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func init() {
	add(kernel.MergePartition, mergePartitionCase, mergePartitionBenchmark)
	add(kernel.MergeTiles, mergeTilesCase, mergeTilesBenchmark)
}

// merge is a merge of one or of many pairs of runs, and its result.
type merge struct {
	keys, payload   [2][]uint64 // left and right; with a run both are one column
	run             int
	merged, carried []uint64 // keys and payload
	fromLeft        []bool   // by merged row
}

// newMerge draws runs of about rows rows.
func (m *maker) newMerge(rows, run int) merge {
	bits, bound := m.config["key_bits"], m.someBound(rows)
	d := merge{run: run}
	if run > 0 {
		keys, payload := m.column(rows, bits, bound), m.serials(rows)
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
		d.keys[side], d.payload[side] = m.column(n, bits, bound), m.serials(n)
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

// sides are the rows of both sides; a merge of runs has one.
func (d *merge) sides() (left, right uint32) {
	if d.run > 0 {
		return uint32(len(d.keys[0])), 0
	}
	return uint32(len(d.keys[0])), uint32(len(d.keys[1]))
}

func mergePartitionCase(m *maker) *Case {
	bits := m.config["key_bits"]
	tile := 1 + m.IntN(9)
	run := m.IntN(3) * tile
	if tile%2 == 0 {
		run = m.IntN(5) * tile / 2
	}
	d := m.newMerge(max(0, m.rows*tile-m.IntN(tile)), run)
	leftRows, rightRows := d.sides()
	return m.newCase(m.groups(), kernel.MergePartitionArgsOf[argument]{
		LeftKeys: inOf(bits, d.keys[0]), RightKeys: inOf(bits, d.keys[1]), Splits: out(d.splits(tile)),
		LeftRows: leftRows, RightRows: rightRows, Run: uint32(run), Tiles: uint32(m.rows),
		TileRows: uint32(tile),
	})
}

func mergeTilesCase(m *maker) *Case {
	keyBits, payloadBits, tile := m.config["key_bits"], m.config["payload_bits"], m.tileRows()
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
	splits := in(d.splits(tile))
	if whole {
		splits = argument{}
	}
	leftRows, rightRows := d.sides()
	leftPayload, payloadOut := payloadOf(payloadBits, d.payload[0], d.carried)
	rightPayload, _ := payloadOf(payloadBits, d.payload[1], nil)
	return m.newCase(m.groups(), kernel.MergeTilesArgsOf[argument]{
		LeftKeys: inOf(keyBits, d.keys[0]), RightKeys: inOf(keyBits, d.keys[1]), LeftPayload: leftPayload,
		RightPayload: rightPayload, Splits: splits, KeysOut: outOf(keyBits, d.merged), PayloadOut: payloadOut,
		LeftRows: leftRows, RightRows: rightRows, Run: uint32(run), Tiles: m.tiles(),
	})
}

func mergePartitionBenchmark(m *maker) *Dispatch {
	split := m.mergeSplits(2048)
	return m.dispatch(int(split.Tiles), split)
}

// mergeSplits are the arguments that split the merge of two columns, of half of the rows each, into tiles.
func (m *maker) mergeSplits(tileRows uint32) kernel.MergePartitionArgsOf[[]byte] {
	left, keyBits := m.rows/2, m.config["key_bits"]
	tiles := (uint32(m.rows) + tileRows - 1) / tileRows
	return kernel.MergePartitionArgsOf[[]byte]{
		LeftKeys: m.ascending(left, m.rows, keyBits), RightKeys: m.ascending(m.rows-left, m.rows, keyBits),
		Splits: zeros(int(tiles), 32), LeftRows: uint32(left), RightRows: uint32(m.rows - left), Tiles: tiles,
		TileRows: tileRows,
	}
}

func mergeTilesBenchmark(m *maker) *Dispatch {
	split, keyBits := m.mergeSplits(uint32(m.tileRows())), m.config["key_bits"]
	one := backend.Config{"key_bits": keyBits, "workgroup": 1, "items": 1}
	NewDispatch(kernel.MergePartition.KernelSpec, one, int(split.Tiles), split).RunReference()
	leftPayload, payloadOut := m.payload(m.config["payload_bits"])
	rightPayload, _ := m.payload(m.config["payload_bits"])
	return m.dispatch(m.rows, kernel.MergeTilesArgsOf[[]byte]{
		LeftKeys: split.LeftKeys, RightKeys: split.RightKeys, LeftPayload: leftPayload,
		RightPayload: rightPayload, Splits: split.Splits, KeysOut: zeros(m.rows, keyBits),
		PayloadOut: payloadOut, LeftRows: split.LeftRows, RightRows: split.RightRows, Tiles: split.Tiles,
	})
}
