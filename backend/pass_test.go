package backend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// drawDriver has a capability: passes that draw, on the graphics queue only.
type drawDriver struct {
	rasterDriver
	stopped bool // nothing completes
}

type draw struct{ vertices int }

func (d *drawDriver) CheckPass(role Role, run any) error {
	if _, ok := run.(draw); !ok || role != Graphics {
		return &OpError{Op: "submit", Err: ErrUnsupported, Detail: "not a draw on the graphics queue"}
	}
	return nil
}

func (d *drawDriver) Completed(role Role) (uint64, error) {
	if d.stopped {
		return 0, nil
	}
	return d.fakeDriver.Completed(role)
}

// Times tells two stages of 20 and 30 ms.
func (d *drawDriver) Times(Role, uint64) ([]time.Duration, bool) {
	const ms = time.Millisecond
	return []time.Duration{0, ms, 21 * ms, 51 * ms}, true
}

const (
	asTarget  Usage = 1
	asTexture Usage = 2
)

// TestPass: a pass of a capability is a command in a list, ordered by what it touches, paced by its own rate, in the
// profile, and its image lives until its last use.
func TestPass(t *testing.T) {
	ctx := context.Background()
	driver := &drawDriver{rasterDriver: rasterDriver{fakeDriver: fakeDriver{info: DeviceInfo{
		Heaps:  []Heap{{SizeBytes: 1 << 30, BudgetBytes: 1 << 30, DeviceLocal: true}},
		Limits: Limits{MaxAllocationBytes: 1 << 30, MaxBlockBytes: 1 << 30, MaxBufferBytes: 1 << 30},
		Queues: []RoleQueue{{Role: "graphics"}},
	}}}}
	device := NewDevice(driver, DeviceOptions{})
	rows, err := device.Allocate(ctx, DeviceLocal, 4096, "rows")
	require.NoError(t, err)
	image, err := device.NewImage(ctx, ImageSpec{Width: 1, Height: 1, Layers: 4, Format: RG32UInt}, "hash image")
	require.NoError(t, err)
	block := image.Block().(*fakeImage)
	layer := func(n uint32, access Access, usage Usage) Touch {
		return Touch{Image: image, FirstLayer: n, EndLayer: n + 1, Access: access, Usage: usage}
	}

	fill := List{}
	fill.Fill(rows.All(), 1)
	_, err = device.Submit(ctx, Upload, &fill)
	require.NoError(t, err)
	list := List{Profile: &Profile{}}
	list.Stage("build")
	list.Pass("build", draw{1}, Touch{Range: rows.All(), Access: Read}, layer(0, Write, asTarget))
	list.Pass("build", draw{2}, Touch{Range: rows.All(), Access: Read}, layer(1, Write, asTarget))
	list.Stage("probe")
	list.Pass("probe", draw{3}, layer(0, Read, asTexture), layer(2, Write, asTarget))
	_, err = device.Submit(ctx, Graphics, &list)
	require.NoError(t, err)
	require.Len(t, driver.batches, 2)
	batch := driver.batches[1]
	require.Equal(t, []QueuePoint{{Upload, 1}}, batch.Waits, "the fill of rows")
	steps := batch.Steps
	for i, barrier := range []bool{false, false, false, false, true} {
		require.Equal(t, barrier, steps[i].Barrier, "step %d", i)
	}
	require.Equal(t, []UsageChange{{block, 0, 1, 0, asTarget}}, steps[1].Changes)
	require.Equal(t, []UsageChange{{block, 0, 1, asTarget, asTexture}, {block, 2, 3, 0, asTarget}}, steps[4].Changes)
	require.Equal(t, draw{3}, steps[4].Pass.Run)

	fill.Commands = nil
	fill.Fill(rows.All(), 2)
	_, err = device.Submit(ctx, Upload, &fill)
	require.NoError(t, err)
	require.Equal(t, []QueuePoint{{Graphics, 1}}, driver.batches[2].Waits, "the passes read rows")
	device.MemoryUse(DeviceLocal) // settles: the times of the batch are the profile's and make rates
	stages := []StageTime{{"build", 20 * time.Millisecond}, {"probe", 30 * time.Millisecond}}
	require.Equal(t, stages, list.Profile.Stages())
	require.NotZero(t, device.pacer.seconds["pass build"])

	// A pass whose measured time is two thirds of the bound is never divided, and never shares a submission.
	device.pacer.seconds["pass build"] = paceBound.Seconds() * 2 / 3
	long := List{}
	for range 3 {
		long.Pass("build", draw{4}, layer(1, Write, asTarget))
	}
	driver.batches = nil
	point, err := device.Submit(ctx, Graphics, &long)
	require.NoError(t, err)
	require.Len(t, driver.batches, 3)
	require.True(t, driver.batches[2].Steps[0].Barrier)
	require.NoError(t, point.Wait(ctx))

	for name, touch := range map[string]Touch{
		"layers beyond":   {Image: image, FirstLayer: 3, EndLayer: 5, Usage: asTarget},
		"no layers":       {Image: image, FirstLayer: 3, EndLayer: 3, Usage: asTarget},
		"no usage":        {Image: image, EndLayer: 1},
		"layer twice":     layer(3, Read, asTexture),
		"beyond a buffer": {Range: rows.Range(4096, 4)},
	} {
		bad := List{}
		bad.Pass("bad", draw{5}, layer(3, Read, asTexture), touch)
		_, err := device.Submit(ctx, Graphics, &bad)
		require.ErrorIs(t, err, ErrInvalidInput, name)
	}
	for role, pass := range map[Role]any{Compute: draw{6}, Graphics: "no draw"} {
		bad := List{}
		bad.Pass("bad", pass)
		_, err := device.Submit(ctx, role, &bad)
		require.ErrorIs(t, err, ErrUnsupported)
	}
	empty := List{Commands: []Command{{Kind: Pass, Label: "empty"}}}
	_, err = device.Submit(ctx, Graphics, &empty)
	require.ErrorIs(t, err, ErrInvalidInput)

	// What a pass uses lives until the pass is done.
	driver.stopped = true
	_, err = device.Submit(ctx, Graphics, &list)
	require.NoError(t, err)
	image.Release()
	device.MemoryUse(DeviceLocal)
	require.False(t, block.freed)
	driver.stopped = false
	device.MemoryUse(DeviceLocal)
	require.True(t, block.freed)
	image.Release()
	rows.Release()
	require.ErrorContains(t, device.Close(), `"hash image" released twice`)
}

// TestPassPace: the rate of a pass is learnt under its name.
func TestPassPace(t *testing.T) {
	p := testPacer(map[string]float64{})
	pass := Command{Kind: Pass, Label: "build",
		Pass: &PassRun{Touches: []Touch{{Range: (&Buffer{sizeBytes: 1 << 30}).All()}}}}
	require.InDelta(t, 1.07, p.unit(&pass), 0.01)
	for range 30 {
		p.measured([]Command{pass}, 20*time.Millisecond)
	}
	require.InDelta(t, 0.02, p.unit(&pass), 1e-3)
}
