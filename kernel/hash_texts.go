package kernel

import "github.com/spirjoin/spirjoin/backend"

// HashTextsArgs are the arguments of [HashTexts].
type HashTextsArgs = HashTextsArgsOf[backend.Range]

// HashTextsArgsOf are the same with buffers of type B.
type HashTextsArgsOf[B any] struct {
	Texts  B `access:"read"`
	Starts B `access:"read"`
	States B `access:"readwrite"`
	Hashes B `access:"readwrite"`
	Rows   uint32
	Width  uint32
	Begin  uint32
	Coded  uint32
	Folded uint32
	Kept   [2]uint32
}

// HashTextsConfig configures [HashTexts].
type HashTextsConfig struct {
	Tile
	Piece uint32
}

// TextPadding is the number of bytes after the last text that kernels may read; their values do not matter. A block of
// 16 bytes that is not aligned to a word is assembled from five words, the last of which may lie after the end of the
// text.
const TextPadding = 20

// TextPiece is the number of bytes of a text that one dispatch of a kernel processes, unless its configuration says
// otherwise.
const TextPiece = 1 << 13

// MaxTextItems is the maximum of items in kernels that read texts: with this many texts of a piece an invocation stays
// below the 65,535 iterations after which lavapipe ends all its loops.
const MaxTextItems = 64

// HashTexts hashes texts, as [HashText] does. A dispatch processes piece bytes of each text from byte begin on, a
// multiple of 16; the states of longer texts are kept in states for the next dispatch, in which begin is increased by
// piece. Text i is bytes starts[i] to starts[i+1] of texts or, if starts is absent, the width bytes from width*i on;
// [TextPadding] bytes follow the last one. states may be absent if no text is longer than piece.
//
// With coded=1 the first 8 bytes of a text are used as its hash. With folded=1 hashes holds the hashes of the preceding
// columns, into which this one is folded ([FoldColumn]). kept, a low and a high word, are the bits of hashes that are
// not cleared.
var HashTexts = define[HashTextsArgs](entry[HashTextsArgsOf[[]byte], HashTextsConfig]{
	Name:     "hash_texts",
	Defaults: HashTextsConfig{Tile: Tile{256, 4}, Piece: TextPiece},
	Run: func(args *HashTextsArgsOf[[]byte], config *HashTextsConfig, group uint32) {
		texts := textColumn{args.Texts, backend.Words(args.Starts), uint64(args.Width)}
		states, hashes := view[uint64](args.States), view[uint64](args.Hashes)
		begin, end := uint64(args.Begin), uint64(args.Begin)+uint64(config.Piece)
		kept := uint64(args.Kept[1])<<32 | uint64(args.Kept[0])
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for row := t.first; row < t.end; row++ {
				text := texts.text(uint32(row))
				size := uint64(len(text))
				if begin > 0 && size <= begin {
					continue
				}
				hash := uint64(textSeed)
				if begin > 0 {
					hash = states[row]
				}
				if hash = hashPiece(hash, text[begin:min(size, end)]); size > end {
					states[row] = hash
					continue
				}
				if hash = hashEnd(hash, size); args.Coded == 1 {
					hash = view[uint64](text)[0]
				}
				if args.Folded == 1 {
					hash = FoldColumn(hashes[row], hash)
				}
				hashes[row] = hash & kept
			}
		}
	},
})

// textColumn is a column of texts, by where they start or of one width.
type textColumn struct {
	bytes  []byte
	starts []uint32
	width  uint64
}

func (c *textColumn) text(row uint32) []byte {
	if c.starts == nil {
		return c.bytes[uint64(row)*c.width:][:c.width]
	}
	return c.bytes[c.starts[row]:c.starts[row+1]]
}
