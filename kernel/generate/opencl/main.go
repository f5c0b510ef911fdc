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
	for _, spec := range kernel.Shaders() {
		if len(names) > 0 && !slices.Contains(names, spec.Name) {
			continue
		}
		var variants []clc.Variant
		for _, config := range kernel.Variants(spec) {
			code, err := os.ReadFile(filepath.Join(from, kernel.SPIRVName(spec, config)))
			if err != nil {
				return err
			}
			variants = append(variants, clc.Variant{Config: config, SPIRV: code, Single: single(spec, config)})
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

// single tells where a variant is right with subgroups of one invocation. Other variants that use subgroups count on
// larger ones.
func single(spec *backend.KernelSpec, config backend.Config) clc.Single {
	switch {
	case spec.Name == "radix_scatter" && config["serial"] == 1:
		return clc.Always
	case spec.Name == "partition_walk", spec.Name == "merge_walk":
		return clc.Alone
	}
	return clc.Never
}
