//go:build linux

package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// nameBytes is what ranks tell of the names of rounds that differ.
const nameBytes = 128

// Gather implements cluster.Job, by MPI_Iallgather of a hash of the round's name with the size of what the rank says,
// and MPI_Iallgatherv of that.
func (j *Job) Gather(ctx context.Context, round string, mine []byte) ([][]byte, error) {
	select {
	case j.round <- struct{}{}:
	case <-j.ctx.Done():
		return nil, context.Cause(j.ctx)
	case <-ctx.Done():
		return nil, backend.ContextError(ctx)
	}
	defer func() { <-j.round }()
	if j.roundErr != nil {
		return nil, j.roundErr
	}
	said, err := j.gatherAll(ctx, round, mine)
	j.roundErr = err
	return said, err
}

func (j *Job) gatherAll(ctx context.Context, round string, mine []byte) ([][]byte, error) {
	number := j.rounds.Add(1)
	stalled := func() string { return j.missing(number, round) }
	head := binary.LittleEndian.AppendUint64(nil, hash(round))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(mine)))
	heads, err := j.gatherEqual(ctx, head, stalled)
	if err != nil {
		return nil, err
	}
	sizes, total := make([]int, j.size), uint64(0)
	for rank := range sizes {
		h := heads[16*rank:]
		if binary.LittleEndian.Uint64(h) != binary.LittleEndian.Uint64(heads) {
			return nil, j.differ(ctx, round, rank, stalled)
		}
		sizes[rank] = int(binary.LittleEndian.Uint64(h[8:]))
		total += binary.LittleEndian.Uint64(h[8:])
	}
	if total > math.MaxInt32 {
		return nil, &backend.OpError{Op: "gather", Err: backend.ErrLimit,
			Detail: fmt.Sprintf("ranks say %d bytes in round %q, over the limit of %d: use a stream", total, round,
				math.MaxInt32)}
	}
	return j.gatherSizes(ctx, mine, sizes, int(total), stalled)
}

// differ returns the error of all ranks if a rank is in another round than rank 0.
func (j *Job) differ(ctx context.Context, round string, other int, stalled func() string) error {
	mine := make([]byte, nameBytes)
	copy(mine, round)
	names, err := j.gatherEqual(ctx, mine, stalled)
	if err != nil {
		return err
	}
	name := func(rank int) string { return cString(names[nameBytes*rank:][:nameBytes]) }
	return cluster.DifferentRounds(0, name(0), other, name(other))
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// gatherEqual gathers as many bytes of each rank.
func (j *Job) gatherEqual(ctx context.Context, mine []byte, stalled func() string) ([]byte, error) {
	n := len(mine)
	all := make([]byte, n*j.size)
	err := j.collective(ctx, n+len(all), stalled, func(memory []byte, handle uintptr) error {
		copy(memory, mine)
		return j.call("MPI_Iallgather", j.gather, address(memory), uintptr(n), j.bytes, address(memory[n:]), uintptr(n),
			j.bytes, j.communicator, handle)
	}, func(memory []byte) { copy(all, memory[n:]) })
	return all, err
}

// gatherSizes gathers what ranks say.
func (j *Job) gatherSizes(ctx context.Context, mine []byte, sizes []int, total int, stalled func() string) (
	[][]byte, error) {
	all, said, start := make([]byte, total), make([][]byte, j.size), 0
	counts := make([]byte, 8*j.size) // and, behind them, where each begins
	for rank, size := range sizes {
		binary.LittleEndian.PutUint32(counts[4*rank:], uint32(size))
		binary.LittleEndian.PutUint32(counts[4*(j.size+rank):], uint32(start))
		said[rank] = all[start:][:size:size]
		start += size
	}
	if total == 0 {
		return said, nil
	}
	ours, theirs := len(counts), len(counts)+len(mine)
	err := j.collective(ctx, theirs+total, stalled, func(memory []byte, handle uintptr) error {
		copy(memory, counts)
		copy(memory[ours:], mine)
		return j.call("MPI_Iallgatherv", j.gatherv, address(memory[ours:]), uintptr(len(mine)), j.bytes,
			address(memory[theirs:]), address(memory), address(memory[4*j.size:]), j.bytes, j.communicator, handle)
	}, func(memory []byte) { copy(all, memory[theirs:]) })
	return said, err
}

// collective runs an operation of all ranks with memory outside of Go's heap, and calls take with that when it has
// ended. The memory of an operation that does not end stays mapped: the job is over.
func (j *Job) collective(ctx context.Context, sizeBytes int, stalled func() string,
	begin func(memory []byte, handle uintptr) error, take func(memory []byte)) error {
	memory, err := pages(sizeBytes)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	j.do(func() {
		j.start(memory, func(err error) { ended <- err }, func(handle uintptr) error { return begin(memory, handle) })
	})
	failed, err := cluster.Await(ctx, j.ctx, j.Stall, ended, stalled)
	if err != nil {
		return err
	}
	defer free(memory)
	if failed != nil {
		return j.lose(failed)
	}
	take(memory)
	return nil
}
