package graphics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
)

// histogramCell counts keys below 2^log2Bins (GARUDA 6.2): a point per key, blended into an image with a pixel per bin,
// or an atomic addition per key to a counter in device memory.
type histogramCell struct {
	keys     string // of keyOrders
	rows     int64
	log2Bins uint32
}

// The keys of a histogram.
const (
	uniformKeys = "uniform"
	orderedKeys = "ordered"
	skewedKeys  = "zipf=1"
)

// mostCount is what a blended float counts to exactly.
const mostCount = 1 << 24

// The ways to count, and to group.
const (
	drawn   = "graphics"
	compute = "compute"
)

func (c histogramCell) place() string { return c.keys }

func (c histogramCell) on(s *Sweep) cell {
	c.rows = max(1, c.rows>>s.Scale)
	c.log2Bins -= min(c.log2Bins, uint32(s.Scale))
	return c
}

func (c histogramCell) inputRows() uint64 { return uint64(c.rows) }

func (c histogramCell) about() string { return "" }

func (c histogramCell) String() string {
	return fmt.Sprintf("histogram keys=%s rows=%d bins=%d seed=1", c.keys, c.rows, uint64(1)<<c.log2Bins)
}

// make makes the keys, and the number of each.
func (c histogramCell) make(ctx context.Context) (keys, counts []uint32, err error) {
	keys, counts = make([]uint32, c.rows), make([]uint32, 1<<c.log2Bins)
	theta := map[string]float64{skewedKeys: 1}[c.keys]
	spec := workload.DefaultPKFK(int64(len(counts)), c.rows)
	spec.Zipf, spec.RPayloads, spec.SPayloads = theta, nil, nil
	r, s, err := workload.PKFK(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	defer r.Release()
	defer s.Release()
	row := 0
	for _, chunk := range s.Column(0).Data().Chunks() {
		row += copy(keys[row:], backend.Words(chunk.Data().Buffers()[1].Bytes()[:4*chunk.Len()]))
	}
	if c.keys == orderedKeys {
		slices.Sort(keys)
	}
	for _, key := range keys {
		counts[key]++
	}
	return keys, counts, nil
}

func (c histogramCell) measure(ctx context.Context, r *run, methods []string) ([]Result, error) {
	keys, want, err := c.make(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, method := range methods {
		on := r.on[computing]
		if method == drawn {
			on = r.on[drawing]
		}
		result := Result{Method: method, Rows: uint64(c.rows)}
		if method == drawn && on.draws != nil {
			result.Skipped = on.draws
		} else if err := c.count(ctx, r, on, keys, want, &result); measure.DoesNotFit(err) {
			result.Skipped = err
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// count uploads the keys, and verifies and times a method.
func (c histogramCell) count(ctx context.Context, r *run, on *opened, keys, want []uint32, result *Result) error {
	lane := exec.NewLane(ctx, on.ops, nil)
	defer lane.Memory.ReleaseAll()
	values := lane.Memory.New(uint64(len(keys))*4, "keys")
	if err := lane.Memory.Err(); err != nil {
		return err
	}
	point, err := on.device.Upload(ctx, values.All(), backend.AsBytes(keys))
	if err == nil {
		err = point.Wait(ctx)
	}
	if err != nil {
		return err
	}
	counting := c.kernel
	if result.Method == drawn {
		counting = c.draw
		if most := slices.Max(want); most > mostCount {
			return &backend.OpError{Op: "histogram", Err: backend.ErrLimit,
				Detail: fmt.Sprintf("a bin of %d rows, and blended floats count to 2^24", most)}
		}
	}
	once, counts, err := counting(ctx, lane, values.All())
	if err != nil {
		return err
	}
	r.out.Enter("verify " + result.Method + " " + c.String())
	if _, err := once(ctx); err != nil {
		return err
	}
	got, err := counts(ctx)
	if err != nil {
		return err
	}
	if i := firstDifference(got, want); i >= 0 {
		return measure.Wrongf("bin %d has %d rows, not %d", i, got[i], want[i])
	}
	for _, n := range want {
		if n > 0 {
			result.OutputRows++
		}
	}
	r.out.Enter("time " + result.Method + " " + c.String())
	runs, err := measure.Repeat(r.Repeat, r.Warm, func() (measure.Timed, error) {
		start := time.Now()
		profile, err := once(ctx)
		if err != nil {
			return measure.Timed{}, err
		}
		return measure.Timed{Wall: time.Since(start), Stages: profile.Stages()}, nil
	})
	result.Sample = measure.SampleOf(runs)
	return err
}

func firstDifference(got, want []uint32) int {
	for i := range want {
		if got[i] != want[i] {
			return i
		}
	}
	return -1
}

// counter counts once, and then returns how long that took.
type counter func(ctx context.Context) (*backend.Profile, error)

// draw blends a point for each key. The keys are the pixels, row by row.
func (c histogramCell) draw(ctx context.Context, lane *exec.Lane, keys backend.Range) (counter,
	func(ctx context.Context) ([]uint32, error), error) {
	log2Width := (c.log2Bins + 1) / 2
	spec := backend.ImageSpec{Width: 1 << log2Width, Height: 1 << (c.log2Bins - log2Width), Layers: 1,
		Format: backend.R32Float}
	image := lane.Memory.NewImage(spec, "histogram")
	read := lane.Memory.New(4<<c.log2Bins, "histogram")
	if err := lane.Memory.Err(); err != nil {
		return nil, nil, err
	}
	program, err := lane.Device().DrawProgram(kernel.BlendedPoints, nil)
	if err != nil {
		return nil, nil, err
	}
	draw := backend.Draw{Program: program, Args: []backend.Range{keys, {}}, Params: []uint32{0},
		Vertices: uint32(c.rows), Instances: 1, Targets: []backend.Target{{Image: image, Clear: true}}}
	once := func(ctx context.Context) (*backend.Profile, error) {
		list := &backend.List{Profile: new(backend.Profile)}
		list.Stage("draw")
		list.Draw("histogram", &draw)
		return list.Profile, submit(ctx, lane.Device(), backend.Graphics, list)
	}
	return once, func(ctx context.Context) ([]uint32, error) {
		list := new(backend.List)
		list.ReadBack(&backend.ReadBack{Image: image, Rows: spec.Height, To: read.All()})
		if err := submit(ctx, lane.Device(), backend.Graphics, list); err != nil {
			return nil, err
		}
		counts := make([]uint32, 1<<c.log2Bins)
		err := lane.Download(ctx, backend.AsBytes(counts), read.All())
		for i, n := range counts {
			counts[i] = uint32(math.Float32frombits(n))
		}
		return counts, err
	}, nil
}

// kernel adds 1 for each key.
func (c histogramCell) kernel(_ context.Context, lane *exec.Lane, keys backend.Range) (counter,
	func(ctx context.Context) ([]uint32, error), error) {
	bins := lane.Memory.New(4<<c.log2Bins, "histogram")
	if err := lane.Memory.Err(); err != nil {
		return nil, nil, err
	}
	config := kernel.BinCounts.With(nil)
	k, err := kernel.BinCounts.On(lane.Device(), config)
	if err != nil {
		return nil, nil, err
	}
	once := func(ctx context.Context) (*backend.Profile, error) {
		list := &backend.List{Profile: new(backend.Profile)}
		list.Stage("count")
		list.Fill(bins.All(), 0)
		k.Dispatch(list, kernel.Groups(config, uint64(c.rows)), kernel.BinCountsArgs{Values: keys, Counts: bins.All(),
			Rows: uint32(c.rows), Bins: 1 << c.log2Bins})
		return list.Profile, submit(ctx, lane.Device(), backend.Compute, list)
	}
	return once, func(ctx context.Context) ([]uint32, error) {
		counts := make([]uint32, 1<<c.log2Bins)
		return counts, lane.Download(ctx, backend.AsBytes(counts), bins.All())
	}, nil
}

// submit runs a list to its end, after which its times are known.
func submit(ctx context.Context, device *backend.Device, role backend.Role, list *backend.List) error {
	point, err := device.Submit(ctx, role, list)
	if err != nil {
		return err
	}
	if err := point.Wait(ctx); err != nil {
		return err
	}
	device.MemoryUse(backend.DeviceLocal) // takes the times of what has ended
	return nil
}
