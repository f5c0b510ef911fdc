package kerneltest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func TestEveryKernelIsRegistered(t *testing.T) {
	require.Empty(t, Missing())
}

// The oracle must see a wrong word, a word written behind an output, and a changed input.
func TestCheckSeesPlantedFaults(t *testing.T) {
	for _, spec := range kernel.Catalogue() {
		config, err := kernel.Defaults(spec, kernel.Variants(spec)[0])
		require.NoError(t, err)
		c := NewCase(spec, config, Options{Rows: 100, Distribution: "random", Seed: 1})
		require.NoError(t, c.Check(c.RunReference()))
		for i := range spec.Args {
			if c.Args[i] == nil {
				continue
			}
			for _, at := range []int{0, len(c.Args[i]) - 1} { // the latter is behind an output
				after := c.RunReference()
				after[i][at] ^= 1
				require.Error(t, c.Check(after), "%s %s byte %d", spec.Name, spec.Args[i].Name, at)
			}
		}
	}
}

// Benchmarks are dispatches that the reference can run, whatever the variant and the number of rows.
func TestBenchmarksRun(t *testing.T) {
	for _, spec := range kernel.Catalogue() {
		for _, variant := range kernel.Variants(spec) {
			config, err := kernel.Defaults(spec, variant)
			require.NoError(t, err)
			for _, rows := range []int{100, 10_000} {
				d := NewBenchmark(spec, config, rows)
				require.NotZero(t, d.EndGroup)
				d.RunReference()
			}
		}
	}
}

// What a case says of an argument agrees with its access in the catalogue, which orders dispatches.
func TestArgumentsHaveTheirAccess(t *testing.T) {
	for _, spec := range kernel.Catalogue() {
		config, err := kernel.Defaults(spec, kernel.Variants(spec)[0])
		require.NoError(t, err)
		for seed := range uint64(10) {
			c := NewCase(spec, config, Options{Rows: 100, Distribution: "random", Seed: seed})
			for i, arg := range spec.Args {
				require.Empty(t, misused(c, i), "kernel %s: access of %s is %d", spec.Name, arg.Name, arg.Access)
			}
		}
	}
}

// misused says how the case uses an argument in a way that its access does not allow.
func misused(c *Case, i int) string {
	before, after, access := c.Args[i], c.want[i], c.Spec.Args[i].Access
	marked := bytes.Count(before, []byte{marker}) == len(before)
	switch {
	case before == nil:
	case after == nil && access != backend.Read:
		return "the case has an input there"
	case after != nil && access == backend.Read:
		return "the case has an output there"
	case after != nil && !marked && access == backend.Write:
		return "the case has an output there that is read"
	}
	return ""
}

func TestMisuseIsFound(t *testing.T) {
	c := &Case{Dispatch: Dispatch{Spec: new(backend.KernelSpec)}}
	for i, use := range []argument{in([]uint32{1}), out([]uint32{1}), changed([]uint32{1}, []uint32{2}), {}} {
		c.Args, c.want = [][]byte{use.before}, [][]byte{use.after}
		var allowed []backend.Access
		for access := backend.Read; access <= backend.Accumulate; access++ {
			c.Spec.Args = []backend.ArgSpec{{Access: access}}
			if misused(c, 0) == "" {
				allowed = append(allowed, access)
			}
		}
		require.Equal(t, [][]backend.Access{
			{backend.Read},
			{backend.Write, backend.ReadWrite, backend.Accumulate},
			{backend.ReadWrite, backend.Accumulate},
			{backend.Read, backend.Write, backend.ReadWrite, backend.Accumulate},
		}[i], allowed)
	}
}

func TestEqualOptionsGiveEqualCases(t *testing.T) {
	for _, spec := range kernel.Catalogue() {
		config, err := kernel.Defaults(spec, kernel.Variants(spec)[0])
		require.NoError(t, err)
		options := Options{Rows: 100, Distribution: "random", Seed: 1}
		one, two := NewCase(spec, config, options), NewCase(spec, config, options)
		require.True(t, slices.EqualFunc(one.Args, two.Args, bytes.Equal), spec.Name)
		require.Equal(t, one.Params, two.Params, spec.Name)
		options.Rows = 99
		require.False(t, slices.EqualFunc(one.Args, NewCase(spec, config, options).Args, bytes.Equal), spec.Name)
	}
}

func TestArgumentsOfAnotherKernelPanic(t *testing.T) {
	const message = "kernel iota has arguments [values rows first], not as in kernel.UnmixKeysArgsOf[[]uint8]"
	config := backend.Config{"workgroup": 1, "items": 1}
	require.PanicsWithValue(t, message, func() {
		NewDispatch(kernel.Iota.KernelSpec, config, 0, kernel.UnmixKeysArgsOf[[]byte]{})
	})
}
