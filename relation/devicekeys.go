package relation

import (
	"context"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// Load encodes the keys of a side straight into memory that a device reads: keys receives Rows(side) codes of KeyBytes,
// and ids, where LeavesOut(side) and not absent, as many row numbers. When it returns every copy has been submitted;
// commands submitted later see the keys.
func (p *KeyPlan) Load(ctx context.Context, device *backend.Device, side Side, keys, ids backend.Range) error {
	if !p.LeavesOut(side) {
		ids = backend.Range{}
	}
	_, err := p.LoadRows(ctx, device, side, 0, p.sides[side].rows, keys, ids)
	return err
}

// LoadRows is Load for the rows [from, to) of the table: keys receives the codes of those that have one, RowsIn of
// them, and ids, unless absent, their row numbers in the table, also where no row is left out. The offset of keys is a
// multiple of KeyBytes, that of ids of 4. It returns how many codes it wrote.
//
// Errors wrap backend.ErrInvalidInput (rows that the table does not have, ranges that are too small), those of the
// device, backend.ErrCancelled or backend.ErrTimedOut.
func (p *KeyPlan) LoadRows(
	ctx context.Context, device *backend.Device, side Side, from, to int, keys, ids backend.Range,
) (rows uint64, err error) {
	if err := p.checkRange(side, from, to); err != nil {
		return 0, err
	}
	rows = p.RowsIn(side, from, to)
	if keys.SizeBytes < rows*uint64(p.KeyBytes()) || ids.Buffer != nil && ids.SizeBytes < rows*4 {
		return 0, fmt.Errorf("%w: %d rows with keys of %d bytes do not fit %d bytes of keys and %d of row numbers",
			backend.ErrInvalidInput, rows, p.KeyBytes(), keys.SizeBytes, ids.SizeBytes)
	}
	if rows == 0 {
		return 0, nil
	}
	if keys.Buffer.Bytes() == nil {
		return rows, p.stage(ctx, device, side, from, to, keys, ids)
	}
	for _, r := range []backend.Range{keys, ids} {
		if r.Buffer != nil {
			if err := device.WaitBuffer(ctx, r.Buffer); err != nil {
				return 0, err
			}
		}
	}
	return rows, p.encodeRows(ctx, side, from, to, mapped(keys), backend.Words(mapped(ids)))
}

// mapped is a range in memory that the host sees; nil of an absent one.
func mapped(r backend.Range) []byte {
	if r.Buffer == nil {
		return nil
	}
	return r.Buffer.Bytes()[r.OffsetBytes:][:r.SizeBytes]
}

// stageRows is how many rows are encoded into a staging buffer at a time; there are two sets of buffers, so that
// encoding overlaps the copy of the chunk before.
const stageRows = 16 * blockRows

// stage encodes chunks of rows into mapped buffers and has the device copy them to where they belong.
func (p *KeyPlan) stage(
	ctx context.Context, device *backend.Device, side Side, from, end int, keys, ids backend.Range,
) error {
	type slot struct {
		keys, ids *backend.Buffer
		point     backend.Point
	}
	var slots [2]slot
	defer func() {
		for i := range slots {
			slots[i].keys.Release()
			slots[i].ids.Release()
		}
	}()
	keyBytes, chunkRows := uint64(p.KeyBytes()), min(stageRows, end-from)
	at := uint64(0) // rows that are on their way
	for i := 0; from < end; from, i = from+chunkRows, 1-i {
		to := min(from+chunkRows, end)
		s := &slots[i]
		if s.keys == nil {
			var err error
			if s.keys, err = device.Allocate(ctx, backend.HostVisible, uint64(chunkRows)*keyBytes,
				"staged keys"); err != nil {
				return err
			}
			if ids.Buffer != nil {
				if s.ids, err = device.Allocate(ctx, backend.HostVisible, uint64(chunkRows)*4,
					"staged row numbers"); err != nil {
					return err
				}
			}
		}
		if err := s.point.Wait(ctx); err != nil {
			return err
		}
		if err := p.encodeRows(ctx, side, from, to, s.keys.Bytes(),
			backend.Words(mapped(s.ids.All()))); err != nil {
			return err
		}
		n := p.RowsIn(side, from, to)
		var list backend.List
		list.Copy(keys.Part(at*keyBytes, n*keyBytes), s.keys.Range(0, n*keyBytes))
		if s.ids != nil {
			list.Copy(ids.Part(at*4, n*4), s.ids.Range(0, n*4))
		}
		var err error
		if s.point, err = device.Submit(ctx, backend.Upload, &list); err != nil {
			return err
		}
		at += n
	}
	return nil
}
