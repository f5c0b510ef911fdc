package reduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/relation"
)

// BenchmarkGroups counts the rows of groups and sums an int64, from columns on the device, for 1 to 2^24 groups of
// SPIRJOIN_GROUP_ROWS rows (2^20). Keys are dense codes of 32 bits, sparse ones of 64 bits, sorted codes, codes or
// sparse keys by Zipf's law with exponent 1, or sparse keys of which each is there four times side by side. It reports
// the bytes that have to move at least (keys and values once, and the groups), the rate at which they do, and the best
// time of all runs. For comparison it copies the values.
func BenchmarkGroups(b *testing.B) {
	benchKeys(b, Chosen, []string{"dense", "sparse", "sorted", "zipf", "sparse-zipf", "sparse-fours"}, 1, countAndSum...)
}

// BenchmarkGroupsDrawn is BenchmarkGroups by the strategy Graphics, of dense and sparse keys. Devices have the queue
// that it needs only if the pattern of -bench contains Drawn.
func BenchmarkGroupsDrawn(b *testing.B) {
	benchKeys(b, Graphics, []string{"dense", "sparse"}, 1, countAndSum...)
}

var countAndSum = []Reduction{{Func: Count, Value: Value{ValidWord: -1}},
	{Func: Sum, Value: Value{Bits: 64, ValidWord: -1}}}

// BenchmarkReductions is BenchmarkGroups for one other reduction of the values each, of dense codes.
func BenchmarkReductions(b *testing.B) {
	value := Value{Bits: 64, ValidWord: -1}
	float := Value{Bits: 64, Kind: Float, ValidWord: -1}
	b.Run("min", func(b *testing.B) { benchKeys(b, Chosen, dense, 4, Reduction{Func: Min, Value: value}) })
	b.Run("first", func(b *testing.B) { benchKeys(b, Chosen, dense, 4, Reduction{Func: First, Value: value}) })
	b.Run("float", func(b *testing.B) { benchKeys(b, Chosen, dense, 4, Reduction{Func: Sum, Value: float}) })
	b.Run("moments", func(b *testing.B) { benchKeys(b, Chosen, dense, 4, Reduction{Func: Moments, Value: float}) })
}

var dense = []string{"dense"}

func benchKeys(b *testing.B, strategy Strategy, kinds []string, bitsStep int, reductions ...Reduction) {
	rows := devicetest.Rows(b, "SPIRJOIN_GROUP_ROWS", 1<<20)
	devicetest.Bench(b, func(device *backend.Device, name string) {
		if _, err := device.Rasterizer(); err != nil && strategy == Graphics {
			b.Skip(err)
		}
		lane := jointest.Lane(b, device, nil)
		scope := lane.Scope(context.Background())
		defer scope.ReleaseAll()
		values := make([]uint64, rows)
		for i := range values {
			if values[i] = uint64(i); reductions[0].Value.Kind == Float {
				values[i] = math.Float64bits(float64(i))
			}
		}
		column := scope.New(uint64(rows)*8, "values").All()
		require.NoError(b, scope.Err())
		_, err := device.Upload(context.Background(), column, backend.AsBytes(values))
		require.NoError(b, err)
		b.Run(fmt.Sprintf("device=%s/copy/rows=%d", name, rows), func(b *testing.B) { benchCopy(b, lane, column) })
		for _, keys := range kinds {
			for bits := 0; bits <= 24 && 1<<bits <= rows; bits += bitsStep {
				b.Run(fmt.Sprintf("device=%s/keys=%s/rows=%d/groups=2^%d", name, keys, rows, bits), func(b *testing.B) {
					f := Facts{Rows: uint64(rows), KeyBytes: 4, KeyBits: max(1, bits), Payload: []int{8},
						Tuning: lane.Tuning(), Strategy: strategy}
					drawn := drawKeys(keys, rows, bits)
					if strings.HasPrefix(keys, "sparse") {
						f.KeyBytes, f.KeyBits = 8, 64
					}
					on := scope.New(uint64(rows*f.KeyBytes), "keys")
					require.NoError(b, scope.Err())
					defer scope.Release(on)
					_, err := device.Upload(context.Background(), on.All(), bytes(drawn, f.KeyBytes))
					require.NoError(b, err)
					benchGroups(b, &groupsBenchmark{f, reductions, &relation.Chunk{Rows: uint64(rows),
						Keys:    relation.Values{Data: on.All(), Bytes: f.KeyBytes},
						Payload: []relation.Values{{Data: column, Bytes: 8}}}}, device)
				})
			}
		}
	})
}

// drawKeys draws keys of 2^bits groups.
func drawKeys(keys string, rows, bits int) []uint64 {
	random, drawn := rand.NewPCG(1, uint64(bits)), make([]uint64, rows)
	for i := range drawn {
		key := random.Uint64() >> (64 - bits)
		if strings.HasSuffix(keys, "zipf") { // scattered over the codes
			key = uint64(math.Exp2(float64(bits)*float64(random.Uint64()>>11)/(1<<53))) - 1
			key = key * 0x9e3779b1 & (1<<bits - 1)
		}
		switch {
		case keys == "sparse-fours" && i%4 > 0:
			key = drawn[i-1]
		case strings.HasPrefix(keys, "sparse"):
			key *= 0x9e3779b97f4a7c15
		case keys == "sorted":
			key = uint64(i) << bits / uint64(rows)
		}
		drawn[i] = key
	}
	return drawn
}

const (
	copies  = 10
	warmFor = 500 * time.Millisecond // of a case
)

// benchCopy reports the rate at which bytes are read and written.
func benchCopy(b *testing.B, lane *exec.Lane, column backend.Range) {
	ctx, scope := context.Background(), lane.Scope(context.Background())
	defer scope.ReleaseAll()
	to := scope.New(column.SizeBytes, "copy").All()
	require.NoError(b, scope.Err())
	run := func() {
		list := lane.List("copy")
		for range copies {
			require.NoError(b, lane.Copy(list, to, column))
		}
		require.NoError(b, lane.Device().Run(ctx, list))
	}
	for warm := time.Now(); time.Since(warm) < warmFor; run() {
	}
	for b.Loop() {
		run()
	}
	b.ReportMetric(2*copies*float64(column.SizeBytes)/b.Elapsed().Seconds()*float64(b.N)/1e9, "GB/s")
}

type groupsBenchmark struct {
	Facts
	reductions []Reduction
	chunk      *relation.Chunk
}

func benchGroups(b *testing.B, g *groupsBenchmark, device *backend.Device) {
	ctx, lane := context.Background(), jointest.Lane(b, device, nil)
	plan, err := NewPlan(g.Facts, g.reductions)
	require.NoError(b, err)
	roles := []backend.Role{backend.Compute}
	if g.Strategy == Graphics {
		roles = append(roles, backend.Graphics)
	}
	var groups uint64
	best := time.Duration(math.MaxInt64)
	run := func() {
		start := time.Now()
		own := exec.NewLane(ctx, lane.Ops, nil)
		o := plan.Open(ctx, own)
		require.NoError(b, o.Add(ctx, own, g.chunk, 0))
		groups = 0
		require.NoError(b, o.Finish(ctx, func(_ context.Context, found *Groups) error {
			groups += found.Rows
			return nil
		}))
		for _, role := range roles {
			point, err := device.Submit(ctx, role, new(backend.List))
			require.NoError(b, err)
			require.NoError(b, point.Wait(ctx))
		}
		best = min(best, time.Since(start))
		o.Close()
		device.MemoryUse(backend.DeviceLocal) // takes the times of what has ended
		for _, s := range own.Profile.Stages() {
			b.ReportMetric(float64(s.Time)/float64(time.Millisecond), strings.NewReplacer(", ", "-", " ", "-").Replace(s.Stage)+"-ms")
		}
	}
	run()                                                       // compiles
	for warm := time.Now(); time.Since(warm) < warmFor; run() { // an idle GPU takes a while to reach its clock
	}
	best = math.MaxInt64
	used := cputime.Now()
	for b.Loop() {
		run()
	}
	require.LessOrEqual(b, groups, g.Rows)
	moved := float64(g.Rows)*float64(g.KeyBytes+8) + float64(groups*groupBytes(plan))
	used = cputime.Now() - used
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(groups), "groups")
	b.ReportMetric(float64(best.Nanoseconds())/1e6, "best-ms")
	b.ReportMetric(moved/1e6, "MB-least")
	b.ReportMetric(moved/seconds/1e9, "GB/s")
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(g.Rows), "cpu-ns/row")
	b.ReportMetric(seconds*1e9/float64(g.Rows), "ns/row")
}

// groupBytes are the bytes of a group: its key and its states.
func groupBytes(p *Plan) uint64 {
	sizeBytes := p.Facts.KeyBytes
	for i := range p.Reductions {
		sizeBytes += 8 * p.Reductions[i].columns()
	}
	return uint64(sizeBytes)
}
