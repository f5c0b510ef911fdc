package clc

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
)

const head = `#define LOCAL_ID_X ((uint)get_local_id(0))
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
	// One tells whether subgroups of one invocation serve it, AnyWorkgroup whether in workgroups of more invocations, too.
	One, AnyWorkgroup bool

	values      []uint32
	translation *Translation
}

// File translates the variants of a kernel into one source. What they share is written once, the rest under conditions
// on macros that are named like the axes. Prelude defines subgroup operations for subgroups of one invocation.
func File(kernel *backend.KernelSpec, variants []Variant, prelude string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "// Kernel %s in OpenCL C 1.2, translated from shaders/%s.comp by make generate; do not edit.\n// Variants:\n",
		kernel.Name, kernel.Name)
	needs, serves, single := make([]bool, len(variants)), make([]bool, len(variants)), make([]bool, len(variants))
	any := func(list []bool) (found bool) {
		for _, b := range list {
			found = found || b
		}
		return found
	}
	for i := range variants {
		v := &variants[i]
		name := variantName(kernel.Axes, v.Config)
		translation, err := Translate(v.SPIRV, kernel)
		if err != nil {
			return "", fmt.Errorf("kernel %s, variant %s: %w", kernel.Name, name, err)
		}
		v.translation = translation
		for _, axis := range kernel.Axes {
			v.values = append(v.values, v.Config[axis.Name])
		}
		fmt.Fprintf(&b, "//   %s\n", name)
		needs[i] = translation.Subgroups && !v.One
		serves[i] = translation.Subgroups && v.One
		single[i] = serves[i] && !v.AnyWorkgroup
	}
	b.WriteString("\n")
	if any(needs) || any(serves) {
		b.WriteString("#ifndef SUBGROUPS\n")
		when := func(list []bool, also, text string) {
			if !any(list) {
				return
			}
			tests := []string{condition(kernel.Axes, variants, list), also}
			if tests[0] == "" || also == "" {
				tests = []string{tests[0] + also}
			} else if strings.Contains(tests[0], "||") {
				tests[0] = "(" + tests[0] + ")"
			}
			if test := strings.Join(tests, " && "); test != "" {
				text = "#if " + test + "\n" + text + "#endif\n"
			}
			b.WriteString(text)
		}
		when(needs, "", "#error \""+kernel.Name+": this variant needs subgroups\"\n")
		when(single, "WORKGROUP != 1", "#error \""+kernel.Name+": without subgroups this variant needs a workgroup of 1\"\n")
		if any(serves) {
			b.WriteString(prelude)
		}
		b.WriteString("#endif\n\n")
	}
	b.WriteString(head + "\n")
	text, err := merge(kernel.Axes, variants)
	if err != nil {
		return "", fmt.Errorf("kernel %s: %w", kernel.Name, err)
	}
	return b.String() + text, nil
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
