package relation

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
)

// Load encodes the keys of a side straight into the memory of a device: keys receives Rows(side) codes of KeyBytes, and
// ids, where HasNulls(side) and not absent, as many row numbers. When it returns every copy has been submitted; commands
// submitted later see the keys.
func (p *KeyPlan) Load(ctx context.Context, device *backend.Device, side Side, keys, ids backend.Range) error {
	rows := p.Rows(side)
	if rows == 0 {
		return nil
	}
	if mapped := keys.Buffer.Bytes(); mapped != nil {
		for _, r := range []backend.Range{keys, ids} {
			if r.Buffer == nil {
				continue
			}
			if err := device.WaitBuffer(ctx, r.Buffer); err != nil {
				return err
			}
		}
		rowIDs := make([]uint32, 0)
		if ids.Buffer != nil {
			rowIDs = backend.Words(ids.Buffer.Bytes()[ids.OffsetBytes:])
		} else if p.HasNulls(side) {
			rowIDs = make([]uint32, rows)
		}
		return p.Encode(ctx, side, mapped[keys.OffsetBytes:], rowIDs)
	}
	return p.stage(ctx, device, side, keys, ids)
}
