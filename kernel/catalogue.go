// Package kernel is the catalogue of kernels: each with its arguments and its accesses to them, its variants and
// tunable constants, and its reference in plain Go.
//
// A kernel processes its rows tile by tile. In the wide shape (serial=0, and kernels without that axis) the invocations
// of a workgroup work together on one tile of workgroup*items rows; in the serial shape (serial=1) each invocation
// processes its own tile of items rows, which suits drivers that run kernels on CPU cores. If the wide shape has
// subgroup operations, shared=1 is the same without them: invocations communicate only through shared memory. The
// references accept every configuration, so they are the oracle of every variant; in the serial shape with one
// invocation and large tiles they are also the engine of the host backend. A workgroup reads and writes only what the
// catalogue says for its tiles, so that workgroups of one dispatch may run at the same time. Only scan_lookback and
// radix_scatter with lookback=1 read what other workgroups publish, and they never wait for it.
package kernel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

//go:generate go run ./generate ../shaders

// serialWorkgroup is the default of the serial shape. Its tiles (SerialItems of each kernel) are small where each row
// costs a search, because lavapipe ends all loops of an invocation after 65,535 trips. The others are a little more
// than a power of two, so that the tiles of neighbouring invocations, which advance together, do not compete for the
// same cache sets.
const serialWorkgroup = 8

// Variants returns the combinations of axis values that a kernel is compiled for, in the order of its axes.
func Variants(spec *backend.KernelSpec) []backend.Config {
	// Sums are never narrower than what they add up, only the wide shape with subgroup operations looks back, and rows
	// are not marked with output in pages.
	return slices.DeleteFunc(combinations(spec.Axes), func(c backend.Config) bool {
		return c["sum_bits"] < c["in_bits"] || c["serial"]+c["shared"]+c["lookback"] > 1 ||
			c["paged"]+c["marked"] > 1
	})
}

// combinations of the values of axes.
func combinations(axes []backend.Axis) []backend.Config {
	variants := []backend.Config{{}}
	for _, axis := range axes {
		var longer []backend.Config
		for _, v := range variants {
			for _, value := range axis.Values {
				c := maps.Clone(v)
				c[axis.Name] = value
				longer = append(longer, c)
			}
		}
		variants = longer
	}
	return variants
}

// Defaults returns the complete configuration of a variant, with the default workgroup and tile of its shape. config
// has a value for each axis and may set constants.
func Defaults(spec *backend.KernelSpec, config backend.Config) (backend.Config, error) {
	full, err := spec.Complete(config)
	if err != nil || full["serial"] == 0 {
		return full, err
	}
	for name, value := range map[string]uint32{"workgroup": serialWorkgroup, "items": serialItems[spec.Name]} {
		if _, set := config[name]; !set {
			full[name] = value
		}
	}
	return full, nil
}

// SPIRVName returns the name of the SPIR-V file of a configuration's variant: the kernel and the value of each axis.
func SPIRVName(spec *backend.KernelSpec, config backend.Config) string {
	return variantName(spec.Name, spec.Axes, config) + ".spv"
}

func variantName(name string, axes []backend.Axis, config backend.Config) string {
	var b strings.Builder
	b.WriteString(name)
	for _, axis := range axes {
		fmt.Fprintf(&b, ".%s%d", axis.Name, config[axis.Name])
	}
	return b.String()
}
