package kernel

import (
	"bytes"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// CompareTextsArgs are the arguments of [CompareTexts].
type CompareTextsArgs = CompareTextsArgsOf[backend.Range]

// CompareTextsArgsOf are the same with buffers of type B.
type CompareTextsArgsOf[B any] struct {
	LeftTexts   B `access:"read"`
	LeftStarts  B `access:"read"`
	LeftIDs     B `access:"read"`
	RightTexts  B `access:"read"`
	RightStarts B `access:"read"`
	RightIDs    B `access:"read"`
	Keep        B `access:"accumulate"`
	Rows        uint32
	LeftWidth   uint32
	LeftFirst   uint32
	RightWidth  uint32
	RightFirst  uint32
	Begin       uint32
}

// CompareTextsConfig configures [CompareTexts].
type CompareTextsConfig struct {
	Tile
	Piece uint32
}

// CompareTexts compares pairs of texts of two columns, as [HashTexts] takes them: it clears bit i%32 of word i/32 of
// keep where text left_ids[i]-left_first of the left column and text right_ids[i]-right_first of the right one differ in
// size, or in the piece bytes from byte begin on. Other bits stay, so that dispatches for piece after piece and column
// after column leave those of the pairs that are equal in all.
var CompareTexts = define[CompareTextsArgs](entry[CompareTextsArgsOf[[]byte], CompareTextsConfig]{
	Name:     "compare_texts",
	Defaults: CompareTextsConfig{Tile: Tile{256, 4}, Piece: TextPiece},
	Run: func(args *CompareTextsArgsOf[[]byte], config *CompareTextsConfig, group uint32) {
		left := textColumn{args.LeftTexts, backend.Words(args.LeftStarts), uint64(args.LeftWidth)}
		right := textColumn{args.RightTexts, backend.Words(args.RightStarts), uint64(args.RightWidth)}
		leftIDs, rightIDs, keep := backend.Words(args.LeftIDs), backend.Words(args.RightIDs), backend.Words(args.Keep)
		for t := range tiles(config, group, Tiles(config, uint64(args.Rows)), args.Rows) {
			for i := t.first; i < t.end; i++ {
				a, b := left.text(leftIDs[i]-args.LeftFirst), right.text(rightIDs[i]-args.RightFirst)
				begin := min(len(a), int(args.Begin))
				end := min(len(a), begin+int(config.Piece))
				if len(a) != len(b) || !bytes.Equal(a[begin:end], b[begin:end]) {
					atomic.AndUint32(&keep[i/32], ^(uint32(1) << (i % 32)))
				}
			}
		}
	},
})
