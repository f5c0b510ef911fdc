package kernel

import "github.com/spirjoin/spirjoin/backend"

// Points draws points: point n = gl_InstanceIndex * instance_points + gl_VertexIndex has the colour values[n] and lies
// on pixel pixels[n], counted row by row. Without values its colour is n; without pixels its place is a hash of n, so
// that the draw measures the rate of a device.
var Points = defineDraw(backend.DrawSpec{
	Name:    "points",
	Args:    []backend.ArgSpec{{Name: "pixels", Access: backend.Read}, {Name: "values", Access: backend.Read}},
	Params:  []string{"instance_points"},
	Targets: []backend.TargetSpec{{Format: backend.R32UInt}},
})

// BlendedPoints adds up points: the same as Points, with values that are float32. Without values each is 1.
var BlendedPoints = defineDraw(backend.DrawSpec{
	Name:    "blended_points",
	Args:    []backend.ArgSpec{{Name: "pixels", Access: backend.Read}, {Name: "values", Access: backend.Read}},
	Params:  []string{"instance_points"},
	Targets: []backend.TargetSpec{{Format: backend.R32Float, Blend: backend.Add}},
})
