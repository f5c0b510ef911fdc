package peers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/relation"
)

// counting counts the bytes that cross a link.
type counting struct {
	Link
	bytes *atomic.Uint64
}

func (c counting) Copy(ctx context.Context, dst, src backend.Range) error {
	c.bytes.Add(src.SizeBytes)
	return c.Link.Copy(ctx, dst, src)
}

// BenchmarkSort sorts rows with a key of 8 and a payload of 8 bytes across devices of each backend, and reports the
// bytes of each row that cross a link, and the CPU time of each row. SPIRJOIN_BENCH_ROWS is the number of rows of all
// ranks.
func BenchmarkSort(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<20)
	for _, size := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("ranks=%d", size), func(b *testing.B) {
			devicetest.BenchGroup(b, size, func(devices []*backend.Device, device string) {
				link.Join(devices...)
				for _, keys := range []string{"random", "zipf 1"} {
					benchmarkSort(b, devices, device, keys, rows)
				}
			})
		})
	}
}

func benchmarkSort(b *testing.B, devices []*backend.Device, device, keys string, rows int) {
	var moved atomic.Uint64
	all := &cluster{links: NewLinks(func(ctx context.Context, from, to *backend.Device) (Link, error) {
		l, err := link.Connect(ctx, from, to)
		return counting{l, &moved}, err
	})}
	var chunks []*relation.Chunk
	random := rand.New(rand.NewPCG(1, 2))
	for i, d := range devices {
		lane := jointest.Lane(b, d, nil)
		all.lanes = append(all.lanes, lane)
		made := distributionNamed(keys).make(random, rows/len(devices))
		chunks = append(chunks, newTable(made, i*rows, 8, 8).upload(b, lane))
	}
	for _, method := range methods {
		b.Run(fmt.Sprintf("%s/keys=%s/method=%v", device, keys, method), func(b *testing.B) {
			run := func() {
				require.NoError(b, all.run(b.Context(), nil, func(ctx context.Context, r *Rank) error {
					sorted, err := r.Sort(ctx, method, chunks[r.Rank()])
					for _, of := range sorted {
						of.Release()
					}
					return err
				}))
			}
			run() // makes links and compiles
			moved.Store(0)
			before := cputime.Now()
			for b.Loop() {
				run()
			}
			perRow := float64(b.N) * float64(rows)
			b.ReportMetric(float64(moved.Load())/perRow, "moved-B/row")
			b.ReportMetric(float64((cputime.Now()-before).Nanoseconds())/perRow, "cpu-ns/row")
		})
	}
	require.NoError(b, all.links.Close())
	for _, lane := range all.lanes {
		lane.Memory.ReleaseAll()
	}
}

func distributionNamed(name string) distribution {
	for _, d := range distributions {
		if d.name == name {
			return d
		}
	}
	panic(name)
}
