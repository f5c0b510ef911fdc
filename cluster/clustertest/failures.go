package clustertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// ErrPlanted is the error with which Abort is called in Failures. Its exit code must be PlantedCode.
var ErrPlanted = errors.New("planted")

// PlantedCode is the exit code of ErrPlanted.
const PlantedCode = 7

// ExitCode is the exit code that tests set in Options.
func ExitCode(err error) int {
	if errors.Is(err, ErrPlanted) {
		return PlantedCode
	}
	return 1
}

// Failures are cases after which the job is over: each needs a job of its own, of two or more ranks, with ExitCode.
var Failures = []Case{
	{"abort", abort},
	{"different rounds", differentRounds},
	{"wrong memory", wrongMemory},
}

// Stalls are failures of a job of three or more ranks with a short stall limit, in which the last rank does nothing
// until others have aborted the job.
var Stalls = []Case{
	{"stalled round", stalledRound},
	{"stalled receiver", stalledReceiver},
	{"stalled sender", stalledSender},
}

// lost checks that an error is the planted one of a rank.
func lost(err error, rank int) error {
	var l *cluster.Lost
	if !errors.As(err, &l) || l.Rank != rank || l.Code != PlantedCode || !strings.Contains(l.Text, "planted") ||
		!errors.Is(err, backend.ErrCancelled) {
		return fmt.Errorf("not the loss of rank %d: %#v", rank, err)
	}
	return nil
}

// abort: calls that wait, and later ones, end with the error of the rank that fails.
func abort(ctx context.Context, job cluster.Job) error {
	s := job.Open("abort")
	failing := job.Size() - 1
	if job.Rank() == failing {
		if _, err := job.Gather(ctx, "before", nil); err != nil {
			return err
		}
		job.Abort(fmt.Errorf("%w: no room", ErrPlanted))
		job.Abort(errors.New("a later one"))
		return lost(context.Cause(job.Context()), failing)
	}
	if _, err := job.Gather(ctx, "before", nil); err != nil {
		return err
	}
	results := make(chan error, 3)
	go func() {
		_, err := job.Gather(ctx, "never", nil)
		results <- err
	}()
	go func() {
		_, _, err := s.Receive(ctx, nil)
		results <- err
	}()
	go func() { results <- s.Send(ctx, failing, nil, make([]byte, cluster.PieceBytes)) }()
	for range cap(results) {
		if err := lost(<-results, failing); err != nil {
			return err
		}
	}
	<-job.Context().Done()
	return lost(context.Cause(job.Context()), failing)
}

// differentRounds: all ranks learn of it, and two of them are named.
func differentRounds(ctx context.Context, job cluster.Job) error {
	if _, err := job.Gather(ctx, "equal", nil); err != nil {
		return err
	}
	round := "red"
	if job.Rank() == job.Size()-1 {
		round = "blue"
	}
	_, err := job.Gather(ctx, round, []byte(round))
	if !errors.Is(err, backend.ErrInvalidInput) || !strings.Contains(err.Error(), `"red"`) ||
		!strings.Contains(err.Error(), `"blue"`) ||
		!strings.Contains(err.Error(), fmt.Sprintf("rank %d", job.Size()-1)) {
		return fmt.Errorf("different rounds: %v", err)
	}
	return nil
}

// wrongMemory: a receiver whose memory does not fit a body learns that.
func wrongMemory(ctx context.Context, job cluster.Job) error {
	for n, sizes := range [][]int{{10}, {12}, {11, 1}, {}} {
		s := job.Open(fmt.Sprint("wrong memory ", n))
		if job.Rank() == 0 {
			_, _, err := s.Receive(ctx, func(int, []byte) (memory [][]byte, err error) {
				for _, size := range sizes {
					memory = append(memory, make([]byte, size))
				}
				return memory, nil
			})
			if !errors.Is(err, backend.ErrInvalidInput) {
				return fmt.Errorf("memory of %v for 11 bytes: %v", sizes, err)
			}
			continue
		}
		if job.Rank() == 1 {
			go func() { _ = s.Send(ctx, 0, nil, make([]byte, 11)) }() // ends with the job
		}
	}
	if _, err := job.Gather(ctx, "wrong memory", nil); err != nil {
		return err
	}
	if job.Rank() == 0 {
		job.Abort(ErrPlanted)
	}
	<-job.Context().Done()
	return lost(context.Cause(job.Context()), 0)
}

// stalled checks that an error names the last rank and no other, ends the job when all others have it too, and waits
// for that on the last rank.
func stalled(ctx context.Context, job cluster.Job, err error) error {
	last := fmt.Sprintf("rank %d ", job.Size()-1)
	if job.Rank() != job.Size()-1 {
		if !errors.Is(err, backend.ErrTimedOut) || !strings.Contains(err.Error(), last) {
			return fmt.Errorf("not a stall of %s: %v", last, err)
		}
		job.Abort(fmt.Errorf("%w: %v", ErrPlanted, err))
	}
	<-job.Context().Done()
	if err := context.Cause(job.Context()); !strings.Contains(err.Error(), last) {
		return fmt.Errorf("the job does not end with a stall of %s: %v", last, err)
	}
	return nil
}

func stalledRound(ctx context.Context, job cluster.Job) (err error) {
	if job.Rank() != job.Size()-1 {
		_, err = job.Gather(ctx, "without the last", nil)
	}
	return stalled(ctx, job, ignoreLost(err))
}

func stalledReceiver(ctx context.Context, job cluster.Job) (err error) {
	s := job.Open("stalled receiver")
	if job.Rank() != job.Size()-1 {
		if err := s.End(ctx); err != nil {
			return err
		}
		_, _, err = s.Receive(ctx, nil)
	}
	return stalled(ctx, job, ignoreLost(err))
}

func stalledSender(ctx context.Context, job cluster.Job) (err error) {
	s := job.Open("stalled sender")
	if job.Rank() != job.Size()-1 {
		err = s.Send(ctx, job.Size()-1, nil, make([]byte, cluster.PieceBytes))
	}
	return stalled(ctx, job, ignoreLost(err))
}

// ignoreLost returns the stall in an error of another rank, which was faster to find it.
func ignoreLost(err error) error {
	if l := (*cluster.Lost)(nil); errors.As(err, &l) {
		return fmt.Errorf("%w: %s", backend.ErrTimedOut, l.Text)
	}
	return err
}
