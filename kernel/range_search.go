package kernel

import "github.com/spirjoin/spirjoin/backend"

// RangeSearchArgs are the arguments of [RangeSearch].
type RangeSearchArgs = RangeSearchArgsOf[backend.Range]

// RangeSearchArgsOf are the same with buffers of type B.
type RangeSearchArgsOf[B any] struct {
	LeftKeys   B `access:"read"`
	RightKeys  B `access:"read"`
	Begins     B `access:"write"`
	Counts     B `access:"write"`
	TileTotals B `access:"write"`
	LeftRows   uint32
	RightRows  uint32
	Tiles      uint32
}

// RangeSearchConfig configures [RangeSearch].
type RangeSearchConfig struct {
	KeyBits uint32 `axis:"32,64"`
	ShapedTile
	Shared uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Batch  uint32
	Stage  uint32
}

// RangeSearch finds for each left key the range of equal keys on the right; both sides are sorted ascending. begins[i]
// is the first row on the right whose key is not less than left_keys[i], counts[i] the number of keys equal to it, and
// tile_totals[tile], 64 bits, the sum of counts over a tile of left rows. Absent outputs are not written.
//
// In the wide shape a workgroup merges its tile with the right rows batch by batch in shared memory: the constant batch
// is the number of left rows that an invocation holds at a time, stage the number of right rows. If fewer than a
// quarter of a batch can proceed, because a key is hot on the right or left keys are far apart there, it searches for
// each left key instead.
//
// Source: the range search of "Efficiently Joining Large Relations on Multi-GPU Systems with Modern Interconnects",
// section 3.3.3, with a range per left row instead of one per unique left key; the wide shape finds lower and upper
// bounds by merge path, as "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2.
var RangeSearch = define[RangeSearchArgs](entry[RangeSearchArgsOf[[]byte], RangeSearchConfig]{
	Name:        "range_search",
	Defaults:    RangeSearchConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: 16}, Batch: 2, Stage: 4},
	SerialItems: 256,
	SharedBytes: func(config *RangeSearchConfig) uint32 {
		if config.Serial == 1 {
			return 0
		}
		sum := subgroupsBytes(config.Workgroup, 8)
		if config.Shared == 1 {
			sum = 8
		}
		return searchBytes + config.Workgroup*(config.KeyBits/8*(config.Batch+config.Stage)+4*config.Batch) + 4 + sum
	},
	Run: func(args *RangeSearchArgsOf[[]byte], config *RangeSearchConfig, group uint32) {
		if config.KeyBits == 64 {
			rangeSearch[uint64](args, config, group)
		} else {
			rangeSearch[uint32](args, config, group)
		}
	},
})

// searchBytes is the shared memory of a search by a whole workgroup.
const searchBytes = 16

func rangeSearch[K word](args *RangeSearchArgsOf[[]byte], config *RangeSearchConfig, group uint32) {
	leftRows, rightRows, count := args.LeftRows, args.RightRows, args.Tiles
	right := view[K](args.RightKeys)[:rightRows]
	for t := range tiles(config, group, count, leftRows) {
		left := view[K](args.LeftKeys)[t.first:t.end]
		var begins, counts []uint32
		if args.Begins != nil {
			begins = backend.Words(args.Begins)[t.first:t.end]
		}
		if args.Counts != nil {
			counts = backend.Words(args.Counts)[t.first:t.end]
		}
		if total := searchTile(left, right, begins, counts); args.TileTotals != nil {
			backend.Longs(args.TileTotals)[t.index] = total
		}
	}
}

// near is the number of rows that a merge steps over one by one before it gallops: stepping is faster where matches lie
// close together, galloping bounds the cost of gaps and of hot keys.
const near = 16

// searchTile merges a tile of left keys with the right side and returns the number of matches.
func searchTile[K word](left, right []K, begins, counts []uint32) (total uint64) {
	if len(left) == 0 {
		return 0
	}
	begin, end := 0, partitionPoint(0, len(right), func(i int) bool { return right[i] < left[0] })
	before := ^left[0]
	for i, key := range left {
		if key != before {
			before, begin = key, end
			for stop := begin + near; begin < len(right) && right[begin] < key; {
				if begin++; begin == stop {
					begin = gallop(begin, len(right), func(i int) bool { return right[i] < key })
					break
				}
			}
			end = begin
			for stop := end + near; end < len(right) && right[end] == key; {
				if end++; end == stop {
					end = gallop(end, len(right), func(i int) bool { return right[i] == key })
					break
				}
			}
		}
		if begins != nil {
			begins[i] = uint32(begin)
		}
		if counts != nil {
			counts[i] = uint32(end - begin)
		}
		total += uint64(end - begin)
	}
	return total
}

// partitionPoint returns the first index of [low, high) for which in is false, or high; in is true up to there.
func partitionPoint(low, high int, in func(int) bool) int {
	for low < high {
		if middle := (low + high) / 2; in(middle) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// gallop is partitionPoint where it is expected near low.
func gallop(low, high int, in func(int) bool) int {
	step := near
	for low+step < high && in(low+step) {
		low += step
		step *= 2
	}
	return partitionPoint(low, min(low+step, high), in)
}
