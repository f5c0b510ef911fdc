package joins

import (
	"context"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/relation"
)

// Sample fills in the facts about two chunks on the device of a lane, and about the device, except Granule,
// Window and HeldBytes. It gathers about [planner.SampleRows] and
// [planner.ScanRows] keys on the device and downloads these.
//
// Errors: backend.ErrInvalidInput for inconsistent chunks; device errors.
func Sample(ctx context.Context, lane *exec.Lane, build, probe *relation.Chunk, f *operator.Facts) error {
	f.On(lane.Device())
	f.Tuning = lane.Tuning()
	f.KeyBytes = build.Keys.Bytes
	f.Narrow = build.Narrow && probe.Narrow && build.HighWord == probe.HighWord
	var keys [2][][]uint64
	for side, c := range [2]*relation.Chunk{operator.Build: build, operator.Probe: probe} {
		if err := c.Check("plan join"); err != nil {
			return err
		}
		f.Rows[side], f.Payload[side] = c.Rows, nil
		for _, v := range c.Payload {
			f.Payload[side] = append(f.Payload[side], v.Bytes)
		}
		var err error
		rows, block := [2]uint64{planner.ScanRows(c.Rows), planner.SampleRows}[side], [2]uint64{planner.BlockRows, 1}[side]
		if keys[side], err = sampleKeys(ctx, lane, c, rows, block); err != nil {
			return err
		}
	}
	planner.Sample(f, keys[operator.Probe], keys[operator.Build])
	all := slices.Concat(append(keys[0], keys[1]...)...)
	differ := uint64(0)
	for _, key := range all {
		differ |= key ^ all[0]
	}
	f.KeyBits = max(1, bits.Len64(differ))
	return nil
}

// sampleKeys reads about rows keys of a chunk, or all of them, by the blocks that are drawn.
func sampleKeys(ctx context.Context, lane *exec.Lane, c *relation.Chunk, rows, block uint64) ([][]uint64, error) {
	if c.Rows == 0 {
		return nil, nil
	}
	var numbers []uint32
	var ends []int
	for from, to := range relation.Blocks(c.Rows, rows, block) {
		for row := from; row < to; row++ {
			numbers = append(numbers, uint32(row))
		}
		ends = append(ends, len(numbers))
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	from := c.Keys.Data
	if some := uint64(len(numbers)); some < c.Rows {
		ids, keys := temporary.New(some*4, "sampled rows"), temporary.New(some*uint64(c.Keys.Bytes), "sampled keys")
		if err := temporary.Err(); err != nil {
			return nil, err
		}
		if _, err := lane.Device().Upload(ctx, ids.All(), backend.AsBytes(numbers)); err != nil {
			return nil, err
		}
		list := lane.List("sample")
		if err := lane.Gather(list, c.Keys.Bytes, c.Keys.Data, ids.All(), keys.All(), uint32(some)); err != nil {
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
	keys := make([]uint64, len(numbers))
	if c.Keys.Bytes == 8 {
		copy(keys, backend.Longs(data))
	} else {
		for i, word := range backend.Words(data) {
			keys[i] = uint64(word)
		}
	}
	sample, first := make([][]uint64, len(ends)), 0
	for i, end := range ends {
		sample[i], first = keys[first:end], end
	}
	return sample, nil
}
