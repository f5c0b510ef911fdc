package host

import (
	"fmt"
	"runtime/debug"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	transferPieceBytes = 1 << 20  // of copies and fills
	piecesPerWorker    = 16       // of dispatches: few enough to be cheap, many enough to balance uneven groups
	inlineBytes        = 64 << 10 // a segment that touches less is not worth waking another worker
)

// segment is a run of commands that may overlap. Its work is cut into pieces, ranges of groups or bytes, which are
// numbered through all commands; workers take the next number until none is left.
type segment struct {
	driver *Driver
	ops    []op
	sizes  []uint64 // units (groups, bytes) of a piece of each command
	ends   []uint64 // number of the first piece after each command
	next   atomic.Uint64
	failed atomic.Pointer[error]
}

// run executes a batch in plain mode. A mark ends a segment, so that its time is the end of the work before it.
func (d *Driver) run(b *batch) error {
	b.times = append(b.times, time.Since(d.epoch))
	first := 0
	for i := 0; i <= len(b.ops); i++ {
		if i < len(b.ops) && !b.ops[i].barrier && b.ops[i].kind != backend.Mark {
			continue
		}
		if err := d.runSegment(b.ops[first:i]); err != nil {
			return err
		}
		first = i
		if i < len(b.ops) && b.ops[i].kind == backend.Mark {
			b.times = append(b.times, time.Since(d.epoch))
			first = i + 1
		}
	}
	b.times = append(b.times, time.Since(d.epoch))
	return nil
}

// runSegment executes commands that may overlap on all workers.
func (d *Driver) runSegment(ops []op) error {
	if len(ops) == 0 {
		return nil
	}
	workers := d.backend.options.Workers
	s := &segment{driver: d, ops: ops, sizes: make([]uint64, len(ops)), ends: make([]uint64, len(ops))}
	pieces, touched := uint64(0), uint64(0)
	for i := range ops {
		touched += ops[i].touchedBytes()
		units := ops[i].units()
		s.sizes[i] = transferPieceBytes
		if ops[i].kind == backend.Dispatch {
			s.sizes[i] = max(1, units/uint64(workers*piecesPerWorker))
		}
		pieces += (units + s.sizes[i] - 1) / s.sizes[i]
		s.ends[i] = pieces
	}
	var others sync.WaitGroup
	if touched >= inlineBytes {
		for range min(uint64(workers), max(pieces, 1)) - 1 {
			others.Go(s.work)
		}
	}
	s.work()
	others.Wait()
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// units is the number of groups or bytes of a command.
func (o *op) units() uint64 {
	if o.kind == backend.Dispatch {
		return uint64(max(o.endGroup, o.firstGroup) - o.firstGroup)
	}
	return uint64(len(o.dst))
}

// touchedBytes is the size of the memory that a command works on.
func (o *op) touchedBytes() uint64 {
	size := uint64(len(o.dst))
	for _, arg := range o.args {
		size += uint64(len(arg))
	}
	return size
}

func (s *segment) work() {
	for s.failed.Load() == nil && !s.driver.stopped.Load() {
		piece := s.next.Add(1) - 1
		i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > piece })
		if i == len(s.ops) {
			return
		}
		if i > 0 {
			piece -= s.ends[i-1]
		}
		o := &s.ops[i]
		lo := piece * s.sizes[i]
		if err := s.driver.runUnits(o, lo, min(lo+s.sizes[i], o.units())); err != nil {
			s.failed.CompareAndSwap(nil, &err)
		}
	}
}

// runUnits executes the groups of a dispatch, or the bytes of a copy or fill, from lo to hi-1. A panic of a reference,
// or an access to freed memory, is what a bad address is on a device: the device is lost.
func (d *Driver) runUnits(o *op, lo, hi uint64) (err error) {
	at := lo
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = d.crash(o, at, reason)
		}
	}()
	switch o.kind {
	case backend.Dispatch:
		for ; at < hi && !d.stopped.Load(); at++ {
			o.run(o.firstGroup + uint32(at))
		}
	case backend.Copy:
		copy(o.dst[lo:hi], o.src[lo:hi])
	case backend.Fill:
		fill(o.dst[lo:hi], o.value)
	}
	return nil
}

// fill sets every word: the first 16 KiB by stores, the rest by copies of them, which run at the speed of memory.
func fill(dst []byte, value uint32) {
	first := dst[:min(len(dst), 16<<10)]
	words := backend.Words(first)
	for i := range words {
		words[i] = value
	}
	for at := len(first); at < len(dst); at += len(first) {
		copy(dst[at:], first)
	}
}

func (d *Driver) crash(o *op, at uint64, reason any) error {
	e := &backend.OpError{Op: "run", Device: d.info.ID, Err: backend.ErrDeviceLost}
	if o.kind == backend.Dispatch {
		e.Kernel = o.program.spec.Name
		e.Detail = fmt.Sprintf("group %d, %s: %v", o.firstGroup+uint32(at), o.program.config, reason)
	} else {
		e.Detail = fmt.Sprintf("copy or fill of %d bytes: %v", len(o.dst), reason)
	}
	return e
}
