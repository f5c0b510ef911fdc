package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/mpi"
)

// OpenJob begins the part of this process in the job of its launcher; nil if there is none. The session ends it when
// the command has ended. stall is the longest wait for other ranks; 0: no limit.
func (s *Session) OpenJob(stall time.Duration) (spirjoin.Job, error) {
	if mpi.LaunchedRanks() == 0 {
		return nil, nil
	}
	job, err := mpi.Start(cluster.Options{Stall: stall, ExitCode: exitCode})
	if err != nil {
		return nil, err
	}
	s.job = job
	shareCores(job)
	return job, nil
}

// shareCores has this rank use its share of the cores of the node, where the launcher leaves it more and the environment
// does not say how many. Ranks that each used all cores would wait for one another, with more memory under way.
func shareCores(job spirjoin.Job) {
	ranks := len(cluster.NodeRanks(job, job.Rank()))
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), max(1, max(mpi.LauncherCores(), runtime.NumCPU())/ranks)))
	}
}

// endJob ends the part of this process in its job, after the command has ended with err, and returns the exit code. The
// rank that failed says why; if the job was interrupted, rank 0 does. After a failure it does not return: the ranks end
// together.
func (s *Session) endJob(err error) int {
	job := s.job
	if err == nil {
		if err = job.Close(); err == nil {
			return ExitDone
		}
	}
	job.Abort(err)
	lost := (*cluster.Lost)(nil)
	if !errors.As(context.Cause(job.Context()), &lost) {
		lost = &cluster.Lost{Rank: job.Rank(), Code: exitCode(err)}
	}
	switch {
	case lost.Code == ExitInterrupted && job.Rank() == 0:
		fmt.Fprintln(s.Stderr, s.message(context.Canceled))
	case lost.Code != ExitInterrupted && lost.Rank == job.Rank() && job.LowestFailed() == job.Rank():
		fmt.Fprintf(s.Stderr, "%s: rank %d: %s\n", s.Name, job.Rank(), s.line(err))
	}
	_ = job.Close()
	return lost.Code
}

// said is what a rank says in a round of Agree.
type said struct {
	Lost  *cluster.Lost `json:",omitempty"` // the rank's error, or that of another rank which it has learned
	Value json.RawMessage
}

// Agree has all ranks meet, each with a value or an error, and returns the values of all. If ranks have errors, the
// lowest of them gets its own and the others a *cluster.Lost that names it, so that a fault of all ranks is told once.
// It is collective. Errors: as for Gather.
func Agree[T any](ctx context.Context, job spirjoin.Job, round string, value T, err error) ([]T, error) {
	mine := said{}
	if err != nil {
		mine.Lost = cluster.Options{ExitCode: exitCode}.NewLost(job.Rank(), err)
	}
	var failed error
	if mine.Value, failed = json.Marshal(value); failed != nil {
		return nil, errors.Join(err, failed)
	}
	text, failed := json.Marshal(mine)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	texts, failed := job.Gather(ctx, round, text)
	if failed != nil {
		if err != nil {
			return nil, err
		}
		return nil, failed
	}
	values := make([]T, len(texts))
	for rank, text := range texts {
		var theirs said
		failed := json.Unmarshal(text, &theirs)
		if failed == nil {
			failed = json.Unmarshal(theirs.Value, &values[rank])
		}
		switch {
		case failed != nil:
			return nil, fmt.Errorf("%w: what rank %d says in round %q is not understood: %w", backend.ErrInvalidInput,
				rank, round, failed)
		case theirs.Lost == nil:
		case theirs.Lost.Rank == job.Rank() && err != nil:
			return nil, err
		default:
			return nil, theirs.Lost
		}
	}
	return values, nil
}
