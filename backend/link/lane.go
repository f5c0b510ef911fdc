package link

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
)

// Copier records a copy of src to dst, of equal size and on one device; sizes and offsets are multiples of 4 bytes.
type Copier func(list *backend.List, dst, src backend.Range) error

func (c Copier) record(list *backend.List, dst, src backend.Range) error {
	if c == nil {
		list.Copy(dst, src)
		return nil
	}
	if src.SizeBytes == 0 {
		return nil
	}
	return c(list, dst, src)
}

// lane is how a link reads and writes at its ends: queues of From and To, and what copies there (nil: copy commands).
type lane struct {
	read, write backend.Role
	near, far   Copier
}

var (
	transferLane = lane{read: backend.Download, write: backend.Upload}
	kernelLane   = lane{read: backend.Deliver, write: backend.Ingest}
)

// laneGain is how much faster another lane must be than the transfer lane, which disturbs kernels least and finishes
// small copies first. Copy engines are slow within a device, so if nothing goes through the host, [Connect] times the
// kernel lane too.
const laneGain = 2

// UseKernels copies at the two ends by what near and far record, kernels of From and To, if the link gets faster so:
// GPUs have copy engines that are several times slower than kernels. The pattern is sent again. Call it before the
// first copy. On paths through the host, which is slower than either, nothing changes; nor do direct copies.
func (l *Link) UseKernels(ctx context.Context, near, far Copier) error {
	if l.Path.ThroughHost() {
		return nil
	}
	kernels := kernelLane
	kernels.near, kernels.far = near, far
	direct := l.direct
	l.direct = nil
	defer func() {
		if l.direct = direct; direct == nil {
			l.BytesPerSecond = l.laneBytesPerSecond
		}
	}()
	return l.between(ctx, l.patternBytes(), func(dst, src *backend.Buffer) error {
		before := l.lane
		l.lane = kernels
		err := l.prove(ctx, dst, src)
		l.lane = before
		if err != nil {
			return err
		}
		return l.tryLane(ctx, kernels, dst, src)
	})
}

// tryLane changes to another lane if that is worth it.
func (l *Link) tryLane(ctx context.Context, other lane, dst, src *backend.Buffer) error {
	before, gain := l.lane, 1.0
	if before.read == transferLane.read {
		gain = laneGain
	}
	l.lane = other
	var rate float64
	var err error
	for range 2 { // the first one warms up
		if rate, err = l.rate(ctx, dst, src); err != nil {
			break
		}
	}
	if err != nil || rate <= gain*l.laneBytesPerSecond {
		l.lane = before
		return err
	}
	l.laneBytesPerSecond = rate
	return nil
}
