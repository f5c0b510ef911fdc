package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkPartition cuts two sides of 2^22 rows into 24 parts. Its bytes are the keys of both
// sides, although it reads few of them.
func BenchmarkPartition(b *testing.B) {
	for _, distinct := range []uint64{1, 100, 1 << 40} {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			r := sortedRun[uint64, uint32](b, random, 1<<22, 1, distinct, 0)
			s := sortedRun[uint64, uint32](b, random, 1<<22, 1, distinct, 0)
			b.SetBytes(16 << 22)
			for b.Loop() {
				if tasks, _ := Partition(r, s, 24); len(tasks) == 0 {
					b.Fatal("no tasks")
				}
			}
		})
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
