package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

// Flows are the flows of an engine, which it ends before it closes what they use. The zero value has none. Safe for
// concurrent use.
type Flows struct {
	calls sync.WaitGroup // that begin a flow

	mu     sync.Mutex // guards what follows
	closed error      // why there are no more; nil if there may be
	open   []*Flow    // that have not ended, in the order in which they began
}

// Begin returns a flow as [NewFlow] does, for a call that starts its goroutines. The call ends with begun: from then on
// only they use what the engine has. After Close, the error is ErrInvalidInput.
func (s *Flows) Begin(ctx context.Context) (flow *Flow, begun func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return nil, nil, &backend.OpError{Op: "join", Err: backend.ErrInvalidInput, Detail: "the engine was closed"}
	}
	flow = NewFlow(ctx)
	flow.ended = func() { s.forget(flow) }
	s.open = append(s.open, flow)
	s.calls.Add(1)
	return flow, s.calls.Done, nil
}

func (s *Flows) forget(flow *Flow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(f *Flow) bool { return f == flow })
}

// Closed returns the reason for which the flows were closed; nil if they were not.
func (s *Flows) Closed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close begins no more flows, fails those that are open with reason, and waits until their calls and goroutines have
// ended and what they held is released: the last flow first, because it may use what an earlier one holds.
func (s *Flows) Close(reason error) {
	s.mu.Lock()
	s.closed = reason
	open := slices.Clone(s.open)
	s.mu.Unlock()
	for _, flow := range open {
		flow.Fail(reason)
	}
	s.calls.Wait()
	for _, flow := range slices.Backward(open) {
		_ = flow.Wait() // its owner gets the error
	}
}
