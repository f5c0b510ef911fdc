package planner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// discard is a sink that releases what it is given.
type discard struct {
	operator.Counter
	lane *exec.Lane
	most uint64 // rows of a window
}

func (s *discard) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	return operator.NewWindow(ctx, s.lane, min(rows, s.most)), nil
}

func (s *discard) Put(_ context.Context, w *operator.Window) error {
	w.Release()
	return nil
}

// TestMemory joins with a cap of device memory: what a plan says is enough, and much less than it says is not.
func TestMemory(t *testing.T) {
	devicetest.HostTest(t)
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
			for _, divided := range devicetest.Short([][2]uint64{{0, 0}, {1 << 16, 1 << 14}},
				[][2]uint64{{0, 0}, {0, 1 << 15}, {1 << 16, 0}, {1 << 16, 1 << 14}}) {
				f := base
				f.Payload, f.Granule, f.Window = payload, divided[0], divided[1]
				for _, a := range algorithms {
					describe := fmt.Sprintf("%s of %v by %s, granule %d, window %d", name, payload, a.Name(), f.Granule,
						f.Window)
					p, err := runWithin(t, nil, a, f, want, keys, 1)
					require.NoError(t, err, "%s: %d bytes", describe, p.PeakBytes)
					_, err = runWithin(t, nil, a, f, want, keys, 0.6)
					require.ErrorIs(t, err, backend.ErrDeviceMemory, "%s: %d bytes", describe, p.PeakBytes)
				}
			}
		}
	}
}

// TestMemoryOfUnits joins keys of many rows on both sides by units of few rows: a plan accounts for all of their units.
func TestMemoryOfUnits(t *testing.T) {
	devicetest.HostTest(t)
	const build, probe = 1086, 2250
	for name, want := range map[string]operator.Want{
		"inner": {Pairs: true}, "full": {Pairs: true, Keys: true, Rest: [2]bool{true, true}},
		"semi": {Matched: [2]bool{operator.Probe: true}}, "count": {Pairs: true, Count: true},
	} {
		for _, repeats := range []uint32{1, 7, 200, probe} { // rows of a key
			var keys [2][]uint32
			rows := map[uint32][2]float64{}
			for side, n := range [2]int{build, probe} {
				distinct := (uint32(n) + repeats - 1) / repeats
				for i := range uint32(n) {
					key := i % distinct
					keys[side] = append(keys[side], key)
					of := rows[key]
					of[side]++
					rows[key] = of
				}
			}
			f := operator.Facts{Rows: [2]uint64{build, probe}, KeyBytes: 4, Payload: [2][]int{{4}, {4}}, Unique: repeats == 1,
				Distinct: min(float64(repeats), build), Loaded: true}
			for _, of := range rows {
				f.OutputRows += uint64(of[operator.Build] * of[operator.Probe])
				for side, n := range of {
					f.Hottest[side] = max(f.Hottest[side], n/float64(len(keys[side])))
				}
				if of[operator.Build] > 0 {
					f.MatchRatio += of[operator.Probe] / probe
				}
				if of[operator.Probe] > 0 {
					f.BuildRatio += of[operator.Build] / build
				}
			}
			for _, divided := range devicetest.Short([][2]uint64{{0, 0}, {600, 2048}},
				[][2]uint64{{0, 0}, {0, 2048}, {600, 0}, {600, 2048}}) {
				f.Granule, f.Window = divided[0], divided[1]
				for _, a := range algorithms {
					if a == (hash.Unpartitioned{}) && repeats == probe {
						continue // it has no units for such a key
					}
					p, err := runWithin(t, jointest.Small, a, f, want, keys, 1)
					assert.NoError(t, err, "%s of keys of %d rows by %s, granule %d, window %d: %d bytes", name, repeats,
						a.Name(), f.Granule, f.Window, p.PeakBytes)
				}
			}
		}
	}
}

// runWithin joins by an algorithm with a share of the memory that its plan says. tune overrides the tuning, if it is not
// nil.
func runWithin(t *testing.T, tune func(*backend.DeviceInfo) primitive.Tuning, a operator.Algorithm, f operator.Facts,
	want operator.Want, keys [2][]uint32, share float64) (*operator.Plan, error) {
	t.Helper()
	ctx := context.Background()
	info := &backend.DeviceInfo{Backend: "host", Type: backend.Host, Subgroups: true}
	tuning, err := primitive.TuningFor(info)
	require.NoError(t, err)
	if tune != nil {
		tuning = tuning.With(tune(info))
	}
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
	sink := &discard{lane: lane, most: planner.Output(p)}
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
