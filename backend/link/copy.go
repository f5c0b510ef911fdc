package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// readsAhead is the number of chunks that are being read while the one before them is passed on.
const readsAhead = 2

// Copy copies src of the From device to dst of the To device and returns when the bytes have arrived. Both have the
// same size, a multiple of 4 bytes, and offsets that are multiples of 4. It waits for what was submitted before with
// these buffers. If it fails or ctx ends, parts of dst may have been written, and parts may still be written by
// commands that were already submitted; later work with dst is ordered behind these. Nothing is copied for 0 bytes.
func (l *Link) Copy(ctx context.Context, dst, src backend.Range) error {
	if err := l.turns.await(ctx, l.turns.enter()); err != nil {
		return err
	}
	defer l.turns.leave()
	switch {
	case dst.SizeBytes != src.SizeBytes || dst.Buffer == nil || src.Buffer == nil || dst.SizeBytes%4 != 0:
		return &backend.OpError{Op: "peer copy", Device: l.From.Info().Name, Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%d bytes to a range of %d", src.SizeBytes, dst.SizeBytes)}
	case l.failed != nil:
		return l.failed
	case l.Path == SameDevice:
		return l.copyInside(ctx, dst, src)
	}
	copying := l.copyChunks
	if l.reaches(dst, src) {
		copying = l.copyDirect
	}
	err := copying(ctx, dst, src)
	if backend.IsLoss(err) || errors.Is(err, backend.ErrTimedOut) && ctx.Err() == nil {
		l.giveUp(err)
	}
	return err
}

// giveUp makes a failure that leaves the exchange memory in an unknown state sticky.
func (l *Link) giveUp(err error) {
	l.failed = err
	if o, ok := l.carrier.(orderedCarrier); ok {
		o.abandon()
	}
}

// copyInside copies within one device, beside its compute queue.
func (l *Link) copyInside(ctx context.Context, dst, src backend.Range) error {
	const part = 256 << 20 // so that the copy of a large range can be divided into submissions
	var list backend.List
	for at := uint64(0); at < src.SizeBytes; at += part {
		n := min(part, src.SizeBytes-at)
		if err := l.lane.near.record(&list, dst.Part(at, n), src.Part(at, n)); err != nil {
			return err
		}
	}
	point, err := l.From.Submit(ctx, l.lane.read, &list)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

// chunk is a part of a copy and its slot.
type chunk struct {
	slot     int
	dst, src backend.Range
}

// copyChunks keeps several chunks under way. Stages run in order, each behind the one before by as many chunks as it
// takes to keep a queue busy while the host waits.
func (l *Link) copyChunks(ctx context.Context, dst, src backend.Range) error {
	count := int((src.SizeBytes + l.ChunkBytes - 1) / l.ChunkBytes)
	first := l.next
	l.next = (first + count) % len(l.slots)
	at := func(i int) chunk {
		offset := uint64(i) * l.ChunkBytes
		n := min(l.ChunkBytes, src.SizeBytes-offset)
		return chunk{(first + i) % len(l.slots), dst.Part(offset, n), src.Part(offset, n)}
	}
	stages := l.stages(src)
	last := stages[len(stages)-1].behind
	for i := range count + last {
		for _, s := range stages {
			if j := i - s.behind; j >= 0 && j < count {
				if err := s.run(ctx, at(j)); err != nil {
					return err
				}
			}
		}
	}
	for i := range l.slots {
		if err := l.reuse(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

type stage struct {
	behind int // by chunks
	run    func(ctx context.Context, c chunk) error
}

func (l *Link) stages(src backend.Range) []stage {
	carry := readsAhead
	switch o, ok := l.carrier.(orderedCarrier); {
	case ok && o.ordered():
		return []stage{{0, l.chain(o, l.From.Idle(src.Buffer))}}
	case l.carrier == nil:
		return []stage{{0, l.read}, {carry, l.awaitRead}, {carry, l.write}}
	case l.Path == HostStaged:
		return []stage{{0, l.read}, {carry, l.awaitRead}, {carry, l.carry}, {carry, l.write}}
	}
	return []stage{{0, l.read}, {carry, l.awaitRead}, {carry, l.carry}, {carry + 1, l.awaitCarried},
		{carry + 1, l.write}}
}

// read copies a chunk into its slot, whose last content has left it.
func (l *Link) read(ctx context.Context, c chunk) error {
	if err := l.reuse(ctx, c.slot); err != nil {
		return err
	}
	return l.submitRead(ctx, c, &backend.List{})
}

func (l *Link) submitRead(ctx context.Context, c chunk, list *backend.List) error {
	s := &l.slots[c.slot]
	if err := l.lane.near.record(list, s.near.Range(0, c.src.SizeBytes), c.src); err != nil {
		return err
	}
	point, err := l.From.Submit(ctx, l.lane.read, list)
	if err == nil {
		s.read = point
	}
	return err
}

// reuse waits until nothing uses a slot. A copy that was cancelled may have left work behind.
func (l *Link) reuse(ctx context.Context, slot int) error {
	s := &l.slots[slot]
	if err := s.read.Wait(ctx); err != nil { // first, to learn of the loss of From rather than wait for what follows it
		return err
	}
	if l.carrier != nil {
		if err := l.carrier.wait(ctx, slot); err != nil {
			return err
		}
	}
	return s.written.Wait(ctx)
}

func (l *Link) awaitRead(ctx context.Context, c chunk) error {
	return l.slots[c.slot].read.Wait(ctx)
}

func (l *Link) carry(ctx context.Context, c chunk) error {
	return l.carrier.carry(ctx, c.slot, c.src.SizeBytes)
}

func (l *Link) awaitCarried(ctx context.Context, c chunk) error {
	return l.carrier.wait(ctx, c.slot)
}

func (l *Link) write(ctx context.Context, c chunk) error {
	return l.submitWrite(ctx, c, &backend.List{})
}

func (l *Link) submitWrite(ctx context.Context, c chunk, list *backend.List) error {
	s := &l.slots[c.slot]
	if err := l.lane.far.record(list, c.dst, s.far.Range(0, c.dst.SizeBytes)); err != nil {
		return err
	}
	point, err := l.To.Submit(ctx, l.lane.write, list)
	if err == nil {
		s.written = point
	}
	return err
}
