package runs

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spirjoin/spirjoin/internal/offheap"
)

const benchRows = 1 << 24

// BenchmarkMerge merges 2^24 rows in all; MB/s counts what is read and written. "naive" is a loop over the heads of all
// runs for each row, and "copy" copies the rows, which is the bound that memory sets.
func BenchmarkMerge(b *testing.B) {
	benchmarkMerge[uint64, uint32](b, "keys=64/rows=32")
	benchmarkMerge[uint32, uint32](b, "keys=32/rows=32")
}

func benchmarkMerge[K, V Word](b *testing.B, name string) {
	for _, k := range []int{2, 3, 4, 5, 8, 16} {
		random, in := rand.New(rand.NewPCG(1, 2)), make([]Run[K, V], k)
		var buffers []*Buffer[K, V]
		for i := range in {
			buffer := NewBuffer[K, V](&offheap.Shared, uint64(benchRows/k))
			buffers = append(buffers, buffer)
			for j := range buffer.Keys {
				buffer.Keys[j], buffer.Rows[j] = K(random.Uint64()), V(j)
			}
			slices.Sort(buffer.Keys)
			in[i], _ = NewRun(buffer.Block)
		}
		out := NewBuffer[K, V](&offheap.Shared, uint64(benchRows/k*k))
		buffers = append(buffers, out)
		perRow := func(b *testing.B) {
			b.SetBytes(2 * int64(len(out.Keys)) * int64(bits.Len64(uint64(^K(0)))+bits.Len64(uint64(^V(0)))) / 8)
			b.ReportMetric(float64(b.N)*float64(len(out.Keys))/1e6/b.Elapsed().Seconds(), "Mrows/s")
		}
		for _, cores := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/runs=%d/cores=%d", name, k, cores), func(b *testing.B) {
				for b.Loop() {
					if err := Merge(b.Context(), out.Block, in, cores); err != nil {
						b.Fatal(err)
					}
				}
				perRow(b)
			})
		}
		b.Run(fmt.Sprintf("%s/runs=%d/naive", name, k), func(b *testing.B) {
			for b.Loop() {
				naiveMerge(out.Block, in)
			}
			perRow(b)
		})
		if k == 2 {
			b.Run(fmt.Sprintf("%s/copy", name), func(b *testing.B) {
				for b.Loop() {
					at := 0
					for _, r := range in {
						at += copy(out.Keys[at:], r.blocks[0].Keys)
						copy(out.Rows[at-len(r.blocks[0].Rows):], r.blocks[0].Rows)
					}
				}
				perRow(b)
			})
		}
		for _, buffer := range buffers {
			buffer.Free()
		}
	}
}

func naiveMerge[K, V Word](out Block[K, V], in []Run[K, V]) {
	at := make([]int, len(in))
	for o := range out.Keys {
		least := -1
		for i, r := range in {
			if at[i] < len(r.blocks[0].Keys) &&
				(least < 0 || r.blocks[0].Keys[at[i]] < in[least].blocks[0].Keys[at[least]]) {
				least = i
			}
		}
		out.Keys[o], out.Rows[o] = in[least].blocks[0].Keys[at[least]], in[least].blocks[0].Rows[at[least]]
		at[least]++
	}
}
