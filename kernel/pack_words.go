package kernel

import "github.com/spirjoin/spirjoin/backend"

// PackWordsArgs are the arguments of [PackWords].
type PackWordsArgs = PackWordsArgsOf[backend.Range]

// PackWordsArgsOf are the same with buffers of type B.
type PackWordsArgsOf[B any] struct {
	Sources B `access:"read"`
	Origins B `access:"read"`
	Words   B `access:"write"`
	Rows    uint32
	Fields
}

// PackWordsConfig configures [PackWords].
type PackWordsConfig struct {
	Tile
}

// PackWords packs narrow columns in Arrow's layout into words: words[i] holds value i of each, in its field; bits above
// the fields are 0. Field f begins in word origins[f].x of sources at bit origins[f].y, which is less than 32 and a
// multiple of the bits of the field.
var PackWords = define[PackWordsArgs](entry[PackWordsArgsOf[[]byte], PackWordsConfig]{
	Name:     "pack_words",
	Defaults: PackWordsConfig{Tile: Tile{256, 8}},
	Run: func(args *PackWordsArgsOf[[]byte], config *PackWordsConfig, group uint32) {
		const strip = 1 << 11 // rows that stay in the first-level cache while field after field is added
		rows, words := args.Rows, backend.Words(args.Words)
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			for first := t.first; first < t.end; first += strip {
				part := words[first:min(first+strip, t.end)]
				clear(part)
				for i, field := range args.Fields.Of() {
					origin := backend.Words(args.Origins)[2*i:]
					packField(part, backend.Words(args.Sources)[origin[0]:], field, origin[1], uint64(first))
				}
			}
		}
	},
})

// packField adds the field of the rows from first on. The field of row 0 begins at bit offset of source.
func packField(words, source []uint32, field Field, offset uint32, first uint64) {
	bit, mask := uint64(offset)+first*uint64(field.Bits), uint32(1)<<field.Bits-1
	source, bit = source[bit/32:], bit%32
	for len(words) > 0 {
		n := min(len(words), int((32-bit)/uint64(field.Bits)))
		held := source[0] >> bit
		for i := range words[:n] {
			words[i] |= held & mask << (field.Place & 31)
			held >>= field.Bits & 31
		}
		words, source, bit = words[n:], source[1:], 0
	}
}
