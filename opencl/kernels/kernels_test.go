package kernels

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// TestSourcesAreFresh compares hashes, so that it needs no compiler.
func TestSourcesAreFresh(t *testing.T) {
	found := map[string]string{}
	for _, pattern := range []string{"shaders/spv/SOURCES.sha256", "kernel/generate/clc/*.go",
		"kernel/generate/opencl/*.go", "opencl/kernels/*.cl", "opencl/kernels/*.h"} {
		paths, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			sum := sha256.Sum256(content)
			found[filepath.ToSlash(strings.TrimPrefix(path, "../../"))] = hex.EncodeToString(sum[:])
		}
	}
	recorded := map[string]string{}
	f, err := os.Open("SOURCES.sha256")
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, path, _ := strings.Cut(lines.Text(), "  ")
		recorded[path] = sum
	}
	require.Equal(t, recorded, found, "the shaders or the translator changed: run make generate")
}

func TestEveryVariantHasASource(t *testing.T) {
	kernels := map[string]bool{}
	for _, spec := range kernel.Shaders() {
		kernels[spec.Name] = true
		source, err := Source(spec.Name)
		require.NoError(t, err)
		head, _, _ := strings.Cut(source, "\n\n")
		var want []string
		for _, config := range kernel.Variants(spec) {
			var values []string
			for _, axis := range spec.Axes {
				values = append(values, fmt.Sprintf("%s=%d", axis.Name, config[axis.Name]))
			}
			if values == nil {
				values = []string{"the only one"}
			}
			want = append(want, "//   "+strings.Join(values, " "))
		}
		lines := strings.Split(head, "\n")
		require.Greater(t, len(lines), 2, spec.Name)
		require.Equal(t, want, lines[2:], "%s: run make generate", spec.Name)
		require.Contains(t, source, "void "+spec.Name+"(\n", spec.Name)
	}
	files, err := fs.Glob(sources, "*.cl")
	require.NoError(t, err)
	for _, file := range files {
		require.True(t, kernels[strings.TrimSuffix(file, ".cl")], "%s is of no kernel: run make generate", file)
	}
}

func TestUnknownKernel(t *testing.T) {
	_, err := Source("nothing")
	require.True(t, errors.Is(err, fs.ErrNotExist))
	require.ErrorContains(t, err, "nothing")
}

// target is how clang compiles a source. Without a prelude it refuses what needs one.
// With builtins it gets no header of the functions of OpenCL C.
type target struct {
	triple, standard, prelude string
	builtins                  bool
}

// TestSyntax has clang check each variant, in turn for one of four targets, and for all of them in a full run.
func TestSyntax(t *testing.T) {
	clang, err := exec.LookPath("clang-15")
	if err != nil {
		t.Skip("SKIPPED: no clang-15: nothing checked the syntax for other compilers than PoCL's")
	}
	targets := []target{
		{triple: "nvptx64", standard: "CL1.2", prelude: NVIDIASubgroups()},
		{triple: "spir64", standard: "CL3.0", prelude: KhronosSubgroups(16)},
		{triple: "amdgcn-amd-amdhsa", standard: "CL1.2"},
		{triple: "x86_64", standard: "CL1.2", builtins: true},
	}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	turn := 0
	for _, spec := range kernel.Shaders() {
		for _, variant := range kernel.Variants(spec) {
			turn++
			for i, to := range targets {
				if testing.Short() && turn%len(targets) != i {
					continue
				}
				t.Run(kernel.SPIRVName(spec, variant)+"/"+to.triple, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					checkSyntax(t, clang, spec, variant, to)
				})
			}
		}
	}
}

func checkSyntax(t *testing.T, clang string, spec *backend.KernelSpec, variant backend.Config, to target) {
	config, err := kernel.Defaults(spec, variant)
	require.NoError(t, err)
	args := []string{"-x", "cl", "-cl-std=" + to.standard, "-target", to.triple, "-fsyntax-only", "-Werror",
		"-Wno-unused-function", "-Wno-constant-logical-operand", "-nogpulib"}
	text := to.prelude
	if to.builtins {
		folder, err := exec.Command(clang, "-print-resource-dir").Output()
		require.NoError(t, err)
		header := filepath.Join(strings.TrimSpace(string(folder)), "include", "opencl-c-base.h")
		args, text = append(args, "-cl-no-stdinc", "-include", header), Builtins()
	} else {
		args = append(args, "-Xclang", "-finclude-default-header")
	}
	for _, axis := range spec.Axes {
		args = append(args, fmt.Sprintf("-D%s=%d", strings.ToUpper(axis.Name), config[axis.Name]))
	}
	for _, constant := range spec.Constants {
		args = append(args, fmt.Sprintf("-D%s=%du", strings.ToUpper(constant.Name), config[constant.Name]))
	}
	if to.prelude != "" {
		args = append(args, "-DSUBGROUPS")
	}
	source, err := Source(spec.Name)
	require.NoError(t, err)
	command := exec.Command(clang, append(args, "-")...)
	command.Stdin = strings.NewReader(text + source)
	output, err := command.CombinedOutput()
	for _, refusal := range []string{"this variant needs subgroups",
		"without subgroups this variant needs a workgroup of 1"} {
		if to.prelude == "" && strings.Contains(string(output), fmt.Sprintf("error: %q", spec.Name+": "+refusal)) {
			return
		}
	}
	require.NoError(t, err, string(output))
}
