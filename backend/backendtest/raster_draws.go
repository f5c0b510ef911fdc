package backendtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// checkOverwrite draws every pixel of an image whose size is no power of two once, and then some pixels again: the
// others keep their content.
func checkOverwrite(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width, height, n = 61, 37, 61 * 37
	p := c.program(kernel.Points)
	image := c.image(width, height, 2, backend.R32UInt)
	places, values := rotation(n), randomWords(1, n)
	c.draw(points(p, n, c.words(places), c.words(values), cleared(image, 1)))
	want := make([]uint32, n)
	for i, at := range places {
		want[at] = values[i]
	}
	requireWords(t, want, c.read(image, 1), "every pixel")
	c.draw(points(p, n/3, c.words(places), backend.Range{}, kept(image, 1)))
	for i, at := range places[:n/3] {
		want[at] = uint32(i)
	}
	requireWords(t, want, c.read(image, 1), "a third of the pixels")
	outside := []uint32{n, n + width, math.MaxUint32}
	c.draw(points(p, len(outside), c.words(outside), backend.Range{}, kept(image, 1)))
	requireWords(t, want, c.read(image, 1), "points below the image")
	require.Len(t, c.readRows(image, 1, 3), 3*width)
	requireWords(t, want[:3*width], c.readRows(image, 1, 3), "three rows")
	c.draw(points(p, 0, backend.Range{}, backend.Range{}, cleared(image, 1)))
	requireWords(t, make([]uint32, n), c.read(image, 1), "cleared")

	// Of several points on a pixel one remains, whole.
	many := s.pick(1<<18, 1<<14)
	same := randomWords(2, many)
	for i := range same {
		same[i] %= n
	}
	c.draw(points(p, many, c.words(same), backend.Range{}, cleared(image, 0)))
	hit := make([]bool, n)
	for _, at := range same {
		hit[at] = true
	}
	for at, v := range c.read(image, 0) {
		if hit[at] {
			require.Equal(t, uint32(at), same[v], "point %d on pixel %d", v, at)
		} else {
			require.Zero(t, v, "pixel %d", at)
		}
	}
}

// checkBlend adds many points up in few pixels, exactly, and takes minima and maxima. Sums up to 2^24 are exact, and
// beyond that adding 1 changes nothing.
func checkBlend(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width = 5
	n := s.pick(1<<18, 1<<14)
	image := c.image(width, 1, 1, backend.R32Float)
	places := randomWords(2, n)
	values, negative := make([]float32, n), make([]float32, n)
	sums, least, most := make([]float32, width), make([]float32, width), make([]float32, width)
	counts := make([]float32, width)
	for i := range places {
		places[i] %= width - 1 // no point on the last
		at := places[i]
		values[i] = float32(at + uint32(i)%16)
		negative[i] = -values[i]
		counts[at] += 2
		sums[at] += values[i]
		least[at], most[at] = min(least[at], negative[i]), max(most[at], values[i])
	}
	pixels := c.words(places)
	positive, minus := c.words(bits(values)), c.words(bits(negative))
	for _, b := range []struct {
		blend  backend.Blend
		values backend.Range
		want   []float32
	}{{backend.Add, positive, sums}, {backend.Min, minus, least}, {backend.Max, positive, most}} {
		spec := *kernel.BlendedPoints
		spec.Targets = []backend.TargetSpec{{Format: backend.R32Float, Blend: b.blend}}
		c.draw(points(c.program(&spec), n, pixels, b.values, cleared(image, 0)))
		require.Equal(t, b.want, floats(c.read(image, 0)), "blend %d", b.blend)
	}
	p := c.program(kernel.BlendedPoints)
	c.draw(points(p, n, pixels, backend.Range{}, cleared(image, 0)), points(p, n, pixels, backend.Range{}, kept(image, 0)))
	require.Equal(t, counts, floats(c.read(image, 0)), "two draws")

	limit := []float32{1<<24 - 2, 1, 1, 1}
	for i, want := range []float32{1<<24 - 2, 1<<24 - 1, 1 << 24, 1 << 24} {
		c.draw(points(p, i+1, c.words(make([]uint32, 4)), c.words(bits(limit)), cleared(image, 0)))
		require.Equal(t, want, floats(c.read(image, 0))[0])
	}
}

// checkCorners draws single points into an image that is wide and one that is high, where a place that is not exact
// would hit another pixel.
func checkCorners(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	limits := c.limits()
	for _, size := range [][2]uint32{{min(16384, limits.MaxWidth), 3}, {3, min(16383, limits.MaxHeight)}, {1, 1}} {
		image := c.image(size[0], size[1], 1, backend.R32UInt)
		n := int(size[0] * size[1])
		c.draw(points(c.program(kernel.Points), n, c.words(ascending(0, n)), backend.Range{}, cleared(image, 0)))
		requireWords(t, ascending(0, n), c.read(image, 0), "%d x %d", size[0], size[1])
	}
}

// checkTargets draws into three targets at a time, one of which is blended, and one of which has each format of
// unsigned integers.
func checkTargets(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width, height, n = 7, 5, 100
	places, values := randomWords(3, n), randomWords(4, n)
	counts := make([]float32, width*height)
	for i := range places {
		places[i] %= width*height - 1
		counts[places[i]]++
	}
	pixels, colours := c.words(places), c.words(values)
	for _, format := range []backend.Format{backend.R32UInt, backend.RG32UInt, backend.RGBA16UInt, backend.RGBA32UInt} {
		spec := *kernel.WidePoints
		spec.Targets = []backend.TargetSpec{{Format: backend.R32UInt}, {Format: format}, spec.Targets[2]}
		number, wide := c.image(width, height, 1, backend.R32UInt), c.image(width, height, 3, format)
		count := c.image(width, height, 1, backend.R32Float)
		c.draw(points(c.program(&spec), n, pixels, colours, cleared(number, 0), cleared(wide, 2), cleared(count, 0)))
		numbers, channels := c.read(number, 0), c.read(wide, 2)
		require.Equal(t, counts, floats(c.read(count, 0)))
		words := int(format.PixelBytes() / 4)
		for at, v := range numbers {
			got := channels[at*words : (at+1)*words]
			if counts[at] == 0 {
				require.Equal(t, make([]uint32, words), got, "%v: pixel %d", format, at)
				continue
			}
			require.Equal(t, uint32(at), places[v], "%v", format)
			if format == backend.RGBA16UInt { // values beyond 16 bits are undefined: only the small channels count
				require.Equal(t, v, got[0]&0xffff)
				require.Equal(t, v, got[1]&0xffff)
				continue
			}
			require.Equal(t, []uint32{v, values[v], v, 0}[:words], got, "%v: pixel %d", format, at)
		}
	}
}

// checkInstances draws instances from a first one on and vertices from a first one on.
func checkInstances(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width, height = 10, 8
	image := c.image(width, height, 1, backend.RGBA32UInt)
	spec := *kernel.WidePoints
	spec.Targets = []backend.TargetSpec{{Format: backend.R32UInt}, {Format: backend.RGBA32UInt},
		{Format: backend.R32Float, Blend: backend.Add}}
	d := points(c.program(&spec), 4, c.words(ascending(0, width*height)), backend.Range{},
		cleared(c.image(width, height, 1, backend.R32UInt), 0), cleared(image, 0),
		cleared(c.image(width, height, 1, backend.R32Float), 0))
	d.Params[0] = width
	d.FirstVertex, d.FirstInstance, d.Instances = 3, 2, 5
	c.draw(d)
	want := make([]uint32, 4*width*height)
	for instance := uint32(2); instance < 7; instance++ {
		for vertex := uint32(3); vertex < 7; vertex++ {
			n := instance*width + vertex
			copy(want[4*n:], []uint32{n, n, vertex, instance})
		}
	}
	requireWords(t, want, c.read(image, 0), "instances")
}

// checkTextures fetches texels of several layers in vertex shaders that draw nothing, stores and counts them. Layers
// that are no part of the texture are targets in the meantime, in the same image.
func checkTextures(t *testing.T, s *suite) {
	c := s.newCanvas(t, backend.DeviceOptions{})
	const width, height, n, layers, buckets = 13, 11, 13 * 11, 3, 16
	for float, format := range []backend.Format{backend.R32UInt, backend.R32Float} {
		image := c.image(width, height, 5, format)
		draw := c.program([]*backend.DrawSpec{kernel.Points, kernel.BlendedPoints}[float])
		texels := make([]uint32, 0, layers*n)
		var draws []*backend.Draw
		for layer := range uint32(layers) {
			colours := randomWords(uint64(layer), n)
			for i := range colours {
				colours[i] %= 1 << 20
			}
			texels = append(texels, colours...)
			if float == 1 {
				for i := range colours {
					colours[i] = math.Float32bits(float32(colours[i]))
				}
			}
			draws = append(draws, points(draw, n, c.words(ascending(0, n)), c.words(colours), cleared(image, 2+layer)))
		}
		p, err := c.device.DrawProgram(kernel.SamplePoints, backend.Config{"float": uint32(float)})
		require.NoError(t, err)
		const m = 300
		places := randomWords(9, m*layers)
		want, counts := make([]uint32, m*layers), make([]uint32, buckets)
		for i := range places {
			places[i] %= n
			want[i] = texels[i/m*n+int(places[i])]
			counts[want[i]%buckets] += 2
		}
		samples, totals := allocate(t, c.device, m*layers), allocate(t, c.device, buckets)
		sample := &backend.Draw{Program: p, Args: []backend.Range{c.words(places), samples.All(), totals.All()},
			Params: []uint32{m, buckets}, Vertices: m, Instances: layers,
			Textures: []backend.Texture{{Image: image, FirstLayer: 2, EndLayer: 5}}}
		var list backend.List
		list.Fill(totals.All(), 0)
		for _, d := range draws {
			list.Draw("draw", d)
		}
		list.Draw("sample", sample)
		list.Draw("draw", points(draw, n, backend.Range{}, backend.Range{}, cleared(image, 0)))
		list.Draw("sample", sample)
		c.submit(&list)
		requireWords(t, want, download(t, c.device, samples), "%v: samples", format)
		requireWords(t, counts, download(t, c.device, totals), "%v: counts", format)
	}
}

func bits(values []float32) []uint32 { return backend.Words(backend.AsBytes(values)) }

func floats(words []uint32) []float32 {
	out := make([]float32, len(words))
	for i, w := range words {
		out[i] = math.Float32frombits(w)
	}
	return out
}
