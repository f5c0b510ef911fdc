package kernel

import (
	"math"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
)

// EncodeKeysArgs are the arguments of [EncodeKeys].
type EncodeKeysArgs = EncodeKeysArgsOf[backend.Range]

// EncodeKeysArgsOf are the same with buffers of type B.
type EncodeKeysArgsOf[B any] struct {
	Values     B `access:"read"`
	Validity   B `access:"read"` // absent if no value is NULL
	Codes      B `access:"readwrite"`
	Rows       uint32
	FirstValue uint32
	FirstValid uint32
	FirstCode  uint32
	Least      [2]uint32
	Null       [2]uint32
	Span       [2]uint32
	Shift      uint32
	Mark       uint32
	Merge      uint32
	KeyValues
}

// KeyValues describes the values of a key column: their width in Arrow's layout, 1, 8, 16, 32 or 64 bits, or 128 or 256
// bits, of which the lowest 64 count, and what the bits mean.
type KeyValues struct {
	ValueBits uint32
	Meaning   uint32
}

// What the bits of a value mean.
const (
	Unsigned   = iota // a number, of width 1 to 64
	Signed            // a number in two's complement, of width 8 to 256
	RankSingle        // a float of 16 or 32 bits, whose code is its [Rank32]
	RankDouble        // a float of 16, 32 or 64 bits, whose code is its [Rank64]
)

// EncodeKeysConfig configures [EncodeKeys].
type EncodeKeysConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
}

// EncodeKeys puts the codes of a key column into packed codes: codes[first_code+i] = (code of value first_value+i -
// least) << shift, or with merge=1 the old word OR that. If bit first_valid+i of validity is 0, the code of the value
// is null. Of the shifted code, the bits below mark count, and bit mark is set if the code exceeds least by more than
// span. mark is at most KeyBits; least, null and span are 64-bit numbers, low word first.
//
// A dispatch takes one column, so a column is read once, whenever it arrives. Width and meaning of the values are
// parameters, not constants: sixteen kinds of columns would need a pipeline each, and more instructions cost nothing,
// because the link is slower. Floats never pass through a floating-point register, where a device may flush subnormals
// or quiet a NaN.
var EncodeKeys = define[EncodeKeysArgs](entry[EncodeKeysArgsOf[[]byte], EncodeKeysConfig]{
	Name:     "encode_keys",
	Defaults: EncodeKeysConfig{Tile: Tile{256, 8}},
	Run: func(args *EncodeKeysArgsOf[[]byte], config *EncodeKeysConfig, group uint32) {
		if config.KeyBits == 64 {
			encodeKeys[uint64](args, config, group)
		} else {
			encodeKeys[uint32](args, config, group)
		}
	},
})

func encodeKeys[K word](args *EncodeKeysArgsOf[[]byte], config *EncodeKeysConfig, group uint32) {
	least, null, span, below := long(args.Least), long(args.Null), long(args.Span), K(1)<<args.Mark-1
	keys := view[K](args.Codes)[args.FirstCode:]
	for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
		var strip [1 << 10]uint64 // codes that stay in the first-level cache
		for first := t.first; first < t.end; first += len(strip) {
			codes := strip[:min(len(strip), t.end-first)]
			readCodes(codes, args.Values, int(args.FirstValue)+first, args.KeyValues)
			if len(args.Validity) > 0 {
				valid := backend.Words(args.Validity)
				for i := range codes {
					if at := int(args.FirstValid) + first + i; valid[at/32]>>(at%32)&1 == 0 {
						codes[i] = null
					}
				}
			}
			to := keys[first:][:len(codes)]
			if args.Merge == 0 {
				clear(to)
			}
			for i, code := range codes {
				_, outside := bits.Sub64(span, code-least, 0)
				to[i] |= K(code-least)<<args.Shift&below | K(outside)<<args.Mark
			}
		}
	}
}

func long(words [2]uint32) uint64 { return uint64(words[0]) | uint64(words[1])<<32 }

// readCodes reads the codes of values from number first on.
func readCodes(codes []uint64, values []byte, first int, of KeyValues) {
	switch of {
	case KeyValues{32, Signed}:
		readWords(codes, backend.Words(values)[first:], 1, func(v uint32) uint64 { return uint64(int32(v)) })
	case KeyValues{32, Unsigned}:
		readWords(codes, backend.Words(values)[first:], 1, func(v uint32) uint64 { return uint64(v) })
	case KeyValues{32, RankSingle}:
		readWords(codes, backend.Words(values)[first:], 1, func(v uint32) uint64 { return uint64(Rank32(v)) })
	case KeyValues{32, RankDouble}:
		readWords(codes, backend.Words(values)[first:], 1, func(v uint32) uint64 { return uint64(rankSingle(v)) })
	case KeyValues{64, RankDouble}:
		readWords(codes, backend.Longs(values)[first:], 1, func(v uint64) uint64 { return uint64(Rank64(v)) })
	default:
		if step := int(of.ValueBits / 64); step > 0 {
			readWords(codes, backend.Longs(values)[first*step:], step, func(v uint64) uint64 { return v })
			return
		}
		words, mask := backend.Words(values), uint32(1)<<of.ValueBits-1
		for i := range codes {
			at := uint64(first+i) * uint64(of.ValueBits)
			codes[i] = narrowCode(words[at/32]>>(at%32)&mask, of)
		}
	}
}

// readWords reads the first of every step words.
func readWords[W word](codes []uint64, words []W, step int, code func(W) uint64) {
	for i := range codes {
		codes[i] = code(words[i*step])
	}
}

func narrowCode(v uint32, of KeyValues) uint64 {
	switch of.Meaning {
	case Signed:
		return uint64(int64(v) << (64 - of.ValueBits) >> (64 - of.ValueBits))
	case RankSingle:
		return uint64(Rank32(WidenHalf(uint16(v))))
	case RankDouble:
		return uint64(rankSingle(WidenHalf(uint16(v))))
	}
	return uint64(v)
}

// rankSingle is the rank of a float32 as a float64.
func rankSingle(v uint32) int64 { return Rank64(math.Float64bits(float64(math.Float32frombits(v)))) }
