package spirjoin

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestColdJoins: a device that has compiled nothing compiles exactly the kernels of a join, before its tables are there
// if enough is known of them, and otherwise during the join. The host compiles nothing ahead.
func TestColdJoins(t *testing.T) {
	const leftRows, rightRows = 5000, 20_000
	left, right := budgetTables(t, leftRows, rightRows)
	spec := JoinSpec{On: []string{"k"}, Algorithm: "phj-om"}
	layout, err := NewJoinLayout(left.Schema(), right.Schema(), spec)
	require.NoError(t, err)
	expect := func(table arrow.Table) JoinExpected {
		return JoinExpected{Schema: table.Schema(), Rows: table.NumRows(),
			Bounds: func(string) (int64, int64, bool) { return 0, leftRows - 1, true },
			Nulls: func(column string) bool {
				return table.Column(table.Schema().FieldIndices(column)[0]).Data().NullN() > 0
			}}
	}
	for _, prepared := range []bool{true, false} {
		devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
			e, err := newEngine([]*backend.Device{backend.NewDevice(driver, backend.DeviceOptions{})}, Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			join := func() backend.KernelStats {
				result, err := e.Join(t.Context(), left, right, spec)
				_, err = draw(t.Context(), result, err)
				require.NoError(t, err)
				return e.Kernels()
			}
			before := backend.KernelStats{}
			if prepared {
				e.PrepareJoin(t.Context(), layout, expect(left), expect(right))()
				require.Eventually(t, func() bool { before = e.Kernels(); return before.Pending == 0 }, time.Minute,
					time.Millisecond)
			}
			after := join()
			require.Positive(t, after.Compiled)
			require.Zero(t, after.Unused)
			switch {
			case driver.Info().Type == backend.Host:
				require.Zero(t, after.Ahead)
			case prepared:
				require.Equal(t, before.Compiled, after.Compiled, "the join needed others")
				require.Equal(t, after.Compiled, after.Ahead)
			}
			require.Equal(t, after.Compiled, join().Compiled, "the same join again")
		})
	}
}
