package link

import (
	"context"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/offheap"
)

// openImported maps host memory and imports it on both devices. It is unmapped when the last of the two has freed it.
func (l *Link) openImported(ctx context.Context) error {
	alignments := []uint64{l.From.Info().Limits.ImportAlignment, l.To.Info().Limits.ImportAlignment}
	for _, a := range alignments {
		if a == 0 || l.ChunkBytes%a != 0 {
			return l.unsupported("a device cannot import host memory")
		}
	}
	memory, unmap, err := offheap.Map(len(l.slots) * int(l.ChunkBytes))
	if err != nil {
		return &backend.OpError{Op: "connect", Device: l.From.Info().Name, Err: backend.ErrHostMemory, Detail: err.Error()}
	}
	near, err := l.From.Import(ctx, memory, "link, near")
	if err != nil {
		unmap()
		return err
	}
	defer near.Release() // the slots keep the import
	far, err := l.To.Import(ctx, memory, "link, far")
	if err != nil {
		near.WhenFreed(unmap)
		return err
	}
	defer far.Release()
	var freed atomic.Int32
	for _, b := range []*backend.Buffer{near, far} {
		b.WhenFreed(func() {
			if freed.Add(1) == 2 {
				unmap()
			}
		})
	}
	for i := range l.slots {
		part := memory[i*int(l.ChunkBytes):][:l.ChunkBytes]
		s := &l.slots[i]
		if s.near, err = l.From.Import(ctx, part, l.label(i)); err != nil {
			return err
		}
		if s.far, err = l.To.Import(ctx, part, l.label(i)); err != nil {
			return err
		}
	}
	return nil
}

// openStaged allocates host-visible memory of each device.
func (l *Link) openStaged(ctx context.Context) (err error) {
	for i := range l.slots {
		s := &l.slots[i]
		if s.near, err = l.From.Allocate(ctx, backend.HostVisible, l.ChunkBytes, l.label(i)); err != nil {
			return err
		}
		if s.far, err = l.To.Allocate(ctx, backend.HostVisible, l.ChunkBytes, l.label(i)); err != nil {
			return err
		}
	}
	l.carrier = hostCarrier{l.slots}
	return nil
}

// hostCarrier copies on the host's cores.
type hostCarrier struct{ slots []slot }

func (c hostCarrier) carry(_ context.Context, slot int, n uint64) error {
	const grain = 2 << 20
	backend.CopyParallel(c.slots[slot].far.Bytes()[:n], c.slots[slot].near.Bytes()[:n], grain)
	return nil
}

func (c hostCarrier) wait(context.Context, int) error { return nil }

func (c hostCarrier) close() (done bool, err error) { return true, nil }
