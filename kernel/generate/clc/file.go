package clc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

// macros stand at the head of every source.
const macros = `#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

`

// Variant is one variant of a kernel: its values of the axes, and its SPIR-V, compiled without optimisation.
type Variant struct {
	Config backend.Config
	SPIRV  []byte
	Single Single
}

// Single says whether a variant with subgroup operations is right where each subgroup is one invocation.
type Single uint8

// In no workgroup, in workgroups of one invocation, in all.
const (
	Never Single = iota
	Alone
	Always
)

// translated is a variant with its values in the order of the axes.
type translated struct {
	values []uint32
	single Single
	*Translation
}

// File translates the variants of a kernel into one source. What they share is written once, the rest under conditions
// on macros that are named like the axes. prelude defines subgroup operations for subgroups of one invocation.
func File(kernel *backend.KernelSpec, variants []Variant, prelude string) (string, error) {
	var list []translated
	names := ""
	for _, v := range variants {
		name := variantName(kernel.Axes, v.Config)
		translation, err := Translate(v.SPIRV, kernel)
		if err != nil {
			return "", fmt.Errorf("kernel %s, variant %s: %w", kernel.Name, name, err)
		}
		values := make([]uint32, len(kernel.Axes))
		for i, axis := range kernel.Axes {
			values[i] = v.Config[axis.Name]
		}
		list = append(list, translated{values, v.Single, translation})
		names += "//   " + name + "\n"
	}
	text, err := merge(kernel.Axes, list)
	if err != nil {
		return "", fmt.Errorf("kernel %s: %w", kernel.Name, err)
	}
	return fmt.Sprintf("// Kernel %s in OpenCL C 1.2, translated from shaders/%[1]s.comp by make generate; do not edit.\n"+
		"// Variants:\n%s\n%s%s%s", kernel.Name, names, withoutSubgroups(kernel, list, prelude), macros, text), nil
}

// withoutSubgroups is what happens to variants with subgroup operations where no prelude defines them: the device
// compiler refuses them, or subgroups are single invocations.
func withoutSubgroups(kernel *backend.KernelSpec, variants []translated, prelude string) string {
	choose := func(chosen func(v translated) bool) (in []bool, any bool) {
		for _, v := range variants {
			in = append(in, v.Subgroups && chosen(v))
		}
		return in, slices.Contains(in, true)
	}
	refuse := func(chosen func(v translated) bool, also, message string) string {
		in, any := choose(chosen)
		if !any {
			return ""
		}
		var tests []string
		for _, test := range []string{condition(kernel.Axes, variants, in), also} {
			if strings.Contains(test, "||") && also != "" {
				test = "(" + test + ")"
			}
			if test != "" {
				tests = append(tests, test)
			}
		}
		text := fmt.Sprintf("#error \"%s: %s\"\n", kernel.Name, message)
		if len(tests) > 0 {
			text = "#if " + strings.Join(tests, " && ") + "\n" + text + "#endif\n"
		}
		return text
	}
	text := refuse(func(v translated) bool { return v.single == Never }, "", "this variant needs subgroups") +
		refuse(func(v translated) bool { return v.single == Alone }, "WORKGROUP != 1",
			"without subgroups this variant needs a workgroup of 1")
	if _, any := choose(func(v translated) bool { return v.single != Never }); any {
		text += prelude
	}
	if text == "" {
		return ""
	}
	return "#ifndef SUBGROUPS\n" + text + "#endif\n\n"
}

func variantName(axes []backend.Axis, config backend.Config) string {
	if len(axes) == 0 {
		return "the only one"
	}
	var parts []string
	for _, axis := range axes {
		parts = append(parts, fmt.Sprintf("%s=%d", axis.Name, config[axis.Name]))
	}
	return strings.Join(parts, " ")
}
