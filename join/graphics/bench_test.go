package graphics_test

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
)

// dropping releases windows as they come.
type dropping struct{ operator.Collector }

func (d *dropping) Put(_ context.Context, w *operator.Window) error {
	w.Release()
	return nil
}

// BenchmarkJoin joins unique keys with four times as many rows that all have a partner, and tells the time of each
// stage. SPIRJOIN_BENCH_ROWS is the number of rows of the probe side.
func BenchmarkJoin(b *testing.B) {
	devicetest.Bench(b, func(device *backend.Device, name string) {
		if _, err := device.Rasterizer(); err != nil {
			return
		}
		lane := jointest.Lane(b, device, nil)
		probeRows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
		build, probe := relations(probeRows/4, probeRows)
		for _, a := range []operator.Algorithm{graphics.Algorithm{}, graphics.Algorithm{ByImage: true},
			hash.Partitioned{Untransformed: true}} {
			b.Run(name+"/"+a.Name(), func(b *testing.B) { run(b, lane, a, build, probe) })
		}
	})
}

func relations(buildRows, probeRows int) (build, probe *jointest.Relation) {
	random := rand.New(rand.NewPCG(1, 2))
	build, probe = &jointest.Relation{KeyBytes: 4, Payload: []int{4}}, &jointest.Relation{KeyBytes: 4, Payload: []int{4}}
	for _, key := range random.Perm(buildRows) {
		build.Keys = append(build.Keys, uint64(key))
	}
	for range probeRows {
		probe.Keys = append(probe.Keys, uint64(random.IntN(buildRows)))
	}
	return build, probe
}

func run(b *testing.B, lane *exec.Lane, a operator.Algorithm, build, probe *jointest.Relation) {
	ctx := context.Background()
	left, releaseLeft := build.Chunk(b, lane)
	defer releaseLeft()
	right, releaseRight := probe.Chunk(b, lane)
	defer releaseRight()
	f := operator.Facts{Rows: [2]uint64{left.Rows, right.Rows}, KeyBytes: 4, Payload: [2][]int{{4}, {4}},
		OutputRows: right.Rows, Unique: true, MatchRatio: 1, BuildRatio: 1, Distinct: 1, Tuning: lane.Tuning()}
	f.On(lane.Device())
	plan, err := a.Plan(&f, operator.Want{Pairs: true, Keys: true})
	require.NoError(b, err)
	require.NoError(b, plan.Reject)
	for b.Loop() {
		own := exec.NewLane(ctx, lane.Ops, nil)
		sink := &dropping{operator.Collector{Lane: own}}
		o := a.Open(ctx, own, plan)
		require.NoError(b, o.Build(ctx, left))
		require.NoError(b, o.Probe(ctx, own, right, sink))
		require.NoError(b, o.Finish(ctx, sink))
		require.Equal(b, right.Rows, sink.Rows)
		o.Close()
		require.NoError(b, lane.Device().Run(ctx, new(backend.List)))
		for _, s := range own.Profile.Stages() {
			b.ReportMetric(float64(s.Time)/float64(time.Millisecond), strings.ReplaceAll(s.Stage, " ", "-")+"-ms")
		}
	}
}

// BenchmarkPasses tells how many points a second the first pass of a build draws, beside points of the same number in
// an image like its own whose pixels are given: one after the other, or in random order.
func BenchmarkPasses(b *testing.B) {
	devicetest.Bench(b, func(device *backend.Device, name string) {
		if _, err := device.Rasterizer(); err != nil {
			return
		}
		lane := jointest.Lane(b, device, nil)
		rows := uint64(devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)) / 4
		side := uint32(1)
		for uint64(side)*uint64(side) < rows*14/5 {
			side *= 2
		}
		ctx := context.Background()
		memory := lane.Scope(ctx)
		defer memory.ReleaseAll()
		image := memory.NewImage(backend.ImageSpec{Width: side, Height: side, Layers: 1, Format: backend.RGBA16UInt}, "stack")
		numbers, shuffled := memory.New(rows*4, "numbers"), memory.New(rows*4, "shuffled")
		require.NoError(b, memory.Err())
		list := lane.List("number")
		require.NoError(b, lane.Iota(list, numbers.All(), rows, 0))
		require.NoError(b, lane.Submit(ctx, list))
		pixels := make([]uint32, rows)
		for i := range pixels {
			pixels[i] = rand.Uint32N(side * side)
		}
		_, err := device.Upload(ctx, shuffled.All(), backend.AsBytes(pixels))
		require.NoError(b, err)
		points := *kernel.Points
		points.Targets = []backend.TargetSpec{{Format: backend.RGBA16UInt}}
		build := graphics.BuildFirst(4)
		key := backend.Config{"key_bits": 32, "pass": 0}
		log2 := uint32(bits.Len32(side) - 1)
		for _, pass := range []struct {
			name   string
			spec   *backend.DrawSpec
			config backend.Config
			args   []backend.Range
			params []uint32
		}{
			{"in order", &points, nil, []backend.Range{numbers.All(), {}}, []uint32{0}},
			{"in random order", &points, nil, []backend.Range{shuffled.All(), {}}, []uint32{0}},
			{"build", build, key, []backend.Range{numbers.All(), {}, {}, {}}, []uint32{log2, log2, 1}},
		} {
			b.Run(name+"/"+pass.name, func(b *testing.B) {
				program, err := device.DrawProgram(pass.spec, pass.config)
				require.NoError(b, err)
				best := math.Inf(1)
				for b.Loop() {
					on := exec.NewLane(ctx, lane.Ops, nil).On(ctx, backend.Graphics)
					list := on.List("draw")
					list.Draw(pass.name, &backend.Draw{Program: program, Args: pass.args, Params: pass.params,
						Vertices: uint32(rows), Instances: 1, Targets: []backend.Target{{Image: image, Clear: true}}})
					point, err := device.Submit(ctx, backend.Graphics, list)
					require.NoError(b, err)
					require.NoError(b, point.Wait(ctx))
					device.MemoryUse(backend.DeviceLocal) // takes the times of what has ended
					best = min(best, on.Profile.Stages()[0].Time.Seconds())
				}
				b.ReportMetric(float64(rows)/best/1e9, "Gpoints/s")
			})
		}
	})
}
