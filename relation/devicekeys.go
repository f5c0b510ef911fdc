package relation

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// LoadRows begins to encode the keys of the rows [from, to) of a side into device memory. keys receives the codes of
// those rows that have one, RowsIn of them; its offset must be a multiple of KeyBytes. The caller must call wait. When
// that returns, all copies have been submitted; commands submitted later see the keys.
//
// Errors of wait wrap backend.ErrInvalidInput (rows that the table does not have, a range that is too small), those of
// the device, backend.ErrCancelled or backend.ErrTimedOut.
func (p *KeyPlan) LoadRows(
	ctx context.Context, device *backend.Device, side Side, from, to int, keys backend.Range,
) (wait func() error) {
	ended := func(err error) func() error { return func() error { return err } }
	if err := p.checkRange(side, from, to); err != nil {
		return ended(err)
	}
	rows := p.RowsIn(side, from, to)
	keyBytes := uint64(p.KeyBytes())
	if keys.SizeBytes < rows*keyBytes {
		return ended(fmt.Errorf("%w: %d rows with keys of %d bytes do not fit %d bytes", backend.ErrInvalidInput, rows,
			keyBytes, keys.SizeBytes))
	}
	if rows == 0 {
		return ended(nil)
	}
	if mapped := keys.Buffer.Bytes(); mapped != nil {
		err := device.WaitBuffer(ctx, keys.Buffer)
		if err == nil {
			err = p.encodeRows(ctx, side, from, to, mapped[keys.OffsetBytes:][:keys.SizeBytes], nil)
		}
		return ended(err)
	}
	pieceRows := backend.PieceBytes(uint64(to-from)*keyBytes) / p.KeyBytes()
	codes, pieces := keys.Part(0, rows*keyBytes), (to-from+pieceRows-1)/pieceRows
	submitted := device.UploadStaged(ctx, codes, pieces, func(i int, staged []byte) (backend.Range, error) {
		first := from + i*pieceRows
		end := min(first+pieceRows, to)
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		p.encodeBlock(s, side, first, end, staged, nil)
		return codes.Part(p.RowsIn(side, from, first)*keyBytes, p.RowsIn(side, first, end)*keyBytes), nil
	})
	return func() error {
		_, err := submitted()
		return err
	}
}
