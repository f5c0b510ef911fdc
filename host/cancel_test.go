package host

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// TestCancelledWaits blocks a queue for good with a buffer that fills the cap, an import, and a staging buffer: each
// call that waits for one of them ends with its context, long before the limit of waits, and the device works on.
func TestCancelledWaits(t *testing.T) {
	const capBytes = 64 << 20
	memory := make([]byte, 12<<10)
	var uploads sync.WaitGroup
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
		"upload": {
			func(t *testing.T, device *backend.Device) {
				b := allocate(t, device, capBytes/2)
				// The third piece waits for the first staging buffer and keeps other uploads from both.
				go func() {
					_, _ = device.Upload(ctx, b.All(), make([]byte, capBytes/2))
					_, _ = device.Upload(ctx, b.All(), make([]byte, 64))
				}()
				time.Sleep(100 * time.Millisecond)
			},
			func(ctx context.Context, device *backend.Device) error {
				b, err := device.Allocate(ctx, backend.DeviceLocal, 4, "column")
				if err != nil {
					return err
				}
				defer b.Release()
				_, err = device.Upload(ctx, b.All(), make([]byte, 4))
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := Options{Discrete: true, Faults: Faults{HangBatch: 1}, CloseLimit: 50 * time.Millisecond}
			driver, err := New(options).Open("host:cpu")
			require.NoError(t, err)
			device := backend.NewDevice(driver,
				backend.DeviceOptions{DeviceMemoryBytes: capBytes, WaitLimit: time.Second})
			defer func() {
				require.ErrorIs(t, device.Close(), backend.ErrTimedOut)
				uploads.Wait()
			}()
			c.block(t, device)
			for _, cancelled := range []bool{true, false} {
				ended, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				want := backend.ErrTimedOut
				if cancelled {
					ended, cancel = context.WithCancel(ctx)
					time.AfterFunc(20*time.Millisecond, cancel)
					want = backend.ErrCancelled
				}
				start := time.Now()
				require.ErrorIs(t, c.wait(ended, device), want)
				require.Less(t, time.Since(start), 700*time.Millisecond)
				cancel()
			}
			b, err := device.Allocate(ctx, backend.HostVisible, 4, "other memory")
			require.NoError(t, err)
			b.Release()
		})
	}
}
