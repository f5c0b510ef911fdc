package keys

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

func specimenSides(left, right int) [2]SpecimenSide {
	return [2]SpecimenSide{{Rows: left, Allocator: memory.DefaultAllocator},
		{Rows: right, Allocator: memory.DefaultAllocator}}
}

// codesOf are the codes of a side.
func codesOf(t *testing.T, p *Plan, side relation.Side) (codes []uint64) {
	keys := make([]byte, 8*int(p.Rows(side)))
	require.NoError(t, p.Encode(t.Context(), side, keys, make([]uint32, p.Rows(side))))
	if p.KeyBytes() == 8 {
		return append(codes, backend.Longs(keys)...)
	}
	for _, word := range backend.Words(keys)[:p.Rows(side)] {
		codes = append(codes, uint64(word))
	}
	return codes
}

// Specimens of keys of all kinds have codes as wide as the codes of the tables; of each side, half of the rows have one
// partner, and all bits of the codes vary.
func TestSpecimen(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	int64s, seconds := arrow.PrimitiveTypes.Int64, &arrow.TimestampType{Unit: arrow.Second}
	for _, c := range []struct {
		types       [2]arrow.DataType
		least, most uint64
		columns     int
	}{
		{[2]arrow.DataType{int64s, int64s}, 1000, 1 << 25, 1},
		{[2]arrow.DataType{int64s, int64s}, 1, 1 << 40, 1},
		{[2]arrow.DataType{int64s, arrow.PrimitiveTypes.Int32}, 5, 1 << 22, 2},
		{[2]arrow.DataType{arrow.PrimitiveTypes.Uint32, int64s}, 0, 1 << 31, 1},
		{[2]arrow.DataType{arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date32}, 8000, 10_000, 2},
		{[2]arrow.DataType{seconds, &arrow.TimestampType{Unit: arrow.Millisecond}}, 1000, 1000 << 20, 1},
		{[2]arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64}, 1 << 50, 1 << 60, 1},
		{[2]arrow.DataType{&arrow.Decimal128Type{Precision: 20, Scale: 2}, &arrow.Decimal128Type{Precision: 20, Scale: 2}},
			0, 1 << 30, 1},
		{[2]arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString}, 0, 1 << 40, 1},
		{[2]arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.Binary}, 0, 1 << 40, 2},
		{[2]arrow.DataType{dictionary, arrow.BinaryTypes.String}, 0, 1 << 40, 1},
	} {
		t.Run(fmt.Sprint(c.types, c.least, c.most, c.columns), func(t *testing.T) {
			var tables [2]arrow.Table
			var on []string
			for k := range c.columns {
				on = append(on, fmt.Sprint("k", k))
			}
			for side, dt := range c.types {
				values, err := relation.Column(memory.DefaultAllocator, dt, []uint64{c.least, c.most, c.least}, 0)
				require.NoError(t, err)
				tables[side] = tableOf(slices.Repeat([]arrow.Array{values}, c.columns), make([][]int, c.columns))
			}
			plan, err := PlanJoin(t.Context(), tables[0], tables[1], on, on)
			require.NoError(t, err)
			const rows = 1000
			specimen, err := plan.Specimen(specimenSides(rows, rows))
			require.NoError(t, err)
			require.Equal(t, plan.KeyBits(), specimen.KeyBits())
			require.Equal(t, plan.Exact(), specimen.Exact())
			left, right := codesOf(t, specimen, relation.Left), codesOf(t, specimen, relation.Right)
			require.Equal(t, left[:100], right[:100], "rows with the same number")
			matches, varying := 0, uint64(0)
			for _, code := range right {
				varying |= code ^ right[0]
				if slices.Contains(left, code) {
					matches++
				}
			}
			require.False(t, slices.IsSorted(left))
			if c.types[relation.Left] != dictionary {
				require.Equal(t, rows/2, matches)
				require.Equal(t, uint64(1)<<(plan.KeyBits()-1)<<1-1, varying)
			}
			column := specimen.Column(relation.Right, "k0")
			require.Equal(t, rows, column.Len())
			require.Nil(t, specimen.Column(relation.Right, "no key"))
			require.GreaterOrEqual(t, specimen.Distinct(), uint64(100))

			few, err := plan.Specimen(specimenSides(4, rows))
			require.NoError(t, err)
			left, right = codesOf(t, few, relation.Left), codesOf(t, few, relation.Right)
			if c.types[relation.Left] != dictionary {
				require.False(t, slices.IsSorted(left))
				require.True(t, slices.Contains(right, left[0]) != slices.Contains(right, left[3]), "some have partners")
				require.Less(t, len(slices.Compact(slices.Sorted(slices.Values(right)))), rows)
			}

			sides := specimenSides(4, rows)
			sides[relation.Right].Unique = true
			unique, err := plan.Specimen(sides)
			require.NoError(t, err)
			if c.types[relation.Left] != dictionary {
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(codesOf(t, unique, relation.Right)))), rows)
			}

			sides = specimenSides(rows, 1)
			sides[relation.Left].Sorted, sides[relation.Right].Sorted = true, true
			sorted, err := plan.Specimen(sides)
			require.NoError(t, err)
			if plan.Exact() && c.columns == 1 {
				require.True(t, slices.IsSorted(codesOf(t, sorted, relation.Left)))
			}
			require.EqualValues(t, 1, sorted.Rows(relation.Right))
		})
	}
}

// Where rows of a table are left out, one of its specimen is. Keys with few values bound how many rows are useful.
func TestSpecimenLeavesOut(t *testing.T) {
	b := array.NewInt8Builder(memory.NewGoAllocator())
	b.AppendValues([]int8{0, 1, 0, 1}, []bool{true, true, true, false})
	table := tableOf([]arrow.Array{b.NewArray()}, make([][]int, 1))
	plan, err := PlanJoin(t.Context(), table, table, []string{"k0"}, []string{"k0"})
	require.NoError(t, err)
	specimen, err := plan.Specimen(specimenSides(100, 0))
	require.NoError(t, err)
	require.True(t, specimen.LeavesOut(relation.Left))
	require.EqualValues(t, 99, specimen.Rows(relation.Left))
	require.EqualValues(t, 1, specimen.Nulls(relation.Left))
	require.Zero(t, specimen.Rows(relation.Right))
	require.EqualValues(t, 2, specimen.Distinct())
	cross, err := PlanCross(table, table)
	require.NoError(t, err)
	require.EqualValues(t, 1, cross.Distinct())
}
