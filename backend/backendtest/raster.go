package backendtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// rasterChecks hold a [backend.Rasterizer] against its contract; drivers without the capability say so.
var rasterChecks = []check{
	{"without the capability", checkNoRaster},
	{"overwrite", checkOverwrite},
	{"blending is exact", checkBlend},
	{"every pixel of a wide image", checkCorners},
	{"formats and several targets", checkTargets},
	{"instances and ranges of vertices", checkInstances},
	{"textures, stores and atomics", checkTextures},
	{"hazards between queues", checkRasterHazards},
	{"work is split", checkSplitDraws},
	{"memory of images", checkImageMemory},
	{"close with images", checkImageLeaks},
	{"bad draws", checkBadDraws},
	{"limits", checkRasterLimits},
}

// canvas is a device with images.
type canvas struct {
	t      *testing.T
	device *backend.Device
}

// newCanvas opens a device that draws. The check is skipped where the driver has not the capability.
func (s *suite) newCanvas(t *testing.T, options backend.DeviceOptions) *canvas {
	t.Helper()
	c := &canvas{t, s.openDevice(t, options)}
	if _, err := c.device.Rasterizer(); err != nil {
		requireOneOf(t, err, backend.ErrUnsupported)
		t.Skip(err)
	}
	return c
}

// image makes an image that is released when the test ends.
func (c *canvas) image(width, height, layers uint32, format backend.Format) *backend.Image {
	c.t.Helper()
	i, err := c.device.NewImage(background, backend.ImageSpec{Width: width, Height: height, Layers: layers,
		Format: format}, "test image")
	require.NoError(c.t, err)
	c.t.Cleanup(i.Release)
	return i
}

func (c *canvas) program(spec *backend.DrawSpec) *backend.DrawProgram {
	c.t.Helper()
	return c.programFor(spec, nil)
}

func (c *canvas) programFor(spec *backend.DrawSpec, config backend.Config) *backend.DrawProgram {
	c.t.Helper()
	p, err := c.device.DrawProgram(spec, config)
	require.NoError(c.t, err)
	return p
}

// words makes a buffer that holds words.
func (c *canvas) words(data []uint32) backend.Range {
	c.t.Helper()
	b := allocate(c.t, c.device, len(data))
	upload(c.t, c.device, b, data)
	return b.All()
}

func (c *canvas) limits() backend.RasterLimits {
	c.t.Helper()
	r, err := c.device.Rasterizer()
	require.NoError(c.t, err)
	return r.RasterLimits()
}

// draw submits draws as one list.
func (c *canvas) draw(draws ...*backend.Draw) {
	c.t.Helper()
	var list backend.List
	for _, d := range draws {
		list.Draw("draw", d)
	}
	c.submit(&list)
}

func (c *canvas) submit(list *backend.List) {
	c.t.Helper()
	_, err := c.device.Submit(background, backend.Graphics, list)
	require.NoError(c.t, err)
}

// read returns the words of a layer.
func (c *canvas) read(image *backend.Image, layer uint32) []uint32 {
	c.t.Helper()
	return c.readRows(image, layer, image.Spec().Height)
}

func (c *canvas) readRows(image *backend.Image, layer, rows uint32) []uint32 {
	c.t.Helper()
	spec := image.Spec()
	b := allocate(c.t, c.device, int(spec.Width*rows)*int(spec.Format.PixelBytes()/4))
	var list backend.List
	list.ReadBack(&backend.ReadBack{Image: image, Layer: layer, Rows: rows, To: b.All()})
	c.submit(&list)
	return download(c.t, c.device, b)
}

// points draws n points whose places and colours are in buffers or absent.
func points(p *backend.DrawProgram, n int, pixels, values backend.Range, targets ...backend.Target) *backend.Draw {
	return &backend.Draw{Program: p, Args: []backend.Range{pixels, values}, Params: []uint32{0}, Vertices: uint32(n),
		Instances: 1, Targets: targets}
}

func cleared(image *backend.Image, layer uint32) backend.Target {
	return backend.Target{Image: image, Layer: layer, Clear: true}
}

func kept(image *backend.Image, layer uint32) backend.Target {
	return backend.Target{Image: image, Layer: layer}
}

// checkNoRaster: a driver that does not draw says so, and makes no images.
func checkNoRaster(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	if _, err := device.Rasterizer(); err == nil {
		t.Skip("the driver draws")
	} else {
		requireOneOf(t, err, backend.ErrUnsupported)
	}
	_, err := device.NewImage(background, backend.ImageSpec{Width: 1, Height: 1, Layers: 1}, "image")
	requireOneOf(t, err, backend.ErrUnsupported)
	_, err = device.DrawProgram(kernel.Points, nil)
	requireOneOf(t, err, backend.ErrUnsupported)
}
