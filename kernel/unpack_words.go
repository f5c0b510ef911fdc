package kernel

import (
	"math/bits"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// UnpackWordsArgs are the arguments of [UnpackWords].
type UnpackWordsArgs = UnpackWordsArgsOf[backend.Range]

// UnpackWordsArgsOf are the same with buffers of type B.
type UnpackWordsArgsOf[B any] struct {
	Words    B `access:"read"`
	Unpacked B `access:"write"`
	Counts   B `access:"accumulate"`
	Rows     uint32
	First    uint32
	Fields
}

// UnpackWordsConfig configures [UnpackWords].
type UnpackWordsConfig struct {
	Tile
}

// UnpackWords is the inverse of [PackWords]: from word number first on it writes columns in Arrow's layout, one after
// the other, each of [Field.ColumnWords]. In the last word of a column that has rows, the remaining bits are 0; what
// follows it is not written. The number of rows in which single-bit field b is set is added to counts[b].
// workgroup*items is a multiple of 32, so that no two workgroups share a word.
var UnpackWords = define[UnpackWordsArgs](entry[UnpackWordsArgsOf[[]byte], UnpackWordsConfig]{
	Name:     "unpack_words",
	Defaults: UnpackWordsConfig{Tile: Tile{256, 16}},
	Run: func(args *UnpackWordsArgsOf[[]byte], config *UnpackWordsConfig, group uint32) {
		const strip = 1 << 11 // rows that stay in the first-level cache while field after field is taken
		rows, counts := args.Rows, backend.Words(args.Counts)
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			var set [MaxFields]uint32
			for first := t.first; first < t.end; first += strip {
				words := backend.Words(args.Words)[int(args.First)+first:][:min(strip, t.end-first)]
				column := uint64(0)
				for i, field := range args.Fields.Of() {
					to := backend.Words(args.Unpacked)[column+uint64(first)*uint64(field.Bits)/32:]
					set[i] += unpackField(to, words, field)
					column += field.ColumnWords(rows)
				}
			}
			for b := range args.Bits {
				atomic.AddUint32(&counts[b], set[args.Shorts+args.Bytes+b])
			}
		}
	},
})

// unpackField takes a field of words and returns how many bits of it are set.
func unpackField(to, words []uint32, field Field) (set uint32) {
	perWord, mask := int(32/field.Bits), uint32(1)<<field.Bits-1
	for len(words) > 0 {
		n, held := min(len(words), perWord), uint32(0)
		for i, word := range words[:n] {
			held |= word >> (field.Place & 31) & mask << (uint32(i) * field.Bits & 31)
		}
		to[0] = held
		set += uint32(bits.OnesCount32(held))
		to, words = to[1:], words[n:]
	}
	return set
}
