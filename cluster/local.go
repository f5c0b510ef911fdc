package cluster

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// LocalOptions are options of ranks that are goroutines.
type LocalOptions struct {
	Options
	NodeRanks int // ranks of a node, consecutive ones; 0: all are of one node
	Faults    Faults
}

// Local returns the ranks of a job in this process, by rank. Each is for goroutines of its own. Bodies are copied from
// the sender's memory to the receiver's.
func Local(size int, o LocalOptions) []Job {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &localGroup{LocalOptions: o, size: size, ctx: ctx, cancel: cancel, meeting: newMeeting(size),
		streams: make(map[string]*localExchange)}
	nodes := make([]int, size)
	if o.NodeRanks > 0 {
		for rank := range nodes {
			nodes[rank] = rank / o.NodeRanks
		}
	}
	g.nodes = nodes
	jobs := make([]Job, size)
	for rank := range jobs {
		jobs[rank] = &localJob{localGroup: g, rank: rank, counters: NewCounters(size), opened: make(map[string]int)}
	}
	return jobs
}

// localGroup is what the ranks of a local job share.
type localGroup struct {
	LocalOptions
	size   int
	nodes  []int
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards what follows
	meeting *meeting
	streams map[string]*localExchange
	closed  int
}

// meeting is a round that is under way.
type meeting struct {
	name  string
	first int // rank that came first
	come  []bool
	count int
	said  [][]byte
	err   error // names differ: the last meeting of the job
	done  chan struct{}
}

func newMeeting(size int) *meeting {
	return &meeting{come: make([]bool, size), said: make([][]byte, size), done: make(chan struct{})}
}

// localJob is a rank of a local job.
type localJob struct {
	*localGroup
	rank     int
	counters *Counters
	calls    atomic.Int64   // of Gather, Send, Receive and End, for Faults.Dead
	opened   map[string]int // streams, by name; guarded by localGroup.mu
}

func (j *localJob) Rank() int                { return j.rank }
func (j *localJob) Size() int                { return j.size }
func (j *localJob) Nodes() []int             { return j.nodes }
func (j *localJob) Context() context.Context { return j.ctx }
func (j *localJob) Stats() Stats             { return j.counters.Stats() }
func (j *localJob) Abort(err error)          { j.cancel(j.NewLost(j.rank, err)) }

// Close implements Job. It does not wait.
func (j *localJob) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed++; j.closed == j.size {
		j.cancel(nil)
	}
	return nil
}

// Gather implements Job.
func (j *localJob) Gather(ctx context.Context, round string, mine []byte) ([][]byte, error) {
	if err := j.plant(ctx, -1); err != nil {
		return nil, err
	}
	m := j.meet(round, mine)
	_, err := Await(ctx, j.ctx, j.Stall, m.done, func() string { return j.missing(m) })
	if err == nil {
		err = m.err
	}
	if err != nil {
		return nil, err
	}
	return m.said, nil
}

// meet has the rank come to the meeting.
func (j *localJob) meet(round string, mine []byte) *meeting {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := j.meeting
	if m.err != nil {
		return m
	}
	if m.count == 0 {
		m.name, m.first = round, j.rank
	}
	switch {
	case m.come[j.rank]:
		m.err = invalid("rank %d comes to round %q while it is in round %q", j.rank, round, m.name)
	case m.name != round:
		m.err = DifferentRounds(m.first, m.name, j.rank, round)
	}
	if m.err != nil {
		close(m.done)
		return m
	}
	m.come[j.rank], m.said[j.rank] = true, bytes.Clone(mine)
	if m.count++; m.count == j.size {
		j.meeting = newMeeting(j.size)
		close(m.done)
	}
	return m
}

// missing names the ranks that have not come to a meeting.
func (j *localJob) missing(m *meeting) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var missing []int
	for rank, come := range m.come {
		if !come {
			missing = append(missing, rank)
		}
	}
	return fmt.Sprintf("%s did not come to round %q", Ranks(missing), m.name)
}

// Open implements Job.
func (j *localJob) Open(name string) Stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := fmt.Sprintf("%s/%d", name, j.opened[name])
	j.opened[name]++
	x := j.streams[key]
	if x == nil {
		x = newLocalExchange(j.size)
		j.streams[key] = x
	}
	if x.opened++; x.opened == j.size {
		delete(j.streams, key)
	}
	return newLocalStream(j, name, x)
}

// waitForEnd waits as a rank does that has died.
func (j *localJob) waitForEnd(ctx context.Context) error {
	select {
	case <-j.ctx.Done():
		return context.Cause(j.ctx)
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
}
