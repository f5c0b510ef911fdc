package groupby_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestAlgorithms groups by each algorithm that can be forced: by one key and by several, of all types, with NULL, and
// computes all that algorithms have in common.
func TestAlgorithms(t *testing.T) {
	devicetest.SkipRace(t)
	exact := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		&arrow.Decimal64Type{Precision: 18, Scale: 3}, &arrow.Decimal128Type{Precision: 38, Scale: 2},
		arrow.PrimitiveTypes.Int32}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for i, key := range keyTypes {
			for _, algorithm := range []string{"graphics", "sort"} {
				if _, err := device.Rasterizer(); err != nil && algorithm == "graphics" || algorithm == "sort" && i%4 > 0 {
					continue
				}
				random, rows := rand.New(rand.NewPCG(9, uint64(i))), 400
				other, dtype := keyTypes[(i*5+2)%len(keyTypes)], exact[i%len(exact)]
				null := func(of arrow.DataType) func(int) bool {
					return func(int) bool { return of.ID() != arrow.NULL && random.IntN(4) == 0 }
				}
				tab := table(t, rows,
					column{"k", key, func(int) uint64 { return numberOf(key, random.IntN(60)-30) }, null(key)},
					column{"m", other, func(int) uint64 { return numberOf(other, random.IntN(5)) }, null(other)},
					column{"x", dtype, func(int) uint64 { return uint64(random.IntN(100) - 50*(i%2)) }, null(dtype)},
					column{"f", arrow.PrimitiveTypes.Float64, func(int) uint64 { return floatBits(random.IntN(99) - 50) },
						null(dtype)})
				e := engine(t, device)
				e.GranuleRows = 1 << 8
				for j, by := range [][]string{{"k"}, {"k", "m"}, nil} {
					if !devicetest.Turn(i+j, 3) {
						continue
					}
					t.Run(fmt.Sprintf("%s/key=%s/by=%v", algorithm, key, by), func(t *testing.T) {
						check(t, e, tab, groupby.Spec{By: by, Algorithm: algorithm, Aggregates: []groupby.Aggregate{
							{Func: groupby.Count}, {Func: groupby.Count, Column: "x"},
							{Func: groupby.CountDistinct, Column: "m"}, {Func: groupby.Sum, Column: "x"},
							{Func: groupby.Avg, Column: "x"}, {Func: groupby.Min, Column: "x"},
							{Func: groupby.Max, Column: "x"}, {Func: groupby.Min, Column: "f"},
							{Func: groupby.Max, Column: "f"}, {Func: groupby.First, Column: "f"},
							{Func: groupby.Var, Column: "x"}}})
					})
				}
			}
		}
	})
}

// TestDrawnLimit draws sums beyond 64 bits: an error of integers, and exact as decimals.
func TestDrawnLimit(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		if _, err := device.Rasterizer(); err != nil {
			t.Skip(err)
		}
		e := engine(t, device)
		most := func(int) uint64 { return math.MaxInt64 }
		tab := table(t, 9, column{"x", arrow.PrimitiveTypes.Int64, most, nil},
			column{"d", &arrow.Decimal64Type{Precision: 18}, func(int) uint64 { return 999_999_999_999_999_999 }, nil})
		sum := func(name string) groupby.Spec {
			return groupby.Spec{Algorithm: "graphics", Aggregates: []groupby.Aggregate{{Func: groupby.Sum, Column: name}}}
		}
		check(t, e, tab, sum("d"))
		r, err := e.Group(context.Background(), tab, sum("x"))
		require.NoError(t, err)
		defer r.Close()
		for _, err := range r.Batches(context.Background()) {
			require.ErrorIs(t, err, backend.ErrLimit)
		}
	})
}

// TestCannotDraw says why a group-by is neither drawn nor planned to be.
func TestCannotDraw(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		tab := table(t, 5, column{"k", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row) }, nil},
			column{"f", arrow.PrimitiveTypes.Float64, func(row int) uint64 { return floatBits(row) }, nil})
		_, cannot := device.Rasterizer()
		for f, why := range map[groupby.Func]string{groupby.Count: "", groupby.Min: "", groupby.Sum: "order of the rows",
			groupby.Avg: "order of the rows", groupby.Var: "order of the rows"} {
			if cannot != nil {
				why = "does not draw"
			}
			spec := groupby.Spec{By: []string{"k"}, Algorithm: "graphics",
				Aggregates: []groupby.Aggregate{{Func: f, Column: "f"}}}
			layout, err := groupby.NewLayout(tab.Schema(), spec)
			require.NoError(t, err)
			plan, planned := e.Plan(context.Background(), layout, tab)
			r, err := e.Group(context.Background(), tab, spec)
			if why == "" {
				require.NoError(t, errors.Join(planned, err))
				require.Contains(t, plan.String(), "graphics: hash images")
				require.Contains(t, r.Explain(), "graphics: hash images")
				r.Close()
				continue
			}
			require.ErrorIs(t, err, backend.ErrUnsupported)
			require.ErrorContains(t, err, why)
			require.EqualError(t, planned, err.Error())
			require.ErrorIs(t, planned, backend.ErrUnsupported)
			_, err = e.Stream(context.Background(), layout, batchesOf(tab))
			require.ErrorIs(t, err, backend.ErrUnsupported)
		}
		_, err := e.Group(context.Background(), tab, groupby.Spec{By: []string{"k"}, Algorithm: "bogus"})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, `no algorithm "bogus"; they are graphics and sort`)
	})
}

// TestForcedSort sorts keys of few codes, which the host would group strip by strip.
func TestForcedSort(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := engine(t, device)
		tab := table(t, 99, column{"k", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 5) }, nil})
		spec := groupby.Spec{By: []string{"k"}, Algorithm: "sort", Aggregates: []groupby.Aggregate{{Func: groupby.Count}}}
		check(t, e, tab, spec)
		r, err := e.Group(context.Background(), tab, spec)
		require.NoError(t, err)
		defer r.Close()
		require.Contains(t, r.Explain(), "sort: a sort of the keys")
		require.NotContains(t, r.Explain(), "strip by strip")
	})
}
