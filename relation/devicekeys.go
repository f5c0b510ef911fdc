package relation

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
)

// Load encodes the keys of a side straight into memory that a device reads: keys receives Rows(side) codes of KeyBytes,
// and ids, where HasNulls(side) and not absent, as many row numbers. Both are whole buffers. When it returns every copy
// has been submitted; commands submitted later see the keys.
func (p *KeyPlan) Load(ctx context.Context, device *backend.Device, side Side, keys, ids backend.Range) error {
	if p.Rows(side) == 0 {
		return nil
	}
	if keys.Buffer.Bytes() == nil {
		return p.stage(ctx, device, side, keys, ids)
	}
	for _, r := range []backend.Range{keys, ids} {
		if r.Buffer != nil {
			if err := device.WaitBuffer(ctx, r.Buffer); err != nil {
				return err
			}
		}
	}
	return p.Encode(ctx, side, keys.Buffer.Bytes(), p.rowIDs(side, ids.Buffer, p.Rows(side)))
}

// rowIDs is where Encode puts row numbers: the mapped buffer, or memory that nobody reads where none is asked for.
func (p *KeyPlan) rowIDs(side Side, ids *backend.Buffer, rows uint64) []uint32 {
	switch {
	case ids != nil:
		return backend.Words(ids.Bytes())
	case p.HasNulls(side):
		return make([]uint32, rows)
	}
	return nil
}

// stageRows is how many rows are encoded into a staging buffer at a time; there are two sets of buffers, so that
// encoding overlaps the copy of the chunk before.
const stageRows = 16 * blockRows

// stage encodes chunks of rows into mapped buffers and has the device copy them to where they belong.
func (p *KeyPlan) stage(ctx context.Context, device *backend.Device, side Side, keys, ids backend.Range) error {
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
	rows, keyBytes, selected := p.sides[side].rows, uint64(p.KeyBytes()), p.sides[side].selected
	chunkRows := min(stageRows, rows)
	at := uint64(0) // rows that are on their way
	for from, i := 0, 0; from < rows; from, i = from+chunkRows, 1-i {
		to := min(from+chunkRows, rows)
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
			p.rowIDs(side, s.ids, uint64(to-from))); err != nil {
			return err
		}
		n := uint64(to - from)
		if selected != nil {
			n = selected.before[(to+blockRows-1)/blockRows] - selected.before[from/blockRows]
		}
		var list backend.List
		list.Copy(keys.Buffer.Range(at*keyBytes, n*keyBytes), s.keys.Range(0, n*keyBytes))
		if s.ids != nil {
			list.Copy(ids.Buffer.Range(at*4, n*4), s.ids.Range(0, n*4))
		}
		var err error
		if s.point, err = device.Submit(ctx, backend.Upload, &list); err != nil {
			return err
		}
		at += n
	}
	return nil
}
