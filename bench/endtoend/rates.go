package endtoend

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// Rates are what the machine does at best, in bytes per second. A copy counts the bytes it reads and the bytes it
// writes. Link rates are 0 where device memory is host memory.
type Rates struct {
	OneCore, Host       float64 // copies within host memory in large pages, by one core and by all
	Device              float64 // copies within device memory by a kernel; Host where cores are the device
	Up, Down            float64 // copies from and to pinned memory, one direction at a time
	Both                float64 // both together, by copies or by kernels, whichever is faster
	BothByKernels       bool
	FileWrite, FileRead float64 // one core writes a file to the page cache; all cores read it from there
}

var (
	// rateBytes are moved at a time; rateRuns times, of which the fastest counts. Tests take fewer.
	rateBytes uint64 = 256 << 20
	rateRuns         = 5
)

// discrete reports whether there is a link between device memory and host memory.
func (r *Rates) discrete() bool { return r.Up > 0 }

// measureRates measures a device, the host and the file system of a folder, for a few seconds. It ends soon after ctx.
func measureRates(ctx context.Context, device *backend.Device, user primitive.Tuning, folder string) (*Rates, error) {
	ops, err := primitive.New(device, user)
	if err != nil {
		return nil, err
	}
	r := &Rates{}
	if err := r.files(ctx, folder); err != nil {
		return nil, err
	}
	return r, r.memory(ctx, ops)
}

// MeasureRates measures the host and one or more devices for a few seconds, but no files. Link rates are the sum over
// all devices at work together, each moving as many bytes; they are 0 if a device has no link. Rates.Device is measured
// on the first device. MeasureRates ends soon after ctx.
func MeasureRates(ctx context.Context, ops ...*primitive.Ops) (*Rates, error) {
	r := &Rates{}
	return r, r.memory(ctx, ops...)
}

func (r *Rates) memory(ctx context.Context, ops ...*primitive.Ops) (err error) {
	if err := r.host(ctx); err != nil {
		return err
	}
	r.Device = r.Host
	if info := ops[0].Device().Info(); !info.CPULike() {
		if r.Device, err = deviceCopy(ctx, ops[0]); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(ops, func(o *primitive.Ops) bool { return o.Device().Info().InHostMemory() }) {
		return nil
	}
	return r.link(ctx, ops...)
}

// fastest returns the bytes per second of the fastest of a few runs, after one that is not timed. A run returns its
// time, or 0 to be timed by the clock of the host.
func fastest(sizeBytes uint64, run func() (time.Duration, error)) (perSecond float64, err error) {
	var times []time.Duration
	for i := range rateRuns + 1 {
		start := time.Now()
		took, err := run()
		if err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, max(1, cmp.Or(took, time.Since(start))))
		}
	}
	return float64(sizeBytes) / measure.Summarize(times).Min.Seconds(), nil
}

// wall times a run by the clock of the host.
func wall(run func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) { return 0, run() }
}

// shares calls do for all pieces of [0, rateBytes), of which each worker, a goroutine of its own, does an equal part.
func shares(ctx context.Context, workers int, pieceBytes uint64, do func(worker int, from, to uint64) error) error {
	var group errgroup.Group
	for w := range workers {
		at, end := rateBytes*uint64(w)/uint64(workers), rateBytes*uint64(w+1)/uint64(workers)
		group.Go(func() error {
			for ; at < end; at += pieceBytes {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, at, min(at+pieceBytes, end)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// print prints the rates; none twice.
func (r *Rates) print(out measure.Output) {
	both := "link up and down together, by copies"
	if r.BothByKernels {
		both = "link up and down together, by kernels"
	}
	cores := runtime.GOMAXPROCS(0)
	rows := [][]string{{"MACHINE", "RATE"}}
	for _, rate := range []struct {
		what     string
		rate     float64
		measured bool
	}{
		{"copy by one core, read and written", r.OneCore, true},
		{fmt.Sprintf("copy by %d cores, read and written", cores), r.Host, cores > 1},
		{"copy on the device, read and written", r.Device, r.Device != r.Host},
		{"link up, pinned memory", r.Up, r.Up > 0},
		{"link down, pinned memory", r.Down, r.Down > 0},
		{both, r.Both, r.Both > 0},
		{"files, read from the page cache", r.FileRead, true},
		{"files, written to the page cache", r.FileWrite, true},
	} {
		if rate.measured {
			rows = append(rows, []string{rate.what, text.Rate(rate.rate, "B")})
		}
	}
	text.WriteTable(out, []text.Align{text.Left, text.Right}, rows)
}
