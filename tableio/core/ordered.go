package core

import (
	"context"
	"iter"
	"sync"
)

// InOrder runs work on every job on all cores and yields the results in the order of the jobs. At most inFlight
// results wait for the consumer, so that memory is bounded however slow it is. The first error in that order ends the
// sequence, whatever happened to later jobs; panics are errors. If inFlight is 0, each job is drawn and worked on when
// the consumer asks for its result. Once the sequence is over, also because the consumer
// left it, no work runs any more; results that were not taken are given to discard.
//
// Jobs are drawn on a goroutine of their own. Every job that was drawn is worked on, with a context that is done once
// its result is not needed.
func InOrder[J, R any](
	ctx context.Context, inFlight int, jobs iter.Seq2[J, error],
	work func(ctx context.Context, job J) (R, error), discard func(R),
) iter.Seq2[R, error] {
	type outcome struct {
		result R
		err    error
	}
	one := func(ctx context.Context, job J) (o outcome) {
		busy := BusyOf(ctx)
		busy.Begin()
		defer busy.End()
		o.err = Guard(func() (err error) {
			o.result, err = work(ctx, job)
			return err
		})
		return o
	}
	return func(yield func(R, error) bool) {
		if inFlight == 0 {
			for job, err := range jobs {
				o := outcome{err: err}
				if err == nil {
					o = one(ctx, job)
				}
				if !yield(o.result, o.err) || o.err != nil {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		queue := make(chan chan outcome, inFlight)
		var running sync.WaitGroup
		running.Go(func() {
			defer close(queue)
			err := Guard(func() error {
				for job, err := range jobs {
					if err != nil {
						return err
					}
					done := make(chan outcome, 1)
					queue <- done
					running.Go(func() {
						done <- one(ctx, job)
					})
					if err := ctx.Err(); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				done := make(chan outcome, 1)
				done <- outcome{err: err}
				queue <- done
			}
		})
		defer func() {
			cancel()
			for done := range queue {
				if o := <-done; o.err == nil {
					discard(o.result)
				}
			}
			running.Wait()
		}()
		for done := range queue {
			o := <-done
			if !yield(o.result, o.err) || o.err != nil {
				return
			}
		}
	}
}
