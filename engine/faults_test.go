package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
)

// faults are the calls of a device that can fail, by name: the options by which the n-th of them does, and the error in
// which a join then ends.
var faults = map[string]struct {
	at   func(n int) host.Faults
	want error
}{
	"device memory": {func(n int) host.Faults { return host.Faults{AllocateDevice: n} }, backend.ErrDeviceMemory},
	"host memory":   {func(n int) host.Faults { return host.Faults{AllocateHost: n} }, backend.ErrHostMemory},
	"compile":       {func(n int) host.Faults { return host.Faults{Compile: n} }, backend.ErrHostMemory},
	"lost":          {func(n int) host.Faults { return host.Faults{LoseAtSubmit: n} }, backend.ErrDeviceLost},
	"hang":          {func(n int) host.Faults { return host.Faults{HangBatch: n} }, backend.ErrTimedOut},
}

// deviceLimits are the limits of a device with faults: the chunks of its links are small, and its waits short if it
// hangs.
func deviceLimits(faults host.Faults) backend.DeviceOptions {
	limits := backend.DeviceOptions{WaitLimit: 30 * time.Second, LinkChunkBytes: backend.LeastChunkBytes}
	if faults.HangBatch > 0 {
		limits.WaitLimit = 200 * time.Millisecond
	}
	return limits
}

// stepOf is how many calls lie between two that fail. Batches that hang are fewer, and tests of them run beside others:
// they wait most of the time.
func stepOf(t *testing.T, fault string, step int) int {
	switch {
	case devicetest.RaceDetector:
		step *= 21
	case testing.Short():
		step *= 3
	}
	if fault != "hang" {
		return step
	}
	t.Parallel()
	return 5 * step
}

// TestFaults lets the device fail at each point where it can. Every fault ends in its own error, with nothing leaked.
func TestFaults(t *testing.T) {
	devicetest.HostTest(t)
	left, right := tables(t, 300, 700)
	joinBy := func(algorithm string, faults host.Faults) error {
		options := host.Options{Faults: faults, CloseLimit: 200 * time.Millisecond}
		options.Discrete = faults.AllocateHost > 0 // so that there is staging memory
		device, done := hostDevice(t, options, deviceLimits(faults))
		ops, err := primitive.New(device, small)
		require.NoError(t, err)
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		engine := engine.NewEngine(ops, allocator, 0)
		engine.GranuleRows = 400
		spec := onKeys
		spec.How, spec.Algorithm, spec.Materialize = join.Left, algorithm, join.MaterializeDevice
		spec.BuildSide, spec.Validate = join.BuildLeft, join.OneToMany
		_, err = drain(context.Background(), engine, left, right, spec)
		allocator.AssertSize(t, 0)
		if closeErr := done(); faults == (host.Faults{}) {
			require.NoError(t, closeErr)
		} else if closeErr != nil {
			require.NotContains(t, closeErr.Error(), "not released")
		}
		return err
	}
	for name, fault := range faults {
		for _, algorithm := range algorithms[1:] {
			t.Run(name+"/"+algorithm, func(t *testing.T) {
				step := stepOf(t, name, 1)
				require.NoError(t, joinBy(algorithm, host.Faults{}))
				failed := 0
				for n := 1; ; n += step {
					err := joinBy(algorithm, fault.at(n))
					if err == nil {
						break // there is no n-th call
					}
					require.ErrorIs(t, err, fault.want, "call %d", n)
					failed++
				}
				require.Positive(t, failed)
			})
		}
	}
}

// TestCancel cancels in every phase that reports progress. The join returns promptly, with the cause, and releases all
// memory.
func TestCancel(t *testing.T) {
	left, right := tables(t, 4000, 20_000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		engine.GranuleRows = 10_000
		for _, algorithm := range []string{"smj-um", "phj-om", "hj"} {
			phases := make(map[string]bool)
			spec := onKeys
			spec.BatchRows, spec.Algorithm, spec.Validate = 1<<10, algorithm, join.OneToMany
			spec.Progress = func(at join.Progress) { phases[at.Phase] = true }
			_, err := drain(context.Background(), engine, left, right, spec)
			require.NoError(t, err)
			require.Equal(t, map[string]bool{"plan": true, "wait": true, "validate left": true, "load left": true,
				"join": true, "output": true}, phases)
			for phase := range phases {
				ctx, cancel := context.WithCancelCause(context.Background())
				cause := errors.New("enough")
				spec.Progress = func(at join.Progress) {
					if at.Phase == phase {
						cancel(cause)
					}
				}
				_, err := drain(ctx, engine, left, right, spec)
				require.ErrorIs(t, err, backend.ErrCancelled, phase)
				require.ErrorIs(t, err, cause, phase)
				noMemoryInUse(t, device)
			}
		}
	})
}
