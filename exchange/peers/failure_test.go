package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/relation"
)

// work is everything that ranks do together, with what can go wrong on the way.
var work = map[string]func(ctx context.Context, r *Rank, c *relation.Chunk) error{
	"hash": func(ctx context.Context, r *Rank, c *relation.Chunk) error {
		received, err := r.Exchange(ctx, r.Hash(1), c)
		for _, one := range received {
			one.Release()
		}
		return err
	},
	MergeStages.String():    sortWork(MergeStages),
	MergeOnce.String():      sortWork(MergeOnce),
	RadixPartition.String(): sortWork(RadixPartition),
}

func sortWork(method Method) func(ctx context.Context, r *Rank, c *relation.Chunk) error {
	return func(ctx context.Context, r *Rank, c *relation.Chunk) error {
		all, err := (&sorter{Rank: r, whole: true, fusing: 1}).sort(ctx, method, []*relation.Chunk{c})
		for _, one := range all {
			one.Release()
		}
		return err
	}
}

// failing opens devices of the host, runs work, and checks that nothing is left.
func failing(t *testing.T, options host.Options, run func(ctx context.Context, r *Rank, c *relation.Chunk) error,
	prepare func(all *cluster, cancel func()) func()) error {
	const size = 3
	all := &cluster{links: NewLinks(simple)}
	b := host.New(options)
	devices := make([]*backend.Device, size)
	for i := range devices {
		driver, err := b.Open("host:cpu")
		require.NoError(t, err)
		devices[i] = backend.NewDevice(driver, backend.DeviceOptions{})
		all.lanes = append(all.lanes, jointest.Lane(t, devices[i], nil))
	}
	random := rand.New(rand.NewPCG(5, 6))
	tables := spread(random, zipf(1)(random, 3000), []int{500, 2000, 500}, []int{8, 4, 8})
	inputs, chunks := make([]*exec.Scope, size), make([]*relation.Chunk, size)
	for i, lane := range all.lanes {
		inputs[i] = lane.Scope(context.Background())
		chunks[i] = tables[i].upload(t, &exec.Lane{Ops: lane.Ops, Memory: inputs[i], Profile: lane.Profile})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := prepare(all, cancel)
	err := all.run(ctx, nil, func(ctx context.Context, r *Rank) error { return run(ctx, r, chunks[r.Rank()]) })
	check()
	for i, lane := range all.lanes {
		inputs[i].ReleaseAll()
		lane.Memory.ReleaseAll()
	}
	if closed := all.links.Close(); closed != nil {
		require.ErrorIs(t, closed, backend.ErrDeviceLost)
	}
	for _, d := range devices {
		d.Observe(nil)
		if closed := d.Close(); closed != nil { // a device that is lost says so
			require.ErrorIs(t, closed, backend.ErrDeviceLost)
			require.NotContains(t, closed.Error(), "not released")
		}
	}
	return err
}

// stride is how many calls lie between two that fail.
func stride(calls int64) int64 {
	if testing.Short() {
		return max(1, calls/12)
	}
	return max(1, calls/100)
}

// TestLostDevices: whichever submission a device is lost at, all ranks end with that error, and nothing is left.
func TestLostDevices(t *testing.T) {
	devicetest.HostTest(t)
	leak.Check(t)
	for name, run := range work {
		var submits atomic.Int64
		counted := func(all *cluster, _ func()) func() {
			for _, lane := range all.lanes {
				lane.Device().Observe(func(e backend.Event) {
					if e.Kind == backend.Submitted {
						submits.Add(1)
					}
				})
			}
			return func() {}
		}
		require.NoError(t, failing(t, host.Options{}, run, counted), name)
		all := submits.Load()
		for n := int64(20); n < all; n += stride(all) {
			options := host.Options{Faults: host.Faults{LoseAtSubmit: int(n)}}
			err := failing(t, options, run, func(*cluster, func()) func() { return func() {} })
			require.ErrorIs(t, err, backend.ErrDeviceLost, "%s: submission %d", name, n)
		}
	}
}

// TestCancelled: whenever the context ends, all ranks end, and nothing is left.
func TestCancelled(t *testing.T) {
	devicetest.HostTest(t)
	leak.Check(t)
	for name, run := range work {
		var events atomic.Int64
		cancelAt := func(n int64) func(all *cluster, cancel func()) func() {
			events.Store(0)
			return func(all *cluster, cancel func()) func() {
				for _, lane := range all.lanes {
					lane.Device().Observe(func(backend.Event) {
						if events.Add(1) == n {
							cancel()
						}
					})
				}
				return func() {}
			}
		}
		require.NoError(t, failing(t, host.Options{}, run, cancelAt(-1)), name)
		all := events.Load()
		for n := int64(1); n < all*3/4; n += stride(all) {
			err := failing(t, host.Options{}, run, cancelAt(n))
			require.ErrorIs(t, err, backend.ErrCancelled, "%s: event %d", name, n)
		}
	}
}

// TestShortOfMemory: whichever allocation of one rank fails, all ranks return *TooLarge, nothing is left, and with
// enough memory the same ranks succeed afterwards.
func TestShortOfMemory(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.HostTest(t)
	leak.Check(t)
	for name, run := range work {
		failures, finer := 0, uint64(20)
		if testing.Short() {
			finer = 4
		}
		if devicetest.RaceDetector {
			finer = 2
		}
		for limitBytes := uint64(8 << 10); limitBytes < 1<<20; limitBytes += limitBytes / finer {
			var grant *exec.Grant
			var budget *exec.Budget
			var device *backend.Device
			prepare := func(all *cluster, _ func()) func() {
				device = all.lanes[1].Device()
				budget = exec.NewBudget(exec.Need{Host: exec.Unlimited, Device: map[*backend.Device]uint64{device: limitBytes}})
				grant = budget.Empty()
				all.lanes[1] = exec.NewLane(context.Background(), all.lanes[1].Ops, grant)
				return func() {
					grant.Shrink(exec.Need{})
					require.Equal(t, limitBytes, budget.Free().Device[device], "%s: %d bytes", name, limitBytes)
					grant.Release()
				}
			}
			var tooLarge atomic.Int64
			err := failing(t, host.Options{}, func(ctx context.Context, r *Rank, c *relation.Chunk) error {
				err := run(ctx, r, c)
				var large *TooLarge
				if !errors.As(err, &large) {
					return err
				}
				tooLarge.Add(1)
				if large.Rank != 1 || !errors.Is(err, backend.ErrDeviceMemory) {
					return fmt.Errorf("rank %d: %w", large.Rank, err)
				}
				if r.Rank() == 1 {
					r.Lane = exec.NewLane(ctx, r.Lane.Ops, nil) // as much as the device has
					defer r.Lane.Memory.ReleaseAll()
				}
				return run(ctx, r, c)
			}, prepare)
			require.NoError(t, err, "%s: %d bytes", name, limitBytes)
			require.Contains(t, []int64{0, 3}, tooLarge.Load(), "%s: %d bytes", name, limitBytes)
			failures += int(tooLarge.Load() / 3)
		}
		require.Greater(t, failures, 2, name)
	}
}
