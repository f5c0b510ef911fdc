package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// A draw is declared by a [backend.DrawSpec]. Its shaders are shaders/NAME.vert and, if it has targets, NAME.frag. They
// include draws/NAME.glsl, made by go generate: the push constants with the names of arguments and parameters, followed
// by target_width and target_height, and the specialization constants. Axes are defined as macros, in capitals.

var draws []*backend.DrawSpec

// Draws returns every draw, sorted by name.
func Draws() []*backend.DrawSpec {
	return slices.SortedFunc(slices.Values(draws),
		func(a, b *backend.DrawSpec) int { return strings.Compare(a.Name, b.Name) })
}

// defineDraw adds a draw to the catalogue. A name that is taken is a mistake in this package, which shows when any
// program with it starts.
func defineDraw(spec backend.DrawSpec) *backend.DrawSpec {
	if slices.ContainsFunc(draws, func(other *backend.DrawSpec) bool { return other.Name == spec.Name }) {
		panic(fmt.Sprintf("draw %s: twice", spec.Name))
	}
	draws = append(draws, &spec)
	return &spec
}

// DrawVariants returns the combinations of axis values that a draw is compiled for.
func DrawVariants(spec *backend.DrawSpec) []backend.Config { return combinations(spec.Axes) }

// DrawStages names the shaders of a draw as their files end.
func DrawStages(spec *backend.DrawSpec) []string {
	if len(spec.Targets) == 0 {
		return []string{"vert"}
	}
	return []string{"frag", "vert"}
}

// DrawSPIRVName returns the name of the SPIR-V file of a stage of a configuration's variant.
func DrawSPIRVName(spec *backend.DrawSpec, config backend.Config, stage string) string {
	return variantName(spec.Name, spec.Axes, config) + "." + stage + ".spv"
}
