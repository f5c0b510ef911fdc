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

func TestEqualOptionsGiveEqualCases(t *testing.T) {
	for _, spec := range kernel.Catalogue() {
		config, err := kernel.Defaults(spec, kernel.Variants(spec)[0])
		require.NoError(t, err)
		options := Options{Rows: 100, Distribution: "random", Seed: 1}
		one, two := NewCase(spec, config, options), NewCase(spec, config, options)
		require.True(t, slices.EqualFunc(one.Args, two.Args, bytes.Equal), spec.Name)
		require.Equal(t, one.Params, two.Params, spec.Name)
		require.NotEqual(t, one.Params, NewCase(spec, config, Options{Rows: 99, Distribution: "random", Seed: 1}).Params, spec.Name)
	}
}

func TestArgumentsOfAnotherKernelPanic(t *testing.T) {
	require.PanicsWithValue(t, "kernel iota has arguments [values rows first], not those of kernel.UnmixKeysArgsOf[[]uint8]", func() {
		NewDispatch(kernel.Iota.KernelSpec, backend.Config{"workgroup": 1, "items": 1}, 0, kernel.UnmixKeysArgsOf[[]byte]{})
	})
}
