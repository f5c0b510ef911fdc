package kernel

import "github.com/spirjoin/spirjoin/backend"

// WidePoints draws points into several targets: the number n of the point, as in [Points], with channels n, values[n],
// gl_VertexIndex and gl_InstanceIndex in the second, and a count of the points of each pixel in the third.
var WidePoints = defineDraw(backend.DrawSpec{
	Name:   "wide_points",
	Args:   []backend.ArgSpec{{Name: "pixels", Access: backend.Read}, {Name: "values", Access: backend.Read}},
	Params: []string{"instance_points"},
	Targets: []backend.TargetSpec{{Format: backend.R32UInt}, {Format: backend.RGBA32UInt},
		{Format: backend.R32Float, Blend: backend.Add}},
})
