package planner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// A line for each cell and their share; with rates also how far these are off, and those that were fitted.
func TestReport(t *testing.T) {
	write := func(r Report, device string) []string {
		rates, tuning, err := RatesNamed(device)
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, r.Write(&b, cells(t), rates, tuning))
		return strings.Split(strings.TrimSpace(b.String()), "\n")
	}
	lines := write(Report{Errors: true}, "none")
	require.Len(t, lines, 5, "without rates nothing is off")
	require.Regexp(t, `^3\.26  phj-om +401 ms  predicted    0\.00 us  best smj-um +123 ms  inner: 1048576 x 2097152 `,
		lines[0])
	require.Equal(t, "50% of 4 cells within 1.1 of the best", lines[4])
	lines = write(Report{Errors: true, Fit: true}, "host")
	require.Regexp(t, `\nsmj-um +transform +[\d.]+\n`, strings.Join(lines, "\n"))
	require.Contains(t, lines[len(lines)-1], "fitted to 11 joins of 4 cells")
	for name, through := range map[string]string{"nvidia": "vulkan", "nvidia/opencl": "opencl", "software/opencl": "opencl"} {
		rates, _, err := RatesNamed(name)
		require.NoError(t, err)
		require.Equal(t, through, rates.Backend, name)
	}
	for _, name := range []string{"tpu", "nvidia/tpu"} {
		_, _, err := RatesNamed(name)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "nvidia/opencl")
	}
}

// Two backends may have rates of the same devices.
func TestRatesNamed(t *testing.T) {
	for name, workgroup := range map[string]uint32{"software": 4, "software/vulkan": 4, "software/opencl": 1} {
		rates, tuning, err := RatesNamed(name)
		require.NoError(t, err)
		require.Equal(t, "software", rates.Device)
		require.Equal(t, workgroup, tuning.Config("radix_sort", nil)["workgroup"], name)
	}
	_, _, err := RatesNamed("software/host")
	require.ErrorContains(t, err, "software/opencl")
}
