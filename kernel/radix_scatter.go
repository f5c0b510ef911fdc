package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// RadixScatterArgs are the arguments of [RadixScatter].
type RadixScatterArgs = RadixScatterArgsOf[backend.Range]

// RadixScatterArgsOf are the same with buffers of type B.
type RadixScatterArgsOf[B any] struct {
	KeysIn      B             `access:"read"`
	PayloadIn   [MaxColumns]B `access:"read"`
	Offsets     B             `access:"read"`
	Chain       B             `access:"readwrite"`
	KeysOut     B             `access:"write"`
	PayloadOut  [MaxColumns]B `access:"write"`
	NextOffsets B             `access:"write"`
	Rows        uint32
	Tiles       uint32
	FirstRow    uint32
	Shift       uint32
	Bits        uint32
	Seed        uint32
}

// RadixScatterConfig configures [RadixScatter].
type RadixScatterConfig struct {
	KeyBits     uint32 `axis:"32,64"`
	PayloadBits uint32 `axis:"0,32,64"`
	ShapedTile
	Shared   uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Lookback uint32 `axis:"0,1"`
	Mixed    uint32 // as in [RadixHistogramConfig]
	Columns  uint32 // payload columns that move along
	Far      uint32 // 1: a column has more than 4 GiB
	Patience uint32 // number of looks for a missing tile
	Subgroup uint32 // size of the smallest subgroup of the device, or less
	Ahead    uint32 // tiles that an invocation looks at together, at most [MaxAhead]
	Narrow   uint32 // as in [RadixHistogramConfig]
	Digits   uint32 // as in [RadixHistogramConfig]
	Early    uint32 // 1: the first payload column is loaded before rows are ranked, which takes more registers
}

// RadixScatter moves rows to where their digit belongs, one pass of a least-significant-digit radix sort or a
// partition. Rows of equal digits keep their order. Digits and tiles are as in [RadixHistogram] with the same
// parameters and configuration.
//
// With lookback=0 a row of a tile goes to offsets[digit*tiles + tile] plus its rank among the tile's rows of the same
// digit; in the serial shape offsets are the scan of the counts, so that the rows of a workgroup's tiles follow each
// other. With lookback=1 it goes to offsets[digit] plus the number of rows of that digit before it, and a pass reads
// the keys only once: a workgroup publishes the counts of its tile in chain and adds up the counts of preceding tiles,
// back to one that has published the sum of all up to it (Merrill and Garland's decoupled look-back, in the form of
// Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs"). chain has 256 words for each
// tile, after 256 times the constant ahead words that stay zero. All words are zero before the dispatch; afterwards
// each word of a tile is 2<<30 plus the rows of a digit up to the end of the tile. If a word is missing after patience
// looks, the workgroup counts that tile itself, so that nothing depends on the order of workgroups; on a device that
// starts them in order this is rare. The last tile writes to next_offsets, if present, the offsets for rows that follow
// these.
//
// The constant columns is the number of payload columns that move along, up to three; with payload_bits=0 there are
// none. An absent payload_in of 32 bits stands for row numbers from first_row on. Output and input must not overlap.
// The constant far is 1 if a column has more than 4 GiB. The constant subgroup is a lower bound on the size of the
// device's subgroups; the smaller it is, the more subgroups share counters.
//
// The reference sorts up to stageRows rows at a time into a staging area that fits the second-level cache, and copies
// runs of equal digits from there, because writing single rows to 256 places in memory takes longer. Tiles of up to
// stageRows rows need no separate count.
var RadixScatter = define[RadixScatterArgs](entry[RadixScatterArgsOf[[]byte], RadixScatterConfig]{
	Name: "radix_scatter",
	Defaults: RadixScatterConfig{ShapedTile: ShapedTile{Workgroup: 256, Items: radixItems}, Columns: 1,
		Patience: 4096, Subgroup: 4, Ahead: 4, Digits: 256},
	SerialItems: 4112,
	SharedBytes: func(config *RadixScatterConfig) uint32 {
		if config.Serial == 1 {
			return 4 * (config.Digits + 1)
		}
		words := max(config.KeyBits, config.PayloadBits) / 32
		if config.Shared == 1 {
			return 4 * (max(words*TileRows(config), 4*config.Workgroup) + maxDigits)
		}
		return 4 * (max(words*TileRows(config), maxDigits) + maxDigits + (config.Workgroup+3)/4 + 2 +
			min(1, config.PayloadBits) + config.Lookback)
	},
	Run: func(args *RadixScatterArgsOf[[]byte], config *RadixScatterConfig, group uint32) {
		switch wideKey, widePayload := config.KeyBits == 64, config.PayloadBits == 64; {
		case wideKey && widePayload:
			radixScatter[uint64, uint64](args, config, group)
		case wideKey:
			radixScatter[uint64, uint32](args, config, group)
		case widePayload:
			radixScatter[uint32, uint64](args, config, group)
		default:
			radixScatter[uint32, uint32](args, config, group)
		}
	},
})

// MaxAhead is the maximum of the constant ahead.
const MaxAhead = 16

// ChainWords is the number of words of chain for this many tiles, whatever ahead is.
func ChainWords(tiles uint32) uint64 { return maxDigits * (MaxAhead + uint64(tiles)) }

// MaxColumns is the maximum number of payload columns that one [RadixScatter] moves.
const MaxColumns = 3

const stageRows = 1 << 16

type stage[K, P word] struct {
	mixed   [stageRows]K
	keys    [stageRows]K
	payload [stageRows]P
}

var stages [2][2]sync.Pool // by the width of keys and payload

func radixScatter[K, P word](args *RadixScatterArgsOf[[]byte], config *RadixScatterConfig, group uint32) {
	rows, count, firstRow := args.Rows, args.Tiles, args.FirstRow
	d := newDigit(config.Mixed, args.Shift, args.Bits, args.Seed)
	keysIn, offsets, keysOut := keysOf[K](args.KeysIn, config.Narrow), backend.Words(args.Offsets),
		view[K](args.KeysOut)
	var payloadIn, payloadOut [MaxColumns][]P
	for c := range payloadIn {
		payloadIn[c], payloadOut[c] = view[P](args.PayloadIn[c]), view[P](args.PayloadOut[c])
	}
	pool := &stages[config.KeyBits/64][config.PayloadBits/64]
	s, _ := pool.Get().(*stage[K, P])
	if s == nil {
		s = new(stage[K, P])
	}
	defer pool.Put(s)
	for t := range tiles(config, group, count, rows) {
		if 1<<args.Bits > maxDigits {
			scatterWideDigits[K, P](args, config, keysIn, t, d, s.mixed[:])
			continue
		}
		var to [maxDigits]uint32
		lookback := config.Lookback == 1
		if lookback {
			to = lookBack(args, config, keysIn, t, d)
		} else {
			for digit, at := 0, t.index; digit <= int(d.mask); digit, at = digit+1, at+int(count) {
				to[digit] = offsets[at]
			}
		}
		for first := t.first; first < t.end; first += stageRows {
			end := min(first+stageRows, t.end)
			keys := keysIn.source(first, end, s.mixed[:], d)
			from, ok := starts{}, false
			if len(keys) == t.end-t.first && !lookback {
				from, ok = startsOfOffsets(offsets, t.index, int(count), d.mask, len(keys))
			}
			for c := range MaxColumns {
				out, column := payloadOut[c], payloadIn[c]
				if c > 0 && out == nil {
					break
				}
				if column != nil {
					column = column[first:end]
				}
				if !ok || !s.sort(keys, column, firstRow+uint32(first), out != nil, &from, d) {
					from, ok = startsOfKeys(keys, d), true
					s.sort(keys, column, firstRow+uint32(first), out != nil, &from, d)
				}
				for digit, begin := range from[:maxDigits] {
					n := from[digit+1] - begin
					if n == 0 {
						continue
					}
					if c == 0 {
						copy(keysOut[to[digit]:to[digit]+n], s.keys[begin:])
					}
					if out != nil {
						copy(out[to[digit]:to[digit]+n], s.payload[begin:])
					}
				}
			}
			for digit := range to {
				to[digit] += from[digit+1] - from[digit]
			}
		}
	}
}

// scatterWideDigits moves the rows of a tile by digits of more than maxDigits values, one by one.
func scatterWideDigits[K, P word](args *RadixScatterArgsOf[[]byte], config *RadixScatterConfig, keys keyColumn[K],
	t tile, d digit, buffer []K) {
	count, firstRow, width := int(args.Tiles), args.FirstRow, args.Bits
	offsets, keysOut := backend.Words(args.Offsets), view[K](args.KeysOut)
	var payloadIn, payloadOut [MaxColumns][]P
	for c := range payloadIn {
		payloadIn[c], payloadOut[c] = view[P](args.PayloadIn[c]), view[P](args.PayloadOut[c])
	}
	var cursor [MaxSerialDigits]uint32
	for digit := range 1 << width {
		cursor[digit] = offsets[digit*count+t.index]
	}
	for first := t.first; first < t.end; first += stageRows {
		for i, key := range keys.source(first, min(first+stageRows, t.end), buffer, d) {
			to := &cursor[wideDigitOf(key, d.shift, width)]
			keysOut[*to] = key
			for c, out := range &payloadOut {
				if out != nil && payloadIn[c] != nil {
					out[*to] = payloadIn[c][first+i]
				} else if out != nil && c == 0 {
					out[*to] = P(firstRow) + P(first+i)
				}
			}
			*to++
		}
	}
}

// What a word of a chain says of a tile besides its number of rows.
const (
	tileCounted = 1 << 30
	tilesSummed = 2 << 30
	countMask   = tileCounted - 1
)

// lookBack returns where the rows of each digit of a tile go, and takes part in the chain.
func lookBack[K word](args *RadixScatterArgsOf[[]byte], config *RadixScatterConfig, keys keyColumn[K], t tile,
	d digit) (to [maxDigits]uint32) {
	rows, offsets, chain, next := args.Rows, backend.Words(args.Offsets), backend.Words(args.Chain),
		backend.Words(args.NextOffsets)
	size, ahead := int(TileRows(config)), int(config.Ahead)
	own := digitHistogram(keys, t.first, t.end, d)
	state := uint32(tileCounted)
	if t.index == 0 {
		state = tilesSummed
	}
	for digit, n := range own {
		atomic.StoreUint32(&chain[(ahead+t.index)*maxDigits+digit], state|n)
	}
	var counted [maxDigits]uint32 // of tile stuck
	stuck := -1
	for digit := range own {
		var before uint32
		for other := t.index - 1; other >= 0; other-- {
			word := atomic.LoadUint32(&chain[(ahead+other)*maxDigits+digit])
			if word < tileCounted {
				if stuck != other {
					counted, stuck = digitHistogram(keys, other*size, (other+1)*size, d), other
				}
				word = tileCounted | counted[digit]
			}
			before += word & countMask
			if word >= tilesSummed {
				break
			}
		}
		atomic.StoreUint32(&chain[(ahead+t.index)*maxDigits+digit], tilesSummed|(before+own[digit]))
		to[digit] = offsets[digit] + before
		if t.end == int(rows) && next != nil {
			next[digit] = to[digit] + own[digit]
		}
	}
	return to
}

// starts holds for each digit the row of the stage where its rows begin, and the number of all rows behind them.
type starts [maxDigits + 1]uint32

// startsOfKeys counts keys, mixed where the digit wants that.
func startsOfKeys[K word](keys []K, d digit) (from starts) {
	var histogram [maxDigits]uint32
	countDigits(keys, d, &histogram)
	for digit, n := range histogram {
		from[digit+1] = from[digit] + n
	}
	return from
}

// startsOfOffsets saves counting: where offsets are the scan of the counts, the next offset tells the count of a digit
// in a tile of n rows. ok is false where they certainly are not; otherwise sort finds out.
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

// sort sorts rows by digit into the stage; an absent payload is numbered from number on where it is wanted at all. It
// reports whether from was right: then every digit's rows end where the next digit's begin.
func (s *stage[K, P]) sort(keys []K, payload []P, number uint32, withPayload bool, from *starts, d digit) bool {
	cursor := [maxDigits]uint32(from[:maxDigits])
	switch {
	case !withPayload:
		s.sortKeys(keys, &cursor, d.shift, d.mask)
	case payload == nil:
		s.sortNumbered(keys, P(number), &cursor, d.shift, d.mask)
	default:
		s.sortPairs(keys, payload, &cursor, d.shift, d.mask)
	}
	return cursor == [maxDigits]uint32(from[1:])
}

// The three kinds of sorting into a stage. cursor holds where the next row of each digit goes.

func (s *stage[K, P]) sortKeys(keys []K, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	for _, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows // less already where from is right; so the compiler knows it
		cursor[digit]++
		s.keys[to] = key
	}
}

func (s *stage[K, P]) sortNumbered(keys []K, number P, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	for _, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows
		cursor[digit]++
		s.keys[to], s.payload[to] = key, number
		number++
	}
}

func (s *stage[K, P]) sortPairs(keys []K, payload []P, cursor *[maxDigits]uint32, shift uint32, mask uint8) {
	payload = payload[:len(keys)]
	for i, key := range keys {
		digit := digitOf(key, shift, mask)
		to := cursor[digit] % stageRows
		cursor[digit]++
		s.keys[to], s.payload[to] = key, payload[i]
	}
}
