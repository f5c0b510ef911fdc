package peers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
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

// BenchmarkSort sorts rows with a key of 8 and a payload of 8 bytes across logical devices of the host backend, and
// reports the bytes of each row that cross a link, and the CPU time of each row. SPIRJOIN_BENCH_ROWS is the number of
// rows of all ranks.
func BenchmarkSort(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<20)
	for _, name := range []string{"random", "zipf 1"} {
		for _, size := range []int{1, 2, 4, 8} {
			var moved atomic.Uint64
			all := &cluster{links: NewLinks(func(ctx context.Context, from, to *backend.Device) (Link, error) {
				link, err := backend.Connect(ctx, from, to)
				return counting{link, &moved}, err
			})}
			backendOfHost := host.New(host.Options{})
			var chunks []*relation.Chunk
			random := rand.New(rand.NewPCG(1, 2))
			for i := range size {
				driver, err := backendOfHost.Open("host:cpu")
				require.NoError(b, err)
				lane := jointest.Lane(b, backend.NewDevice(driver, backend.DeviceOptions{}), nil)
				all.lanes = append(all.lanes, lane)
				keys := distributionNamed(name).make(random, rows/size)
				chunks = append(chunks, newTable(keys, i*rows, 8, 8).upload(b, lane))
			}
			for _, method := range methods {
				b.Run(fmt.Sprintf("keys=%s/ranks=%d/method=%v", name, size, method), func(b *testing.B) {
					run := func() {
						require.NoError(b, all.run(b.Context(), nil, func(ctx context.Context, r *Rank) error {
							sorted, err := r.Sort(ctx, Order{Method: method}, chunks[r.Rank()])
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
				require.NoError(b, lane.Device().Close())
			}
		}
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
