package backendtest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// checkRasterHazards sends one buffer around: a kernel of the compute queue writes the places and colours that a draw
// reads, and gathers what was read back from the image, round after round, with nothing but the hazards to order them.
func checkRasterHazards(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width, height, n = 64, 33, 64 * 33
	iota, err := c.device.Kernel(kernel.Iota.KernelSpec, nil)
	require.NoError(t, err)
	gather, err := c.device.Kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	require.NoError(t, err)
	image := c.image(width, height, 1, backend.R32UInt)
	p := c.program(kernel.Points)
	ids, values, found := allocate(t, c.device, n), allocate(t, c.device, n), allocate(t, c.device, n)
	upload(t, c.device, ids, rotation(n))
	submit := func(role backend.Role, list *backend.List) {
		_, err := c.device.Submit(background, role, list)
		require.NoError(t, err)
	}
	for round := range uint32(s.pick(40, 10)) {
		var before, draw, after backend.List
		before.DispatchPart(iota, 0, kernel.Groups(kernel.Named(iota.Config), n),
			[]backend.Range{values.All()}, n, round*n)
		submit(backend.Compute, &before)
		draw.Draw("draw", points(p, n, ids.All(), values.All(), cleared(image, 0)))
		draw.ReadBack(&backend.ReadBack{Image: image, Rows: height, To: values.All()})
		submit(backend.Graphics, &draw)
		after.DispatchPart(gather, 0, kernel.Groups(kernel.Named(gather.Config), n),
			[]backend.Range{values.All(), ids.All(), found.All()}, n)
		submit(backend.Compute, &after)
		if round%5 == 4 {
			requireWords(t, ascending(round*n, n), download(t, c.device, found), "round %d", round)
		}
	}
}

// checkSplitDraws draws more than a submission may hold: it is divided, and the target cleared once.
func checkSplitDraws(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{SubmitBound: 100 * time.Microsecond})
	const width, height, instances = 256, 256, 5
	submissions := 0
	var list backend.List
	c.device.ObserveWork(func(w backend.Work) {
		if w.Role == backend.Graphics {
			submissions++
		}
	})
	image := c.image(width, height, 1, backend.R32Float)
	d := points(c.program(kernel.BlendedPoints), 1<<17, c.words(make([]uint32, instances<<17)), backend.Range{},
		cleared(image, 0))
	d.Instances, d.Params[0] = instances, 1<<17
	list.Draw("draw", d)
	c.submit(&list)
	want := make([]float32, width*height)
	want[0] = instances << 17
	require.Equal(t, want, floats(c.read(image, 0)))
	require.GreaterOrEqual(t, submissions, instances)
}

// checkImageMemory: images count towards the cap, are kept while work uses them, and their memory is used again.
func checkImageMemory(t *testing.T, s *suite) {
	const limit = 16 << 20
	c := s.newCanvas(t, backend.DeviceOptions{DeviceMemoryBytes: limit})
	use := func() backend.MemoryUse { return c.device.MemoryUse(backend.DeviceLocal) }
	spec := backend.ImageSpec{Width: 1024, Height: 1024, Layers: 3, Format: backend.R32UInt}
	sizeBytes, err := c.device.ImageBytes(spec)
	require.NoError(t, err)
	require.GreaterOrEqual(t, sizeBytes, uint64(12<<20))
	require.Less(t, sizeBytes, uint64(limit))
	image, err := c.device.NewImage(background, spec, "image")
	require.NoError(t, err)
	require.Equal(t, sizeBytes, image.SizeBytes())
	require.Equal(t, sizeBytes, use().InUse)
	require.Equal(t, spec, image.Spec())
	_, err = c.device.NewImage(background, spec, "a second one")
	requireOneOf(t, err, backend.ErrDeviceMemory)
	require.ErrorContains(t, err, "a second one")
	_, err = c.device.Allocate(background, backend.DeviceLocal, limit-4096, "column")
	requireOneOf(t, err, backend.ErrDeviceMemory)
	require.Equal(t, sizeBytes, use().InUse)

	p := c.program(kernel.Points)
	for round := range 8 { // each image waits for the memory of the one before
		c.draw(points(p, 1<<16, backend.Range{}, backend.Range{}, cleared(image, 0)))
		image.Release()
		image, err = c.device.NewImage(background, spec, "next")
		require.NoError(t, err, "round %d", round)
	}
	image.Release()
	require.Zero(t, use().InUse)
	column, err := c.device.Allocate(background, backend.DeviceLocal, limit, "whole cap")
	require.NoError(t, err)
	column.Release()
	image, err = c.device.NewImage(background, spec, "after a column")
	require.NoError(t, err, "the block of the column is given back")
	image.Release()
	require.LessOrEqual(t, use().Peak, uint64(limit))
}

// checkImageLeaks: images that were not released, or twice, are reported when the device is closed, also while work
// uses them, and after a submission that was cancelled.
func checkImageLeaks(t *testing.T, s *suite) {
	_ = s.newCanvas(t, backend.DeviceOptions{}) // skips a driver that does not draw
	driver := s.open(t)
	device := backend.NewDevice(driver, backend.DeviceOptions{WaitLimit: waitLimit})
	p, err := device.DrawProgram(kernel.Points, nil)
	require.NoError(t, err)
	spec := backend.ImageSpec{Width: 512, Height: 512, Layers: 1}
	image, err := device.NewImage(background, spec, "forgotten image")
	require.NoError(t, err)
	twice, err := device.NewImage(background, spec, "released twice")
	require.NoError(t, err)
	twice.Release()
	twice.Release()
	var list backend.List
	list.Draw("draw", points(p, 1<<16, backend.Range{}, backend.Range{}, cleared(image, 0)))
	_, err = device.Submit(background, backend.Graphics, &list)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err = device.Submit(ended, backend.Graphics, &list)
	requireOneOf(t, err, backend.ErrCancelled)
	err = device.Close()
	requireOneOf(t, err, backend.ErrInvalidInput)
	assert.ErrorContains(t, err, "forgotten image")
	assert.ErrorContains(t, err, "released twice")
	_, err = device.NewImage(background, spec, "late")
	assert.Error(t, err, "use after Close")

	driver = s.open(t)
	block, err := driver.(backend.Rasterizer).CreateImage(spec)
	require.NoError(t, err)
	requireOneOf(t, driver.Close(), backend.ErrInvalidInput)
	requireOneOf(t, block.Free(), backend.ErrInvalidInput)
}

// checkBadDraws: each is refused with one error, and the device works on.
func checkBadDraws(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	other := s.newCanvas(t, backend.DeviceOptions{})
	p, sample := c.program(kernel.Points), c.programFor(kernel.SamplePoints, backend.Config{"float": 0})
	image, wide := c.image(8, 8, 2, backend.R32UInt), c.image(8, 4, 1, backend.R32UInt)
	float := c.image(8, 8, 1, backend.R32Float)
	released, err := c.device.NewImage(background, image.Spec(), "released")
	require.NoError(t, err)
	released.Release()
	buffer := allocate(t, c.device, 64)
	texture := backend.Texture{Image: image, EndLayer: 1}
	good := func() *backend.Draw { return points(p, 4, backend.Range{}, backend.Range{}, cleared(image, 0)) }
	fetch := func(textures ...backend.Texture) *backend.Draw {
		return &backend.Draw{Program: sample, Args: make([]backend.Range, 3), Params: []uint32{0, 1},
			Textures: textures}
	}
	several := *kernel.WidePoints
	several.Targets = []backend.TargetSpec{{Format: backend.R32UInt}, {Format: backend.R32UInt}, several.Targets[2]}
	pair := func(a, b backend.Target) *backend.Draw {
		return points(c.program(&several), 4, backend.Range{}, backend.Range{}, a, b, cleared(float, 0))
	}
	change := func(f func(d *backend.Draw)) *backend.Draw {
		d := good()
		f(d)
		return d
	}
	for name, draw := range map[string]*backend.Draw{
		"no program": {},
		"program of another device": points(other.program(kernel.Points), 4, backend.Range{}, backend.Range{},
			cleared(image, 0)),
		"arguments": change(func(d *backend.Draw) { d.Args = d.Args[:1] }),
		"argument beyond a buffer": change(func(d *backend.Draw) {
			d.Args[0] = buffer.Range(0, 1024)
		}),
		"argument not aligned":    change(func(d *backend.Draw) { d.Args[0] = buffer.Range(4, 8) }),
		"parameters":              change(func(d *backend.Draw) { d.Params = nil }),
		"vertices":                change(func(d *backend.Draw) { d.FirstVertex = math.MaxUint32 }),
		"instances":               change(func(d *backend.Draw) { d.FirstInstance = math.MaxUint32; d.Instances = 2 }),
		"no target":               change(func(d *backend.Draw) { d.Targets = nil }),
		"no image":                change(func(d *backend.Draw) { d.Targets[0].Image = nil }),
		"released":                change(func(d *backend.Draw) { d.Targets[0].Image = released }),
		"layer":                   change(func(d *backend.Draw) { d.Targets[0].Layer = 2 }),
		"format":                  change(func(d *backend.Draw) { d.Targets[0].Image = float }),
		"image of another device": change(func(d *backend.Draw) { d.Targets[0].Image = other.image(8, 8, 1, 0) }),
		"target twice":            pair(cleared(image, 0), cleared(image, 0)),
		"targets of two sizes":    pair(cleared(image, 0), cleared(wide, 0)),
		"textures":                fetch(),
		"no texture":              fetch(backend.Texture{}),
		"layers of a texture":     fetch(backend.Texture{Image: image, EndLayer: 3}),
		"texture without layers":  fetch(backend.Texture{Image: image}),
		"texture and target": change(func(d *backend.Draw) {
			spec := *kernel.Points
			spec.Textures = 1
			d.Program, d.Textures = c.program(&spec), []backend.Texture{texture}
		}),
	} {
		var list backend.List
		list.Draw(name, draw)
		_, err := c.device.Submit(background, backend.Graphics, &list)
		require.Error(t, err, name)
		assert.ErrorIs(t, err, backend.ErrInvalidInput, name)
	}
	for name, r := range map[string]*backend.ReadBack{
		"no image":       {Rows: 1, To: buffer.Range(0, 32)},
		"rows":           {Image: image, Rows: 9, To: buffer.Range(0, 256)},
		"layer":          {Image: image, Layer: 2, Rows: 1, To: buffer.Range(0, 32)},
		"no destination": {Image: image, Rows: 1, To: backend.Range{SizeBytes: 32}},
		"size":           {Image: image, Rows: 1, To: buffer.Range(0, 36)},
		"beyond":         {Image: image, Rows: 8, To: buffer.Range(4, 256)},
		"not aligned":    {Image: c.image(2, 1, 1, backend.RGBA32UInt), Rows: 1, To: buffer.Range(8, 32)},
	} {
		var list backend.List
		list.ReadBack(r)
		_, err := c.device.Submit(background, backend.Graphics, &list)
		require.Error(t, err, name)
		assert.ErrorIs(t, err, backend.ErrInvalidInput, name)
	}
	for role := range backend.Graphics {
		var list backend.List
		list.Draw("draw", good())
		_, err := c.device.Submit(background, role, &list)
		requireOneOf(t, err, backend.ErrUnsupported)
		list = backend.List{}
		list.ReadBack(&backend.ReadBack{Image: image, Rows: 1, To: buffer.Range(0, 32)})
		_, err = c.device.Submit(background, role, &list)
		requireOneOf(t, err, backend.ErrUnsupported)
	}
	c.draw(good())
	_, err = c.device.DrawProgram(kernel.SamplePoints, nil)
	requireOneOf(t, err, backend.ErrInvalidInput)
	unknown := *kernel.Points
	unknown.Name = "no_such_draw"
	_, err = c.device.DrawProgram(&unknown, nil)
	requireOneOf(t, err, backend.ErrUnsupported)
	assert.ErrorContains(t, err, "no_such_draw")
	blended := *kernel.Points
	blended.Targets = []backend.TargetSpec{{Format: backend.R32UInt, Blend: backend.Add}}
	_, err = c.device.DrawProgram(&blended, nil)
	requireOneOf(t, err, backend.ErrInvalidInput)
	assert.Same(t, p, c.program(kernel.Points), "compiled once")
}

// checkRasterLimits: images and draws at the limits work, beyond them they are refused.
func checkRasterLimits(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	l := c.limits()
	require.GreaterOrEqual(t, l.MaxWidth, uint32(4096))
	require.GreaterOrEqual(t, l.MaxHeight, uint32(4096))
	require.GreaterOrEqual(t, l.MaxLayers, uint32(256))
	require.GreaterOrEqual(t, l.MaxTargets, 4)
	require.GreaterOrEqual(t, l.MaxTextures, 4)
	for _, spec := range []backend.ImageSpec{
		{Width: l.MaxWidth + 1, Height: 1, Layers: 1}, {Width: 1, Height: l.MaxHeight + 1, Layers: 1},
		{Width: 1, Height: 1, Layers: l.MaxLayers + 1},
		{Width: l.MaxWidth, Height: l.MaxHeight, Layers: l.MaxLayers, Format: backend.RGBA32UInt},
	} {
		_, err := c.device.NewImage(background, spec, "too large")
		requireOneOf(t, err, backend.ErrLimit)
	}
	for _, spec := range []backend.ImageSpec{{}, {Width: 1, Height: 1}, {Width: 1, Layers: 1}, {Height: 1, Layers: 1},
		{Width: 1, Height: 1, Layers: 1, Format: backend.R32Float + 1}} {
		_, err := c.device.NewImage(background, spec, "no image")
		requireOneOf(t, err, backend.ErrInvalidInput)
	}
	spec := *kernel.Points
	spec.Targets = make([]backend.TargetSpec, l.MaxTargets+1)
	_, err := c.device.DrawProgram(&spec, nil)
	requireOneOf(t, err, backend.ErrLimit)
	spec = *kernel.SamplePoints
	spec.Textures = l.MaxTextures + 1
	_, err = c.device.DrawProgram(&spec, backend.Config{"float": 0})
	requireOneOf(t, err, backend.ErrLimit)

	// A layer in the middle of many, and a draw of them all as a texture.
	layers := min(l.MaxLayers, 256)
	image := c.image(2, 2, layers, backend.R32UInt)
	p := c.program(kernel.Points)
	for layer := range layers {
		c.draw(points(p, 4, c.words(ascending(0, 4)), c.words(ascending(layer, 4)), cleared(image, layer)))
	}
	samples := allocate(t, c.device, int(layers))
	c.draw(&backend.Draw{Program: c.programFor(kernel.SamplePoints, backend.Config{"float": 0}),
		Args:   []backend.Range{c.words(make([]uint32, layers)), samples.All(), {}},
		Params: []uint32{1, 1}, Vertices: 1, Instances: layers,
		Textures: []backend.Texture{{Image: image, EndLayer: layers}}})
	requireWords(t, ascending(0, int(layers)), download(t, c.device, samples), "one texel of each layer")
}
