package planner

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// SampleChunks fills in all that facts say about two chunks that are on the device of a lane, and about the device, but
// for Granule, Window and HeldBytes. It gathers SampleRows and ScanRows keys at most on the device and reads these.
//
// Errors: backend.ErrInvalidInput for chunks that are not as they say; those of the device.
func SampleChunks(ctx context.Context, lane *exec.Lane, build, probe *relation.Chunk, f *operator.Facts) error {
	info := lane.Device().Info()
	f.Tuning, f.Software, f.SubgroupSize = lane.Tuning(), info.Type == backend.Software, int(info.SubgroupSize)
	f.KeyBytes = build.Keys.Bytes
	f.Narrow = build.Narrow && probe.Narrow && build.HighWord == probe.HighWord
	var keys [2][]uint64
	for side, c := range [2]*relation.Chunk{operator.Build: build, operator.Probe: probe} {
		if err := c.Check("plan join"); err != nil {
			return err
		}
		f.Rows[side], f.Payload[side] = c.Rows, nil
		for _, v := range c.Payload {
			f.Payload[side] = append(f.Payload[side], v.Bytes)
		}
		var err error
		rows := [2]uint64{operator.Build: ScanRows, operator.Probe: SampleRows}[side]
		if keys[side], err = sampleKeys(ctx, lane, c, rows); err != nil {
			return err
		}
	}
	Sample(f, keys[operator.Probe], keys[operator.Build])
	differ := uint64(0)
	for _, side := range keys {
		for _, key := range side {
			differ |= key ^ side[0]
		}
		if len(keys[0]) > 0 && len(side) > 0 {
			differ |= keys[0][0] ^ side[0]
		}
	}
	f.KeyBits = max(1, bits.Len64(differ))
	return nil
}

// sampleKeys reads rows keys of a chunk, or all of them.
func sampleKeys(ctx context.Context, lane *exec.Lane, c *relation.Chunk, rows uint64) ([]uint64, error) {
	if c.Rows == 0 {
		return nil, nil
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	from := c.Keys.Data
	if rows < c.Rows {
		numbers := make([]uint32, rows)
		for i := range numbers {
			numbers[i] = uint32(Position(uint64(i), rows, c.Rows))
		}
		ids, keys := temporary.New(rows*4, "sampled rows"), temporary.New(rows*uint64(c.Keys.Bytes), "sampled keys")
		if err := temporary.Err(); err != nil {
			return nil, err
		}
		if _, err := lane.Device().Upload(ctx, ids.All(), backend.AsBytes(numbers)); err != nil {
			return nil, err
		}
		list := lane.List("sample")
		if err := lane.Gather(list, c.Keys.Bytes, c.Keys.Data, ids.All(), keys.All(), uint32(rows)); err != nil {
			return nil, err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return nil, err
		}
		from = keys.All()
	}
	data := make([]byte, from.SizeBytes)
	if err := lane.Download(ctx, data, from); err != nil {
		return nil, err
	}
	if c.Keys.Bytes == 8 {
		return backend.Longs(data), nil
	}
	keys := make([]uint64, len(data)/4)
	for i, word := range backend.Words(data) {
		keys[i] = uint64(word)
	}
	return keys, nil
}
