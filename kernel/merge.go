package kernel

import "github.com/spirjoin/spirjoin/backend"

// MergePartitionArgs are the arguments of [MergePartition].
type MergePartitionArgs = MergePartitionArgsOf[backend.Range]

// MergePartitionArgsOf are the same with buffers of type B.
type MergePartitionArgsOf[B any] struct {
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Splits    B `access:"write"`
	LeftRows  uint32
	RightRows uint32
	Run       uint32
	Tiles     uint32
	TileRows  uint32
}

// MergePartitionConfig configures [MergePartition].
type MergePartitionConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// MergePartition finds for each tile of the output of a merge how many rows of the left run come before it:
// splits[tile] is the point where the merge path crosses the diagonal of the tile's first row. Runs, tiles and the
// order of equal rows are as in [MergeTiles]; tile_rows is the size of its tiles. The elements of this kernel's own
// tiles are tiles of [MergeTiles], not rows.
//
// Example of one merge with tile_rows=3: left 1 2 7, right 2 3 5, merged 1 2 2' 3' 5' 7, splits 0 2.
//
// Source: merge path as in "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.1, after Odeh,
// Green, Mwassi, Shmueli and Birk, "Merge Path - Parallel Merging Made Simple".
var MergePartition = define[MergePartitionArgs](entry[MergePartitionArgsOf[[]byte], MergePartitionConfig]{
	Name:     "merge_partition",
	Defaults: MergePartitionConfig{Tile: Tile{256, 1}},
	Run: func(args *MergePartitionArgsOf[[]byte], config *MergePartitionConfig, group uint32) {
		if config.KeyBits == 64 {
			mergePartition[uint64](args, config, group)
		} else {
			mergePartition[uint32](args, config, group)
		}
	},
})

// MergeTilesArgs are the arguments of [MergeTiles].
type MergeTilesArgs = MergeTilesArgsOf[backend.Range]

// MergeTilesArgsOf are the same with buffers of type B.
type MergeTilesArgsOf[B any] struct {
	LeftKeys     B `access:"read"`
	RightKeys    B `access:"read"`
	LeftPayload  B `access:"read"`
	RightPayload B `access:"read"`
	Splits       B `access:"read"`
	KeysOut      B `access:"write"`
	PayloadOut   B `access:"write"`
	LeftRows     uint32
	RightRows    uint32
	Run          uint32
	Tiles        uint32
}

// MergeTilesConfig configures [MergeTiles].
type MergeTilesConfig struct {
	KeyBits     uint32 `axis:"32,64"`
	PayloadBits uint32 `axis:"0,32,64"`
	ShapedTile
}

// MergeTiles merges sorted runs, stably: left rows come before equal right rows, and rows of a run keep their order.
//
// With run=0 it merges the left column of left_rows rows with the right one of right_rows rows. Otherwise both column
// arguments are the same column of left_rows rows, which consists of sorted runs of run rows, the last one perhaps
// shorter: run 0 is merged with run 1, run 2 with run 3, and so on, all in one dispatch; a last run without a partner
// is copied.
//
// Tiles are tiles of the output, and a tile belongs to one merge: 2*run is a multiple of its rows, and splits come from
// [MergePartition]. In the serial shape a tile may also hold several whole merges, its rows being a multiple of 2*run;
// splits are absent then. With payload_bits=0 all payloads are absent. The output must not overlap any input.
var MergeTiles = define[MergeTilesArgs](entry[MergeTilesArgsOf[[]byte], MergeTilesConfig]{
	Name:        "merge_tiles",
	Defaults:    MergeTilesConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: mergeItems}},
	SerialItems: 4112,
	SharedBytes: func(config *MergeTilesConfig) uint32 {
		if config.Serial == 1 {
			return 0
		}
		return config.KeyBits/8 + mergedBytes(config.Workgroup, config.Items, config.KeyBits, config.PayloadBits)
	},
	Run: func(args *MergeTilesArgsOf[[]byte], config *MergeTilesConfig, group uint32) {
		byWidths(config.KeyBits, config.PayloadBits, mergeTiles[uint32, uint32], mergeTiles[uint32, uint64],
			mergeTiles[uint64, uint32], mergeTiles[uint64, uint64])(args, config, group)
	},
})

// mergeItems is odd, so that neighbouring invocations, each of which reads rows of its own one after the other, meet in
// different banks of shared memory; and so small that 64-bit keys with a 64-bit payload fit 16 KiB of it.
const mergeItems = 3

// mergedBytes is the size of items rows of each invocation of a workgroup.
func mergedBytes(workgroup, items, keyBits, payloadBits uint32) uint32 {
	return workgroup * items * (keyBits + payloadBits) / 8
}

// byWidths chooses among the variants of a reference by the widths of keys and payload.
func byWidths[F any](keyBits, payloadBits uint32, key32, key32Payload64, key64, key64Payload64 F) F {
	switch {
	case keyBits == 64 && payloadBits == 64:
		return key64Payload64
	case keyBits == 64:
		return key64
	case payloadBits == 64:
		return key32Payload64
	}
	return key32
}

// runs are the two runs that are merged into rows left and following of the output: rows [left, left+leftRows) and
// [right, right+rightRows) of their columns.
type runs struct{ left, leftRows, right, rightRows int }

// runsAt returns the runs that an output row comes from.
func runsAt(row, leftRows, rightRows, run int) runs {
	if run == 0 {
		return runs{0, leftRows, 0, rightRows}
	}
	left := row / run &^ 1 * run
	n := min(run, leftRows-left)
	return runs{left, n, left + n, min(run, leftRows-left-n)}
}

func mergePartition[K word](args *MergePartitionArgsOf[[]byte], config *MergePartitionConfig, group uint32) {
	leftRows, rightRows, run := int(args.LeftRows), int(args.RightRows), int(args.Run)
	left, right, splits := view[K](args.LeftKeys), view[K](args.RightKeys), backend.Words(args.Splits)
	for t := range tiles(config, group, Tiles(config, uint64(args.Tiles)), args.Tiles) {
		for tile := t.first; tile < t.end; tile++ {
			row := tile * int(args.TileRows)
			r := runsAt(row, leftRows, rightRows, run)
			splits[tile] = uint32(mergePath(left[r.left:][:r.leftRows], right[r.right:][:r.rightRows], row-r.left))
		}
	}
}

// mergePath returns how many of the first diagonal rows of a merge come from the left.
func mergePath[K word](left, right []K, diagonal int) int {
	return partitionPoint(max(0, diagonal-len(right)), min(diagonal, len(left)),
		func(i int) bool { return left[i] <= right[diagonal-1-i] })
}

func mergeTiles[K, P word](args *MergeTilesArgsOf[[]byte], config *MergeTilesConfig, group uint32) {
	leftRows, rightRows, run := int(args.LeftRows), int(args.RightRows), int(args.Run)
	left, right, splits := view[K](args.LeftKeys), view[K](args.RightKeys), backend.Words(args.Splits)
	leftPayload, rightPayload := view[P](args.LeftPayload), view[P](args.RightPayload)
	keysOut, payloadOut := view[K](args.KeysOut), view[P](args.PayloadOut)
	rows := leftRows
	if run == 0 {
		rows += rightRows
	}
	for t := range tiles(config, group, args.Tiles, uint32(rows)) {
		for row := t.first; row < t.end; {
			r := runsAt(row, leftRows, rightRows, run)
			from, end := row-r.left, min(t.end-r.left, r.leftRows+r.rightRows)
			leftFrom, leftEnd := 0, r.leftRows
			if from > 0 {
				leftFrom = int(splits[t.index])
			}
			if end < r.leftRows+r.rightRows {
				leftEnd = int(splits[t.index+1])
			}
			a, b := [2]int{r.left + leftFrom, r.left + leftEnd},
				[2]int{r.right + from - leftFrom, r.right + end - leftEnd}
			if payloadOut == nil {
				mergeKeys(keysOut[row:][:end-from], left[a[0]:a[1]], right[b[0]:b[1]])
			} else {
				mergePairs(keysOut[row:][:end-from], left[a[0]:a[1]], right[b[0]:b[1]],
					payloadOut[row:][:end-from], leftPayload[a[0]:a[1]], rightPayload[b[0]:b[1]])
			}
			row = r.left + end
		}
	}
}

// mergeKeys merges two sorted columns. As long as neither side can end, a row costs no branch that depends on its key.
func mergeKeys[K word](out, left, right []K) {
	for len(left) > 0 && len(right) > 0 {
		if left[len(left)-1] <= right[0] {
			break
		}
		n := min(len(left), len(right))
		a, b, to := left[:n], right[:n], out[:n]
		j := 0
		for k := range to {
			i := k - j
			x, y := a[i], b[j]
			step := 0
			if y < x {
				step = 1
				x = y
			}
			to[k] = x
			j += step
		}
		left, right, out = left[n-j:], right[j:], out[n:]
	}
	copy(out[copy(out, left):], right)
}

// mergePairs is mergeKeys with a payload.
func mergePairs[K, P word](out, left, right []K, payloadOut, leftPayload, rightPayload []P) {
	for len(left) > 0 && len(right) > 0 {
		if left[len(left)-1] <= right[0] {
			break
		}
		n := min(len(left), len(right))
		a, b, to := left[:n], right[:n], out[:n]
		pa, pb, payloadTo := leftPayload[:n], rightPayload[:n], payloadOut[:n]
		j := 0
		for k := range to {
			i := k - j
			x, y := a[i], b[j]
			p, q := pa[i], pb[j]
			step := 0
			if y < x {
				step = 1
				x = y
			}
			if step != 0 {
				p = q
			}
			to[k], payloadTo[k] = x, p
			j += step
		}
		left, right, out = left[n-j:], right[j:], out[n:]
		leftPayload, rightPayload, payloadOut = leftPayload[n-j:], rightPayload[j:], payloadOut[n:]
	}
	copy(out[copy(out, left):], right)
	copy(payloadOut[copy(payloadOut, leftPayload):], rightPayload)
}
