package exchange_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// filtered returns a Divider with a filter of the keys of a left table, made part by part, as by ranks.
func filtered(t *testing.T, tables [2]arrow.Table, parts int) *exchange.Divider {
	schemas := [2]*arrow.Schema{tables[0].Schema(), tables[1].Schema()}
	hashes, err := keys.PlanHashes(schemas, [2][]string{{"k"}, {"k"}}, false)
	require.NoError(t, err)
	d := &exchange.Divider{Hashes: hashes, Parts: parts, Seed: 3}
	var all [][]byte
	for part := range parts {
		d.Filter = d.NewFilter(part, exchange.FilterBytes(uint64(tables[0].NumRows()), parts))
		hashed, err := hashes.Bind(t.Context(), relation.Left, tables[0])
		require.NoError(t, err)
		require.NoError(t, d.Filter.Add(t.Context(), hashed))
		all = append(all, d.Filter.Part())
	}
	require.ErrorIs(t, d.Filter.SetParts(all[1:]), backend.ErrInvalidInput)
	require.ErrorIs(t, d.Filter.SetParts(append(all[1:len(all):len(all)], all[0][1:])), backend.ErrInvalidInput)
	require.NoError(t, d.Filter.SetParts(all))
	return d
}

// numbersOf divides right rows and returns the part of each row, by its number; -1 for those that were dropped.
func numbersOf(t *testing.T, d *exchange.Divider, table arrow.Table) []int {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	divided, err := d.Divide(t.Context(), relation.Right, table, alloc)
	require.NoError(t, err)
	require.Len(t, divided, d.All())
	of := make([]int, table.NumRows())
	for row := range of {
		of[row] = -1
	}
	for part, rows := range divided {
		last := int64(-1)
		for i, row := range rows.Column(1).(*array.Int64).Int64Values() {
			require.Greater(t, row, last, "rows of a part keep their order")
			at, of0 := int(row), table.Column(0).Data()
			require.Equal(t, of0.Chunk(0).ValueStr(at), rows.Column(0).ValueStr(i), "rows stay whole")
			of[row], last = part, row
		}
		rows.Release()
	}
	return of
}

// TestFilter: no row with a partner is dropped, and few without one stay; rows without a key are dropped, rows of hot
// keys are not; the others are in the parts of their hashes.
func TestFilter(t *testing.T) {
	devicetest.HostTest(t)
	rows := devicetest.Short(6_000, 30_000)
	var values [2][]string
	for i := range rows {
		values[0] = append(values[0], fmt.Sprint(3*i))
		key := fmt.Sprint(i)
		if i%11 == 0 {
			key = ""
		}
		values[1] = append(values[1], key)
	}
	for _, types := range [][2]arrow.DataType{{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32}, {arrow.BinaryTypes.String, arrow.BinaryTypes.String}} {
		for _, parts := range []int{1, 2, 3, 64} {
			tables := [2]arrow.Table{keyed(t, types[0], values[0]), keyed(t, types[1], values[1])}
			d := filtered(t, tables, parts)
			plain := exchange.Divider{Hashes: d.Hashes, Parts: parts, Seed: d.Seed}
			want, stay := numbersOf(t, &plain, tables[1]), 0
			for row, part := range numbersOf(t, d, tables[1]) {
				switch {
				case row%11 == 0:
					require.Equal(t, -1, part, "row %d has no key", row)
				case row%3 == 0:
					require.Equal(t, want[row], part, "row %d has a partner", row)
				case part >= 0:
					require.Equal(t, want[row], part)
					stay++
				}
			}
			share := float64(stay) / float64(rows*20/33)
			t.Logf("%s, %d parts: %.2f%% of the rows without a partner stay", types[1], parts, 100*share)
			require.Less(t, share, 0.025)

			if parts == 3 && types[1].ID() == arrow.INT64 { // whose hashes are their values
				d.Hot, d.HotParts = map[uint64]int{7: 1, 8: 3}, 1
				of := numbersOf(t, d, tables[1])
				require.Equal(t, []int{1, 3}, of[7:9], "rows of hot keys stay")
			}
			tables[0].Release()
			tables[1].Release()
		}
	}
}

// TestFilterWithoutParts: a Divider whose filter was given no parts drops nothing.
func TestFilterWithoutParts(t *testing.T) {
	devicetest.HostTest(t)
	table := keyed(t, arrow.PrimitiveTypes.Int64, []string{"1", "2", "", "4"})
	defer table.Release()
	hashes, err := keys.PlanHashes([2]*arrow.Schema{table.Schema(), table.Schema()}, [2][]string{{"k"}, {"k"}}, false)
	require.NoError(t, err)
	d := &exchange.Divider{Hashes: hashes, Parts: 2}
	d.Filter = d.NewFilter(0, exchange.FilterBytes(0, 2))
	require.NotContains(t, numbersOf(t, d, table), -1)
	require.Zero(t, d.Filter.Known([]uint64{1, 2, 3, 4}))
}
