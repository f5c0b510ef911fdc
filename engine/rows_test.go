package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
)

// TestCross: the number of rows is guarded before anything is made, counting is not.
func TestCross(t *testing.T) {
	table := func(rows int) arrow.Table { return keyed(t, "k", rows, primary) }
	none, few, many := table(0), table(3), table(20_000)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		run := func(left, right arrow.Table, spec join.Spec) (rows int64, err error) {
			spec.How = join.Cross
			return drain(context.Background(), engine, left, right, spec)
		}
		_, err := run(many, many, join.Spec{})
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, "20000 x 20000 rows make 400000000, the limit is 100000000; raise max_output_rows")
		_, err = run(few, few, join.Spec{MaxOutputRows: 8})
		require.ErrorIs(t, err, backend.ErrLimit)
		for _, c := range []struct {
			left, right arrow.Table
			most        uint64
			want        int64
		}{{few, few, 9, 9}, {many, few, 0, 60_000}, {none, many, 1, 0}, {many, none, 1, 0}, {none, none, 0, 0}} {
			for _, algorithm := range []string{"auto", "phj-om", "hj", "smj-om", "smj-um"} {
				rows, err := run(c.left, c.right, join.Spec{MaxOutputRows: c.most, Algorithm: algorithm, BatchRows: 1 << 14})
				require.NoError(t, err, algorithm)
				require.Equal(t, c.want, rows)
			}
		}
		rows, err := run(many, many, join.Spec{Output: join.Count})
		require.NoError(t, err)
		require.EqualValues(t, 400_000_000, rows)
		noMemoryInUse(t, device)
	})
}

// TestMostOutputRows: every kind fails at one row too many, and not before; in granules before the next window is made.
// The error names the number of rows only if it is the number of all. (A not-in join of these tables has no rows.)
func TestMostOutputRows(t *testing.T) {
	left, right := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32), rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, c := range devicetest.Combinations(t, len(kinds)-2, len(algorithms), 2, 2, 2) {
			spec := join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 64,
				Output: []join.Output{join.Rows, join.Count}[c[2]]}
			if c[3] == 1 {
				spec.Deterministic = true
			}
			engine := smallEngine(t, device)
			engine.GranuleRows = 100 * uint64(c[4])
			want := int64(len(oracle.Join(left, right, spec)))
			describe := fmt.Sprintf("%+v, granules of %d", spec, engine.GranuleRows)
			spec.MaxOutputRows = uint64(want)
			rows, err := drain(context.Background(), engine, left, right, spec)
			require.NoError(t, err, describe)
			require.Equal(t, want, rows, describe)
			spec.MaxOutputRows--
			rows, err = drain(context.Background(), engine, left, right, spec)
			require.ErrorIs(t, err, backend.ErrLimit, describe)
			require.Less(t, rows, want, describe)
			for _, most := range []uint64{uint64(want) - 1, uint64(want) / 3} {
				spec.MaxOutputRows = most
				_, err = drain(context.Background(), engine, left, right, spec)
				says := fmt.Sprintf("(%d rows, max_output_rows allows %d", want, most)
				if engine.GranuleRows > 0 || spec.How.Keeps(relation.Left) || spec.How.Keeps(relation.Right) {
					says = fmt.Sprintf("(more than %d rows, which is what max_output_rows allows", most)
				}
				require.ErrorContains(t, err, says, describe)
			}
			noMemoryInUse(t, device)
		}
	})
}
