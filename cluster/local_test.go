package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/clustertest"
	"github.com/spirjoin/spirjoin/exec"
)

// ranks runs a program on each rank, closes the job, and returns the errors of all.
func ranks(jobs []cluster.Job, run func(ctx context.Context, job cluster.Job) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	errs := make([]error, len(jobs))
	var running sync.WaitGroup
	for rank, job := range jobs {
		running.Go(func() {
			err := run(ctx, job)
			if err != nil {
				job.Abort(err)
			}
			errs[rank] = errors.Join(err, job.Close())
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

func TestContract(t *testing.T) {
	sizes := []int{1, 2, 3, 5}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("ranks=%d", size), func(t *testing.T) {
			require.NoError(t, ranks(cluster.Local(size, cluster.LocalOptions{NodeRanks: 2}), contract))
		})
	}
}

func contract(ctx context.Context, job cluster.Job) error {
	return clustertest.Run(ctx, job, clustertest.Contract)
}

// wrong is a job whose streams change a byte of bodies of four buffers.
type wrong struct{ cluster.Job }

func (w wrong) Open(name string) cluster.Stream { return wrongStream{w.Job.Open(name)} }

type wrongStream struct{ cluster.Stream }

func (s wrongStream) Send(ctx context.Context, to int, head []byte, body ...[]byte) error {
	if len(body) == 4 {
		body[2] = bytes.Clone(body[2])
		body[2][len(body[2])-1] ^= 1
	}
	return s.Stream.Send(ctx, to, head, body...)
}

// TestContractFindsFaults: the suite fails if a byte is wrong, or a message is lost.
func TestContractFindsFaults(t *testing.T) {
	jobs := cluster.Local(2, cluster.LocalOptions{})
	require.ErrorContains(t, ranks(jobs, func(ctx context.Context, job cluster.Job) error {
		return contract(ctx, wrong{job})
	}), "buffer 2 (70000 bytes) of message 3 from rank ")
	drop := func(_ string, from, to, message int) bool { return from == 1 && message == 5 }
	jobs = cluster.Local(2, cluster.LocalOptions{Faults: cluster.Faults{Drop: drop}})
	require.ErrorContains(t, ranks(jobs, contract), "did not arrive")
}

func TestFailures(t *testing.T) {
	for _, size := range []int{2, 4} {
		for _, c := range clustertest.Failures {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.Name, size), func(t *testing.T) {
				options := cluster.Options{ExitCode: clustertest.ExitCode}
				require.NoError(t, ranks(cluster.Local(size, cluster.LocalOptions{Options: options}), c.Run))
			})
		}
	}
}

func TestStalls(t *testing.T) {
	for _, c := range clustertest.Stalls {
		t.Run(c.Name, func(t *testing.T) {
			options := cluster.Options{ExitCode: clustertest.ExitCode, Stall: 400 * time.Millisecond}
			require.NoError(t, ranks(cluster.Local(3, cluster.LocalOptions{Options: options}), c.Run))
		})
	}
}

// TestNodes: ranks share nodes as the options say.
func TestNodes(t *testing.T) {
	require.Equal(t, []int{0, 0, 1, 1, 2}, cluster.Local(5, cluster.LocalOptions{NodeRanks: 2})[3].Nodes())
	require.Equal(t, []int{0, 0, 0}, cluster.Local(3, cluster.LocalOptions{})[1].Nodes())
}

// exchange sends three messages from each rank to each other.
func exchange(ctx context.Context, job cluster.Job) error {
	s := job.Open("rows")
	flow := exec.NewFlow(ctx)
	flow.Go("send", func(ctx context.Context) error {
		for n := range byte(3) {
			for to := range job.Size() {
				if to == job.Rank() {
					continue
				}
				if err := s.Send(ctx, to, []byte{n}, []byte{n, n}); err != nil {
					return err
				}
			}
		}
		return s.End(ctx)
	})
	flow.Go("receive", func(ctx context.Context) error {
		for {
			memory := make([]byte, 2)
			_, some, err := s.Receive(ctx, func(int, []byte) ([][]byte, error) { return [][]byte{memory}, nil })
			if err != nil || !some {
				return err
			}
		}
	})
	return flow.Wait()
}

// TestPlantedFaults: delays change nothing, a lost message is found, and a dead rank is named by the stall.
func TestPlantedFaults(t *testing.T) {
	const stall = 500 * time.Millisecond
	run := func(faults cluster.Faults) error {
		options := cluster.LocalOptions{Options: cluster.Options{Stall: stall}, Faults: faults}
		return ranks(cluster.Local(3, options), exchange)
	}
	require.NoError(t, run(cluster.Faults{}))

	delayed := 0
	require.NoError(t, ranks(cluster.Local(3, cluster.LocalOptions{Faults: cluster.Faults{
		Delay: func(rank, to int) time.Duration {
			if rank == 1 && to == 2 {
				delayed++ // by one goroutine
				return 10 * time.Millisecond
			}
			return 0
		}}}), exchange))
	require.Equal(t, 3, delayed)

	for n := range 3 {
		err := run(cluster.Faults{Drop: func(stream string, from, to, message int) bool {
			return stream == "rows" && from == 2 && to == 0 && message == n
		}})
		require.ErrorIs(t, err, backend.ErrCancelled)
		require.ErrorContains(t, err, fmt.Sprintf("rank 2: message %d of stream \"rows\" did not arrive", n))
	}

	err := run(cluster.Faults{Dead: func(rank, call int) bool { return rank == 1 }})
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "rank 1 did not receive") ||
		strings.Contains(err.Error(), "neither sent nor ended"), err.Error())
}

// TestTakenBack: a message whose sender stops waiting is never received, and those after it are refused.
func TestTakenBack(t *testing.T) {
	jobs := cluster.Local(2, cluster.LocalOptions{})
	from, to := jobs[0].Open("taken back"), jobs[1].Open("taken back")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	body := []byte{1, 2, 3}
	require.ErrorIs(t, from.Send(ctx, 1, nil, body), backend.ErrTimedOut)
	require.ErrorIs(t, from.Send(context.Background(), 1, nil, body), backend.ErrTimedOut)
	place := func(int, []byte) ([][]byte, error) { return [][]byte{make([]byte, 3)}, nil }
	_, _, err := to.Receive(context.Background(), place)
	require.ErrorContains(t, err, "rank 0: it took a message back")
	require.NoError(t, from.End(context.Background()))
	require.ErrorIs(t, from.Send(context.Background(), 1, nil), backend.ErrInvalidInput)
	require.ErrorIs(t, from.End(context.Background()), backend.ErrInvalidInput)
}

func TestRanks(t *testing.T) {
	require.Equal(t, "rank 3", cluster.Ranks([]int{3}))
	require.Equal(t, "ranks 1, 2", cluster.Ranks([]int{1, 2}))
	require.Equal(t, "ranks 0, 1, 2, 3, 4, 5, 6, 7, and 2 more", cluster.Ranks([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
}

// TestRate: a message takes as long as its link needs for its bytes.
func TestRate(t *testing.T) {
	jobs := cluster.Local(2, cluster.LocalOptions{Faults: cluster.Faults{
		BytesPerSecond: func(rank, _ int) float64 { return []float64{1e6, 0}[rank] }}})
	streams := []cluster.Stream{jobs[0].Open("slow"), jobs[1].Open("slow")}
	body, received := make([]byte, 50_000), make([]byte, 50_000)
	var all sync.WaitGroup
	all.Go(func() {
		_, _, err := streams[1].Receive(t.Context(), func(int, []byte) ([][]byte, error) {
			return [][]byte{received}, nil
		})
		require.NoError(t, err)
	})
	begin := time.Now()
	require.NoError(t, streams[0].Send(t.Context(), 1, nil, body))
	require.GreaterOrEqual(t, time.Since(begin), 50*time.Millisecond)
	all.Wait()
}
