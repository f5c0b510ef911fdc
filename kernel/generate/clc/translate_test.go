package clc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/golden"
)

// TestGolden compares translations of committed SPIR-V, so that it needs no compiler. With GOLDEN_SPIRV=compile the
// SPIR-V is compiled again.
func TestGolden(t *testing.T) {
	for _, name := range []string{"control_flow", "parameters", "shared_memory"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "golden", name+".spv")
			if os.Getenv("GOLDEN_SPIRV") == "compile" {
				source, err := os.ReadFile(filepath.Join("testdata", "constructs", name+".comp"))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, glslc(t, header+string(source)), 0o644))
			}
			code, err := os.ReadFile(path)
			require.NoError(t, err)
			text, err := File(small(name), []Variant{{Config: backend.Config{}, SPIRV: code}}, "")
			require.NoError(t, err)
			golden.Require(t, filepath.Join("golden", name+".cl"), text)
		})
	}
}

func TestErrorsNameKernelVariantAndInstruction(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"extended instruction": {
			"float wave(float a) { return sin(a); }\nvoid main() { RESULT(0u) = uint(wave(1.5 * float(VALUE(0u)))); }",
			"kernel odd, variant bits=32: no translation to OpenCL C: function wave: extended instruction 13 of GLSL",
		},
		"operation": {
			"void main() { RESULT(0u) = bitfieldReverse(VALUE(0u)); }",
			"kernel odd, variant bits=32: no translation to OpenCL C: function main: SPIR-V operation 204",
		},
		"built-in variable": {
			"void main() { RESULT(0u) = gl_GlobalInvocationID.x; }",
			"kernel odd, variant bits=32: no translation to OpenCL C: function main: built-in variable 28",
		},
		"type": {
			"#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n" +
				"void main() { uint64_t a = 1ul; RESULT(0u) = uint(a + VALUE(0u)); }",
			"kernel odd, variant bits=32: no translation to OpenCL C: function main: integers of 64 bits",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := small("odd", backend.Axis{Name: "bits", Values: []uint32{32}})
			_, err := File(spec, []Variant{{Config: backend.Config{"bits": 32}, SPIRV: glslc(t, header+c.source)}}, "")
			require.EqualError(t, err, c.want)
		})
	}
}

func TestNoSPIRV(t *testing.T) {
	_, err := Translate([]byte("no SPIR-V"), small("odd"))
	require.EqualError(t, err, "9 bytes are no SPIR-V")
}

const sharedSource = `
#if BITS == 64
uint widened(uint a) { return a * 2u; }
#else
uint widened(uint a) { return a; }
#endif
uint mixed(uint a) { return a ^ 5u; }
#if FORM == 2
uint third(uint a) { return a + 3u; }
#endif
void main() {
    uint a = mixed(widened(VALUE(0u)));
#if FORM == 2
    a = third(a);
#endif
    RESULT(0u) = a;
}
`

// TestVariantsShareWhatIsEqual looks at the file of four variants.
func TestVariantsShareWhatIsEqual(t *testing.T) {
	spec := small("forms", backend.Axis{Name: "bits", Values: []uint32{32, 64}},
		backend.Axis{Name: "form", Values: []uint32{0, 1, 2}})
	var variants []Variant
	for _, bits := range []uint32{32, 64} {
		for _, form := range []uint32{0, 1, 2} {
			config := backend.Config{"bits": bits, "form": form}
			code := glslc(t, header+sharedSource, fmt.Sprintf("-DBITS=%d", bits), fmt.Sprintf("-DFORM=%d", form))
			variants = append(variants, Variant{Config: config, SPIRV: code})
		}
	}
	text, err := File(spec, variants, "")
	require.NoError(t, err)
	golden.Require(t, filepath.Join("golden", "forms.cl"), text)
	again, err := File(spec, variants, "")
	require.NoError(t, err)
	require.Equal(t, text, again)
}

func TestCondition(t *testing.T) {
	axes := []backend.Axis{{Name: "key_bits", Values: []uint32{32, 64}},
		{Name: "payload_bits", Values: []uint32{0, 32, 64}}}
	var variants []translated
	for _, key := range axes[0].Values {
		for _, payload := range axes[1].Values {
			variants = append(variants, translated{values: []uint32{key, payload}})
		}
	}
	for want, in := range map[string][]bool{
		"":                                     {true, true, true, true, true, true},
		"KEY_BITS == 64":                       {false, false, false, true, true, true},
		"PAYLOAD_BITS <= 32":                   {true, true, false, true, true, false},
		"KEY_BITS == 32 && PAYLOAD_BITS >= 32": {false, true, true, false, false, false},
		"KEY_BITS == 32 || PAYLOAD_BITS == 64": {true, true, true, false, false, true},
		"(PAYLOAD_BITS == 0 || PAYLOAD_BITS == 64)": {true, false, true, true, false, true},
	} {
		require.Equal(t, want, condition(axes, variants, in))
	}
}

// TestSubgroupsAreRefusedWithoutAPrelude builds a variant that needs one, and one for which subgroups of one invocation
// do.
func TestSubgroupsAreRefusedWithoutAPrelude(t *testing.T) {
	const source = "#extension GL_KHR_shader_subgroup_arithmetic : require\n" +
		"void main() { RESULT(0u) = subgroupAdd(VALUE(0u)); }"
	clang := clang15(t)
	spec := small("sums")
	build := func(single Single, options ...string) (output string, err error) {
		const prelude = "#define subgroup_add(a) (a)\n"
		variant := Variant{Config: backend.Config{}, SPIRV: glslc(t, header+source), Single: single}
		text, err := File(spec, []Variant{variant}, prelude)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "sums.cl")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		args := append([]string{"-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64",
			"-fsyntax-only", "-DITEMS=3u"}, options...)
		bytes, err := exec.Command(clang, append(args, path)...).CombinedOutput()
		return string(bytes), err
	}
	output, err := build(Never, "-DWORKGROUP=16u")
	require.Error(t, err)
	require.Contains(t, output, `error: "sums: this variant needs subgroups"`)
	output, err = build(Alone, "-DWORKGROUP=16u")
	require.Error(t, err)
	require.Contains(t, output, `error: "sums: without subgroups this variant needs a workgroup of 1"`)
	output, err = build(Alone, "-DWORKGROUP=1u")
	require.NoError(t, err, output)
}

func clang15(t *testing.T) string {
	path, err := exec.LookPath("clang-15")
	if err != nil {
		t.Skip("SKIPPED: no clang-15")
	}
	return path
}
