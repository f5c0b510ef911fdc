package backend

import (
	"context"
	"errors"
	"fmt"
)

// PeerMemory is implemented by drivers whose device-local memory another driver can copy directly between devices, if
// it is allocated for that.
type PeerMemory interface {
	// JoinPeers makes device-local blocks that are allocated from now on such that a [DirectExchange] with these
	// drivers reaches them, as far as that is possible. Other blocks are allocated as before. ErrUnsupported where it
	// is never possible.
	JoinPeers(peers []Driver) error
}

// DirectExchange is an Exchange that also copies between blocks of joined devices, past its pairs.
type DirectExchange interface {
	Exchange
	// Reaches reports whether CopyDirect can copy from a block of the near device to one of the far device.
	Reaches(dst, src Block) bool
	// CopyDirect starts to copy sizeBytes, a multiple of 4, between offsets of blocks. No queue may be using these
	// ranges in another way until Wait for the pair, whose blocks are not touched, returns nil.
	CopyDirect(pair int, dst Block, dstOffset uint64, src Block, srcOffset, sizeBytes uint64) error
}

// Join makes links between these devices as fast as their drivers can: memory that is allocated from now on is copied
// without a detour through exchange memory, between different GPUs whose driver implements [PeerMemory]. Elsewhere it
// does nothing. Call it before the first allocation.
func Join(devices ...*Device) {
	for _, d := range devices {
		joins, ok := d.driver.(PeerMemory)
		if !ok {
			continue
		}
		var peers []Driver
		for _, other := range devices {
			if other.info.Backend == d.info.Backend && other.info.UUID != d.info.UUID {
				peers = append(peers, other.driver)
			}
		}
		if len(peers) > 0 {
			d.joined(joins.JoinPeers(peers)) // without it, links have their other paths
		}
	}
}

// joined notes why memory of the device is not copied directly; nil: it may be.
func (d *Device) joined(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unjoined = err
}

// whyIndirect is why copies between the devices of a link take the detour through exchange memory.
func (l *PeerLink) whyIndirect() error {
	for _, d := range []*Device{l.From, l.To} {
		d.mu.Lock()
		err := d.unjoined
		d.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return l.unsupported("the driver does not reach memory of both devices")
}

// reaches reports whether a copy needs no exchange memory.
func (l *PeerLink) reaches(dst, src Range) bool {
	if l.direct == nil || src.SizeBytes == 0 {
		return false
	}
	to, _ := dst.Block()
	from, _ := src.Block()
	return l.direct.Reaches(to, from)
}

// copyDirect has the other driver copy from source to destination, in pieces, several of which are under way. The host
// orders it with the queues: nothing else would keep memory that is released after a failure from being used again. So
// when it returns, nothing is being copied.
func (l *PeerLink) copyDirect(ctx context.Context, dst, src Range) error {
	err := l.From.awaitRange(ctx, "source", src, Read)
	if err == nil {
		err = l.To.awaitRange(ctx, "destination", dst, Write)
	}
	if err != nil {
		return err
	}
	to, toOffset := dst.Block()
	from, fromOffset := src.Block()
	piece := l.pieceBytes(src.SizeBytes)
	for at := uint64(0); at < src.SizeBytes && err == nil; at += piece {
		n := min(piece, src.SizeBytes-at)
		slot := l.next
		l.next = (slot + 1) % len(l.slots)
		if err = l.reuse(ctx, slot); err == nil && ctx.Err() != nil {
			err = ContextError(ctx)
		}
		if err == nil {
			l.To.notify(Event{Kind: Received, Range: dst.Part(at, n)})
			err = l.direct.CopyDirect(slot, to, toOffset+at, from, fromOffset+at, n)
		}
	}
	return errors.Join(err, l.settleDirect())
}

// pieceBytes is the size of the pieces of a direct copy: large ones keep the driver busy while the host wakes up late,
// several of them let a copy be cancelled.
func (l *PeerLink) pieceBytes(sizeBytes uint64) uint64 {
	const pieces, mostChunks = 8, 4
	return l.ChunkBytes * min(max(sizeBytes/l.ChunkBytes/pieces, 1), mostChunks)
}

// settleDirect waits for the pieces under way. If they do not end, the memory of both devices is in an unknown state.
func (l *PeerLink) settleDirect() error {
	for slot := range l.slots {
		err := l.carrier.wait(context.Background(), slot)
		if errors.Is(err, ErrTimedOut) {
			err = fmt.Errorf("%w: a copy from %s to %s does not end: %w", ErrDeviceLost, l.From.info.Name,
				l.To.info.Name, err)
			_, _ = l.From.noteFailure(err), l.To.noteFailure(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitRange waits until no submitted work conflicts with an access to a range from outside of the queues.
func (d *Device) awaitRange(ctx context.Context, what string, r Range, access Access) error {
	d.mu.Lock()
	failed, problem := d.failed, r.problem(d, what, 4)
	block, offset := r.Block()
	points := d.hazards.points(&span{resource: block, lo: offset, hi: offset + r.SizeBytes, access: access})
	d.mu.Unlock()
	switch {
	case failed != nil:
		return failed
	case problem != "":
		return &OpError{Op: "peer copy", Device: d.info.Name, Err: ErrInvalidInput, Detail: problem}
	}
	for role, value := range points {
		if err := d.wait(ctx, QueuePoint{Role(role), value}); err != nil {
			return err
		}
	}
	return nil
}

// tryDirect proves that the other driver reaches the memory of both devices, and has it copy there from now on.
func (l *PeerLink) tryDirect(ctx context.Context, dst, src *Buffer) error {
	c, ok := l.carrier.(*driverCarrier)
	if !ok {
		return nil
	}
	if l.direct, ok = c.exchange.(DirectExchange); !ok || !l.reaches(dst.All(), src.All()) {
		l.direct, l.Indirect = nil, l.whyIndirect()
		return nil
	}
	err := l.prove(ctx, dst, src)
	if err == nil {
		l.BytesPerSecond, err = l.rate(ctx, dst, src)
	}
	if err != nil {
		l.direct = nil
	}
	if errors.Is(err, ErrUnsupported) {
		l.Indirect = err
		return nil // the chunks have arrived
	}
	return err
}
