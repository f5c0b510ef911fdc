// Command genvariants writes the list of SPIR-V files that tools/glslc.sh compiles, from the catalogue: for each variant its
// file, its source, and macros for the values of the axes and the defaults of the constants.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/kernel"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: genvariants variants.txt")
	}
	list, err := variants()
	if err == nil {
		err = os.WriteFile(os.Args[1], list, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func variants() ([]byte, error) {
	var lines []string
	for _, spec := range kernel.Catalogue() {
		for _, variant := range kernel.Variants(spec) {
			config, err := kernel.Defaults(spec, variant)
			if err != nil {
				return nil, err
			}
			line := kernel.SPIRVName(spec, config) + " " + spec.Name + ".comp"
			for _, axis := range spec.Axes {
				line += fmt.Sprintf(" -D%s=%d", strings.ToUpper(axis.Name), config[axis.Name])
			}
			for _, constant := range spec.Constants {
				line += fmt.Sprintf(" -D%s=%d", strings.ToUpper(constant.Name), config[constant.Name])
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	var out bytes.Buffer
	out.WriteString("# Generated from the catalogue of package kernel by go generate; do not edit.\n")
	for _, line := range lines {
		fmt.Fprintln(&out, line)
	}
	return out.Bytes(), nil
}
