package host

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// TestCancelledWaits blocks a queue for good with a buffer that fills the cap, an import, and all staging buffers: each
// call that waits for one of them ends with its context, before the limit of waits, and the device works on.
func TestCancelledWaits(t *testing.T) {
	const capBytes, waitLimit = 64 << 20, 3 * time.Second
	memory := make([]byte, 12<<10)
	ctx := context.Background()
	allocate := func(t *testing.T, device *backend.Device, sizeBytes uint64) *backend.Buffer {
		b, err := device.Allocate(ctx, backend.DeviceLocal, sizeBytes, "column")
		require.NoError(t, err)
		return b
	}
	fill := func(t *testing.T, device *backend.Device, b *backend.Buffer) {
		var list backend.List
		list.Fill(b.All(), 1)
		_, err := device.Submit(ctx, backend.Upload, &list)
		require.NoError(t, err)
	}
	// fillStaging returns when all staging buffers have been filled once; none of the copies from them ends.
	fillStaging := func(t *testing.T, device *backend.Device) {
		b := allocate(t, device, capBytes/2)
		_, err := device.Upload(ctx, b.All(), make([]byte, capBytes/2))
		require.NoError(t, err)
		b.Release()
	}
	upload := func(sizeBytes uint64) func(ctx context.Context, device *backend.Device) error {
		return func(ctx context.Context, device *backend.Device) error {
			b, err := device.Allocate(ctx, backend.DeviceLocal, sizeBytes, "column")
			if err != nil {
				return err
			}
			defer b.Release()
			_, err = device.Upload(ctx, b.All(), make([]byte, sizeBytes))
			return err
		}
	}
	for name, c := range map[string]struct {
		block func(t *testing.T, device *backend.Device)
		wait  func(ctx context.Context, device *backend.Device) error
	}{
		"allocate": {
			func(t *testing.T, device *backend.Device) {
				b := allocate(t, device, capBytes)
				fill(t, device, b)
				b.Release()
			},
			func(ctx context.Context, device *backend.Device) error {
				_, err := device.Allocate(ctx, backend.DeviceLocal, capBytes, "no room")
				return err
			},
		},
		"import": {
			func(t *testing.T, device *backend.Device) {
				b, err := device.Import(ctx, memory[:8<<10], "still in use")
				require.NoError(t, err)
				fill(t, device, b)
				b.Release()
			},
			func(ctx context.Context, device *backend.Device) error {
				_, err := device.Import(ctx, memory[4<<10:], "overlaps it")
				return err
			},
		},
		"upload of a piece":    {fillStaging, upload(4)},
		"upload of two pieces": {fillStaging, upload(128 << 10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := Options{Discrete: true, Faults: Faults{HangBatch: 1}, CloseLimit: 50 * time.Millisecond}
			driver, err := New(options).Open("host:cpu")
			require.NoError(t, err)
			device := backend.NewDevice(driver,
				backend.DeviceOptions{DeviceMemoryBytes: capBytes, WaitLimit: waitLimit})
			defer func() { require.ErrorIs(t, device.Close(), backend.ErrTimedOut) }()
			c.block(t, device)
			for _, cancelled := range []bool{true, false} {
				ended, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				want := backend.ErrTimedOut
				if cancelled { // because another device is lost, which does not make this one so
					of, cancelFor := context.WithCancelCause(ctx)
					time.AfterFunc(20*time.Millisecond, func() { cancelFor(backend.ErrDeviceLost) })
					ended, cancel, want = of, func() { cancelFor(nil) }, backend.ErrCancelled
				}
				start := time.Now()
				require.ErrorIs(t, c.wait(ended, device), want)
				require.Less(t, time.Since(start), waitLimit)
				require.NoError(t, device.Lost())
				cancel()
			}
			b, err := device.Allocate(ctx, backend.HostVisible, 4, "other memory")
			require.NoError(t, err)
			b.Release()
		})
	}
}
