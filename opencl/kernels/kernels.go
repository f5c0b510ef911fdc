// Package kernels embeds the kernels in OpenCL C 1.2, which tools/glslc.sh translated from the GLSL in folder shaders,
// two subgroup preludes and declarations of the functions of OpenCL C that kernels call.
//
// A program is one variant of a kernel. Its text is [Source], behind a prelude where a device has subgroups. It is
// built with -cl-std=CL1.2, -D<AXIS>=<value> for each axis, -D<CONSTANT>=<value>u for each constant, both in upper
// case, and -DSUBGROUPS with a prelude. Without a prelude a variant that needs subgroups is an #error.
//
// The kernel function has the name of the kernel. Its parameters are a buffer for each argument, in the order of the
// catalogue, and one structure: for each buffer the offset of the argument in bytes (64 bits), then the parameters, the
// first workgroup and the end of the range of workgroups (32 bits each). An absent argument is a NULL buffer and offset
// 0. A dispatch has exactly the workgroups of the range, in one dimension.
package kernels

import (
	"embed"
	"fmt"
)

//go:embed *.cl
var sources embed.FS

var (
	//go:embed subgroup_nvidia.h
	nvidia string
	//go:embed subgroup_khr.h
	khr string
	//go:embed subgroup_vectors.h
	vectors string
	//go:embed builtins.h
	builtins string
)

// Source returns the source of a kernel of the catalogue with all its variants, or an error that wraps fs.ErrNotExist.
func Source(kernel string) (string, error) {
	text, err := sources.ReadFile(kernel + ".cl")
	if err != nil {
		return "", fmt.Errorf("opencl: no source of kernel %s: %w", kernel, err)
	}
	return string(text), nil
}

// NVIDIASubgroups returns the prelude for GPUs of NVIDIA, in inline PTX: subgroups of 32, from compute capability 7.0
// on.
func NVIDIASubgroups() string { return nvidia + "\n" + vectors + "\n" }

// KhronosSubgroups returns the prelude for devices with cl_khr_subgroups, cl_khr_subgroup_ballot,
// cl_khr_subgroup_shuffle, cl_khr_subgroup_non_uniform_vote and cl_intel_required_subgroup_size. Subgroups have size
// invocations, one of the sizes that the device offers. Programs are of OpenCL C 2.0 or later, not 1.2.
func KhronosSubgroups(size uint32) string {
	return fmt.Sprintf("#define REQUIRED_SUBGROUP %d\n%s\n%s\n", size, khr, vectors)
}

// Builtins returns declarations of the functions of OpenCL C 1.2 that kernels without subgroup operations call, to be
// put before a source where clang's header opencl-c.h is left out (-D_OPENCL_H_, its include guard).
func Builtins() string { return builtins + "\n" }
