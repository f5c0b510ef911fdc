package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
)

var onK = []string{"k"}

// onDevices runs a test with a function that checks joins against the oracle on each device, whose memory must all be
// free at the end.
func onDevices(t *testing.T, test func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64))) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops := jointest.Lane(t, device, small).Ops
		test(t, func(left, right arrow.Table, spec join.Spec, part [2]uint64) {
			t.Helper()
			check(t, ops, left, right, spec, part)
		})
		noMemoryInUse(t, device)
	})
}

// withKeys gives a specification the key columns that its kind takes.
func withKeys(spec join.Spec) join.Spec {
	if spec.How != join.Cross {
		spec.On = onK
	}
	return spec
}

// TestKinds: every kind with all sorts of payload, on the device and on the host, whole, row by row, and in granules and
// windows.
func TestKinds(t *testing.T) {
	devicetest.SkipRace(t)
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	few := [2]arrow.Table{rich(t, 3, 40, 20, arrow.PrimitiveTypes.Int32), rich(t, 4, 90, 20, arrow.PrimitiveTypes.Int64)}
	parts := append([][2]uint64{{1, 0}}, parts...)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 2, 3, len(parts), 3) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], Indicator: "from", BatchRows: 100 * c[2],
				Materialize: []join.Materialize{join.MaterializeAuto, join.MaterializeHost, join.MaterializeDevice}[c[3]],
				BuildSide:   join.BuildSide(c[5])}
			if !spec.How.Pairs() {
				spec.Indicator = ""
			}
			of := tables
			if spec.How == join.Cross || c[4] == 0 {
				of = few
			}
			check(of[0], of[1], withKeys(spec), parts[c[4]])
		}
	})
}

// TestOrders: every kind in the order of either table, and deterministic, with more rows than a batch has, and none.
func TestOrders(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	left, right := rich(t, 1, 300, 60, arrow.PrimitiveTypes.Int32), rich(t, 2, 400, 70, arrow.PrimitiveTypes.Int64)
	far := rich(t, 3, 50, 10, arrow.PrimitiveTypes.Int32)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 3, len(parts), 3) {
			spec := join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 170}
			spec.Order, spec.Deterministic = [...]join.Order{join.Unordered, join.LeftOrder, join.RightOrder}[c[2]], c[2] == 0
			if spec = withKeys(spec); spec.Check() != nil {
				continue // of a side that is not there
			}
			of := [2]arrow.Table{left, right}
			switch c[4] {
			case 1: // no key of the left table is on the right
				of[1] = empty(t, right)
			case 2:
				of = [2]arrow.Table{far, far}
			}
			if spec.How == join.Cross {
				of[0] = far
			}
			check(of[0], of[1], spec, parts[c[3]])
		}
	})
}

// TestNothingMatches: tables without rows, or without a key in any row, on either side and on both. An anti join with one
// keeps every row.
func TestNothingMatches(t *testing.T) {
	some, nulls := keyed(t, "k", 90, primary), keyed(t, "k", 70, func(int) int64 { return -1 })
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds), len(algorithms), 2, 3, 4, len(parts)) {
			nothing := []arrow.Table{empty(t, some), nulls}[c[2]]
			of := [][2]arrow.Table{{some, nothing}, {nothing, some}, {nothing, nothing}}[c[3]]
			spec := withKeys(join.Spec{How: kinds[c[0]], Algorithm: algorithms[c[1]]})
			switch c[4] {
			case 1:
				spec.Output = join.Count
			case 2:
				spec.Deterministic = true
			case 3:
				spec.Materialize = join.MaterializeHost
			}
			check(of[0], of[1], spec, parts[c[5]])
		}
	})
}

// TestSharedSources joins one table with itself, and from several goroutines with others: a source is only read.
func TestSharedSources(t *testing.T) {
	table := rich(t, 1, 200, 90, arrow.PrimitiveTypes.Int32)
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, how := range kinds[:len(kinds)-1] {
			check(table, table, join.Spec{On: onK, How: how}, [2]uint64{})
		}
	})
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		engine := smallEngine(t, device)
		want := len(oracle.Join(table, table, join.Spec{On: onK}))
		var joins sync.WaitGroup
		rows, errs := make([]int64, 6), make([]error, 6)
		for i := range rows {
			joins.Go(func() {
				spec := join.Spec{On: onK, Algorithm: algorithms[i]}
				rows[i], errs[i] = drain(context.Background(), engine, table, table, spec)
			})
		}
		joins.Wait()
		for i := range rows {
			require.NoError(t, errs[i])
			require.EqualValues(t, want, rows[i])
		}
	})
}
