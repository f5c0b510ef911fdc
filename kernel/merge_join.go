package kernel

import "github.com/spirjoin/spirjoin/backend"

// A merge join of sorted sides works in units, as a hash join of partitions does: a tile of right rows against a piece
// of the left rows that its keys can meet. If a key continues in the next tile, its left rows belong to the units of
// both tiles. MergeUnitsArgs are the arguments of [MergeUnits].
type MergeUnitsArgs = MergeUnitsArgsOf[backend.Range]

// MergeUnitsArgsOf are the same with buffers of type B.
type MergeUnitsArgsOf[B any] struct {
	LeftKeys    B `access:"read"`
	RightKeys   B `access:"read"`
	LeftBounds  B `access:"write"`
	RightBounds B `access:"write"`
	Counts      B `access:"write"`
	LeftRows    uint32
	RightRows   uint32
	Tiles       uint32
	TileRows    uint32
	PieceRows   uint32
}

// MergeUnitsConfig configures [MergeUnits].
type MergeUnitsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// MergeUnits finds for each tile of tile_rows right rows which left rows its keys can match: those from
// left_bounds[2*tile] to left_bounds[2*tile+1]-1 are not less than its first key and not greater than its last.
// right_bounds are the rows of the tile in the same form, and counts[tile] is the number of pieces of piece_rows rows
// into which the left rows are divided. Both sides are sorted ascending. The elements of this kernel's own tiles are
// tiles, not rows.
//
// Example with tile_rows=3: left 1 2 2 7, right 0 1 2 | 2 5 5, left_bounds 0 3 | 1 3.
//
// Source: "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2 (chunks of both sides that
// match).
var MergeUnits = define[MergeUnitsArgs](entry[MergeUnitsArgsOf[[]byte], MergeUnitsConfig]{
	Name:     "merge_units",
	Defaults: MergeUnitsConfig{Tile: Tile{256, 1}},
	Run: func(args *MergeUnitsArgsOf[[]byte], config *MergeUnitsConfig, group uint32) {
		if config.KeyBits == 64 {
			mergeUnits[uint64](args, config, group)
		} else {
			mergeUnits[uint32](args, config, group)
		}
	},
})

func mergeUnits[K word](args *MergeUnitsArgsOf[[]byte], config *MergeUnitsConfig, group uint32) {
	leftRows, rightRows, count, tileRows, pieceRows := int(args.LeftRows), int(args.RightRows), args.Tiles,
		int(args.TileRows), args.PieceRows
	left, right := view[K](args.LeftKeys)[:leftRows], view[K](args.RightKeys)
	leftBounds, rightBounds, counts := backend.Words(args.LeftBounds), backend.Words(args.RightBounds),
		backend.Words(args.Counts)
	for t := range tiles(config, group, Tiles(config, uint64(count)), count) {
		for tile := t.first; tile < t.end; tile++ {
			first, end := tile*tileRows, min((tile+1)*tileRows, rightRows)
			low := partitionPoint(0, leftRows, func(i int) bool { return left[i] < right[first] })
			high := partitionPoint(low, leftRows, func(i int) bool { return left[i] <= right[end-1] })
			leftBounds[2*tile], leftBounds[2*tile+1] = uint32(low), uint32(high)
			rightBounds[2*tile], rightBounds[2*tile+1] = uint32(first), uint32(end)
			counts[tile] = pieces(uint32(high-low), pieceRows)
		}
	}
}

// MergeJoinArgs are the arguments of [MergeJoin].
type MergeJoinArgs = MergeJoinArgsOf[backend.Range]

// MergeJoinArgsOf are the same with buffers of type B.
type MergeJoinArgsOf[B any] struct {
	Units B `access:"read"`
	JoinColumns[B]
	JoinRows
}

// MergeWalkConfig configures [MergeWalk].
type MergeWalkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Table uint32
	OutputConfig
}

// MergeJoinConfig configures [MergeJoin].
type MergeJoinConfig struct {
	MergeWalkConfig
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
}

// MergeJoin joins units of sorted sides, a workgroup a unit: its left keys, at most the constant table of them, are in
// shared memory, where each right row finds its first match by binary search, in fewer registers than a walk along a
// merge path; its other matches follow. Right rows are striped over a subgroup, so output rows are written side by
// side. units, in the form of [PartitionPieces], have at most workgroup*items right rows each. Output rows are as in
// [PartitionJoin], without pages. [MergeWalk] does the same on CPU cores.
var MergeJoin = define[MergeJoinArgs](entry[MergeJoinArgsOf[[]byte], MergeJoinConfig]{
	Name:     "merge_join",
	Defaults: MergeJoinConfig{MergeWalkConfig: mergeJoinDefaults},
	Compare:  backend.Multiset,
	SharedBytes: func(config *MergeJoinConfig) uint32 {
		return config.KeyBits/8*config.Table + joinRowsBytes(config.Tile, config.Shared, 0)
	},
	Run: func(args *MergeJoinArgsOf[[]byte], config *MergeJoinConfig, group uint32) {
		runMergeJoin(args, &config.MergeWalkConfig, group)
	},
})

var mergeJoinDefaults = MergeWalkConfig{Tile: Tile{256, 4}, Table: 1280, OutputConfig: defaultOutput}

func runMergeJoin(args *MergeJoinArgsOf[[]byte], config *MergeWalkConfig, group uint32) {
	if config.KeyBits == 64 {
		mergeJoin[uint64](args, config, group)
	} else {
		mergeJoin[uint32](args, config, group)
	}
}

func mergeJoin[K word](args *MergeJoinArgsOf[[]byte], config *MergeWalkConfig, group uint32) {
	unit := backend.Words(args.Units)[4*group:][:4]
	left, right := view[K](args.LeftKeys)[unit[0]:unit[1]], view[K](args.RightKeys)[unit[2]:unit[3]]
	out := &joinOutput[K]{leftFirst: unit[0], rightFirst: unit[2], JoinColumns: args.JoinColumns,
		JoinRows:     args.JoinRows,
		OutputConfig: config.OutputConfig, unit: group, keys: keyOutputOf[K](args.KeysOut, 0, 0)}
	from, n := 0, uint(0)
	for i, key := range right {
		for stop := from + near; from < len(left) && left[from] < key; {
			if from++; from == stop {
				from = gallop(from, len(left), func(i int) bool { return left[i] < key })
				break
			}
		}
		for l := from; l < len(left) && left[l] == key; l++ {
			out.left[n], out.right[n] = uint32(l), uint32(i)
			if n++; n == pairRows {
				out.write(n)
				n = 0
			}
		}
	}
	out.write(n)
	out.end()
}
