package vulkan_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// TestNoGraphics: a device that was opened without the option says so, and is not opened with what draws need.
func TestNoGraphics(t *testing.T) {
	for _, info := range vulkantest.Devices(t) {
		d := openWith(t, info.ID, vulkan.Options{CacheDir: "off"})
		err := d.(backend.Rasterizer).CanRaster()
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "vulkan.Options.Graphics")
		_, err = d.(backend.Rasterizer).CreateImage(backend.ImageSpec{Width: 1, Height: 1, Layers: 1})
		require.ErrorIs(t, err, backend.ErrUnsupported)
		_, err = d.(backend.Rasterizer).CompileDraw(kernel.Points, nil)
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorIs(t, d.(backend.PassChecker).CheckPass(backend.Graphics, &backend.ReadBack{}),
			backend.ErrUnsupported)
	}
}

// BenchmarkRaster measures points per second: into one image, in random places, overwritten or added up, at one pixel,
// into three targets, and without targets, where each fetches a texel.
func BenchmarkRaster(b *testing.B) {
	const side, count = 1024, 1 << 20
	for _, info := range vulkantest.Devices(b) {
		for name, spec := range map[string]*backend.DrawSpec{"overwrite": kernel.Points, "add": kernel.BlendedPoints,
			"wide": kernel.WidePoints, "fetch": kernel.SamplePoints} {
			b.Run(fmt.Sprintf("device=%s/draw=%s/side=%d/points=%d", info.Driver, name, side, count), func(b *testing.B) {
				v, err := vulkan.New(vulkan.Options{CacheDir: "off", Graphics: true,
					Validation: vulkantest.Validation(b)})
				require.NoError(b, err)
				driver, err := v.Open(info.ID)
				require.NoError(b, err)
				device := backend.NewDevice(driver, backend.DeviceOptions{})
				defer func() {
					require.NoError(b, device.Close())
					require.NoError(b, v.Close())
				}()
				benchmarkDraw(b, device, spec, side, count)
			})
		}
	}
}

func benchmarkDraw(b *testing.B, device *backend.Device, spec *backend.DrawSpec, side, count uint32) {
	ctx := context.Background()
	program, err := device.DrawProgram(spec, backend.Config{"float": 0})
	require.NoError(b, err)
	draw := &backend.Draw{Program: program, Args: make([]backend.Range, len(spec.Args)),
		Params: []uint32{count, 1}[:len(spec.Params)], Vertices: count, Instances: 1}
	var images []*backend.Image
	defer func() {
		for _, i := range images {
			i.Release()
		}
	}()
	image := func(format backend.Format) *backend.Image {
		i, err := device.NewImage(ctx, backend.ImageSpec{Width: side, Height: side, Layers: 1, Format: format}, "image")
		require.NoError(b, err)
		images = append(images, i)
		return i
	}
	for _, target := range spec.Targets {
		draw.Targets = append(draw.Targets, backend.Target{Image: image(target.Format), Clear: true})
	}
	for range spec.Textures {
		draw.Textures = append(draw.Textures, backend.Texture{Image: image(backend.R32UInt), EndLayer: 1})
	}
	profile := &backend.Profile{}
	run := func() {
		list := backend.List{Profile: profile}
		list.Stage("draw")
		list.Draw("draw", draw)
		point, err := device.Submit(ctx, backend.Graphics, &list)
		require.NoError(b, err)
		require.NoError(b, point.Wait(ctx))
	}
	run() // compiles, where the driver does it at the first draw
	device.MemoryUse(backend.DeviceLocal)
	*profile = backend.Profile{}
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "points/s")
	var took time.Duration
	for _, stage := range profile.Stages() {
		took += stage.Time
	}
	if took > 0 {
		b.ReportMetric(float64(count)*float64(b.N)/took.Seconds(), "points/device-s")
	}
}
