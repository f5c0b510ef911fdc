package backend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// timedDriver has times: a batch takes 1 ms to its first mark, 2 to the next, and so on. The graphics queue has none.
type timedDriver struct{ fakeDriver }

func (d *timedDriver) Times(role Role, value uint64) (times []time.Duration, ok bool) {
	if role == Graphics {
		return nil, false
	}
	times = []time.Duration{0}
	for _, b := range d.batches {
		if b.Role == role && b.Signal == value {
			for _, s := range b.Steps {
				if s.Kind == Mark {
					times = append(times, times[len(times)-1]+time.Duration(len(times))*time.Millisecond)
				}
			}
		}
	}
	return append(times, times[len(times)-1]+time.Duration(len(times))*time.Millisecond), true
}

// TestObserveWork: each stage of a batch is reported once, with its commands, copied bytes and times. This holds for
// transfers and for queues without timestamps, too. The times equal the times in the profile.
func TestObserveWork(t *testing.T) {
	ctx := context.Background()
	driver := &timedDriver{fakeDriver{info: DeviceInfo{
		Heaps:  []Heap{{SizeBytes: 1 << 30, BudgetBytes: 1 << 30, DeviceLocal: true}},
		Limits: Limits{MaxAllocationBytes: 1 << 30, MaxBlockBytes: 1 << 30, MaxBufferBytes: 1 << 30},
		Queues: []RoleQueue{{Role: "graphics"}},
	}}}
	device := NewDevice(driver, DeviceOptions{})
	from, err := device.Allocate(ctx, DeviceLocal, 4096, "from")
	require.NoError(t, err)
	to, err := device.Allocate(ctx, DeviceLocal, 4096, "to")
	require.NoError(t, err)
	var work []Work
	device.ObserveWork(func(w Work) { work = append(work, w) })
	begun := time.Now()
	profile := &Profile{}
	list := List{Profile: profile}
	list.Fill(from.All(), 1)
	list.Stage("nothing")
	list.Stage("copy")
	list.Copy(to.All(), from.All())
	list.Fill(from.All(), 2)
	require.NoError(t, device.Run(ctx, &list))
	var unnamed List
	unnamed.Copy(to.Range(0, 64), from.Range(0, 64))
	for _, role := range []Role{Upload, Graphics} {
		point, err := device.Submit(ctx, role, &unnamed)
		require.NoError(t, err)
		require.NoError(t, point.Wait(ctx))
	}

	const ms = time.Millisecond
	type told struct {
		role       Role
		stage      string
		commands   int
		bytes      uint64
		timed      bool
		start, end time.Duration
	}
	var got []told
	for _, w := range work {
		require.WithinRange(t, w.Submitted, begun, w.Seen)
		got = append(got, told{w.Role, w.Stage, len(w.Commands), w.Bytes, w.Timed, w.Start, w.End})
	}
	require.Equal(t, []told{{Compute, "", 1, 0, true, 0, ms}, {Compute, "copy", 2, 4096, true, 3 * ms, 6 * ms},
		{Upload, "upload", 1, 64, true, 0, ms}, {Graphics, "", 1, 64, false, 0, 0}}, got)
	require.Equal(t, []StageTime{{"nothing", 2 * ms}, {"copy", 3 * ms}}, profile.Stages())

	device.ObserveWork(nil)
	require.NoError(t, device.Run(ctx, &list))
	require.Len(t, work, 4)
	from.Release()
	to.Release()
	require.NoError(t, device.Close())
}
