package kernel

import (
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// RadixScatter moves rows to where their digit belongs, one pass of a least-significant-digit radix sort or a partition: a
// row of a tile goes to offsets[digit*tiles + tile] plus its rank among the tile's rows of the same digit, so equal digits
// keep their order. Digits and tiles are those of [RadixHistogram] with the same parameters, workgroup and items. With
// payload_bits=32 an absent payload_in stands for the row numbers; with payload_bits=0 both payloads are absent. Output and
// input do not overlap.
//
// The constant batch is the number of rows that an invocation of the wide shape holds at a time: shared memory takes
// workgroup*batch words, whatever the size of the tile.
//
// The reference sorts up to stageRows rows at a time into a stage that fits the second-level cache and copies the runs of
// equal digits from there: writing rows to 256 places of memory one by one takes longer. Tiles of up to stageRows rows need
// no count of their own.
var RadixScatter = &backend.KernelSpec{
	Name: "radix_scatter",
	Args: []backend.ArgSpec{
		{Name: "keys_in", Access: backend.Read},
		{Name: "payload_in", Access: backend.Read},
		{Name: "offsets", Access: backend.Read},
		{Name: "keys_out", Access: backend.Write},
		{Name: "payload_out", Access: backend.Write},
	},
	Params:    []string{"rows", "tiles", "shift", "bits"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64), bits("payload_bits", 0, 32), serial},
	Constants: []backend.Constant{workgroup, items(radixItems), {Name: "batch", Default: 13}},
	SharedBytes: func(c backend.Config) uint32 {
		if c["serial"] == 1 {
			return 4 * maxDigits * c["workgroup"]
		}
		return 4 * (c["workgroup"]*c["batch"] + maxDigits + (c["workgroup"]+3)/4)
	},
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			radixScatter[uint64](call, group, &stages64)
		} else {
			radixScatter[uint32](call, group, &stages32)
		}
	},
}

const stageRows = 1 << 16

type stage[K word] struct {
	keys    [stageRows]K
	payload [stageRows]uint32
}

var (
	stages32 = sync.Pool{New: func() any { return new(stage[uint32]) }}
	stages64 = sync.Pool{New: func() any { return new(stage[uint64]) }}
)

func radixScatter[K word](call *backend.Call, group uint32, stages *sync.Pool) {
	rows, count, shift, mask := call.Params[0], call.Params[1], call.Params[2], digitMask(call.Params[3])
	keysIn, payloadIn, offsets := view[K](call.Args[0]), backend.Words(call.Args[1]), backend.Words(call.Args[2])
	keysOut, payloadOut := view[K](call.Args[3]), backend.Words(call.Args[4])
	s := stages.Get().(*stage[K])
	defer stages.Put(s)
	for t := range tiles(call, group, count, rows) {
		var to [maxDigits]uint32
		for digit, at := 0, t.index; digit <= int(mask); digit, at = digit+1, at+int(count) {
			to[digit] = offsets[at]
		}
		for first := t.first; first < t.end; first += stageRows {
			keys := keysIn[first:min(first+stageRows, t.end)]
			var payload []uint32
			if payloadIn != nil {
				payload = payloadIn[first:][:len(keys)]
			}
			from, ok := starts{}, false
			if len(keys) == t.end-t.first {
				from, ok = startsOfOffsets(offsets, t.index, int(count), mask, len(keys))
			}
			if !ok || !s.sort(keys, payload, uint32(first), payloadOut != nil, &from, shift, mask) {
				from = startsOfKeys(keys, shift, mask)
				s.sort(keys, payload, uint32(first), payloadOut != nil, &from, shift, mask)
			}
			for digit, begin := range from[:maxDigits] {
				n := from[digit+1] - begin
				if n == 0 {
					continue
				}
				copy(keysOut[to[digit]:to[digit]+n], s.keys[begin:])
				if payloadOut != nil {
					copy(payloadOut[to[digit]:to[digit]+n], s.payload[begin:])
				}
				to[digit] += n
			}
		}
	}
}

// starts holds for each digit the row of the stage where its rows begin, and the number of all rows behind them.
type starts [maxDigits + 1]uint32

func startsOfKeys[K word](keys []K, shift uint32, mask uint8) (from starts) {
	for digit, n := range digitHistogram(keys, shift, mask) {
		from[digit+1] = from[digit] + n
	}
	return from
}

// startsOfOffsets saves counting: where offsets are the scan of the counts, the next offset tells the count of a digit in a
// tile of n rows. ok is false where they certainly are not; otherwise sort finds out.
func startsOfOffsets(offsets []uint32, tile, tiles int, mask uint8, n int) (from starts, ok bool) {
	for digit, at := 0, tile; digit < int(mask); digit, at = digit+1, at+tiles {
		from[digit+1] = from[digit] + offsets[at+1] - offsets[at]
		if from[digit+1] < from[digit] || from[digit+1] > uint32(n) {
			return from, false
		}
	}
	for digit := int(mask); digit < maxDigits; digit++ {
		from[digit+1] = uint32(n)
	}
	return from, true
}

// sort sorts rows by digit into the stage; an absent payload is numbered from number on where it is wanted at all. It reports
// whether from was right: then every digit's rows end where those of the next begin.
func (s *stage[K]) sort(keys []K, payload []uint32, number uint32, withPayload bool, from *starts, shift uint32, mask uint8) bool {
	cursor := [maxDigits]uint32(from[:maxDigits])
	switch {
	case !withPayload:
		s.sortKeys(keys, &cursor, shift, mask)
	case payload == nil:
		s.sortNumbered(keys, number, &cursor, shift, mask)
	default:
		s.sortPairs(keys, payload, &cursor, shift, mask)
	}
	return cursor == [maxDigits]uint32(from[1:])
}

// The three kinds of sorting into a stage. cursor holds where the next row of each digit goes.

func (s *stage[K]) sortKeys(keys []K, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	for _, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows // less already where from is right; so the compiler knows it
		cursor[digit]++
		s.keys[to] = key
	}
}

func (s *stage[K]) sortNumbered(keys []K, number uint32, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	for _, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows
		cursor[digit]++
		s.keys[to], s.payload[to] = key, number
		number++
	}
}

func (s *stage[K]) sortPairs(keys []K, payload []uint32, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	payload = payload[:len(keys)]
	for i, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows
		cursor[digit]++
		s.keys[to], s.payload[to] = key, payload[i]
	}
}
