package backend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rasterDriver draws nothing, but says it does.
type rasterDriver struct {
	fakeDriver
	compiled int
	lacks    error
}

func (d *rasterDriver) CanRaster() error { return d.lacks }
func (d *rasterDriver) RasterLimits() RasterLimits {
	return RasterLimits{MaxTargets: 2, MaxTextures: 1}
}
func (d *rasterDriver) CheckPass(Role, any) error { return nil }
func (d *rasterDriver) ImageBytes(s ImageSpec) (uint64, error) {
	return s.rowBytes() * uint64(s.Height*s.Layers), nil
}
func (d *rasterDriver) CreateImage(s ImageSpec) (ImageBlock, error) {
	return &fakeImage{layers: s.Layers}, nil
}
func (d *rasterDriver) CompileDraw(*DrawSpec, Config) (Program, error) {
	d.compiled++
	return d.compiled, nil
}

// TestDraw: draws and read-backs are ordered by their arguments, targets and textures, and clears are writes.
func TestDraw(t *testing.T) {
	ctx := context.Background()
	driver := &rasterDriver{fakeDriver: fakeDriver{info: DeviceInfo{
		Heaps:  []Heap{{SizeBytes: 1 << 30, BudgetBytes: 1 << 30, DeviceLocal: true}},
		Limits: Limits{MaxAllocationBytes: 1 << 30, MaxBlockBytes: 1 << 30, MaxBufferBytes: 1 << 30},
		Queues: []RoleQueue{{Role: "graphics"}},
	}}}
	device := NewDevice(driver, DeviceOptions{DeviceMemoryBytes: 1 << 20})
	spec := &DrawSpec{Name: "draw", Args: []ArgSpec{{"in", Read}, {"out", Write}}, Axes: []Axis{{"bits", []uint32{8, 16}}},
		Textures: 1, Targets: []TargetSpec{{Format: RG32UInt}}}
	program, err := device.DrawProgram(spec, Config{"bits": 8, "other": 1})
	require.NoError(t, err)
	again, err := device.DrawProgram(spec, Config{"bits": 8})
	require.NoError(t, err)
	require.Same(t, program, again)
	require.Equal(t, Config{"bits": 8}, program.Config)
	_, err = device.DrawProgram(spec, Config{"bits": 9})
	require.ErrorIs(t, err, ErrInvalidInput)
	_, err = device.DrawProgram(spec, Config{"bits": 16})
	require.NoError(t, err)
	require.Equal(t, 2, driver.compiled)

	image, err := device.NewImage(ctx, ImageSpec{Width: 16, Height: 8, Layers: 3, Format: RG32UInt}, "image")
	require.NoError(t, err)
	require.EqualValues(t, 16*8*8*3, device.MemoryUse(DeviceLocal).InUse)
	_, err = device.NewImage(ctx, ImageSpec{Width: 512, Height: 512, Layers: 1}, "beyond the cap")
	require.ErrorIs(t, err, ErrDeviceMemory)
	require.ErrorContains(t, err, "beyond the cap")
	in, err := device.Allocate(ctx, DeviceLocal, 1024, "in")
	require.NoError(t, err)
	out, err := device.Allocate(ctx, DeviceLocal, 1024, "out")
	require.NoError(t, err)
	draw := func(layer uint32, clear bool, texture uint32) *Draw {
		return &Draw{Program: program, Args: []Range{in.All(), {}}, Vertices: 4, Instances: 1,
			Targets: []Target{{image, layer, clear}}, Textures: []Texture{{image, texture, texture + 1}}}
	}
	first, second := draw(0, true, 2), draw(1, false, 2)
	second.Args[1] = out.All()
	list := List{}
	list.Draw("first", first)
	list.Draw("second", second)
	list.Draw("third", draw(1, false, 0))
	list.ReadBack(&ReadBack{Image: image, Layer: 1, Rows: 8, To: out.All()})
	list.ReadBack(&ReadBack{Image: image})
	_, err = device.Submit(ctx, Graphics, &list)
	require.NoError(t, err)
	steps := driver.batches[0].Steps
	require.Len(t, steps, 4)
	for i, want := range []struct {
		barrier bool
		changes []UsageChange
	}{
		{false, []UsageChange{{image.block, 0, 1, 0, AsTarget}, {image.block, 2, 3, 0, AsTexture}}},
		{true, []UsageChange{{image.block, 1, 2, 0, AsTarget}}}, // layer 2 became a texture
		{true, []UsageChange{{image.block, 0, 1, AsTarget, AsTexture}}},
		{true, []UsageChange{{image.block, 1, 2, AsTarget, AsSource}}},
	} {
		require.Equal(t, want.barrier, steps[i].Barrier, "step %d", i)
		require.Equal(t, want.changes, steps[i].Changes, "step %d", i)
	}
	fill := List{}
	fill.Fill(in.All(), 1)
	_, err = device.Submit(ctx, Upload, &fill)
	require.NoError(t, err)
	require.Equal(t, []QueuePoint{{Graphics, 1}}, driver.batches[1].Waits, "the draws read it")

	in.Release()
	out.Release()
	image.Release()
	require.Zero(t, device.MemoryUse(DeviceLocal).InUse)
	driver.lacks = &OpError{Op: "draw", Err: ErrUnsupported, Detail: "no blending"}
	_, err = device.NewImage(ctx, ImageSpec{Width: 1, Height: 1, Layers: 1}, "image")
	require.ErrorContains(t, err, "no blending")
	require.NoError(t, device.Close())
}

// TestDrawPace: the rate of points is learnt from draws of many points.
func TestDrawPace(t *testing.T) {
	p := testPacer(map[string]float64{})
	command := func(points uint32) Command {
		list := List{}
		list.Draw("draw", &Draw{Vertices: points, Instances: 1})
		return list.Commands[0]
	}
	clear, many := command(0), command(1<<20)
	require.InDelta(t, 64e-9, p.unit(&many), 1e-12)
	for range 30 {
		p.measured([]Command{clear}, 20*time.Millisecond)
		p.measured([]Command{command(1)}, 20*time.Millisecond)
	}
	require.InDelta(t, 64e-9, p.unit(&many), 1e-12, "a draw that clears only")
	for range 30 {
		p.measured([]Command{many}, 20*time.Millisecond)
	}
	require.InDelta(t, 20e-3/(1<<20), p.unit(&many), 1e-10)
	require.Len(t, p.split([]Command{clear, command(1 << 21), clear}), 1)
}

// TestDrawCut: the parts of a draw are all of its points, each once, and within the bound where that is possible; only
// the first part clears, and the draw itself stays as it was.
func TestDrawCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := &Draw{FirstVertex: 5, Vertices: rapid.Uint32Range(0, 1<<20).Draw(t, "vertices"), FirstInstance: 7,
			Instances: rapid.Uint32Range(0, 300).Draw(t, "instances"), Targets: []Target{{Clear: true}, {}}}
		seconds := rapid.Float64Range(1e-9, 1e-6).Draw(t, "seconds")
		p := testPacer(map[string]float64{"pass draw": seconds})
		list := List{}
		list.Pass("draw", draw, draw.touches()...)
		var sum uint64
		seen := make(map[[2]uint32]bool) // first corners of the parts
		for i, piece := range p.split(list.Commands) {
			require.Len(t, piece, 1)
			part := piece[0].Pass.Run.(*Draw)
			require.Equal(t, i == 0, part.Targets[0].Clear)
			require.Equal(t, i == 0, piece[0].Pass.Touches[0].Access == Write)
			require.LessOrEqual(t, float64(part.points())*seconds, max(p.bound.Seconds()*1.001, leastPoints*seconds))
			corner := [2]uint32{part.FirstVertex, part.FirstInstance}
			require.False(t, seen[corner])
			seen[corner] = true
			require.GreaterOrEqual(t, part.FirstVertex, uint32(5))
			require.LessOrEqual(t, part.FirstVertex+part.Vertices, 5+draw.Vertices)
			require.GreaterOrEqual(t, part.FirstInstance, uint32(7))
			require.LessOrEqual(t, part.FirstInstance+part.Instances, 7+draw.Instances)
			sum += part.points()
		}
		require.Equal(t, draw.points(), sum)
		require.True(t, draw.Targets[0].Clear)
	})
}
