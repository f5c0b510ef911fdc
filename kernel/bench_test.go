package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

const benchRows = 10_000_000

func hostConfig(items uint32, c backend.Config) backend.Config {
	full := backend.Config{"serial": 1, "workgroup": 1, "items": items, "batch": 13}
	for k, v := range c {
		full[k] = v
	}
	return full
}

func runAll(spec *backend.KernelSpec, call *backend.Call, groups uint32) {
	for g := range groups {
		spec.Run(call, g)
	}
}

func BenchmarkRadix(b *testing.B) {
	keys := make([]uint32, benchRows)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	keys64 := make([]uint64, benchRows)
	for i := range keys64 {
		keys64[i] = rand.Uint64()
	}
	payload := make([]uint32, benchRows)
	keysOut := make([]uint64, benchRows)
	payloadOut := make([]uint32, benchRows)
	for _, kb := range []uint32{32, 64} {
		for _, pb := range []uint32{0, 32} {
			for _, it := range []uint32{1 << 15, 1 << 18} {
				c := hostConfig(it, backend.Config{"key_bits": kb, "payload_bits": pb})
				tiles := kernel.Tiles(c, benchRows)
				counts := make([]uint32, 256*tiles+1)
				in := backend.AsBytes(keys)
				if kb == 64 {
					in = backend.AsBytes(keys64)
				}
				var p, po []byte
				if pb == 32 {
					p, po = backend.AsBytes(payload), backend.AsBytes(payloadOut)
				}
				h := &backend.Call{Args: [][]byte{in, backend.AsBytes(counts)}, Params: []uint32{benchRows, tiles, 8, 8}, Config: c}
				if pb == 0 {
					b.Run(fmt.Sprintf("histogram/key=%d/items=%d", kb, it), func(b *testing.B) {
						for b.Loop() {
							runAll(kernel.RadixHistogram, h, tiles)
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
					})
				}
				runAll(kernel.RadixHistogram, h, tiles)
				sum := uint32(0)
				for i, n := range counts {
					counts[i] = sum
					sum += n
				}
				s := &backend.Call{Args: [][]byte{in, p, backend.AsBytes(counts), backend.AsBytes(keysOut), po}, Params: []uint32{benchRows, tiles, 8, 8}, Config: c}
				b.Run(fmt.Sprintf("scatter/key=%d/payload=%d/items=%d", kb, pb, it), func(b *testing.B) {
					for b.Loop() {
						runAll(kernel.RadixScatter, s, tiles)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
				})
				b.Run(fmt.Sprintf("scatter2/key=%d/payload=%d/items=%d", kb, pb, it), func(b *testing.B) {
					for b.Loop() {
						var wg sync.WaitGroup
						for w := range uint32(2) {
							wg.Go(func() {
								for g := w; g < tiles; g += 2 {
									kernel.RadixScatter.Run(s, g)
								}
							})
						}
						wg.Wait()
					}
					b.ReportMetric(2*float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row/core")
				})
			}
		}
	}
}
