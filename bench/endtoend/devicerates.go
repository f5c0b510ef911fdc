package endtoend

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// deviceCopy is timed by the device, if it can.
func deviceCopy(ctx context.Context, ops *primitive.Ops) (float64, error) {
	device := ops.Device()
	sizeBytes := deviceBytes(device)
	buffers, release, err := allocate(ctx, device, sizeBytes)
	defer release()
	if err != nil {
		return 0, err
	}
	var fill backend.List
	fill.Fill(buffers[1].All(), 0x01020304) // otherwise all of it may be one page of zeros
	if err := device.Run(ctx, &fill); err != nil {
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

// linkEnd is what a device copies over its link: from hosts[0], in pinned memory, to buffers[0], and from buffers[1] to
// hosts[1].
type linkEnd struct {
	ops       *primitive.Ops
	hosts     [2][]byte
	buffers   [2]*backend.Buffer
	sizeBytes uint64
}

// newLinkEnd allocates memory, which the caller releases, also after an error.
func newLinkEnd(ctx context.Context, ops *primitive.Ops) (end *linkEnd, release func(), err error) {
	device := ops.Device()
	end = &linkEnd{ops: ops, sizeBytes: deviceBytes(device)}
	pinned := relation.NewPinnedAllocator(device, 4*end.sizeBytes) // room to round both blocks up
	for i := range end.hosts {
		end.hosts[i] = pinned.Allocate(int(end.sizeBytes))
	}
	buffers, releaseBuffers, err := allocate(ctx, device, end.sizeBytes)
	end.buffers = buffers
	return end, func() {
		releaseBuffers()
		for _, host := range end.hosts {
			pinned.Free(host)
		}
		pinned.Close()
	}, err
}

func (e *linkEnd) up(ctx context.Context) error {
	point, err := e.ops.Device().Upload(ctx, e.buffers[0].All(), e.hosts[0])
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

func (e *linkEnd) down(ctx context.Context) error {
	return e.ops.Device().Download(ctx, e.hosts[1], e.buffers[1].All())
}

// link measures copies between pinned memory and all devices at once.
func (r *Rates) link(ctx context.Context, ops ...*primitive.Ops) (err error) {
	var ends []*linkEnd
	sizeBytes := uint64(0)
	for _, o := range ops {
		end, release, err := newLinkEnd(ctx, o)
		defer release()
		if err != nil {
			return err
		}
		ends, sizeBytes = append(ends, end), sizeBytes+end.sizeBytes
	}
	together := func(copies ...func(*linkEnd, context.Context) error) func() (time.Duration, error) {
		return wall(func() error {
			var all errgroup.Group
			for _, end := range ends {
				for _, copied := range copies {
					all.Go(func() error { return copied(end, ctx) })
				}
			}
			return all.Wait()
		})
	}
	if r.Up, err = fastest(sizeBytes, together((*linkEnd).up)); err != nil {
		return err
	}
	if r.Down, err = fastest(sizeBytes, together((*linkEnd).down)); err != nil {
		return err
	}
	if r.Both, err = fastest(2*sizeBytes, together((*linkEnd).up, (*linkEnd).down)); err != nil {
		return err
	}
	byKernels, err := bothByKernels(ctx, ends...)
	if byKernels > r.Both {
		r.Both, r.BothByKernels = byKernels, true
	}
	return err
}

// bothByKernels measures both directions together by two dispatches on each device, without a barrier between them,
// that read hosts[0] and write hosts[1] as [deliver.Rows] writes output. It is 0 if some memory is not imported.
func bothByKernels(ctx context.Context, ends ...*linkEnd) (perSecond float64, err error) {
	lists, sizeBytes := make([]backend.List, len(ends)), uint64(0)
	for n, end := range ends {
		device, overLink := end.ops.Device(), end.ops.OverLink()
		var imported [2]backend.Range
		for i, host := range end.hosts {
			in, ok := device.Imported(host, 4)
			if !ok {
				return 0, nil
			}
			defer in.Buffer.Release()
			imported[i] = in
			sizeBytes += in.SizeBytes
		}
		if err := overLink.Copy(&lists[n], end.buffers[0].All(), imported[0]); err != nil {
			return 0, err
		}
		if err := overLink.Copy(&lists[n], imported[1], end.buffers[1].All()); err != nil {
			return 0, err
		}
	}
	return fastest(sizeBytes, wall(func() error {
		points := make([]backend.Point, len(ends))
		for n, end := range ends {
			var err error
			if points[n], err = end.ops.Device().Submit(ctx, backend.Deliver, &lists[n]); err != nil {
				return err
			}
		}
		for _, point := range points {
			if err := point.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
}
