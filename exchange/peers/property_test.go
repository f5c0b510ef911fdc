package peers

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// TestSortAnything sorts relations of any shape, by any method, and compares with a stable sort on the host.
func TestSortAnything(t *testing.T) {
	devicetest.HostTest(t)
	forEachCluster(t, 6, func(outer *testing.T, all *cluster) {
		rapid.Check(outer, func(t *rapid.T) {
			size := rapid.IntRange(1, 6).Draw(t, "size")
			widths := []int{rapid.SampledFrom([]int{4, 8}).Draw(t, "key bytes"), 4}
			for range rapid.IntRange(0, 2).Draw(t, "more columns") {
				widths = append(widths, rapid.SampledFrom([]int{4, 8}).Draw(t, "bytes"))
			}
			mask := rapid.SampledFrom([]uint64{0, 1, 0xff, 0x80000001, math.MaxUint32, 0xff00000000ff0000,
				math.MaxUint64}).Draw(t, "mask")
			constant := rapid.Uint64().Draw(t, "constant") &^ mask
			var tables []*table
			number := 0
			for range size {
				rows := rapid.SampledFrom([]int{0, 1, 7, 64, 200}).Draw(t, "rows")
				keys := rapid.SliceOfN(rapid.Uint64(), rows, rows).Draw(t, "keys")
				for i := range keys {
					if keys[i] = keys[i]&mask | constant; widths[0] == 4 {
						keys[i] &= math.MaxUint32
					}
				}
				if rapid.Bool().Draw(t, "sorted") {
					slices.Sort(keys)
				}
				tables = append(tables, newTable(keys, number, widths...))
				number += rows
			}
			method, s := rapid.SampledFrom(methods).Draw(t, "method"), sorter{whole: rapid.Bool().Draw(t, "whole"),
				fusing: rapid.SampledFrom([]uint64{1, 100, fusingRows}).Draw(t, "fusing")}
			got := all.first(size).sortedBy(outer, method, s, nil, tables)[0]
			want, joined := &table{widths: widths}, &table{widths: widths}
			for c := range widths {
				var in, out []uint64
				for rank := range tables {
					in, out = append(in, tables[rank].columns[c]...), append(out, got[rank].columns[c]...)
				}
				want.columns, joined.columns = append(want.columns, in), append(joined.columns, out)
			}
			want.sort()
			if method == MergeStages { // equal keys may change places
				if !slices.IsSorted(joined.columns[0]) {
					t.Fatalf("keys %v", joined.columns[0])
				}
				want.sortAll()
				joined.sortAll()
			}
			for c := range widths {
				if !slices.Equal(want.columns[c], joined.columns[c]) {
					t.Fatalf("column %d: %v instead of %v", c, joined.columns[c], want.columns[c])
				}
			}
			if s.whole {
				where := make(map[uint64]int)
				for rank, of := range got {
					for _, key := range of.columns[0] {
						if at, known := where[key]; known && at != rank {
							t.Fatalf("key %d on ranks %d and %d", key, at, rank)
						}
						where[key] = rank
					}
				}
			}
		})
	})
}
