package kernel

import "github.com/spirjoin/spirjoin/backend"

// RangeSearch finds for each left key the range of equal keys on the right; both sides are sorted ascending. begins[i] is
// the first row on the right whose key is not less than left_keys[i], counts[i] the number of keys equal to it, and
// tile_totals[tile], 64 bits, the sum of counts over a tile of left rows. With begins and counts absent only the totals are
// written.
//
// In the wide shape a workgroup merges its tile with the right rows batch by batch in shared memory: the constant batch is the
// number of left rows that an invocation holds at a time, stage that of right rows. Where left keys are far apart on the right
// it searches for each of them instead.
//
// Source: the range search of "Efficiently Joining Large Relations on Multi-GPU Systems with Modern
// Interconnects", section 3.3.3, with a range per left row instead of one per unique left key; the wide shape finds lower and
// upper bounds by merge path, as "Fast Equi-Join Algorithms on GPUs: Design and Implementation", section 3.3.2.
var RangeSearch = &backend.KernelSpec{
	Name: "range_search",
	Args: []backend.ArgSpec{
		{Name: "left_keys", Access: backend.Read},
		{Name: "right_keys", Access: backend.Read},
		{Name: "begins", Access: backend.Write},
		{Name: "counts", Access: backend.Write},
		{Name: "tile_totals", Access: backend.Write},
	},
	Params:    []string{"left_rows", "right_rows", "tiles"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64), serial},
	Constants: []backend.Constant{workgroup, items(16), {Name: "batch", Default: 2}, {Name: "stage", Default: 4}},
	SharedBytes: func(c backend.Config) uint32 {
		if c["serial"] == 1 {
			return 0
		}
		return searchBytes + c["workgroup"]*(c["key_bits"]/8*(c["batch"]+c["stage"])+4*c["batch"]) + 4 + 8*((c["workgroup"]+3)/4)
	},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			rangeSearch[uint64](call, group)
		} else {
			rangeSearch[uint32](call, group)
		}
	},
}

// searchBytes is the shared memory of a search by a whole workgroup.
const searchBytes = 16

func rangeSearch[K word](call *backend.Call, group uint32) {
	leftRows, rightRows, count := call.Params[0], call.Params[1], call.Params[2]
	right := view[K](call.Args[1])[:rightRows]
	for t := range tiles(call, group, count, leftRows) {
		left := view[K](call.Args[0])[t.first:t.end]
		var begins, counts []uint32
		if call.Args[2] != nil {
			begins, counts = backend.Words(call.Args[2])[t.first:t.end], backend.Words(call.Args[3])[t.first:t.end]
		}
		backend.Longs(call.Args[4])[t.index] = searchTile(left, right, begins, counts)
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
			begins[i], counts[i] = uint32(begin), uint32(end-begin)
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
