package selftest

import (
	"context"
	"maps"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/primitive"
)

// hostSystem returns a system with only the host backend, which may fail on purpose.
func hostSystem(t *testing.T, options host.Options) *spirjoin.System {
	system, err := spirjoin.Discover(spirjoin.SystemOptions{HostOnly: true, Host: options})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, system.Close()) })
	return system
}

func TestRun(t *testing.T) {
	report, err := Run(t.Context(), hostSystem(t, host.Options{}), "host")
	require.NoError(t, err)
	for _, c := range report.Checks {
		require.Empty(t, c.Fault, c.Name)
	}
	require.True(t, report.Passed())
	require.Equal(t, "host:cpu", report.Device.ID)
	require.Len(t, report.Checks, 3+len(problems))
	require.False(t, new(Report).Passed(), "a device that was not checked has not passed")
}

func TestReportsFaultsOfTheDevice(t *testing.T) {
	for name, faults := range map[string]host.Faults{
		"lost": {LoseAtSubmit: 5}, "memory": {AllocateDevice: 1}, "compile": {Compile: 3},
	} {
		report, err := Run(t.Context(), hostSystem(t, host.Options{Faults: faults}), "auto")
		if err != nil { // closing a lost device may return an error
			require.ErrorIs(t, err, backend.ErrDeviceLost, name)
		}
		require.False(t, report.Passed(), name)
	}
}

func TestRunStops(t *testing.T) {
	s := hostSystem(t, host.Options{})
	_, err := Run(t.Context(), s, "abacus")
	require.ErrorIs(t, err, backend.ErrNoDevice)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, s, "host")
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestRunWithTunedKernels runs the joins with tuning measured on this machine.
func TestRunWithTunedKernels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tuning.json")
	t.Setenv("SPIRJOIN_TUNING", path)
	system := hostSystem(t, host.Options{})
	info := &system.Devices[0]
	row := primitive.UserRow{Device: info.Name, Driver: info.Driver, DriverVersion: info.DriverVersion,
		Primitive: "gather", Config: backend.Config{"workgroup": 1, "items": 96}, Measured: "by hand"}
	require.NoError(t, spirjoin.WriteTuning(path, []primitive.UserRow{row}))
	report, err := Run(t.Context(), system, "host")
	require.NoError(t, err)
	require.True(t, report.Passed())
}

// TestStrikeOutSeesWrongRows: the comparison detects every kind of wrong row.
func TestStrikeOutSeesWrongRows(t *testing.T) {
	one, two := int64(1), int64(2)
	keys := [2][]*int64{{&one, &two, nil}, {&two, &one, &one}}
	left, right := makeTable("left", 64, keys[0]), makeTable("right", 64, keys[1])
	defer left.Release()
	defer right.Release()
	// joined returns rows of both tables, without the right key, as a join does.
	joined := func(leftRows, rightRows []int) arrow.RecordBatch {
		var fields []arrow.Field
		var columns []arrow.Array
		for side, table := range []arrow.Table{left, right} {
			rows := [][]int{leftRows, rightRows}[side]
			for c := side; c < int(table.NumCols()); c++ {
				source := table.Column(c).Data().Chunk(0)
				var parts []arrow.Array
				for _, row := range rows {
					parts = append(parts, array.NewSlice(source, int64(row), int64(row+1)))
				}
				column, err := array.Concatenate(parts, memory.DefaultAllocator)
				require.NoError(t, err)
				fields = append(fields, table.Schema().Field(c))
				columns = append(columns, column)
			}
		}
		return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(len(leftRows)))
	}
	want := nestedPairs(keys)
	require.Equal(t, map[[2]int]bool{{0, 1}: true, {0, 2}: true, {1, 0}: true}, want)

	missing := maps.Clone(want)
	require.NoError(t, strikeOut(joined([]int{1, 0, 0}, []int{0, 2, 1}), keys[0], missing))
	require.Empty(t, missing)
	require.ErrorContains(t, strikeOut(joined([]int{0, 0}, []int{1, 1}), keys[0], maps.Clone(want)), "came twice")
	require.ErrorContains(t, strikeOut(joined([]int{2}, []int{0}), keys[0], maps.Clone(want)), "has no equal key")

	batch := joined([]int{1, 0}, []int{0, 2})
	for name, fault := range map[string]string{
		"left_key": "came with the key", "left_value": "came with left_value", "right_text": "came with right_text",
	} {
		columns := append([]arrow.Array(nil), batch.Columns()...)
		i := batch.Schema().FieldIndices(name)[0]
		halves := []arrow.Array{array.NewSlice(columns[i], 1, 2), array.NewSlice(columns[i], 0, 1)}
		swapped, err := array.Concatenate(halves, memory.DefaultAllocator)
		require.NoError(t, err)
		columns[i] = swapped
		wrong := array.NewRecordBatch(batch.Schema(), columns, 2)
		require.ErrorContains(t, strikeOut(wrong, keys[0], maps.Clone(want)), fault)
	}
}
