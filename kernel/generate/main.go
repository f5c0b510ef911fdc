// Command generate writes what follows from the catalogue into a folder of shaders: variants.txt, the list of SPIR-V
// files that tools/glslc.sh compiles, and for each kernel include/kernels/<kernel>.glsl and for each draw
// include/draws/<draw>.glsl, which declare its arguments and constants.
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FOLDER")
	}
	files, err := generated()
	if err != nil {
		log.Fatal(err)
	}
	stale, err := filepath.Glob(filepath.Join(os.Args[1], "include/[kd]*s/*.glsl")) // kernels and draws
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			log.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(os.Args[1], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

const header = "Generated from the catalogue of package kernel by go generate; do not edit.\n"

// generated returns the files by their names in the folder of shaders.
func generated() (map[string]string, error) {
	files := make(map[string]string)
	var lines []string
	for _, spec := range kernel.Shaders() {
		files["include/kernels/"+spec.Name+".glsl"] = declarations(spec)
		for _, variant := range kernel.Variants(spec) {
			config, err := kernel.Defaults(spec, variant)
			if err != nil {
				return nil, err
			}
			line := kernel.SPIRVName(spec, config) + " " + spec.Name + ".comp"
			lines = append(lines, line+defines(spec.Axes, spec.Constants, config)+"\n")
		}
	}
	for _, spec := range kernel.Draws() {
		files["include/draws/"+spec.Name+".glsl"] = drawDeclarations(spec)
		for _, variant := range kernel.DrawVariants(spec) {
			config, err := spec.Complete(variant)
			if err != nil {
				return nil, err
			}
			for _, stage := range kernel.DrawStages(spec) {
				lines = append(lines, kernel.DrawSPIRVName(spec, config, stage)+" "+spec.Name+"."+stage+
					defines(spec.Axes, spec.Constants, config)+"\n")
			}
		}
	}
	slices.Sort(lines)
	files["variants.txt"] = "# " + header + strings.Join(lines, "")
	return files, nil
}

// defines are the axes and constants of a variant as the compiler takes them.
func defines(axes []backend.Axis, constants []backend.Constant, config backend.Config) (text string) {
	for _, axis := range axes {
		text += fmt.Sprintf(" -D%s=%d", strings.ToUpper(axis.Name), config[axis.Name])
	}
	for _, constant := range constants {
		text += fmt.Sprintf(" -D%s=%d", strings.ToUpper(constant.Name), config[constant.Name])
	}
	return text
}

// declarations are the specialization constants and the push-constant block of a kernel.
func declarations(spec *backend.KernelSpec) string {
	var b strings.Builder
	b.WriteString("// " + header)
	for i, constant := range spec.Constants {
		if macro := strings.ToUpper(constant.Name); i == 0 {
			fmt.Fprintf(&b, "layout(local_size_x = %s, local_size_x_id = 0) in;\n", macro)
		} else {
			fmt.Fprintf(&b, "layout(constant_id = %d) const uint %s = %s;\n", i, constant.Name, macro)
		}
	}
	writePush(&b, spec.Args, append(slices.Clone(spec.Params), "first_group", "end_group"))
	return b.String()
}

// drawDeclarations are the same for the shaders of a draw.
func drawDeclarations(spec *backend.DrawSpec) string {
	var b strings.Builder
	b.WriteString("// " + header)
	for i, constant := range spec.Constants {
		fmt.Fprintf(&b, "layout(constant_id = %d) const uint %s = %s;\n", i, constant.Name,
			strings.ToUpper(constant.Name))
	}
	writePush(&b, spec.Args, append(slices.Clone(spec.Params), "target_width", "target_height"))
	return b.String()
}

func writePush(b *strings.Builder, args []backend.ArgSpec, words []string) {
	b.WriteString("layout(push_constant) uniform Push {\n")
	for _, arg := range args {
		fmt.Fprintf(b, "    uvec2 %s;\n", arg.Name)
	}
	for _, word := range words {
		fmt.Fprintf(b, "    uint %s;\n", word)
	}
	b.WriteString("};\n")
}
