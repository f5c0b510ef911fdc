package groupjoin_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

const inWindows = "on the devices that joined the rows"

// checkWindows compares with the oracles, and requires that rows were grouped where they were joined.
func checkWindows(t testing.TB, e *groupjoin.Engine, left, right arrow.Table, spec join.Spec, groups groupby.Spec) {
	t.Helper()
	l, err := groupjoin.NewLayout(left.Schema(), right.Schema(), spec, groups)
	require.NoError(t, err)
	r, err := e.Run(t.Context(), l, source.FromTable(left), source.FromTable(right))
	require.NoError(t, err)
	defer r.Close()
	var batches []arrow.RecordBatch
	for batch, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		defer batch.Release()
		batches = append(batches, batch)
	}
	oracle.RequireJoinedGroups(t, left, right, l.Join, l.Groups, batches)
	require.EqualValues(t, len(oracle.Join(left, right, l.Join.Spec)), r.Stats().GroupBy.Rows, "joined rows")
	require.Contains(t, r.Explain(), inWindows)
}

// TestWindows: the rows of every kind of join, with exact and with hashed keys, are grouped on the device, by keys and
// values of either side and of both, and by columns that say where a row comes from.
func TestWindows(t *testing.T) {
	left, right := table(t, 1, 300, 40, arrow.PrimitiveTypes.Int32), table(t, 2, 200, 50, arrow.PrimitiveTypes.Int64)
	same, none := table(t, 2, 200, 50, arrow.PrimitiveTypes.Int32), table(t, 2, 0, 10, arrow.PrimitiveTypes.Int64)
	few := table(t, 1, 30, 10, arrow.PrimitiveTypes.Int32)
	ons := [][]string{{"k"}, {"t"}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 0)
		for _, c := range devicetest.Product(t, len(kinds), len(ons)) {
			how, spec, left := kinds[c[0]], join.Spec{On: ons[c[1]]}, left
			if spec.How = how; how == join.Cross {
				spec.On, left = nil, few
			}
			t.Run(fmt.Sprint(how, spec.On), func(t *testing.T) {
				bys, values := [][]string{{"n"}, {"t", "n"}, nil}, []string{"count", "sum:own1", "avg:f", "count:t", "var:own1", "min:f"}
				switch {
				case how.Pairs():
					bys = append(bys, []string{"n_right"}, []string{"f_right", "f"})
					values = append(values, "max:own2", "count:f_right", "sum:f_right", "stddev:f_right")
					if how != join.Cross {
						other := map[string]string{"k": "t_right", "t": "k_right"}[spec.On[0]]
						bys, values = append(bys, []string{"n", other}), append(values, "count:"+other)
						bys = append(bys, []string{spec.On[0], "n_right"})
						spec.Indicator = "from"
						bys = append(bys, []string{"from"}, []string{"n", "from"})
					}
				case !how.Has(0):
					values = []string{"count", "sum:own2", "max:k", "var:f", "count:t"}
				case how == join.Mark:
					bys = append(bys, []string{"mark"}, []string{"n", "mark"})
				}
				for _, right := range []arrow.Table{right, same, none} {
					for _, by := range bys {
						checkWindows(t, e, left, right, spec, groupby.Spec{By: by, Aggregates: aggregates(values...)})
					}
				}
				checkWindows(t, e, left, right, spec, groupby.Spec{By: bys[0]})
			})
		}
	})
}
