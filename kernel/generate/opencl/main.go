// Command opencl translates the kernels of the catalogue into OpenCL C: from SPIR-V that is compiled without
// optimisation, one file for each variant, into one source for each kernel. tools/glslc.sh runs it.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/kernel/generate/clc"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: opencl SPIRV_FOLDER PRELUDE OUTPUT_FOLDER [KERNEL...]")
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		log.Fatal(err)
	}
}

// generate writes the sources of kernels, of all if none is named. Prelude is the file of subgroup operations for
// subgroups of one invocation.
func generate(from, prelude, to string, names []string) error {
	one, err := os.ReadFile(prelude)
	if err != nil {
		return err
	}
	for _, spec := range kernel.Catalogue() {
		if len(names) > 0 && !slices.Contains(names, spec.Name) {
			continue
		}
		var variants []clc.Variant
		for _, config := range kernel.Variants(spec) {
			code, err := os.ReadFile(filepath.Join(from, kernel.SPIRVName(spec, config)))
			if err != nil {
				return err
			}
			v := clc.Variant{Config: config, SPIRV: code}
			v.One, v.AnyWorkgroup = oneInvocation(spec, config)
			variants = append(variants, v)
		}
		source, err := clc.File(spec, variants, string(one))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, spec.Name+".cl"), []byte(source), 0o644); err != nil {
			return fmt.Errorf("kernel %s: %w", spec.Name, err)
		}
	}
	return nil
}

// oneInvocation tells whether a variant that uses subgroups is right where each has one invocation, and whether in
// workgroups of any size. Others, such as the kernels that mark rows, count on larger ones.
func oneInvocation(spec *backend.KernelSpec, config backend.Config) (one, anyWorkgroup bool) {
	switch spec.Name {
	case "radix_scatter":
		return config["serial"] == 1, true
	case "partition_walk", "merge_walk":
		return true, false
	}
	return false, false
}
