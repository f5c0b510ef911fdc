package cluster

import (
	"context"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Faults are planted in local ranks, for tests. The zero value has none. The functions are called by several
// goroutines.
type Faults struct {
	// Delay returns how long a call of Gather, Send, Receive or End waits at its start. to is the receiver of Send,
	// otherwise -1.
	Delay func(rank, to int) time.Duration
	// BytesPerSecond returns the rate of the link from a rank to another: Send holds it for the time that its message
	// takes. 0: no time.
	BytesPerSecond func(rank, to int) float64
	// Dead reports whether a rank is dead at its nth call of Gather, Send, Receive and End, from 0: the call ends only
	// with its context or the job.
	Dead func(rank, call int) bool
	// Drop reports whether the nth message of a stream from a rank to another, from 0, is lost. Send returns as if it
	// had been received.
	Drop func(stream string, from, to, message int) bool
}

// plant waits as the faults say, at the start of a call.
func (j *localJob) plant(ctx context.Context, to int) error {
	call := int(j.calls.Add(1)) - 1
	if j.Faults.Dead != nil && j.Faults.Dead(j.rank, call) {
		return j.waitForEnd(ctx)
	}
	if j.Faults.Delay == nil {
		return nil
	}
	return j.wait(ctx, j.Faults.Delay(j.rank, to))
}

// carry waits as long as a message is on the link to another rank.
func (j *localJob) carry(ctx context.Context, to int, head []byte, body [][]byte) error {
	if j.Faults.BytesPerSecond == nil {
		return nil
	}
	rate, sizeBytes := j.Faults.BytesPerSecond(j.rank, to), len(head)
	if rate <= 0 {
		return nil
	}
	for _, b := range body {
		sizeBytes += len(b)
	}
	return j.wait(ctx, time.Duration(float64(sizeBytes)/rate*float64(time.Second)))
}

// wait waits as planted.
func (j *localJob) wait(ctx context.Context, delay time.Duration) error {
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-j.ctx.Done():
		return context.Cause(j.ctx)
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
}
