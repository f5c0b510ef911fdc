package tableio

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// inOrder is a bounded pipeline of items that consist of independent parts: row groups and their columns, or blocks of
// text. All cores work on the parts of the items that were added; each item is finished when its parts are done, in the
// order of adding and one at a time. At most window items are unfinished.
//
// The error of the first item that fails, in a part or in finishing, stops the pipeline: parts that have not begun are
// left out, and items that follow are dropped.
type inOrder struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	queue  chan *orderedItem // unfinished, the oldest first
	tasks  chan orderedTask
	work   sync.WaitGroup
	ended  chan struct{} // everything was finished or dropped
}

type orderedItem struct {
	left   atomic.Int64  // parts that are not done
	done   chan struct{} // closed by the last part
	failed atomic.Pointer[error]
	part   func(ctx context.Context, part int) error
	finish func() error
	drop   func()
}

type orderedTask struct {
	item *orderedItem
	part int
}

// newInOrder starts a pipeline, which ends with ctx. The owner ends it with close.
func newInOrder(ctx context.Context, window int) *inOrder {
	p := &inOrder{queue: make(chan *orderedItem, max(window, 1)-1), tasks: make(chan orderedTask), ended: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	for range runtime.GOMAXPROCS(0) {
		p.work.Go(p.serve)
	}
	go p.finishAll()
	return p
}

// add waits until fewer than window items are unfinished, and hands the item over: to part, which is called once for each
// of its parts by any goroutine, then to finish, or, where it cannot be finished, to drop, which may be nil. After an
// error it returns that and drops the item.
func (p *inOrder) add(parts int, part func(ctx context.Context, part int) error, finish func() error, drop func()) error {
	item := &orderedItem{done: make(chan struct{}), part: part, finish: finish, drop: drop}
	item.left.Store(int64(parts))
	if parts == 0 {
		close(item.done)
	}
	select {
	case p.queue <- item:
	case <-p.ctx.Done():
		item.discard()
		return context.Cause(p.ctx)
	}
	for i := range parts {
		p.tasks <- orderedTask{item, i} // never blocks for long: workers skip the parts of a pipeline that was stopped
	}
	return nil
}

func (item *orderedItem) discard() {
	if item.drop != nil {
		item.drop()
	}
}

func (p *inOrder) serve() {
	for task := range p.tasks {
		if p.ctx.Err() == nil && task.item.failed.Load() == nil {
			if err := guard(func() error { return task.item.part(p.ctx, task.part) }); err != nil {
				task.item.failed.CompareAndSwap(nil, &err)
			}
		}
		if task.item.left.Add(-1) == 0 {
			close(task.item.done)
		}
	}
}

func (p *inOrder) finishAll() {
	defer close(p.ended)
	for item := range p.queue {
		<-item.done
		if failed := item.failed.Load(); failed != nil {
			p.cancel(*failed) // the cause stays that of the first call
		}
		if p.ctx.Err() != nil {
			item.discard()
			continue
		}
		if err := guard(item.finish); err != nil {
			p.cancel(err)
		}
	}
}

// stop drops what is not finished. The pipeline still has to be closed.
func (p *inOrder) stop() { p.cancel(context.Canceled) }

// close waits until all items are finished or dropped and returns the first error. Nothing may be added afterwards.
func (p *inOrder) close() error {
	close(p.queue)
	close(p.tasks)
	p.work.Wait()
	<-p.ended
	err := context.Cause(p.ctx)
	p.cancel(nil)
	return err
}
