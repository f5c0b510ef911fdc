package backend

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// stagingBytes is the size of one staging buffer; each direction has two, so that the copy of one chunk on the device
// overlaps the copy of the next on the host.
const stagingBytes = 16 << 20

type staging struct {
	turn    chan struct{} // of capacity 1: held by the transfer that uses the buffers
	buffers [2]*Buffer
	points  [2]Point
}

// take waits until no other transfer uses the buffers.
func (s *staging) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ContextError(ctx)
	}
}

func (s *staging) give() { <-s.turn }

func (s *staging) release() {
	for i := range s.buffers {
		s.buffers[i].Release()
		s.buffers[i] = nil
	}
}

// slot returns staging buffer i once its last copy is done.
func (s *staging) slot(ctx context.Context, d *Device, role Role, i uint64) (*Buffer, error) {
	if s.buffers[i] == nil {
		var err error
		if s.buffers[i], err = d.Allocate(ctx, HostVisible, stagingBytes,
			fmt.Sprintf("staging %s %d", role, i)); err != nil {
			return nil, err
		}
	}
	return s.buffers[i], d.wait(ctx, s.points[i].at)
}

// Upload copies src to dst, whose size must be that of src rounded up to a multiple of 4 bytes. The returned point
// passes when the copy is done. If src is imported memory, the device copies it directly, and it must not change before
// the point has passed; otherwise src has been read when Upload returns.
func (d *Device) Upload(ctx context.Context, dst Range, src []byte) (Point, error) {
	if err := d.checkTransfer("upload", dst, len(src)); err != nil || len(src) == 0 {
		return Point{}, err
	}
	d.notify(Event{Kind: Uploaded, Range: dst})
	if mapped := dst.mapped(); mapped != nil {
		if err := d.waitBuffer(ctx, dst.Buffer); err != nil {
			return Point{}, err
		}
		copyParallel(mapped, src)
		return Point{}, nil
	}
	if from, ok := d.importedRange(src); ok {
		defer from.Buffer.Release()
		var list List
		list.Copy(dst, from)
		return d.submit(ctx, Upload, &list)
	}
	s := &d.staging[Upload]
	if err := s.take(ctx); err != nil {
		return Point{}, err
	}
	defer s.give()
	var point Point
	for at := uint64(0); at < uint64(len(src)); at += stagingBytes {
		i := at / stagingBytes % 2
		slot, err := s.slot(ctx, d, Upload, i)
		if err != nil {
			return point, err
		}
		n := min(stagingBytes, uint64(len(src))-at)
		copyParallel(slot.Bytes(), src[at:at+n])
		words := (n + 3) / 4 * 4
		var list List
		list.Copy(dst.Part(at, words), slot.Range(0, words))
		if point, err = d.submit(ctx, Upload, &list); err != nil {
			return point, err
		}
		s.points[i] = point
	}
	return point, nil
}

// Download copies src, whose size must be that of dst rounded up to a multiple of 4 bytes, to dst and returns when the
// copy is complete. After an error, or when ctx ends, a copy to imported memory may still be in progress;
// [Device.WaitBuffer] waits for it.
func (d *Device) Download(ctx context.Context, dst []byte, src Range) error {
	if err := d.checkTransfer("download", src, len(dst)); err != nil || len(dst) == 0 {
		return err
	}
	d.notify(Event{Kind: Downloaded, Range: src})
	if mapped := src.mapped(); mapped != nil {
		if err := d.waitBuffer(ctx, src.Buffer); err != nil {
			return err
		}
		copyParallel(dst, mapped)
		return nil
	}
	if to, ok := d.importedRange(dst); ok {
		defer to.Buffer.Release()
		var list List
		list.Copy(to, src)
		point, err := d.submit(ctx, Download, &list)
		if err != nil {
			return err
		}
		return d.wait(ctx, point.at)
	}
	s := &d.staging[Download]
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	size := uint64(len(dst))
	for at := uint64(0); at < size+stagingBytes; at += stagingBytes {
		if at < size {
			i := at / stagingBytes % 2
			slot, err := s.slot(ctx, d, Download, i)
			if err != nil {
				return err
			}
			words := (min(stagingBytes, size-at) + 3) / 4 * 4
			var list List
			list.Copy(slot.Range(0, words), src.Part(at, words))
			if s.points[i], err = d.submit(ctx, Download, &list); err != nil {
				return err
			}
		}
		if at >= stagingBytes { // the chunk before, while this one is under way
			before := at - stagingBytes
			slot, err := s.slot(ctx, d, Download, before/stagingBytes%2)
			if err != nil {
				return err
			}
			copyParallel(dst[before:min(before+stagingBytes, size)], slot.Bytes())
		}
	}
	return nil
}

// checkTransfer holds a transfer against the contract: sizes that are no multiple of 4 bytes only at a buffer's end.
func (d *Device) checkTransfer(op string, r Range, sizeBytes int) error {
	words := (uint64(sizeBytes) + 3) / 4 * 4
	switch {
	case r.Buffer == nil || r.Buffer.device != d || r.Buffer.released.Load():
		return &OpError{Op: op, Device: d.info.Name, Err: ErrInvalidInput, Detail: "no live buffer of this device"}
	case (r.SizeBytes+3)/4*4 != words || r.OffsetBytes%4 != 0 || words > r.Buffer.sizeBytes ||
		r.OffsetBytes > r.Buffer.sizeBytes-words,
		uint64(sizeBytes) != words && r.OffsetBytes+words != r.Buffer.sizeBytes:
		return &OpError{Op: op, Device: d.info.Name, Err: ErrInvalidInput, Detail: fmt.Sprintf(
			"%d bytes of memory, range of %d bytes at %d in %q of %d bytes", sizeBytes, r.SizeBytes, r.OffsetBytes,
			r.Buffer.label, r.Buffer.sizeBytes)}
	}
	return nil
}

func (r Range) mapped() []byte {
	b := r.Buffer.Bytes()
	if b == nil {
		return nil
	}
	return b[r.OffsetBytes:]
}

// copyParallel copies on several cores where that is worth it; one core does not reach the bandwidth of a bus.
func copyParallel(dst, src []byte) {
	n := min(len(dst), len(src))
	const grain = 4 << 20
	workers := min(runtime.GOMAXPROCS(0), n/grain, 8)
	if workers < 2 {
		copy(dst, src[:n])
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := n/workers*w, n/workers*(w+1)
		if w == workers-1 {
			hi = n
		}
		wg.Go(func() { copy(dst[lo:hi], src[lo:hi]) })
	}
	wg.Wait()
}
