package runs

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// BenchmarkDivide divides two sides of 2^23 rows with random keys into segments, and moves the keys, or rows too. Mrows/s
// are rows of both sides in a CPU second, the sum over all cores.
func BenchmarkDivide(b *testing.B) {
	const rows = 1 << 23
	random := rand.New(rand.NewPCG(1, 2))
	var in [2]*Buffer[uint64, uint32]
	for i := range in {
		in[i] = NewBuffer[uint64, uint32](&offheap.Shared, rows)
		defer in[i].Free()
		for j := range in[i].Keys {
			in[i].Keys[j] = random.Uint64()
		}
	}
	out := NewBuffer[uint64, uint32](&offheap.Shared, rows)
	defer out.Free()
	for _, segments := range []uint64{4, 16, 64, 256} {
		for _, numbers := range []bool{false, true} {
			b.Run(fmt.Sprintf("segments=%d/rows=%t", segments, numbers), func(b *testing.B) {
				to := Block[uint64, uint32]{Keys: out.Keys}
				if numbers {
					to.Rows = out.Rows
				}
				keys, before := [2]Keys[uint64]{{Keys: in[0].Keys}, {Keys: in[1].Keys}}, cputime.Now()
				for b.Loop() {
					d, err := Divide(b.Context(), keys, 2*rows*8/7/segments, runtime.GOMAXPROCS(0))
					for side := 0; err == nil && side < 2; side++ {
						err = Scatter(b.Context(), d, side, to, Block[uint64, uint32]{Keys: in[side].Keys})
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*2*rows/1e6/(cputime.Now()-before).Seconds(), "Mrows/s")
			})
		}
	}
}
