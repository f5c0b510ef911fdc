package kerneltest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example returns the files of the example of docs/kernels.md, by their paths in the module.
func example(t *testing.T) map[string]string {
	files := make(map[string]string)
	for _, path := range []string{"kernel/run_heads.go", "shaders/run_heads.comp", "kernel/kerneltest/run_heads.go"} {
		text, err := os.ReadFile(filepath.Join("testdata/run_heads", path))
		require.NoError(t, err)
		files[path] = string(text)
	}
	return files
}

// run runs a command in the root of the module.
func run(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = "../.."
	output, err := c.CombinedOutput()
	return string(output), err
}

// The example of docs/kernels.md, laid over the module: its reference passes its cases, and its shader compiles with
// the declarations that are generated. Broken on purpose, it fails.
func TestExampleOfTheDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, folder, overlay := example(t), t.TempDir(), make(map[string]string)
	for path, text := range files {
		overlay[filepath.Join(root, path)] = filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		require.NoError(t, os.WriteFile(overlay[filepath.Join(root, path)], []byte(text), 0o644))
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	overlaid := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlaid, list, 0o644))
	test := []string{"test", "-vet=off", "-overlay", overlaid, "-run", "TestEveryKernel|TestArguments|TestCheckSees",
		"./kernel/kerneltest"}
	output, err := run("go", test...)
	require.NoError(t, err, output)

	generated := filepath.Join(folder, "shaders")
	output, err = run("go", "run", "-overlay", overlaid, "./kernel/generate", generated)
	require.NoError(t, err, output)
	if _, err := exec.LookPath("glslc"); err == nil {
		for _, bits := range []string{"32", "64"} {
			shader := overlay[filepath.Join(root, "shaders/run_heads.comp")]
			output, err = run("glslc", "--target-env=vulkan1.2", "-I", filepath.Join(generated, "include"),
				"-I", "shaders/include", "-DKEY_BITS="+bits, "-DWORKGROUP=256", "-DITEMS=8", shader,
				"-o", filepath.Join(folder, "run_heads.key_bits"+bits+".spv"))
			require.NoError(t, err, output)
		}
		output, err = run("go", "run", "-overlay", overlaid, "./kernel/generate/opencl", folder,
			"opencl/kernels/subgroup_one.h", folder, "run_heads")
		require.NoError(t, err, output)
		source, err := os.ReadFile(filepath.Join(folder, "run_heads.cl"))
		require.NoError(t, err)
		page, err := os.ReadFile("../../docs/opencl.md")
		require.NoError(t, err)
		listing := regexp.MustCompile("(?ms)^```c\n(.*?)^```$").FindStringSubmatch(string(page))
		require.NotNil(t, listing, "the body of run_heads")
		require.Contains(t, string(source), listing[1], "docs/opencl.md shows another translation")
	}

	if testing.Short() {
		return
	}
	for _, broken := range [][3]string{
		{"kernel/run_heads.go", "heads[row] = 1", "heads[row] = 2"},
		{"kernel/run_heads.go", `access:"write"`, `access:"read"`},
		{"kernel/kerneltest/run_heads.go", "add(kernel.RunHeads, ", "func(...any) {}(kernel.RunHeads, "},
	} {
		path, text := overlay[filepath.Join(root, broken[0])], files[broken[0]]
		require.Contains(t, text, broken[1])
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, broken[1], broken[2])), 0o644))
		output, err = run("go", test...)
		require.Error(t, err, "%s: %s", broken[0], broken[2])
		require.Contains(t, output, "run_heads")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}
