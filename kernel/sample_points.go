package kernel

import "github.com/spirjoin/spirjoin/backend"

// SamplePoints fetches texels: point n = gl_InstanceIndex * instance_points + gl_VertexIndex reads the first channel of
// pixel pixels[n], counted row by row, of layer gl_InstanceIndex. The texel, of a float texture (float=1) as a uint, is
// samples[n], and one is added to counts[texel % buckets]. Each buffer may be absent; without pixels the place is a
// hash of n, so that the draw measures the rate of a device. Nothing is drawn.
var SamplePoints = defineDraw(backend.DrawSpec{
	Name: "sample_points",
	Args: []backend.ArgSpec{{Name: "pixels", Access: backend.Read}, {Name: "samples", Access: backend.Write},
		{Name: "counts", Access: backend.Accumulate}},
	Params:   []string{"instance_points", "buckets"},
	Axes:     []backend.Axis{{Name: "float", Values: []uint32{0, 1}}},
	Textures: 1,
})
