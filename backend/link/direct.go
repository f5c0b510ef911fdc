package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// Join makes links between these devices as fast as their drivers can: memory that is allocated from now on is copied
// without a detour through exchange memory, between different GPUs whose driver implements [backend.PeerMemory].
// Elsewhere it does nothing. Call it before the first allocation.
func Join(devices ...*backend.Device) {
	for _, d := range devices {
		joins, ok := d.Driver().(backend.PeerMemory)
		if !ok {
			continue
		}
		var peers []backend.Driver
		for _, other := range devices {
			if other.Info().Backend == d.Info().Backend && other.Info().UUID != d.Info().UUID {
				peers = append(peers, other.Driver())
			}
		}
		if len(peers) > 0 {
			d.SetUnjoined(joins.JoinPeers(peers)) // without it, links have their other paths
		}
	}
}

// whyIndirect is why copies between the devices of a link take the detour through exchange memory.
func (l *Link) whyIndirect() error {
	for _, d := range []*backend.Device{l.From, l.To} {
		if err := d.Unjoined(); err != nil {
			return err
		}
	}
	return l.unsupported("the driver does not reach memory of both devices")
}

// reaches reports whether a copy needs no exchange memory.
func (l *Link) reaches(dst, src backend.Range) bool {
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
func (l *Link) copyDirect(ctx context.Context, dst, src backend.Range) error {
	err := l.From.AwaitRange(ctx, "source", src, backend.Read)
	if err == nil {
		err = l.To.AwaitRange(ctx, "destination", dst, backend.Write)
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
			err = backend.ContextError(ctx)
		}
		if err == nil {
			l.To.Received(dst.Part(at, n))
			err = l.direct.CopyDirect(slot, to, toOffset+at, from, fromOffset+at, n)
		}
	}
	return errors.Join(err, l.settleDirect())
}

// pieceBytes is the size of the pieces of a direct copy: large ones keep the driver busy while the host wakes up late,
// several of them let a copy be cancelled.
func (l *Link) pieceBytes(sizeBytes uint64) uint64 {
	const pieces, mostChunks = 8, 4
	return l.ChunkBytes * min(max(sizeBytes/l.ChunkBytes/pieces, 1), mostChunks)
}

// settleDirect waits for the pieces under way. If they do not end, the memory of both devices is in an unknown state.
func (l *Link) settleDirect() error {
	for slot := range l.slots {
		err := l.carrier.wait(context.Background(), slot)
		if errors.Is(err, backend.ErrTimedOut) {
			err = fmt.Errorf("%w: a copy from %s to %s does not end: %w", backend.ErrDeviceLost, l.From.Info().Name,
				l.To.Info().Name, err)
			_, _ = l.From.NoteFailure(err), l.To.NoteFailure(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tryDirect proves that the other driver reaches the memory of both devices, and has it copy there from now on.
func (l *Link) tryDirect(ctx context.Context, dst, src *backend.Buffer) error {
	c, ok := l.carrier.(*driverCarrier)
	if !ok {
		return nil
	}
	if l.direct, ok = c.exchange.(backend.DirectExchange); !ok || !l.reaches(dst.All(), src.All()) {
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
	if errors.Is(err, backend.ErrUnsupported) {
		l.Indirect = err
		return nil // the chunks have arrived
	}
	return err
}
