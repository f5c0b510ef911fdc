package backend

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// StagedBytes is the maximum size of a piece of an upload through staging memory. On an H200 with 16 cores, ordinary
	// memory is uploaded at 35 GB/s; at 14 to 18 in pieces of 1 MiB.
	StagedBytes  = 4 << 20
	stagedPieces = 32 // pieces that are being filled or copied at a time, at most
	// downloadBytes is the size of each of the two staging buffers of a download: one is copied on the host while the
	// device fills the other.
	downloadBytes = 16 << 20
	copyWorkers   = 12 // cores that fill pieces of an upload at a time, at most
	// StagingBytes is the most host memory that a device has for staging, with a block for readings.
	StagingBytes = stagedPieces*StagedBytes + 2*downloadBytes + maxPoolBytes
)

// slot is a buffer in host memory, for data that the device cannot reach where it is, and the last copy from it or to
// it.
type slot struct {
	*Buffer
	to    Range // where its content belongs
	point Point
}

// makeSlot allocates the n-th slot for a role.
func (d *Device) makeSlot(ctx context.Context, role Role, n int, sizeBytes uint64) (*slot, error) {
	b, err := d.Allocate(ctx, HostVisible, sizeBytes, fmt.Sprintf("staging %s %d", role, n))
	return &slot{Buffer: b}, err
}

// ring has the slots of uploads. Those that are idle wait in free; the one that is longest idle comes first.
type ring struct {
	free chan *slot    // of capacity stagedPieces
	turn chan struct{} // of capacity 1: held by the upload that makes slots
	made atomic.Int32
}

// grow makes slots until there are most of them. Where memory is short, one will do.
func (r *ring) grow(ctx context.Context, d *Device, most int) error {
	if int(r.made.Load()) >= most {
		return nil
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ContextError(ctx)
	}
	for n := int(r.made.Load()); n < most; n++ {
		s, err := d.makeSlot(ctx, Upload, n, StagedBytes)
		if err != nil && n == 0 {
			return err
		} else if err != nil {
			break
		}
		r.free <- s
		r.made.Add(1)
	}
	return nil
}

// release releases the idle slots, which are all when no upload is in progress.
func (r *ring) release() {
	for len(r.free) > 0 {
		(<-r.free).Release()
	}
}

// pair is the two slots of downloads, which take turns.
type pair struct {
	turn  chan struct{} // of capacity 1: held by the download that uses the slots
	slots []*slot
}

func (p *pair) release() {
	for _, s := range p.slots {
		s.Release()
	}
	p.slots = nil
}

// PieceBytes is the size of the pieces in which to upload sizeBytes bytes: at most StagedBytes, and less for small
// uploads, so that several cores share the work. It is a multiple of 4 KiB.
func PieceBytes(sizeBytes uint64) int {
	return int(min(StagedBytes, max(64<<10, (sizeBytes/copyWorkers+4095)&^4095)))
}

// Transfer is a copy between host memory and a range of a device. The range has the size of the host memory, rounded up
// to a multiple of 4 bytes.
type Transfer struct {
	Device Range
	Host   []byte
}

// Upload is [Device.UploadAll] of one transfer.
func (d *Device) Upload(ctx context.Context, to Range, from []byte) (Point, error) {
	return d.UploadAll(ctx, []Transfer{{to, from}})
}

// UploadAll copies from host memory to the device. The returned point passes when all copies are done. The device
// itself copies imported memory, which must not change before the point has passed. All cores copy other memory through
// staging memory and have read it when UploadAll returns. Errors: ErrInvalidInput, device errors, ErrCancelled and
// ErrTimedOut; after an error some bytes may have been copied.
func (d *Device) UploadAll(ctx context.Context, transfers []Transfer) (point Point, err error) {
	for _, t := range transfers {
		if err := d.checkTransfer("upload", t.Device, len(t.Host)); err != nil {
			return Point{}, err
		}
	}
	var direct List
	var held []*Buffer
	defer func() {
		for _, b := range held {
			b.Release()
		}
	}()
	var pieces []Transfer
	allBytes := 0
	for _, t := range transfers {
		allBytes += len(t.Host)
	}
	pieceBytes := PieceBytes(uint64(allBytes))
	for _, t := range transfers {
		if len(t.Host) == 0 {
			continue
		}
		d.notify(Event{Kind: Uploaded, Range: t.Device})
		if mapped := t.Device.mapped(); mapped != nil {
			if err := d.waitBuffer(ctx, t.Device.Buffer); err != nil {
				return Point{}, err
			}
			d.copyMapped(Upload, mapped, t.Host)
		} else if from, ok := d.Imported(t.Host, 4); ok {
			held = append(held, from.Buffer)
			direct.Copy(t.Device.Part(0, from.SizeBytes), from)
		} else {
			for at := 0; at < len(t.Host); at += pieceBytes {
				part := t.Host[at:min(at+pieceBytes, len(t.Host))]
				pieces = append(pieces, Transfer{t.Device.Part(uint64(at), uint64(len(part)+3)&^3), part})
			}
		}
	}
	if len(direct.Commands) > 0 {
		if point, err = d.submit(ctx, Upload, &direct); err != nil {
			return point, err
		}
	}
	if len(pieces) > 0 {
		return d.uploadStaged(ctx, len(pieces), func(i int, staged []byte) (Range, error) {
			copy(staged, pieces[i].Host)
			return pieces[i].Device, nil
		})()
	}
	return point, err
}

// UploadStaged begins to upload pieces, made by the caller, to a range. fill writes piece i to the start of staged,
// which has [StagedBytes], and returns its destination: a part of the range with the size of the piece, a multiple of 4
// bytes. Several goroutines call it, in any order. The caller must call wait, which returns when all pieces have been
// filled; the point it returns passes when all copies are done. Errors of wait: errors of fill, device errors,
// ErrCancelled and ErrTimedOut; after an error some pieces may have been copied.
func (d *Device) UploadStaged(ctx context.Context, to Range, pieces int,
	fill func(i int, staged []byte) (Range, error)) (wait func() (Point, error)) {
	d.notify(Event{Kind: Uploaded, Range: to})
	return d.uploadStaged(ctx, pieces, fill)
}

// send copies what is in slots to where it belongs.
func (d *Device) send(ctx context.Context, slots ...*slot) (Point, error) {
	var list List
	for _, s := range slots {
		list.Copy(s.to, s.Range(0, s.to.SizeBytes))
	}
	point, err := d.submit(ctx, Upload, &list)
	for _, s := range slots {
		s.point = point
	}
	return point, err
}

// Download is [Device.DownloadAll] of one transfer.
func (d *Device) Download(ctx context.Context, to []byte, from Range) error {
	return d.DownloadAll(ctx, []Transfer{{from, to}})
}

// DownloadAll copies from the device to host memory, and returns when all copies are complete. Those to imported memory
// go to the device together. After an error, or when ctx ends, they may still be in progress; [Device.WaitBuffer] waits
// for them.
func (d *Device) DownloadAll(ctx context.Context, transfers []Transfer) error {
	for _, t := range transfers {
		if err := d.checkTransfer("download", t.Device, len(t.Host)); err != nil {
			return err
		}
	}
	var direct List
	var held []*Buffer
	defer func() {
		for _, b := range held {
			b.Release()
		}
	}()
	var others []Transfer
	for _, t := range transfers {
		if len(t.Host) == 0 {
			continue
		}
		d.notify(Event{Kind: Downloaded, Range: t.Device})
		if mapped := t.Device.mapped(); mapped != nil {
			if err := d.waitBuffer(ctx, t.Device.Buffer); err != nil {
				return err
			}
			d.copyMapped(Download, t.Host, mapped)
		} else if to, ok := d.importedWords(t.Host); ok {
			held = append(held, to.Buffer)
			direct.Copy(to, t.Device)
		} else {
			others = append(others, t)
		}
	}
	var point Point
	if len(direct.Commands) > 0 {
		var err error
		if point, err = d.submit(ctx, Download, &direct); err != nil {
			return err
		}
	}
	for _, t := range others {
		if err := d.downloadStaged(ctx, t.Host, t.Device); err != nil {
			return err
		}
	}
	return d.wait(ctx, point.at)
}

// importedWords is [Device.Imported] of memory that the device may write: whole words of 4 bytes.
func (d *Device) importedWords(b []byte) (Range, bool) {
	if len(b)%4 != 0 {
		return Range{}, false
	}
	return d.Imported(b, 4)
}

func (d *Device) downloadStaged(ctx context.Context, dst []byte, src Range) error {
	p := &d.downloads
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return ContextError(ctx)
	}
	for n := len(p.slots); n < 2; n++ {
		s, err := d.makeSlot(ctx, Download, n, downloadBytes)
		if err != nil {
			return err
		}
		p.slots = append(p.slots, s)
	}
	size := uint64(len(dst))
	for at := uint64(0); at < size+downloadBytes; at += downloadBytes {
		if at < size {
			slot := p.slots[at/downloadBytes%2]
			words := (min(downloadBytes, size-at) + 3) / 4 * 4
			var list List
			list.Copy(slot.Range(0, words), src.Part(at, words))
			var err error
			if slot.point, err = d.submit(ctx, Download, &list); err != nil {
				return err
			}
		}
		if at >= downloadBytes { // the chunk before, while this one is under way
			before := at - downloadBytes
			slot := p.slots[before/downloadBytes%2]
			if err := d.wait(ctx, slot.point.at); err != nil {
				return err
			}
			copyParallel(dst[before:min(before+downloadBytes, size)], slot.Bytes())
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

// copyMapped is copyParallel of an upload or download.
func (d *Device) copyMapped(role Role, dst, src []byte) {
	start := time.Now()
	copyParallel(dst, src)
	end := time.Now()
	d.transfers.Load().Add(role.String(), end.Sub(start))
	if observe := d.workObserver.Load(); observe != nil {
		(*observe)(Work{Role: role, Stage: role.String(), Bytes: uint64(min(len(dst), len(src))), ByHost: true,
			Submitted: start, Seen: end})
	}
}

// copyParallel copies on several cores where that is worth it; one core does not reach the bandwidth of a bus.
func copyParallel(dst, src []byte) { CopyParallel(dst, src, 4<<20) }

// CopyParallel copies on several cores, each at least grain bytes.
func CopyParallel(dst, src []byte, grain int) {
	n := min(len(dst), len(src))
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
