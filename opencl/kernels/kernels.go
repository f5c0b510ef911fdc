// Package kernels embeds the kernels in OpenCL C 1.2, which tools/glslc.sh translated from the GLSL in folder shaders.
package kernels

import (
	"embed"
	"fmt"
)

//go:embed *.cl
var sources embed.FS

// Source returns the source of a kernel of the catalogue with all its variants, or an error that wraps fs.ErrNotExist.
// A program is one variant: -D<AXIS>=<value> for each axis, -D<CONSTANT>=<value>u for each constant, both in upper case.
func Source(kernel string) (string, error) {
	text, err := sources.ReadFile(kernel + ".cl")
	if err != nil {
		return "", fmt.Errorf("opencl: no source of kernel %s: %w", kernel, err)
	}
	return string(text), nil
}
