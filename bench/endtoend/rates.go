package endtoend

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Rates are what the machine does at best, in bytes per second. Copies count what they read and what they write. Those
// of the link are 0 where device memory is host memory.
type Rates struct {
	OneCore, Host       float64 // copies within host memory, by one core and by all
	Device              float64 // copies within device memory, by a kernel
	Up, Down, Both      float64 // copies from and to pinned memory, one direction at a time, and both together
	FileWrite, FileRead float64 // one core writes a file to the page cache; all cores read it from there
}

var (
	// rateBytes are moved at a time; rateRuns times, of which the fastest counts. Tests take fewer.
	rateBytes uint64 = 256 << 20
	rateRuns         = 5
)

// measureRates measures a device, the host and the file system of a folder, for a few seconds.
func measureRates(ctx context.Context, device *backend.Device, user primitive.Tuning, folder string) (*Rates, error) {
	r := &Rates{}
	err := r.files(folder)
	if err != nil {
		return nil, err
	}
	r.OneCore, r.Host = hostCopy(1), hostCopy(runtime.GOMAXPROCS(0))
	if r.Device, err = deviceCopy(ctx, device, user); err != nil {
		return nil, err
	}
	if device.Info().InHostMemory() {
		return r, nil
	}
	return r, r.link(ctx, device)
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

// shares calls do for equal parts of [0, rateBytes), each on a goroutine of its own.
func shares(workers int, do func(from, to uint64) error) error {
	var group errgroup.Group
	for w := range uint64(workers) {
		group.Go(func() error { return do(rateBytes*w/uint64(workers), rateBytes*(w+1)/uint64(workers)) })
	}
	return group.Wait()
}

func hostCopy(workers int) float64 {
	from, to := make([]byte, rateBytes), make([]byte, rateBytes)
	for i := range from {
		from[i] = byte(i) // otherwise all of it is one page of zeros
	}
	rate, _ := fastest(2*rateBytes, wall(func() error {
		return shares(workers, func(first, end uint64) error {
			copy(to[first:end], from[first:end])
			return nil
		})
	}))
	return rate
}

// deviceCopy is timed by the device, if it can.
func deviceCopy(ctx context.Context, device *backend.Device, user primitive.Tuning) (float64, error) {
	ops, err := primitive.New(device, user)
	if err != nil {
		return 0, err
	}
	sizeBytes := deviceBytes(device)
	buffers, release, err := allocate(ctx, device, sizeBytes)
	defer release()
	if err != nil {
		return 0, err
	}
	var profile backend.Profile
	list := backend.List{Profile: &profile}
	list.Stage("copy")
	if err := ops.Copy(&list, buffers[0].All(), buffers[1].All()); err != nil {
		return 0, err
	}
	var last time.Duration // of all runs so far
	return fastest(2*sizeBytes, func() (took time.Duration, err error) {
		err = device.Run(ctx, &list)
		for _, stage := range profile.Stages() {
			took, last = stage.Time-last, stage.Time
		}
		return took, err
	})
}

// deviceBytes is the part of rateBytes of which a device has room for several.
func deviceBytes(device *backend.Device) uint64 {
	return min(rateBytes, device.Options().DeviceMemoryBytes/8) &^ 3
}

// allocate returns two buffers on a device. The caller releases them, also after an error.
func allocate(ctx context.Context, device *backend.Device, sizeBytes uint64) (buffers [2]*backend.Buffer,
	release func(), err error) {
	release = func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
	}
	for i := range buffers {
		if buffers[i], err = device.Allocate(ctx, backend.DeviceLocal, sizeBytes, "rate of copies"); err != nil {
			return buffers, release, err
		}
	}
	return buffers, release, nil
}

// wall makes the clock of the host that of a run.
func wall(run func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) { return 0, run() }
}

// link measures copies between pinned memory and the device.
func (r *Rates) link(ctx context.Context, device *backend.Device) (err error) {
	sizeBytes := deviceBytes(device)
	pinned := relation.NewPinnedAllocator(device, 2*sizeBytes)
	defer pinned.Close()
	var hosts [2][]byte
	for i := range hosts {
		hosts[i] = pinned.Allocate(int(sizeBytes))
		defer pinned.Free(hosts[i])
	}
	buffers, release, err := allocate(ctx, device, sizeBytes)
	defer release()
	if err != nil {
		return err
	}
	up := func() error {
		point, err := device.Upload(ctx, buffers[0].All(), hosts[0])
		if err != nil {
			return err
		}
		return point.Wait(ctx)
	}
	down := func() error { return device.Download(ctx, hosts[1], buffers[1].All()) }
	if r.Up, err = fastest(sizeBytes, wall(up)); err != nil {
		return err
	}
	if r.Down, err = fastest(sizeBytes, wall(down)); err != nil {
		return err
	}
	r.Both, err = fastest(2*sizeBytes, wall(func() error {
		var both errgroup.Group
		both.Go(up)
		both.Go(down)
		return both.Wait()
	}))
	return err
}

// files measures a file of the folder.
func (r *Rates) files(folder string) (err error) {
	const pieceBytes = 1 << 20
	path := filepath.Join(folder, "rate")
	defer os.Remove(path)
	content := make([]byte, pieceBytes)
	if r.FileWrite, err = fastest(rateBytes, wall(func() error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		for at := uint64(0); at < rateBytes; at += pieceBytes {
			if _, err := file.Write(content[:min(pieceBytes, rateBytes-at)]); err != nil {
				return err
			}
		}
		return nil
	})); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r.FileRead, err = fastest(rateBytes, wall(func() error {
		return shares(runtime.GOMAXPROCS(0), func(at, end uint64) error {
			into := make([]byte, pieceBytes)
			for ; at < end; at += pieceBytes {
				if _, err := file.ReadAt(into[:min(pieceBytes, end-at)], int64(at)); err != nil {
					return err
				}
			}
			return nil
		})
	}))
	return err
}

// print prints the rates.
func (r *Rates) print(out measure.Output) {
	rows := [][]string{{"MACHINE", "RATE"}}
	for _, rate := range []struct {
		what string
		rate float64
	}{
		{"copy by one core, read and written", r.OneCore},
		{fmt.Sprintf("copy by %d cores, read and written", runtime.GOMAXPROCS(0)), r.Host},
		{"copy on the device, read and written", r.Device},
		{"link up, pinned memory", r.Up},
		{"link down, pinned memory", r.Down},
		{"link up and down together", r.Both},
		{"files, read from the page cache", r.FileRead},
		{"files, written to the page cache", r.FileWrite},
	} {
		if rate.rate > 0 {
			rows = append(rows, []string{rate.what, text.Rate(rate.rate, "B")})
		}
	}
	text.WriteTable(out, []text.Align{text.Left, text.Right}, rows)
}
