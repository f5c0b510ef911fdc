package clc

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel/kerneltest"
	"github.com/spirjoin/spirjoin/vulkan"
)

// small is a kernel of these tests: each invocation takes four words of values and gives some results.
func small(name string, axes ...backend.Axis) *backend.KernelSpec {
	return &backend.KernelSpec{
		Name:      name,
		Args:      []backend.ArgSpec{{Name: "values", Access: backend.Read}, {Name: "results", Access: backend.ReadWrite}},
		Params:    []string{"rows"},
		Axes:      axes,
		Constants: []backend.Constant{{Name: "workgroup", Default: 16}, {Name: "items", Default: 3}},
	}
}

const (
	testGroups  = 3
	testResults = 16 // words of each invocation
)

// header declares what small kernels have.
const header = `#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 16, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = 3;
layout(push_constant) uniform Push { uvec2 values; uvec2 results; uint rows; uint first_group; uint end_group; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
#define LOCAL gl_LocalInvocationID.x
#define ROW ((first_group + gl_WorkGroupID.x) * gl_WorkGroupSize.x + LOCAL)
#define VALUE(n) Words(values).at[4u * ROW + n]
#define RESULT(n) Words(results).at[16u * ROW + n]
`

// glslc compiles GLSL without optimisation.
func glslc(t testing.TB, source string, defines ...string) []byte {
	if _, err := exec.LookPath("glslc"); err != nil {
		t.Skip("SKIPPED, NOTHING RAN: no glslc (tools/setup.sh test installs it)")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "source.comp")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
	args := append([]string{"--target-env=vulkan1.2", "-o", path + ".spv"}, defines...)
	output, err := exec.Command("glslc", append(args, path)...).CombinedOutput()
	require.NoError(t, err, "%s\n%s", output, source)
	code, err := os.ReadFile(path + ".spv")
	require.NoError(t, err)
	return code
}

// given is the one shader of a test.
type given []byte

func (g given) Find(*backend.KernelSpec, backend.Config) ([]byte, error) { return g, nil }
func (g given) Hash() string                                             { return fmt.Sprintf("%x", sha256.Sum256(g)) }

// lavapipe opens it with a shader for the time of a test, which is skipped where it is not there.
func lavapipe(t testing.TB, code []byte) *backend.Device {
	b, err := vulkan.New(vulkan.Options{CacheDir: "off", Shaders: given(code)})
	if err != nil {
		t.Skipf("SKIPPED, NOTHING RAN: no Vulkan (tools/setup.sh test installs it): %v", err)
	}
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	infos, err := b.Devices()
	require.NoError(t, err)
	for _, info := range infos {
		if strings.Contains(info.Name, "llvmpipe") && info.Unusable == "" {
			driver, err := b.Open(info.ID)
			require.NoError(t, err)
			device := backend.NewDevice(driver, backend.DeviceOptions{})
			t.Cleanup(func() { require.NoError(t, device.Close()) })
			return device
		}
	}
	t.Skipf("SKIPPED, NOTHING RAN: none of %d Vulkan devices is lavapipe (tools/setup.sh test installs it)", len(infos))
	return nil
}

// requireSame translates a kernel, runs it on PoCL, and requires the results that lavapipe gives for the SPIR-V.
func requireSame(t *testing.T, name, source string, seed uint64) {
	if names := os.Getenv("SPIRJOIN_TEST_DEVICES"); names != "" && !strings.Contains(names, "lavapipe") &&
		!strings.Contains(names, "opencl") && !strings.Contains(names, "pocl") {
		t.Skip("SPIRJOIN_TEST_DEVICES names neither lavapipe nor OpenCL")
	}
	cl, spec, code := pocl(t), small(name), glslc(t, header+source)
	device := lavapipe(t, code)
	translated, err := File(spec, []Variant{{Config: backend.Config{}, SPIRV: code}}, "")
	require.NoError(t, err)
	config, err := spec.Complete(backend.Config{})
	require.NoError(t, err)

	invocations := testGroups * config["workgroup"]
	random := rand.New(rand.NewPCG(seed, 0))
	values, results := make([]uint32, 4*invocations), make([]uint32, testResults*invocations)
	for i := range values {
		values[i] = interesting(random)
	}
	args := [][]byte{backend.AsBytes(values), backend.AsBytes(results)}

	dispatch := kerneltest.Dispatch{Spec: spec, Config: config, Args: args, Params: []uint32{invocations},
		EndGroup: testGroups}
	want, err := dispatch.RunOn(t.Context(), device)
	require.NoError(t, err)
	got := cl.compile(t, spec, config, translated).run(t, args, dispatch.Params, 0, testGroups)
	wanted, found := backend.Words(want[1]), backend.Words(got[1])
	for i := range wanted {
		require.Equal(t, wanted[i], found[i], "result %d of invocation %d, seed %d:\n%s\n%s", i%testResults, i/testResults,
			seed, source, translated)
	}
}

// interesting is a random word, often small, or at an edge.
func interesting(random *rand.Rand) uint32 {
	switch random.IntN(4) {
	case 0:
		return random.Uint32N(8)
	case 1:
		return []uint32{0, 1, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xffff, 0x10000}[random.IntN(10)]
	case 2:
		return 1 << random.IntN(32)
	}
	return random.Uint32()
}

// TestConstructs compares each source of testdata/constructs.
func TestConstructs(t *testing.T) {
	paths, err := filepath.Glob("testdata/constructs/*.comp")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".comp")
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			requireSame(t, name, string(source), 1)
		})
	}
}
