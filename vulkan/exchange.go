package vulkan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan/cuda"
)

// exchange is exchange memory of two NVIDIA GPUs, or of two devices of one, that the CUDA driver copies. It implements
// [backend.Exchange].
//
// CUDA copies Vulkan memory that is exported to it at a tenth of the speed of NVLink. Exchange memory is therefore
// CUDA's own, with access for both GPUs, and each Vulkan device imports the memory of its GPU
// ([driver.allocateByCUDA]). Two timeline semaphores that Vulkan exports to CUDA order copies with queues. If they
// cannot be shared, or [Options].HostOrderedCopies is set, the host waits in between. If the near device is lost, the
// host raises the semaphore of the far one.
type exchange struct {
	from, to       *driver
	nearGPU        *cuda.GPU
	farGPU         *cuda.GPU
	copies         *cuda.Stream // of the near GPU
	arrivals       *cuda.Stream // of the far GPU: what follows the copies
	settled        *cuda.Event  // the end of arrivals
	pairs          []exchangePair
	ready, arrived *sharedTimeline // nil where the host orders copies
	abandoned      bool            // the semaphores are left to their devices, which may be hanging
}

type exchangePair struct {
	near, far *block
	copied    *cuda.Event
	busy      bool // copied has not been seen to pass
}

// OpenExchange implements [backend.PeerExchange] for NVIDIA's driver.
func (d *driver) OpenExchange(to backend.Driver, pairs int, sizeBytes uint64) (backend.Exchange, error) {
	far, ok := to.(*driver)
	if !ok || !d.p.nvidia || !far.p.nvidia {
		return nil, &backend.OpError{Op: "connect", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: "CUDA copies only between devices of NVIDIA's driver"}
	}
	if err := errors.Join(d.canShare(opaqueFD), far.canShare(opaqueFD)); err != nil {
		return nil, err
	}
	e := &exchange{from: d, to: far}
	err := e.openCUDA()
	for i := 0; i < pairs && err == nil; i++ {
		err = e.addPair(sizeBytes)
	}
	if err == nil && !d.backend.options.HostOrderedCopies {
		err = e.openTimelines()
	}
	if err != nil {
		err = errors.Join(err, e.Close())
		for _, p := range e.pairs {
			for _, b := range []*block{p.near, p.far} {
				if b != nil {
					err = errors.Join(err, b.Free())
				}
			}
		}
		return nil, err
	}
	return e, nil
}

func (e *exchange) openCUDA() (err error) {
	if e.nearGPU, err = cuda.Open(e.from.info.UUID); err != nil {
		return err
	}
	if e.farGPU, err = cuda.Open(e.to.info.UUID); err != nil {
		return err
	}
	if e.copies, err = e.nearGPU.NewStream(); err != nil {
		return err
	}
	if e.arrivals, err = e.farGPU.NewStream(); err != nil {
		return err
	}
	e.settled, err = e.farGPU.NewEvent()
	return err
}

func (e *exchange) addPair(sizeBytes uint64) (err error) {
	e.pairs = append(e.pairs, exchangePair{})
	p := &e.pairs[len(e.pairs)-1]
	if p.near, err = e.from.allocateExchange(sizeBytes, e.nearGPU, e.farGPU); err != nil {
		return err
	}
	if p.far, err = e.to.allocateExchange(sizeBytes, e.nearGPU, e.farGPU); err != nil {
		return err
	}
	p.copied, err = e.nearGPU.NewEvent()
	return err
}

func (d *driver) allocateExchange(sizeBytes uint64, access ...*cuda.GPU) (*block, error) {
	if err := d.enter("connect"); err != nil {
		return nil, err
	}
	defer d.leave()
	return d.allocateByCUDA(sizeBytes, access...)
}

// openTimelines makes the semaphores that order copies with queues. Where they cannot be shared, the host orders them.
func (e *exchange) openTimelines() (err error) {
	if !e.from.p.sharesTimelines || !e.to.p.sharesTimelines {
		return nil
	}
	if e.ready, err = e.from.shareTimeline(e.nearGPU); err != nil {
		return err
	}
	e.arrived, err = e.to.shareTimeline(e.farGPU)
	return err
}

func (e *exchange) Pair(pair int) (near, far backend.Block) {
	return e.pairs[pair].near, e.pairs[pair].far
}

func (e *exchange) Semaphores() (ready, arrived backend.Semaphore, ok bool) {
	return e.ready, e.arrived, e.arrived != nil
}

func (e *exchange) Copy(pair int, sizeBytes, value uint64) error {
	p := &e.pairs[pair]
	if e.arrived != nil {
		if err := e.copies.Await(e.ready.cuda, value); err != nil {
			return err
		}
	}
	if err := e.start(p, p.far, 0, p.near, 0, sizeBytes); err != nil {
		return err
	}
	if e.arrived == nil {
		return nil
	}
	if err := e.arrivals.After(p.copied); err != nil {
		return err
	}
	return e.arrivals.Raise(e.arrived.cuda, value)
}

// start starts a copy between two blocks, which a pair is then busy with.
func (e *exchange) start(p *exchangePair, dst *block, dstOffset uint64, src *block, srcOffset, sizeBytes uint64) error {
	if err := e.copies.Copy(dst.cuda, dstOffset, src.cuda, srcOffset, sizeBytes); err != nil {
		return err
	}
	p.busy = true
	return p.copied.Record(e.copies)
}

// Reaches implements [backend.DirectExchange].
func (e *exchange) Reaches(dst, src backend.Block) bool {
	far, okFar := dst.(*block)
	near, okNear := src.(*block)
	return okFar && okNear && far.d == e.to && near.d == e.from && far.cuda != nil && near.cuda != nil &&
		far.cuda.ReachedBy(e.nearGPU) && near.cuda.ReachedBy(e.nearGPU)
}

// CopyDirect implements [backend.DirectExchange].
func (e *exchange) CopyDirect(pair int, dst backend.Block, dstOffset uint64, src backend.Block,
	srcOffset, sizeBytes uint64) error {
	return e.start(&e.pairs[pair], dst.(*block), dstOffset, src.(*block), srcOffset, sizeBytes)
}

func (e *exchange) Wait(ctx context.Context, pair int, limit time.Duration) error {
	p := &e.pairs[pair]
	if !p.busy {
		return nil
	}
	err := e.await(ctx, p.copied, limit)
	p.busy = err != nil && !errors.Is(err, backend.ErrDeviceLost)
	return err
}

// await polls, because a wait of CUDA cannot be cancelled.
func (e *exchange) await(ctx context.Context, event *cuda.Event, limit time.Duration) error {
	const awake, nap = 200 * time.Microsecond, 25 * time.Microsecond
	for start := time.Now(); ; {
		passed, err := event.Passed()
		if passed || err != nil {
			return err
		}
		switch waited := time.Since(start); {
		case ctx.Err() != nil:
			return backend.ContextError(ctx)
		case waited > limit:
			return &backend.OpError{Op: "peer copy", Device: e.from.info.Name, Err: backend.ErrTimedOut,
				Detail: fmt.Sprintf("not done after %v", limit)}
		case waited < awake:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}

// abandonLimit is how long Abandon waits for copies that may still end by themselves.
const abandonLimit = time.Second

// Abandon implements [backend.Exchange]. A semaphore that CUDA is still going to set must not be set by the host.
func (e *exchange) Abandon(value uint64) error {
	e.abandoned = true
	if e.arrived == nil || e.settle(abandonLimit) == nil {
		return nil
	}
	return e.arrived.raise(value)
}

// settle waits for all copies and what follows them.
func (e *exchange) settle(limit time.Duration) error {
	if len(e.pairs) == 0 || e.pairs[0].copied == nil {
		return nil // nothing was ever copied
	}
	if err := e.pairs[0].copied.Record(e.copies); err != nil {
		return err
	}
	if err := e.arrivals.After(e.pairs[0].copied); err != nil {
		return err
	}
	if err := e.settled.Record(e.arrivals); err != nil {
		return err
	}
	return e.await(context.Background(), e.settled, limit)
}

// Close implements [backend.Exchange].
func (e *exchange) Close() error {
	if err := e.settle(closeLimit); errors.Is(err, backend.ErrTimedOut) {
		return err
	}
	for _, t := range []*sharedTimeline{e.ready, e.arrived} {
		if t != nil {
			t.close(e.abandoned)
		}
	}
	for _, p := range e.pairs {
		if p.copied != nil {
			p.copied.Close()
		}
	}
	if e.settled != nil {
		e.settled.Close()
	}
	for _, s := range []*cuda.Stream{e.copies, e.arrivals} {
		if s != nil {
			s.Close()
		}
	}
	for _, g := range []*cuda.GPU{e.nearGPU, e.farGPU} {
		if g != nil {
			g.Close()
		}
	}
	return nil
}
