package host

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

const testLimit = time.Minute

// recorder is a kernel that notes its first parameter and its group.
func recorder(log *[]string) *backend.KernelSpec {
	return &backend.KernelSpec{
		Name:   "recorder",
		Params: []string{"step"},
		Reference: reference(func(args [][]byte, params []uint32, group uint32) {
			*log = append(*log, fmt.Sprintf("%d.%d", params[0], group))
		}),
	}
}

// shuffledLog runs a few batches of all queues in the order of a seed.
func shuffledLog(t *testing.T, seed uint64) []string {
	var log []string
	driver := opener(Options{Shuffle: seed})(t)
	spec := recorder(&log)
	program, err := driver.Compile(spec, nil)
	require.NoError(t, err)
	k := &backend.Kernel{Spec: spec, Program: program}
	number := uint32(0)
	record := func(barrier bool) backend.Step {
		number++
		return backend.Step{Barrier: barrier, Command: backend.Command{
			Kind: backend.Dispatch, Kernel: k, FirstGroup: 1, EndGroup: 4, Params: []uint32{number}}}
	}
	for i := range uint64(5) {
		for role := range backend.Graphics {
			b := &backend.Batch{Role: role, Signal: i + 1,
				Steps: []backend.Step{record(i == 3), record(false), record(true)}}
			if role == backend.Download {
				b.Waits = []backend.QueuePoint{{Role: backend.Upload, Value: i + 1}}
			}
			require.NoError(t, driver.Submit(b))
		}
		if i == 2 {
			require.NoError(t, driver.Wait(context.Background(), backend.Compute, 2, testLimit))
		}
		_, err := driver.Completed(backend.Upload)
		require.NoError(t, err)
	}
	require.NoError(t, driver.Wait(context.Background(), backend.Download, 5, testLimit))
	require.NoError(t, driver.Close())
	return log
}

func TestShuffleIsDeterministic(t *testing.T) {
	first := shuffledLog(t, 42)
	for range 5 {
		require.Equal(t, first, shuffledLog(t, 42))
	}
	assert.NotEqual(t, first, shuffledLog(t, 43))

	sorted := slices.Sorted(slices.Values(first))
	assert.Len(t, slices.Compact(slices.Clone(sorted)), 5*3*3*int(backend.Graphics), "every group ran")
	assert.Len(t, sorted, 5*3*3*int(backend.Graphics), "and ran once")
}

// TestShuffleKeepsBarriers: commands of a queue with a barrier between them keep their order, and waits hold.
func TestShuffleKeepsBarriers(t *testing.T) {
	type command struct{ number, segment, first, last int }
	reordered, heldBack := false, false
	for seed := uint64(1); seed <= 20; seed++ {
		at := make(map[int][]int) // places of the groups of each command
		for i, entry := range shuffledLog(t, seed) {
			var number, group int
			_, err := fmt.Sscanf(entry, "%d.%d", &number, &group)
			require.NoError(t, err)
			at[number] = append(at[number], i)
		}
		const roles = int(backend.Graphics)
		var queues [roles][]command
		for role := range queues {
			segment := 0
			for batch := range 5 {
				for i := range 3 {
					number := batch*3*roles + role*3 + i + 1
					if i == 2 || i == 0 && batch == 3 {
						segment++
					}
					queues[role] = append(queues[role],
						command{number, segment, slices.Min(at[number]), slices.Max(at[number])})
				}
			}
			for j, later := range queues[role] {
				for _, earlier := range queues[role][:j] {
					if earlier.segment < later.segment {
						require.Less(t, earlier.last, later.first, "seed %d: commands %d and %d", seed, earlier.number,
							later.number)
					} else if later.first < earlier.first {
						reordered = true
					}
				}
			}
		}
		for batch := range 5 {
			for i := range 3 {
				upload, download := queues[backend.Upload][batch*3+i], queues[backend.Download][batch*3]
				require.Less(t, upload.last, download.first, "seed %d: download waits for upload in batch %d", seed,
					batch)
			}
		}
		heldBack = heldBack || queues[backend.Compute][14].first > queues[backend.Upload][14].last
	}
	assert.True(t, reordered, "nothing was reordered")
	assert.True(t, heldBack, "nothing was held back")
}

// TestShuffleHoldsBack: what nobody waits for does not run, unless somebody polls.
func TestShuffleHoldsBack(t *testing.T) {
	driver := opener(Options{Shuffle: 5})(t)
	for i := range uint64(3) {
		require.NoError(t, driver.Submit(&backend.Batch{Role: backend.Upload, Signal: i + 1,
			Steps: []backend.Step{{Command: backend.Command{Kind: backend.Mark}}}}))
	}
	time.Sleep(20 * time.Millisecond)
	value, err := driver.Completed(backend.Upload)
	require.NoError(t, err)
	assert.Zero(t, value)
	for polls := 0; value < 3; polls++ {
		require.Less(t, polls, 1000)
		value, err = driver.Completed(backend.Upload)
		require.NoError(t, err)
	}
	require.NoError(t, driver.Close())
}
