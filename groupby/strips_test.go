package groupby_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// byStrips reports whether a group-by is done strip by strip.
func byStrips(t testing.TB, e *groupby.Engine, table arrow.Table, spec groupby.Spec) bool {
	result, err := e.Group(context.Background(), table, spec)
	require.NoError(t, err)
	defer result.Close()
	return strings.Contains(result.Explain(), "strip by strip")
}

// TestStrips groups values of each type strip by strip: all aggregates that take one pass, of one row and of some.
func TestStrips(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for i, dtype := range valueTypes {
			for _, rows := range []int{1, 100} {
				testStrips(t, device, dtype, rows, uint64(i))
			}
		}
	})
}

func testStrips(t *testing.T, device *backend.Device, dtype arrow.DataType, rows int, seed uint64) {
	e, random := engine(t, device), rand.New(rand.NewPCG(uint64(rows), seed))
	null := func(int) bool { return random.IntN(5) == 0 }
	value := func(int) uint64 {
		if name := dtype.Name(); name == "uint64" {
			return random.Uint64N(100)
		}
		return numberOf(dtype, random.IntN(100)-50)
	}
	tab := table(t, rows,
		column{"k", arrow.PrimitiveTypes.Int16, func(int) uint64 { return random.Uint64N(7) }, null},
		column{"n", arrow.PrimitiveTypes.Int32, func(int) uint64 { return random.Uint64N(4) }, nil},
		column{"x", dtype, value, nil}, column{"y", dtype, value, null})
	spec := groupby.Spec{}
	for f := groupby.Count; f <= groupby.First; f++ {
		for _, name := range []string{"x", "y"} {
			one := groupby.Spec{Aggregates: []groupby.Aggregate{{Func: f, Column: name}}}
			_, err := groupby.NewLayout(tab.Schema(), one)
			wide := dtype.ID() == arrow.DECIMAL128 && (f == groupby.Min || f == groupby.Max)
			if err == nil && f != groupby.CountDistinct && !wide {
				spec.Aggregates = append(spec.Aggregates, one.Aggregates...)
			}
		}
	}
	for _, by := range [][]string{nil, {"k", "n"}} {
		spec.By = by
		t.Run(fmt.Sprintf("value=%s/rows=%d/by=%v", dtype, rows, by), func(t *testing.T) {
			check(t, e, tab, spec)
			require.Equal(t, device.Info().Backend == "host", byStrips(t, e, tab, spec))
		})
	}
}

// TestLongSums adds integers of 64 bits and more, in strips of short ones, of long ones and of both. The sum of the
// short ones exceeds 64 bits.
func TestLongSums(t *testing.T) {
	devicetest.SkipRace(t)
	const shortBits = 52
	defer groupby.ShortBits(shortBits)()
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const rows = 20*keys.StripRows + 13
		for _, dtype := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
			&arrow.Decimal128Type{Precision: 38}, &arrow.Decimal256Type{Precision: 76}} {
			value := func(row int) uint64 {
				v, wide := uint64(1)<<(shortBits-1)-1-uint64(row), relation.WordBits(dtype) > 64
				if strip := row / keys.StripRows; wide && strip%3 == 1 || strip%3 == 2 && row%701 == 0 {
					v <<= 8
				}
				if !wide { // whose sum must fit
					v >>= 3
				}
				if dtype.ID() == arrow.INT64 && row%5 == 0 {
					v = -v
				}
				return v
			}
			tab := table(t, rows, column{"k", arrow.PrimitiveTypes.Int16, func(row int) uint64 { return uint64(row % 2) }, nil},
				column{"x", dtype, value, nil}, column{"y", dtype, value, func(row int) bool { return row%7 == 0 }})
			spec := groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{{Func: groupby.Sum, Column: "x"},
				{Func: groupby.Avg, Column: "y"}, {Func: groupby.Sum, Column: "y"}, {Func: groupby.Count}}}
			t.Run(dtype.String(), func(t *testing.T) {
				e := engine(t, device)
				require.True(t, byStrips(t, e, tab, spec))
				check(t, e, tab, spec)
			})
		}
	})
}

// TestGuessedKeys groups enough rows that the host guesses the range of their key: a good guess, one that a single row
// makes wrong, and one of too many codes.
func TestGuessedKeys(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const rows, odd = 1<<16 + 5, 47_777
		for _, c := range []struct {
			dtype  arrow.DataType
			values uint64 // different ones
			odd    uint64 // of one row
			strips bool
		}{
			{arrow.PrimitiveTypes.Int32, 100, 3, true},
			{arrow.PrimitiveTypes.Int32, 100, 5000, true},
			{arrow.PrimitiveTypes.Int64, 100, 1 << 32, false},
			{arrow.PrimitiveTypes.Int64, 100, math.MaxUint64, true}, // -1
			{arrow.FixedWidthTypes.Date32, 2400, 3, true},
			{arrow.BinaryTypes.String, 100, 101, true}, // numbered, which needs no guess
			{arrow.PrimitiveTypes.Float32, 100, 3, true},
			{arrow.PrimitiveTypes.Int32, 1 << 18, 3, false},
		} {
			key := func(row int) uint64 {
				if row == odd {
					return c.odd
				}
				return uint64(row) * 0x9e3779b97f4a7c15 >> 32 % c.values
			}
			tab := table(t, rows, column{"k", c.dtype, key, nil},
				column{"x", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 9) }, nil})
			spec := groupby.Spec{By: []string{"k"}, Aggregates: []groupby.Aggregate{{Func: groupby.Sum, Column: "x"}}}
			t.Run(fmt.Sprintf("%s/%d/%d", c.dtype, c.values, int64(c.odd)), func(t *testing.T) {
				e := engine(t, device)
				e.GuessedRows = 1 << 16
				require.Equal(t, c.strips, byStrips(t, e, tab, spec))
				result, err := e.Group(t.Context(), tab, spec)
				require.NoError(t, err)
				defer result.Close()
				var batches []arrow.RecordBatch
				for batch, err := range result.Batches(t.Context()) {
					require.NoError(t, err)
					defer batch.Release()
					batches = append(batches, batch)
				}
				oracle.RequireGroups(t, tab, result.Layout, batches)
			})
		}
	})
}

// TestStripsOfCores groups more rows than a core takes at a time, by numbered texts.
func TestStripsOfCores(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		const rows = 140_001
		null := func(row int) bool { return row%5 == 3 }
		tab := table(t, rows,
			column{"k", arrow.BinaryTypes.String, func(row int) uint64 { return uint64(row * 7 % 41) }, null},
			column{"n", arrow.BinaryTypes.LargeBinary, func(row int) uint64 { return uint64(row * 3 % 17) }, nil},
			column{"x", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row%1000 - 500) }, null})
		spec := groupby.Spec{By: []string{"k", "n"}, Aggregates: []groupby.Aggregate{{Func: groupby.Count},
			{Func: groupby.Sum, Column: "x"}, {Func: groupby.Max, Column: "x"}, {Func: groupby.First, Column: "x"}}}
		e := engine(t, device)
		check(t, e, tab, spec)
		require.Equal(t, device.Info().Backend == "host", byStrips(t, e, tab, spec))
	})
}

// TestNoStrips: what is not grouped strip by strip.
func TestNoStrips(t *testing.T) {
	devicetest.ForEach(t, testNoStrips)
}

func testNoStrips(t *testing.T, device *backend.Device) {
	const rows = 5000
	tab := table(t, rows,
		column{"wide", arrow.PrimitiveTypes.Int64, func(row int) uint64 { return uint64(row) << 20 }, nil},
		column{"many", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row) }, nil},
		column{"few", arrow.PrimitiveTypes.Int32, func(row int) uint64 { return uint64(row % 1000) }, nil},
		column{"d", &arrow.Decimal128Type{Precision: 38, Scale: 2}, func(row int) uint64 { return uint64(row) }, nil},
		column{"f", arrow.PrimitiveTypes.Float64, func(row int) uint64 { return floatBits(row) }, nil})
	sum := []groupby.Aggregate{{Func: groupby.Sum, Column: "few"}}
	for _, c := range []struct {
		by         string
		aggregates []groupby.Aggregate
		granule    int
		strips     bool
	}{{"few", sum, 0, true}, {"wide", sum, 0, false}, {"many", sum, 0, false}, {"few", sum, 1 << 8, false},
		{"few", []groupby.Aggregate{{Func: groupby.Var, Column: "d"}}, 0, true},
		{"few", []groupby.Aggregate{{Func: groupby.Var, Column: "f"}}, 0, false},
		{"few", []groupby.Aggregate{{Func: groupby.Min, Column: "d"}}, 0, false}} {
		e := engine(t, device)
		e.GranuleRows = c.granule
		spec := groupby.Spec{By: []string{c.by}, Aggregates: c.aggregates}
		require.Equal(t, c.strips && device.Info().Backend == "host", byStrips(t, e, tab, spec), "%+v", c)
		check(t, e, tab, spec)
	}
	sorted := groupby.Spec{By: []string{"few"}, Aggregates: sum, Algorithm: "sort"}
	require.False(t, byStrips(t, engine(t, device), tab, sorted))
	check(t, engine(t, device), tab, sorted)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := engine(t, device).Group(ctx, tab, groupby.Spec{By: []string{"few"}, Aggregates: sum})
	require.ErrorIs(t, err, backend.ErrCancelled)
}
