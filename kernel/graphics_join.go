package kernel

import "github.com/spirjoin/spirjoin/backend"

// The draws of the join on the graphics pipeline (GARUDA 3); their shaders say what each does. Those that draw into
// hash images have the targets for keys of 64 bits; for keys of 32 bits these are RGBA16UInt.
var (
	CountPixels = defineDraw(backend.DrawSpec{Name: "count_pixels", Axes: keyBits, Args: keysAnd(),
		Params: hashParams(), Targets: blendedCounts})
	// BuildStack has no texture with pass=0.
	BuildStack = defineDraw(backend.DrawSpec{Name: "build_stack",
		Axes: []backend.Axis{keyBits[0], {Name: "pass", Values: []uint32{0, 1, 2}}},
		Args: keysAnd(arg("rest", backend.ReadWrite), arg("rest_rows", backend.Accumulate),
			arg("placed", backend.Accumulate)),
		Params: hashParams(), Textures: 1, Targets: hashImage})
	// CountStack has no target with by_image=0.
	CountStack = defineDraw(backend.DrawSpec{Name: "count_stack", Axes: byImage,
		Args: keysAnd(arg("ids", backend.Read), arg("stack_ids", backend.Read), marksArg, stackMarksArg,
			arg("counts", backend.Write)),
		Params: hashParams("first_row", "images"), Textures: 1, Targets: blendedCounts})
	ProbeStack = defineDraw(backend.DrawSpec{Name: "probe_stack", Axes: byImage,
		Args:   keysAnd(arg("ids", backend.Read), arg("stack_ids", backend.Read), arg("nexts", backend.ReadWrite)),
		Params: hashParams("first_row", "base", "images"), Textures: 1, Targets: pairImage})
)

// The draws of a flattened stack (GARUDA 3.4.4).
var (
	BuildFlat = defineDraw(backend.DrawSpec{Name: "build_flat", Axes: keyBits,
		Args: keysAnd(arg("nexts", backend.ReadWrite)), Params: hashParams(), Targets: hashImage})
	CountCandidates = defineDraw(backend.DrawSpec{Name: "count_candidates", Axes: keyBits,
		Args: keysAnd(arg("begins", backend.Read), arg("candidates", backend.Write)), Params: hashParams("first_row")})
	CountFlat = defineDraw(backend.DrawSpec{Name: "count_flat", Axes: keyBits,
		Args: keysAnd(arg("begins", backend.Read), arg("candidates", backend.Read), arg("ids", backend.Read),
			arg("stack_ids", backend.Read), marksArg, stackMarksArg, arg("found", backend.Accumulate)),
		Params: hashParams(windowParams...), Textures: 1})
	ProbeFlat = defineDraw(backend.DrawSpec{Name: "probe_flat", Axes: keyBits,
		Args: keysAnd(arg("begins", backend.Read), arg("candidates", backend.Read), arg("ids", backend.Read),
			arg("stack_ids", backend.Read), arg("found", backend.ReadWrite)),
		Params: hashParams(windowParams...), Textures: 1, Targets: pairImage})
)

var (
	keyBits       = []backend.Axis{{Name: "key_bits", Values: []uint32{32, 64}}}
	marksArg      = arg("marks", backend.Accumulate)
	stackMarksArg = arg("stack_marks", backend.Accumulate)
	windowParams  = []string{"first_row", "rows", "from_low", "from_high"}
	blendedCounts = []backend.TargetSpec{{Format: backend.R32Float, Blend: backend.Add}}
	hashImage     = []backend.TargetSpec{{Format: backend.RGBA32UInt}}
	pairImage     = []backend.TargetSpec{{Format: backend.RG32UInt}}
	byImage       = []backend.Axis{keyBits[0], {Name: "by_image", Values: []uint32{0, 1}}}
)

func arg(name string, access backend.Access) backend.ArgSpec {
	return backend.ArgSpec{Name: name, Access: access}
}

// keysAnd are key codes, then other arguments.
func keysAnd(others ...backend.ArgSpec) []backend.ArgSpec {
	return append([]backend.ArgSpec{arg("keys", backend.Read)}, others...)
}

// hashParams are what finds the pixel of a key, then other parameters.
func hashParams(others ...string) []string {
	return append([]string{"log2_width", "log2_height", "seed"}, others...)
}
