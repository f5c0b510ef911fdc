package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
)

// Await waits for a value from another rank; the zero value if the channel is closed. For transports. Errors: the *Lost
// of the job, ErrCancelled or ErrTimedOut when ctx ends, and ErrTimedOut after stall (0: never), with what stalled
// says.
func Await[T any](ctx context.Context, job context.Context, stall time.Duration, from <-chan T, stalled func() string) (
	value T, err error) {
	var late <-chan time.Time
	if stall > 0 {
		timer := time.NewTimer(stall)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case value = <-from:
		return value, nil
	case <-job.Done():
		return value, context.Cause(job)
	case <-ctx.Done():
		return value, backend.ContextError(ctx)
	case <-late:
		return value, &backend.OpError{Op: "wait for other ranks", Err: backend.ErrTimedOut,
			Detail: fmt.Sprintf("%s within %v; if they are only slow, raise the stall limit", stalled(), stall)}
	}
}

// Ranks names some ranks in a message.
func Ranks(numbers []int) string {
	const most = 8
	names := make([]string, 0, most+1)
	for i, n := range numbers {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(numbers)-most))
			break
		}
		names = append(names, fmt.Sprint(n))
	}
	if len(numbers) == 1 {
		return "rank " + names[0]
	}
	return "ranks " + strings.Join(names, ", ")
}

func invalid(format string, a ...any) error {
	return &backend.OpError{Op: "exchange among ranks", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(format, a...)}
}

// DifferentRounds is the error of Gather on all ranks if two of them are in different rounds. For transports.
func DifferentRounds(rank int, round string, other int, otherRound string) error {
	return invalid("rank %d is in round %q, rank %d in round %q: they run different programs or got different "+
		"arguments", rank, round, other, otherRound)
}

// CheckMessage checks the arguments of Send. For transports.
func CheckMessage(job Job, to int, head []byte, body [][]byte) error {
	switch {
	case to < 0 || to >= job.Size() || to == job.Rank():
		return invalid("rank %d of %d sends to rank %d", job.Rank(), job.Size(), to)
	case len(head) > HeadBytes:
		return invalid("a head of %d bytes is over the limit of %d; send it as a body", len(head), HeadBytes)
	case len(body) > MaxBuffers:
		return invalid("a body of %d buffers is over the limit of %d; send several messages", len(body), MaxBuffers)
	}
	return nil
}

// CheckPlace checks the memory that a receiver gives for the body of a message, whose sizes are sent. For transports.
func CheckPlace(from int, memory [][]byte, sent []uint64) error {
	if len(memory) != len(sent) {
		return invalid("rank %d sends %d buffers, the receiver has memory for %d", from, len(sent), len(memory))
	}
	for i, m := range memory {
		if uint64(len(m)) != sent[i] {
			return invalid("rank %d sends %d bytes in buffer %d, the receiver has memory for %d", from, sent[i], i,
				len(m))
		}
	}
	return nil
}

// CheckOrder checks the number of a message, or that of all messages at the end of a stream. For transports.
func CheckOrder(stream string, from int, number, expected uint64) error {
	if number != expected {
		return &Lost{Rank: from, Code: 1, Text: fmt.Sprintf("message %d of stream %q did not arrive", expected, stream)}
	}
	return nil
}
