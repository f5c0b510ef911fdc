package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkHashText hashes texts that caches hold, on one core.
func BenchmarkHashText(b *testing.B) {
	for _, size := range []int{8, 16, 100, 1000} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			const texts = 1 << 10
			bytes := make([]byte, texts*size)
			for i := range bytes {
				bytes[i] = byte(rand.Uint32())
			}
			all, sum := string(bytes), uint64(0)
			for range b.N {
				for i := range texts {
					sum += HashText(all[i*size:][:size])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/texts, "ns/text")
			if sum == 0 {
				b.Fatal("all hashes are 0")
			}
		})
	}
}
