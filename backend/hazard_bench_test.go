package backend

import (
	"fmt"
	"testing"
)

// BenchmarkHazards is the cost of a command of three arguments: among few segments of a block, and among many, as
// scratch that is laid out in one buffer and read by another queue has them.
func BenchmarkHazards(b *testing.B) {
	for _, parts := range []uint64{1, 16, 256} {
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) {
			h := newHazardTracker()
			in, out, counts := &fakeBlock{1 << 20}, &fakeBlock{1 << 20}, &fakeBlock{1 << 20}
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				lo := i % parts * 256
				role := Compute
				if i%8 == 7 {
					role = Download
				}
				h.need(role, i/8+1, []span{
					{in, 0, 256 * parts, Read, 0}, {counts, lo, lo + 256, Accumulate, 0}, {out, lo, lo + 256, Write, 0},
				})
				in, out = out, in
			}
		})
	}
}
