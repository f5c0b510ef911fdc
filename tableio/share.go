package tableio

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/tableio/core"
)

// Share leaves the part of one of several processes, numbered from 0, that read the same files: row groups of Parquet,
// record batches of Arrow files, blocks of CSV whose types are inferred, and other files whole. The parts have about
// equally many bytes, are disjoint, and follow one another in the order of rows; some may be empty. Rows and bounds are
// then those of the part, types those of all files. It must come before the first read, and once.
//
// Errors: a pipe cannot be shared.
func (r *Reader) Share(rank, of int) error {
	src, ok := r.src.(core.Divisible)
	switch {
	case rank < 0 || rank >= of:
		return fail(ErrInput, "share", r.path, fmt.Errorf("there is no part %d of %d", rank, of))
	case !ok || r.in != nil && !r.in.Regular():
		return fail(ErrInput, "share", r.path, errors.New("a pipe cannot be read in parts; name a file"))
	}
	src.Take(share(src.Pieces(), rank, of))
	return nil
}

// share returns the pieces of a rank: those that begin in its part of all bytes.
func share(pieces []core.Piece, rank, of int) (from, to int) {
	total, before := uint64(0), uint64(0)
	for _, piece := range pieces {
		total += uint64(max(1, piece.Bytes))
	}
	for _, piece := range pieces {
		high, low := bits.Mul64(before, uint64(of))
		owner, _ := bits.Div64(high, low, total)
		if owner < uint64(rank) {
			from++
		}
		if owner <= uint64(rank) {
			to++
		}
		before += uint64(max(1, piece.Bytes))
	}
	return from, to
}
