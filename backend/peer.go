package backend

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// PeerPath is the way that bytes take from one device to another, best first.
type PeerPath uint8

const (
	SameDevice       PeerPath = iota // both ends are one Device
	SharedAllocation                 // one allocation opened on two logical devices of the same physical device
	HostStaged                       // through host memory, which both devices copy to and from
)

func (p PeerPath) String() string {
	return [...]string{"same device", "shared allocation", "host staged"}[p]
}

// peerChunkBytes is the size of one of the two exchange buffers of a link, so that reading one chunk overlaps writing
// the next.
const peerChunkBytes = 8 << 20

// PeerLink copies between two devices. Its far end is reached only through the exchange buffers. A link is used by one
// goroutine at a time and owned by whoever connected it.
type PeerLink struct {
	From, To *Device
	Path     PeerPath
	// BytesPerSecond is the rate of a copy of a few chunks, measured when the link was created.
	BytesPerSecond float64

	near, far [2]*Buffer // the two exchange buffers as From and as To see them
}

// Connect creates the best link between two devices. A path is used only if a pattern written on one device is read
// back correctly on the other: some drivers accept an import but map other memory.
func Connect(ctx context.Context, from, to *Device) (*PeerLink, error) {
	paths := []PeerPath{SharedAllocation, HostStaged}
	if from == to {
		paths = []PeerPath{SameDevice}
	}
	var tried error
	for _, path := range paths {
		link := &PeerLink{From: from, To: to, Path: path}
		err := link.open(ctx)
		if err == nil {
			err = link.verify(ctx)
		}
		if err == nil {
			return link, nil
		}
		link.Close()
		tried = fmt.Errorf("%s: %w", path, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("connect %s to %s: %w", from.info.Name, to.info.Name, tried)
}

func (l *PeerLink) open(ctx context.Context) error {
	for i := range l.near {
		var err error
		label := fmt.Sprintf("peer %s %d", l.Path, i)
		switch l.Path {
		case SameDevice:
			return nil
		case SharedAllocation:
			l.near[i], l.far[i], err = sharedBuffers(l.From, l.To, label)
		case HostStaged:
			if l.near[i], err = l.From.Allocate(ctx, HostVisible, peerChunkBytes, label); err == nil {
				l.far[i], err = l.To.Allocate(ctx, HostVisible, peerChunkBytes, label)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sharedBuffers opens one allocation on both devices.
func sharedBuffers(from, to *Device, label string) (near, far *Buffer, err error) {
	a, okA := from.driver.(SharedMemory)
	b, okB := to.driver.(SharedMemory)
	if !okA || !okB || from.info.Backend != to.info.Backend || from.info.UUID != to.info.UUID {
		return nil, nil, &OpError{Op: "share memory", Device: from.info.Name, Err: ErrUnsupported,
			Detail: "not the same physical device and driver"}
	}
	block, err := a.AllocateShared(peerChunkBytes)
	if err != nil {
		return nil, nil, err
	}
	near = from.adopt(block, label)
	opened, err := b.OpenShared(from.driver, block)
	if err != nil {
		return near, nil, err
	}
	return near, to.adopt(opened, label), nil
}

// adopt makes a buffer of a block that came from elsewhere; releasing the buffer frees the block.
func (d *Device) adopt(block Block, label string) *Buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &Buffer{device: d, label: label, sizeBytes: block.SizeBytes() / 4 * 4, memory: Imported, block: block}
	b.lease = d.leaseOf(block, label)
	d.live[b] = struct{}{}
	return b
}

// Close releases the exchange buffers.
func (l *PeerLink) Close() {
	for i := range l.near {
		l.near[i].Release()
		l.far[i].Release()
	}
}

// Copy copies src of the From device to dst of the To device and returns when the copy is complete. Both have the same
// size, a multiple of 4 bytes.
func (l *PeerLink) Copy(ctx context.Context, dst, src Range) error {
	if dst.SizeBytes != src.SizeBytes || dst.Buffer == nil || src.Buffer == nil || dst.SizeBytes%4 != 0 {
		return &OpError{Op: "peer copy", Device: l.From.info.Name, Err: ErrInvalidInput,
			Detail: fmt.Sprintf("%d bytes to a range of %d", src.SizeBytes, dst.SizeBytes)}
	}
	if l.Path == SameDevice {
		var list List
		list.Copy(dst, src)
		return l.From.Run(ctx, &list)
	}
	var read, written [2]Point
	for at, i := uint64(0), 0; at < src.SizeBytes+peerChunkBytes; at, i = at+peerChunkBytes, 1-i {
		if at < src.SizeBytes { // start filling exchange buffer i, once To has read its last content
			if err := written[i].Wait(ctx); err != nil {
				return err
			}
			n := min(peerChunkBytes, src.SizeBytes-at)
			var list List
			list.Copy(l.near[i].Range(0, n), src.Part(at, n))
			var err error
			if read[i], err = l.From.Submit(ctx, Download, &list); err != nil {
				return err
			}
		}
		if at >= peerChunkBytes { // pass the chunk before on, while this one is under way
			j, before := 1-i, at-peerChunkBytes
			if err := read[j].Wait(ctx); err != nil {
				return err
			}
			n := min(peerChunkBytes, src.SizeBytes-before)
			if l.Path == HostStaged {
				copyParallel(l.far[j].Bytes()[:n], l.near[j].Bytes()[:n])
			}
			var list List
			list.Copy(dst.Part(before, n), l.far[j].Range(0, n))
			var err error
			if written[j], err = l.To.Submit(ctx, Upload, &list); err != nil {
				return err
			}
		}
	}
	for _, p := range written {
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// verify copies a random pattern over both exchange buffers, compares what arrived, and measures the rate.
func (l *PeerLink) verify(ctx context.Context) error {
	const sizeBytes = 4*peerChunkBytes + 4
	src, err := l.From.Allocate(ctx, DeviceLocal, sizeBytes, "peer pattern")
	if err != nil {
		return err
	}
	defer src.Release()
	dst, err := l.To.Allocate(ctx, DeviceLocal, sizeBytes, "peer pattern")
	if err != nil {
		return err
	}
	defer dst.Release()
	pattern, arrived := make([]byte, sizeBytes), make([]byte, sizeBytes)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(pattern)
	point, err := l.From.Upload(ctx, src.All(), pattern)
	if err == nil {
		err = point.Wait(ctx)
	}
	if err != nil {
		return err
	}
	start := time.Now()
	if err := l.Copy(ctx, dst.All(), src.All()); err != nil {
		return err
	}
	l.BytesPerSecond = sizeBytes / time.Since(start).Seconds()
	if err := l.To.Download(ctx, arrived, dst.All()); err != nil {
		return err
	}
	if !bytes.Equal(pattern, arrived) {
		return &OpError{Op: "verify peer path", Device: l.To.info.Name, Err: ErrUnsupported,
			Detail: "the pattern did not arrive"}
	}
	return nil
}
