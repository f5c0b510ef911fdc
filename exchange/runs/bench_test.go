package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkPartition cuts two sides of 2^22 rows for 8 devices and 3 streams each. Its bytes are the keys of both
// sides, although it reads few of them.
func BenchmarkPartition(b *testing.B) {
	for _, distinct := range []uint64{1, 100, 1 << 40} {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			r := sortedRun[uint64, uint32](b, random, 1<<22, 1, distinct, 0)
			s := sortedRun[uint64, uint32](b, random, 1<<22, 1, distinct, 0)
			b.SetBytes(16 << 22)
			for b.Loop() {
				if _, err := Partition(b.Context(), r, s, Cut{Parts: 8, Subparts: 3}, 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExpand writes the pairs of 2^22 rows in batches of 2^20, with various numbers of pairs per row. Its bytes
// are the bytes written.
func BenchmarkExpand(b *testing.B) {
	const rows = 1 << 22
	for _, each := range []uint32{1, 4, 64} {
		for _, cores := range []int{1, 2} {
			b.Run(fmt.Sprintf("pairs=%d/cores=%d", each, cores), func(b *testing.B) {
				n := rows / each
				m := Matches[uint32]{Rows: make([]uint32, n), Begins: make([]uint32, n), Counts: make([]uint32, n),
					Others: make([]uint32, rows)}
				for i := range m.Rows {
					m.Rows[i], m.Begins[i], m.Counts[i] = uint32(i), uint32(i)*each, each
				}
				out := [2][]uint32{make([]uint32, 1<<20), make([]uint32, 1<<20)}
				b.SetBytes(8 * rows)
				for b.Loop() {
					pairs, err := m.Expand(b.Context(), cores)
					for first := uint64(0); err == nil && first < rows; first += 1 << 20 {
						err = pairs.Write(b.Context(), first, out[0], out[1], cores)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*rows/1e6/b.Elapsed().Seconds(), "Mpairs/s")
			})
		}
	}
}

// BenchmarkSelectRank finds the middle of 8 runs of 2^20 rows.
func BenchmarkSelectRank(b *testing.B) {
	random, in := rand.New(rand.NewPCG(1, 2)), make([]Run[uint64, uint32], 8)
	for i := range in {
		in[i] = sortedRun[uint64, uint32](b, random, 1<<20, 1, 1<<63, 0)
	}
	for b.Loop() {
		if n := selectRank(in, 1<<22); slices.Max(n) == 0 {
			b.Fatal(n)
		}
	}
}
