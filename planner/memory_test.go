package planner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// discard is a sink that releases what it is given.
type discard struct {
	operator.Counter
	lane *exec.Lane
	most uint64 // rows of a window; 0: as many as are asked for
}

func (s *discard) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if s.most > 0 {
		rows = min(rows, s.most)
	}
	return operator.NewWindow(ctx, s.lane, rows), nil
}

func (s *discard) Put(_ context.Context, w *operator.Window) error {
	w.Release()
	return nil
}

// TestMemory joins with a cap of device memory: what a plan says is enough, and much less than it says is not.
func TestMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const build, probe = 1 << 17, 1<<18 + 1000
	keys := [2][]uint32{make([]uint32, build), make([]uint32, probe)}
	for i, at := range random.Perm(build) {
		keys[operator.Build][i] = uint32(at) * 3
	}
	for i := range keys[operator.Probe] {
		keys[operator.Probe][i] = random.Uint32N(build*3/2) * 2 // a third of them match
	}
	base := operator.Facts{Rows: [2]uint64{build, probe}, KeyBytes: 4, KeyBits: 19, MatchRatio: 1. / 3, BuildRatio: 0.43,
		OutputRows: probe / 3, Unique: true, Distinct: 1, Loaded: true}
	for name, want := range map[string]operator.Want{
		"inner": {Pairs: true, Keys: true}, "full": {Pairs: true, Rest: [2]bool{true, true}},
		"semi": {Matched: [2]bool{operator.Probe: true}}, "anti": {Rest: [2]bool{operator.Build: true}},
		"count": {Pairs: true, Count: true},
	} {
		for _, payload := range [][2][]int{{{4, 4}, {4, 4}}, {{8, 4, 4, 4, 4}, {8, 8, 4}}} {
			for _, divided := range [][2]uint64{{0, 0}, {0, 1 << 15}, {1 << 16, 0}, {1 << 16, 1 << 14}} {
				f := base
				f.Payload, f.Granule, f.Window = payload, divided[0], divided[1]
				for _, a := range algorithms {
					describe := fmt.Sprintf("%s of %v by %s, granule %d, window %d", name, payload, a.Name(), f.Granule,
						f.Window)
					p, err := runWithin(t, a, f, want, keys, 1)
					require.NoError(t, err, "%s: %d bytes", describe, p.PeakBytes)
					_, err = runWithin(t, a, f, want, keys, 0.6)
					require.ErrorIs(t, err, backend.ErrDeviceMemory, "%s: %d bytes", describe, p.PeakBytes)
				}
			}
		}
	}
}

// runWithin joins by an algorithm with a share of the memory that its plan says.
func runWithin(t *testing.T, a operator.Algorithm, f operator.Facts, want operator.Want, keys [2][]uint32,
	share float64) (*operator.Plan, error) {
	t.Helper()
	ctx := context.Background()
	info := &backend.DeviceInfo{Backend: "host", Type: backend.Host}
	tuning, err := primitive.TuningFor(info)
	require.NoError(t, err)
	f.Tuning = tuning
	p, err := a.Plan(&f, want)
	require.NoError(t, err)
	require.NoError(t, p.Reject)
	b := host.New(host.Options{})
	driver, err := b.Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: uint64(share * float64(p.PeakBytes))})
	defer func() {
		require.NoError(t, device.Close())
		require.NoError(t, b.Close())
	}()
	ops, err := primitive.New(device, tuning)
	require.NoError(t, err)
	lane := exec.NewLane(ctx, ops, nil)
	defer lane.Memory.ReleaseAll()
	chunk := func(memory *exec.Scope, side int, first, rows uint64) (*relation.Chunk, error) {
		c := &relation.Chunk{Rows: rows}
		column := func(bytes int) relation.Values {
			return relation.Values{Data: memory.New(rows*uint64(bytes), "column").All(), Bytes: bytes}
		}
		c.Keys = column(4)
		for _, bytes := range f.Payload[side] {
			c.Payload = append(c.Payload, column(bytes))
		}
		if memory.Err() != nil {
			return nil, memory.Err()
		}
		_, err := device.Upload(ctx, c.Keys.Data, backend.AsBytes(keys[side][first:first+rows]))
		return c, err
	}
	sink := &discard{lane: lane, most: f.Window}
	o := a.Open(ctx, lane, p)
	defer o.Close()
	build, err := chunk(lane.Memory, operator.Build, 0, f.Rows[operator.Build])
	if err == nil {
		err = o.Build(ctx, build)
	}
	granule := f.Granule
	if granule == 0 {
		granule = f.Rows[operator.Probe]
	}
	for first := uint64(0); first < f.Rows[operator.Probe] && err == nil; first += granule {
		memory := lane.Scope(ctx)
		var probe *relation.Chunk
		if probe, err = chunk(memory, operator.Probe, first, min(granule, f.Rows[operator.Probe]-first)); err == nil {
			err = o.Probe(ctx, lane, probe, sink)
		}
		memory.ReleaseAll()
	}
	if err == nil {
		err = o.Finish(ctx, sink)
	}
	return p, err
}
