package kernel

import "github.com/spirjoin/spirjoin/backend"

// The draws of the group-by on the graphics pipeline (GARUDA 4); their shaders say what each does. The target of
// GroupImage is that for keys of 64 bits; for keys of 32 bits it is RGBA16UInt.
var (
	GroupImage = defineDraw(backend.DrawSpec{Name: "group_image", Axes: keyBits,
		Args: keysAnd(arg("rest", backend.Read)), Params: hashParams(), Targets: hashImage})
	GroupMap = defineDraw(backend.DrawSpec{Name: "group_map", Axes: keyBits,
		Args: keysAnd(arg("rest", backend.Read), arg("map", backend.ReadWrite), arg("heads", backend.ReadWrite),
			arg("next", backend.ReadWrite), arg("next_rows", backend.Accumulate)),
		Params: hashParams(rowsOfVertices...), Textures: 1})
	GroupPlace = defineDraw(backend.DrawSpec{Name: "group_place", Axes: keyBits,
		Args:   keysAnd(arg("places", backend.Read), arg("map", backend.ReadWrite), arg("group_keys", backend.Write)),
		Params: rowsOfVertices})
	GroupAdd = defineDraw(backend.DrawSpec{Name: "group_add", Args: valuesAnd(backend.Accumulate),
		Params: valueParams()})
	GroupExtreme = defineDraw(backend.DrawSpec{Name: "group_extreme",
		Axes: []backend.Axis{{Name: "pass", Values: []uint32{ExtremeNone, ExtremeWord, ExtremeEnd}}},
		Args: valuesAnd(backend.ReadWrite), Params: valueParams("flip", "word")})
)

// VertexRows is the number of rows of a vertex of GroupMap, GroupPlace, GroupAdd, and GroupExtreme. The parameters are
// the rows in all, and the vertices.
const VertexRows = 8

var rowsOfVertices = []string{"rows", "vertices"}

// The values of the axis pass of [GroupExtreme]: one vertex per group, per [VertexRows] rows, and per
// group.
const (
	ExtremeNone uint32 = iota // states become the identity of min or max
	ExtremeWord               // a word of the states becomes the least one
	ExtremeEnd                // states become values
)

// valuesAnd are the numbers of the groups of rows, values as in [GroupReduce], and states that are accessed in a way.
func valuesAnd(access backend.Access) []backend.ArgSpec {
	return []backend.ArgSpec{arg("ids", backend.Read), arg("value", backend.Read), arg("value_2", backend.Read),
		arg("valid", backend.Read), arg("state", access), arg("state_2", access)}
}

// valueParams say how values are read, then other parameters.
func valueParams(others ...string) []string {
	return append(append([]string{"bits", "shift", "kind", "valid_bit", "first_row", "first_row_high"},
		rowsOfVertices...), others...)
}
