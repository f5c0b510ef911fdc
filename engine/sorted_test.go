package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/task"
)

// TestSortedKinds: sorted across several devices, both sides give the rows that the oracle has, for every kind of join,
// with keys that are exact and hashed, NULLs that are equal or not, and columns gathered on the host and on the devices.
func TestSortedKinds(t *testing.T) {
	kinds := []join.How{join.Inner, join.Left, join.Right, join.Full, join.Semi, join.Anti, join.RightSemi, join.RightAnti,
		join.Mark, join.NotIn}
	tables := [2]arrow.Table{rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32),
		rich(t, 2, 500, 150, arrow.PrimitiveTypes.Int64)}
	keys := [][]string{{"k"}, {"s"}, {"k", "n"}}
	devicetest.ForEachGroup(t, 3, func(t *testing.T, devices []*backend.Device) {
		allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
		joins := severalEngine(t, devices, allocator, 0)
		for _, c := range devicetest.Combinations(t, len(kinds), len(keys), 2, 2, 2, 4) {
			spec := join.Spec{How: kinds[c[0]], On: keys[c[1]], Strategy: join.StrategyHMG, BatchRows: 100,
				Output: []join.Output{join.Rows, join.Count}[c[2]], BuildSide: []join.BuildSide{join.BuildLeft, join.BuildRight}[c[4]],
				Materialize: []join.Materialize{join.MaterializeHost, join.MaterializeDevice}[c[3]]}
			if spec.How == join.NotIn {
				spec.On = spec.On[:1]
			} else if c[2] == c[3] {
				spec.NullsEqual = spec.On[:1]
			}
			joins.ByRange.Sort = hmg.Sorting(c[5])
			name := fmt.Sprintf("%+v, sorted by %s", spec, joins.ByRange.Sort)
			plan, err := joins.Plan(t.Context(), tables[0], tables[1], spec)
			require.NoError(t, err, name)
			result, err := plan.Run(t.Context())
			require.NoError(t, err, name)
			stats := result.Stats()
			require.Equal(t, [2]string{"hmg", "smj-um"}, [2]string{stats.Strategy, stats.Algorithm}, name)
			require.Len(t, stats.Devices, 3, name)
			if spec.Output == join.Rows {
				batches := drawAll(t, result, join.Rows)
				oracle.Require(t, tables[0], tables[1], plan.Layout, batches)
				for _, batch := range batches {
					batch.Release()
				}
			}
			require.EqualValues(t, len(oracle.Join(tables[0], tables[1], plan.Layout.Spec)), result.Rows(), name)
			require.True(t, result.Counted(), name)
			result.Close()
		}
		joins.Close()
		allocator.AssertSize(t, 0)
	})
}

// TestSortedLimits: a limit of rows, keys that must be unique, an order of rows, for which ranges of keys are joined one
// by one, and a cross join.
func TestSortedLimits(t *testing.T) {
	left := rich(t, 1, 300, 120, arrow.PrimitiveTypes.Int32)
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		joins := severalEngine(t, devices, memory.DefaultAllocator, 0)
		defer joins.Close()
		run := func(spec join.Spec) error {
			spec.Strategy = join.StrategyHMG
			plan, err := joins.Plan(t.Context(), left, left, spec)
			if err != nil {
				return err
			}
			result, err := plan.Run(t.Context())
			if err == nil {
				defer result.Close()
				for batch, err := range result.Batches(t.Context()) {
					if err != nil {
						return err
					}
					batch.Release()
				}
			}
			return err
		}
		require.NoError(t, run(join.Spec{On: onK}))
		require.ErrorIs(t, run(join.Spec{On: onK, MaxOutputRows: 10}), backend.ErrLimit)
		err := run(join.Spec{On: onK, Validate: join.OneToOne})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "must be unique")
		require.NoError(t, run(join.Spec{On: onK, Order: join.LeftOrder}))
		require.ErrorIs(t, run(join.Spec{How: join.Cross}), backend.ErrUnsupported)
		require.ErrorIs(t, run(join.Spec{On: onK, Algorithm: "hj"}), backend.ErrUnsupported)
	})
}

// TestSortedSkew: a key that most rows have does not fit in the memory that devices have for equal shares of both
// sides. The tables are then joined range by range.
func TestSortedSkew(t *testing.T) {
	devicetest.HostTest(t)
	few := keyed(t, "k", 500, func(i int) int64 { return int64(i * 3) })
	skewed := keyed(t, "k", 40_000, func(i int) int64 {
		if i%20 > 0 {
			return 3
		}
		return int64(i) % 1000
	})
	of := host.New(host.Options{Discrete: true})
	var ops []*primitive.Ops
	for range 8 {
		driver, err := of.Open("host:cpu")
		require.NoError(t, err)
		device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: 1500 << 10})
		defer func() { require.NoError(t, device.Close()) }()
		ops = append(ops, jointest.Lane(t, device, small).Ops)
	}
	joins := rangesOn(ops, memory.DefaultAllocator)
	joins.ByRange = task.KeyRanges{}
	defer joins.Close()
	divided := 0
	for _, output := range []join.Output{join.Count, join.Rows} {
		plan, err := joins.Plan(t.Context(), few, skewed, join.Spec{On: onK, Strategy: join.StrategyHMG, Output: output})
		require.NoError(t, err)
		require.NotNil(t, plan.Query, "the tables should fit")
		result, err := plan.Run(t.Context())
		require.NoError(t, err)
		if output == join.Rows {
			for _, batch := range drawAll(t, result, output) {
				batch.Release()
			}
		}
		require.EqualValues(t, len(oracle.Pairs(few, skewed, plan.Layout.Spec)), result.Rows())
		if strings.Contains(result.Explain(), "ranges of keys") {
			divided++
		}
		result.Close()
	}
	require.Positive(t, divided)
}
