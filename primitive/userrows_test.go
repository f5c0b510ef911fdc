package primitive

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestUserTuning(t *testing.T) {
	info := *least
	info.Backend, info.Driver, info.DriverVersion = "vulkan", "driver", "2"
	row := UserRow{Device: "least", Driver: "driver", DriverVersion: "2", Primitive: "scan",
		Variant: backend.Config{"in_bits": 32}, Config: backend.Config{"workgroup": 64, "items": 3, "serial": 0},
		Measured: "1 G rows/s"}
	change := func(f func(r *UserRow)) UserRow {
		r := row
		f(&r)
		return r
	}
	text, err := json.Marshal([]UserRow{
		change(func(r *UserRow) { r.Device = "least of all" }),
		change(func(r *UserRow) { r.Driver = "another" }),
		row,
		change(func(r *UserRow) { r.DriverVersion = "1" }),
		change(func(r *UserRow) { r.Config = backend.Config{"workgroup": 512, "items": 1} }),
		change(func(r *UserRow) { r.Primitive = "scam" }),
		change(func(r *UserRow) { r.Config = backend.Config{"workgroup": 64, "itmes": 1} }),
	})
	require.NoError(t, err)
	rows, err := ParseUserRows(text)
	require.NoError(t, err)
	require.Len(t, rows, 7)
	// "": of a file written before
	for name, counts := range map[string]bool{"": true, "vulkan": true, "opencl": false} {
		r := change(func(r *UserRow) { r.Backend = name })
		require.Equal(t, counts, r.IsFor(&info), name)
	}
	other := info
	other.Backend = "opencl"
	require.False(t, row.IsFor(&other))
	tuning, problems := UserTuning(rows, &info)
	require.Len(t, tuning, 1)
	require.Len(t, tuning["scan"], 1)
	require.Equal(t, row.Config, tuning.Config("scan", backend.Config{"in_bits": 32, "sum_bits": 64}))
	require.Nil(t, tuning.Config("scan", backend.Config{"in_bits": 64, "sum_bits": 64}))
	require.Len(t, problems, 4)
	for i, want := range []string{"row 4: scan was measured on least with driver 1; the driver is now 2",
		"row 5, items=1 workgroup=512: workgroup must be", "row 6, ", "row 7, itmes=1 workgroup=64: unknown setting"} {
		require.ErrorContains(t, problems[i], want)
	}

	tuning, problems = UserTuning([]UserRow{change(func(r *UserRow) {
		r.Primitive, r.Variant, r.MinRows, r.MaxRows = "radix_sort", nil, 5, 9
	})}, &info)
	require.Empty(t, problems)
	require.Equal(t, row.Config, tuning.ConfigFor("radix_sort", nil, 9))
	require.Nil(t, tuning.ConfigFor("radix_sort", nil, 10))
	require.Nil(t, tuning.ConfigFor("radix_sort", nil, 4))

	rows, err = ParseUserRows(nil)
	require.NoError(t, err)
	require.Empty(t, rows)
	for _, bad := range []string{"[", "{}", `[{"devise": "x"}]`, `[{"config": {"workgroup": -1}}]`} {
		_, err := ParseUserRows([]byte(bad))
		require.Error(t, err, bad)
	}
}
