// Package clustertest is the test suite of the contract of package cluster, which every transport must pass. For tests
// only.
package clustertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exec"
)

// Case is a program that every rank of a job runs.
type Case struct {
	Name string
	Run  func(ctx context.Context, job cluster.Job) error
}

// Contract are the cases that leave the job as it was: one job can run them all, in this order.
var Contract = []Case{
	{"nodes", nodes},
	{"rounds", rounds},
	{"all to all", allToAll},
	{"sent memory may change", reuse},
	{"streams by name", byName},
	{"flow control", heldUp},
	{"several receivers", severalReceivers},
	{"refused messages", refused},
	{"contexts", contexts},
	{"statistics", statistics},
}

// Run runs the cases one after the other, with a round between them.
func Run(ctx context.Context, job cluster.Job, cases []Case) error {
	for _, c := range cases {
		if err := c.Run(ctx, job); err != nil {
			return fmt.Errorf("%s: rank %d: %w", c.Name, job.Rank(), err)
		}
		if _, err := job.Gather(ctx, "end of "+c.Name, nil); err != nil {
			return fmt.Errorf("%s: rank %d: %w", c.Name, job.Rank(), err)
		}
	}
	return nil
}

func nodes(_ context.Context, job cluster.Job) error {
	numbers, next := job.Nodes(), 0
	if len(numbers) != job.Size() || job.Rank() >= job.Size() {
		return fmt.Errorf("rank %d of %d, nodes %v", job.Rank(), job.Size(), numbers)
	}
	for _, n := range numbers {
		if n < 0 || n > next {
			return fmt.Errorf("nodes are not numbered by their lowest ranks: %v", numbers)
		}
		next = max(next, n+1)
	}
	return nil
}

func rounds(ctx context.Context, job cluster.Job) error {
	for round, size := range []int{0, 1, 100, 1 << 20, 3} {
		says := func(rank int) []byte { return pattern(size*(rank+1), uint64(100*round+rank)) }
		mine := says(job.Rank())
		said, err := job.Gather(ctx, fmt.Sprint("round ", round), mine)
		if err != nil {
			return err
		}
		clear(mine)
		for rank := range job.Size() {
			if !bytes.Equal(said[rank], says(rank)) {
				return fmt.Errorf("round %d: rank %d said %d other bytes", round, rank, len(said[rank]))
			}
		}
	}
	return nil
}

// bodies are the sizes of the buffers of some messages, around the borders of pieces.
var bodies = [][]int{
	{}, {0}, {1}, {5, 0, 70_000, 4096}, {}, slices.Repeat([]int{9}, 300), {1 << 16, 1 << 17, 0},
	slices.Repeat([]int{3000, 5000}, 30),
	{cluster.PieceBytes - 1}, {cluster.PieceBytes, 3}, {}, {2*cluster.PieceBytes + 1},
}

// message is the nth message from a rank to another: its head tells the sizes of the body.
func message(sizes []int, from, to, n int) (head []byte, body [][]byte) {
	head = binary.LittleEndian.AppendUint64(head, uint64(n))
	for i, size := range sizes {
		head = binary.LittleEndian.AppendUint64(head, uint64(size))
		body = append(body, pattern(size, seed(from, to, n, i)))
	}
	return head, body
}

func seed(from, to, n, buffer int) uint64 {
	return uint64(from)<<48 | uint64(to)<<32 | uint64(n)<<16 | uint64(buffer)
}

// pattern returns bytes that depend on a seed. Pieces of a buffer differ, because the period is no divisor of their
// size.
func pattern(size int, seed uint64) []byte {
	from := random()[seed*0x9e3779b97f4a7c15>>48:]
	b := make([]byte, size)
	for at := 0; at < size; at += period {
		copy(b[at:], from[:period])
	}
	return b
}

const period = 1_000_003

var random = sync.OnceValue(func() []byte {
	b := make([]byte, period+1<<16)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	return b
})

// received is what a receiver has of a message.
type received struct {
	from, n int
	memory  [][]byte
}

// receive receives a message of the function message, into fresh memory.
func receive(ctx context.Context, s cluster.Stream) (r received, some bool, err error) {
	r.from, some, err = s.Receive(ctx, func(_ int, head []byte) ([][]byte, error) {
		r.n = int(binary.LittleEndian.Uint64(head))
		for at := 8; at < len(head); at += 8 {
			r.memory = append(r.memory, make([]byte, binary.LittleEndian.Uint64(head[at:])))
		}
		return r.memory, nil
	})
	return r, some, err
}

// check compares a message with what was sent.
func (r received) check(to int) error {
	for i, m := range r.memory {
		if !bytes.Equal(m, pattern(len(m), seed(r.from, to, r.n, i))) {
			return fmt.Errorf("buffer %d (%d bytes) of message %d from rank %d differs", i, len(m), r.n, r.from)
		}
	}
	return nil
}

// others calls f for each other rank, each in a goroutine of its own.
func others(ctx context.Context, job cluster.Job, f func(ctx context.Context, rank int) error) error {
	flow := exec.NewFlow(ctx)
	for rank := range job.Size() {
		if rank != job.Rank() {
			flow.Go(fmt.Sprint("rank ", rank), func(ctx context.Context) error { return f(ctx, rank) })
		}
	}
	return flow.Wait()
}

// sendAll sends all of some messages to all others, and ends.
func sendAll(ctx context.Context, job cluster.Job, s cluster.Stream, sizes [][]int) error {
	err := others(ctx, job, func(ctx context.Context, to int) error {
		for n, of := range sizes {
			head, body := message(of, job.Rank(), to, n)
			if err := s.Send(ctx, to, head, body...); err != nil {
				return err
			}
			for _, b := range body {
				clear(b)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.End(ctx)
}

// receiveAll receives until all others have ended, and checks number, order and content.
func receiveAll(ctx context.Context, job cluster.Job, s cluster.Stream, each int) error {
	next := make([]int, job.Size())
	for {
		r, some, err := receive(ctx, s)
		if err != nil {
			return err
		}
		if !some {
			break
		}
		if r.n != next[r.from] {
			return fmt.Errorf("message %d from rank %d instead of %d", r.n, r.from, next[r.from])
		}
		next[r.from]++
		if err := r.check(job.Rank()); err != nil {
			return err
		}
	}
	for rank, n := range next {
		if rank != job.Rank() && n != each {
			return fmt.Errorf("%d messages from rank %d instead of %d", n, rank, each)
		}
	}
	if _, some, err := receive(ctx, s); some || err != nil {
		return fmt.Errorf("after the end of all: %v, %w", some, err)
	}
	return nil
}

// both sends and receives at once.
func both(ctx context.Context, send, receive func(ctx context.Context) error) error {
	flow := exec.NewFlow(ctx)
	flow.Go("send", send)
	flow.Go("receive", receive)
	return flow.Wait()
}

func allToAll(ctx context.Context, job cluster.Job) error {
	return exchange(ctx, job, job.Open("all to all"), bodies)
}

// exchange sends some messages from each rank to each other.
func exchange(ctx context.Context, job cluster.Job, s cluster.Stream, sizes [][]int) error {
	return both(ctx, func(ctx context.Context) error { return sendAll(ctx, job, s, sizes) },
		func(ctx context.Context) error { return receiveAll(ctx, job, s, len(sizes)) })
}

// reuse sends the same memory again and again, with other content.
func reuse(ctx context.Context, job cluster.Job) error {
	const times, size = 20, 100_000
	s := job.Open("reuse")
	send := func(ctx context.Context) error {
		memory := make([]byte, size)
		for n := range times {
			for to := range job.Size() {
				if to == job.Rank() {
					continue
				}
				copy(memory, pattern(size, seed(job.Rank(), to, n, 0)))
				head, _ := message([]int{size}, job.Rank(), to, n)
				if err := s.Send(ctx, to, head, memory); err != nil {
					return err
				}
				clear(head)
				clear(memory)
			}
		}
		return s.End(ctx)
	}
	return both(ctx, send, func(ctx context.Context) error { return receiveAll(ctx, job, s, times) })
}

// byName opens streams in an order that depends on the rank, and one of them twice.
func byName(ctx context.Context, job cluster.Job) error {
	names := []string{"left", "right", "right", "other"}
	sizes := [][][]int{{{1}, {2}}, {{}, {3}, {4}}, {{100_000}}, {}}
	open := make([]cluster.Stream, len(names))
	for i := range names {
		at := i
		if job.Rank()%2 == 1 {
			at = []int{3, 1, 2, 0}[i]
		}
		open[at] = job.Open(names[at])
	}
	flow := exec.NewFlow(ctx)
	for i, s := range open {
		flow.Go("send", func(ctx context.Context) error { return sendAll(ctx, job, s, sizes[i]) })
		flow.Go("receive", func(ctx context.Context) error { return receiveAll(ctx, job, s, len(sizes[i])) })
	}
	return flow.Wait()
}

// heldUp: a rank that does not receive holds up those who send to it, but no other stream.
func heldUp(ctx context.Context, job cluster.Job) error {
	const times = 3
	s, free := job.Open("held up"), job.Open("free")
	sizes := slices.Repeat([][]int{{cluster.PieceBytes}}, times)
	var sent atomic.Int64
	flow := exec.NewFlow(ctx)
	flow.Go("send", func(ctx context.Context) error {
		err := others(ctx, job, func(ctx context.Context, to int) error {
			for n, of := range sizes {
				head, body := message(of, job.Rank(), to, n)
				if err := s.Send(ctx, to, head, body...); err != nil {
					return err
				}
				sent.Add(1)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.End(ctx)
	})
	flow.Go("receive", func(ctx context.Context) error {
		if err := exchange(ctx, job, free, bodies[:7]); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
		if n := sent.Load(); n > 0 {
			return fmt.Errorf("%d messages were sent that nobody received", n)
		}
		if _, err := job.Gather(ctx, "held up", nil); err != nil {
			return err
		}
		return receiveAll(ctx, job, s, times)
	})
	return flow.Wait()
}

// severalReceivers: goroutines of a rank share a stream.
func severalReceivers(ctx context.Context, job cluster.Job) error {
	const times = 20
	s := job.Open("several receivers")
	flow := exec.NewFlow(ctx)
	flow.Go("send", func(ctx context.Context) error {
		return sendAll(ctx, job, s, slices.Repeat([][]int{{1000, 200_000}}, times))
	})
	var mu sync.Mutex
	seen := make(map[[2]int]bool)
	for range 3 {
		flow.Go("receive", func(ctx context.Context) error {
			for {
				r, some, err := receive(ctx, s)
				if err != nil || !some {
					return err
				}
				if err := r.check(job.Rank()); err != nil {
					return err
				}
				mu.Lock()
				seen[[2]int{r.from, r.n}] = true
				mu.Unlock()
			}
		})
	}
	if err := flow.Wait(); err != nil {
		return err
	}
	if len(seen) != times*(job.Size()-1) {
		return fmt.Errorf("%d messages came instead of %d", len(seen), times*(job.Size()-1))
	}
	return nil
}

// refused: wrong arguments are refused, and harm nothing.
func refused(ctx context.Context, job cluster.Job) error {
	s := job.Open("refused")
	other := (job.Rank() + 1) % job.Size()
	for name, err := range map[string]error{
		"to itself":        s.Send(ctx, job.Rank(), nil),
		"to nobody":        s.Send(ctx, job.Size(), nil),
		"large head":       s.Send(ctx, other, make([]byte, cluster.HeadBytes+1)),
		"too many buffers": s.Send(ctx, other, nil, make([][]byte, cluster.MaxBuffers+1)...),
	} {
		if !errors.Is(err, backend.ErrInvalidInput) {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	most := slices.Repeat([]int{1}, cluster.HeadBytes/8-1)
	return exchange(ctx, job, s, [][]int{most})
}

// contexts: a receiver whose context ends before a message comes may receive again.
func contexts(ctx context.Context, job cluster.Job) error {
	s := job.Open("contexts")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	late, cancelLate := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancelLate()
	if job.Size() > 1 {
		if _, _, err := receive(cancelled, s); !errors.Is(err, backend.ErrCancelled) {
			return fmt.Errorf("cancelled: %v", err)
		}
		if _, _, err := receive(late, s); !errors.Is(err, backend.ErrTimedOut) {
			return fmt.Errorf("deadline: %v", err)
		}
	}
	if _, err := job.Gather(ctx, "contexts", nil); err != nil {
		return err
	}
	return exchange(ctx, job, s, [][]int{{10}})
}

// statistics: counters count the messages, on every transport.
func statistics(ctx context.Context, job cluster.Job) error {
	before := job.Stats()
	sent := bodies[:8]
	if err := exchange(ctx, job, job.Open("statistics"), sent); err != nil {
		return err
	}
	want := cluster.Traffic{}
	for n, sizes := range sent {
		head, _ := message(sizes, 0, 0, n)
		want.Messages++
		want.Bytes += int64(len(head))
		for _, size := range sizes {
			want.Bytes += int64(size)
		}
	}
	for to, t := range job.Stats().To {
		b := before.To[to]
		got := cluster.Traffic{Messages: t.Messages - b.Messages, Bytes: t.Bytes - b.Bytes}
		if to == job.Rank() && got != (cluster.Traffic{}) || to != job.Rank() && got != want {
			return fmt.Errorf("to rank %d: %+v instead of %+v", to, got, want)
		}
	}
	if total := job.Stats().Total(); total.Messages < want.Messages*int64(job.Size()-1) {
		return fmt.Errorf("total: %+v", total)
	}
	return nil
}
