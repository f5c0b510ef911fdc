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

// link measures copies between pinned memory and the device.
func (r *Rates) link(ctx context.Context, ops *primitive.Ops) (err error) {
	device := ops.Device()
	sizeBytes := deviceBytes(device)
	pinned := relation.NewPinnedAllocator(device, 4*sizeBytes) // room to round both blocks up
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
	if r.Both, err = fastest(2*sizeBytes, wall(func() error {
		var both errgroup.Group
		both.Go(up)
		both.Go(down)
		return both.Wait()
	})); err != nil {
		return err
	}
	byKernels, err := bothByKernels(ctx, ops, hosts, buffers)
	if byKernels > r.Both {
		r.Both, r.BothByKernels = byKernels, true
	}
	return err
}

// bothByKernels measures both directions together by two dispatches, without a barrier between them, that read hosts[0]
// and write hosts[1] as [deliver.Rows] writes output. It is 0 if the memory is not imported.
func bothByKernels(ctx context.Context, ops *primitive.Ops, hosts [2][]byte, buffers [2]*backend.Buffer) (
	perSecond float64, err error) {
	device, overLink := ops.Device(), ops.OverLink()
	var imported [2]backend.Range
	for i, host := range hosts {
		in, ok := device.Imported(host, 4)
		if !ok {
			return 0, nil
		}
		defer in.Buffer.Release()
		imported[i] = in
	}
	var list backend.List
	if err := overLink.Copy(&list, buffers[0].All(), imported[0]); err != nil {
		return 0, err
	}
	if err := overLink.Copy(&list, imported[1], buffers[1].All()); err != nil {
		return 0, err
	}
	return fastest(imported[0].SizeBytes+imported[1].SizeBytes, wall(func() error {
		point, err := device.Submit(ctx, backend.Deliver, &list)
		if err != nil {
			return err
		}
		return point.Wait(ctx)
	}))
}
