package peers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// laneless is a group of ranks that only talk.
func laneless(ctx context.Context, size int, body func(context.Context, *Rank) error) error {
	return RunRanks(ctx, NewLinks(nil), make([]*exec.Lane, size), nil, body)
}

// TestRounds: all ranks hear what all said, round after round.
func TestRounds(t *testing.T) {
	devicetest.HostTest(t)
	for size := 1; size <= 8; size++ {
		require.NoError(t, laneless(t.Context(), size, func(ctx context.Context, r *Rank) error {
			for round := range uint64(100) {
				said, err := r.Gather(ctx, fmt.Sprint(round), putNumbers(round, uint64(r.Rank())))
				if err != nil {
					return err
				}
				numbers, err := allNumbers(said, 2)
				if err != nil {
					return err
				}
				for rank, of := range numbers {
					if of[0] != round || of[1] != uint64(rank) || len(numbers) != size {
						return fmt.Errorf("round %d: %v", round, numbers)
					}
				}
			}
			return Barrier(ctx, r, "end")
		}))
	}
}

// TestRanksThatFail: one that fails, panics, ends early or is in another round ends all, at once and with its error.
func TestRanksThatFail(t *testing.T) {
	devicetest.HostTest(t)
	planted := errors.New("planted")
	for name, test := range map[string]struct {
		last func(ctx context.Context, r *Rank) error
		want func(err error)
	}{
		"error": {func(context.Context, *Rank) error { return planted }, func(err error) {
			require.ErrorIs(t, err, planted)
			require.ErrorContains(t, err, "rank 3")
		}},
		"panic": {func(context.Context, *Rank) error { panic(planted) },
			func(err error) { require.ErrorIs(t, err, planted) }},
		"end": {func(context.Context, *Rank) error { return nil }, func(err error) {
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "ended before round")
		}},
		"other round": {func(ctx context.Context, r *Rank) error { return Barrier(ctx, r, "other") }, func(err error) {
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "round")
		}},
	} {
		start := time.Now()
		test.want(laneless(t.Context(), 4, func(ctx context.Context, r *Rank) error {
			if r.Rank() == 3 {
				return test.last(ctx, r)
			}
			err := Barrier(ctx, r, "one")
			if name == "error" && !errors.Is(err, planted) {
				t.Errorf("a rank that waits is not told why: %v", err)
			}
			return err
		}))
		require.Less(t, time.Since(start), 10*time.Second)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := laneless(ctx, 3, func(ctx context.Context, r *Rank) error {
		if r.Rank() == 2 {
			cancel()
			<-ctx.Done()
			return backend.ContextError(ctx)
		}
		return Barrier(ctx, r, "one")
	})
	require.ErrorIs(t, err, backend.ErrCancelled)
	require.ErrorIs(t, RunRanks(t.Context(), nil, make([]*exec.Lane, 2), []uint32{1}, nil), backend.ErrInvalidInput)
	require.ErrorIs(t, RunRanks(t.Context(), nil, make([]*exec.Lane, 2), []uint32{0, 0}, nil), backend.ErrInvalidInput)
}
