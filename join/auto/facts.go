package auto

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/join/resident"
)

// Facts samples the keys of both sides and fills in what a plan depends on. It gathers plan.SampleRows and
// plan.ScanRows keys at most on the device and reads these.
func Facts(ctx context.Context, lane *exec.Lane, left, right resident.Relation) (f plan.Facts, err error) {
	sides := [2]resident.Relation{left, right}
	f = plan.Facts{Rows: [2]uint64{left.Rows, right.Rows}, KeyBytes: left.Keys.Bytes}
	for side, r := range sides {
		if err := r.Check("plan join"); err != nil {
			return f, err
		}
		for _, c := range r.Payload {
			f.Payload[side] = append(f.Payload[side], c.Bytes)
		}
	}
	build := f.Build()
	probeKeys, err := sample(ctx, lane, sides[1-build], plan.SampleRows, 1)
	if err != nil {
		return f, err
	}
	buildKeys, err := sample(ctx, lane, sides[build], plan.ScanRows, 64)
	if err != nil {
		return f, err
	}
	f.Sample(probeKeys, buildKeys)
	differ := uint64(0)
	for _, keys := range [][]uint64{probeKeys, buildKeys} {
		for _, key := range keys {
			differ |= key ^ probeKeys[0]
		}
	}
	f.KeyBits = max(1, bits.Len64(differ))
	return f, nil
}

// sample reads about rows keys, in runs of neighbours that are spread evenly.
func sample(ctx context.Context, lane *exec.Lane, r resident.Relation, rows, run uint64) ([]uint64, error) {
	if r.Rows == 0 {
		return nil, nil
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	from := r.Keys.Data
	if rows < r.Rows {
		numbers := make([]uint32, rows)
		for i := range numbers {
			at := uint64(i) / run * run
			numbers[i] = uint32(min(at*r.Rows/rows+uint64(i)%run, r.Rows-1))
		}
		ids, keys := temporary.New(rows*4, "sampled rows"), temporary.New(rows*uint64(r.Keys.Bytes), "sampled keys")
		if err := temporary.Err(); err != nil {
			return nil, err
		}
		if _, err := lane.Device().Upload(ctx, ids.All(), backend.AsBytes(numbers)); err != nil {
			return nil, err
		}
		list := lane.List("sample")
		if err := lane.Gather(list, r.Keys.Bytes, r.Keys.Data, ids.All(), keys.All(), uint32(rows)); err != nil {
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
	if r.Keys.Bytes == 8 {
		return backend.Longs(data), nil
	}
	keys := make([]uint64, len(data)/4)
	for i, word := range backend.Words(data) {
		keys[i] = uint64(word)
	}
	return keys, nil
}
