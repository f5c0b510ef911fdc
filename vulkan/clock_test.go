package vulkan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// TestCompare: the clocks of device and host run equally fast, and a batch lies between its submission and its end.
func TestCompare(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		t.Run(info.Driver, func(t *testing.T) {
			driver := vulkantest.OpenDevice(t, info.ID)
			device := backend.NewDevice(driver, backend.DeviceOptions{})
			t.Cleanup(func() { require.NoError(t, device.Close()) })
			at, host, deviation, ok := driver.(backend.Clock).Compare()
			if !ok {
				t.Skip("the device has no calibrated time stamps")
			}
			require.Less(t, deviation, 10*time.Millisecond)
			hostOf := func(d time.Duration) time.Time { return host.Add(d - at) }

			b, err := device.Allocate(t.Context(), backend.DeviceLocal, 1<<20, "filled")
			require.NoError(t, err)
			defer b.Release()
			var work []backend.Work
			device.ObserveWork(func(w backend.Work) { work = append(work, w) })
			var list backend.List
			list.Stage("fill")
			list.Fill(b.All(), 7)
			list.Stage("again")
			list.Fill(b.All(), 8)
			require.NoError(t, device.Run(t.Context(), &list))
			device.ObserveWork(nil)
			require.Len(t, work, 2)
			slack := deviation + 10*time.Microsecond // and drift
			for i, w := range work {
				require.Equal(t, []string{"fill", "again"}[i], w.Stage)
				require.Len(t, w.Commands, 1)
				require.LessOrEqual(t, w.Start, w.End)
				require.WithinRange(t, hostOf(w.Start), w.Submitted.Add(-slack), w.Seen.Add(slack))
				require.WithinRange(t, hostOf(w.End), w.Submitted.Add(-slack), w.Seen.Add(slack))
			}

			time.Sleep(20 * time.Millisecond)
			later, hostLater, otherwise, ok := driver.(backend.Clock).Compare()
			require.True(t, ok)
			require.InDelta(t, hostLater.Sub(host), later-at, float64(deviation+otherwise+10*time.Microsecond))
			t.Logf("deviation %v and %v, in %v they differ by %v", deviation, otherwise, later-at,
				hostLater.Sub(host)-(later-at))
		})
	}
}
