package exec

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// TestLane runs a list: its result, memory and profile belong to the lane alone.
func TestLane(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{})
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	ctx := context.Background()
	one, other := NewLane(ctx, ops, nil), NewLane(ctx, ops, nil)
	defer one.Memory.ReleaseAll()
	temporary := one.Scope(ctx)
	defer temporary.ReleaseAll()
	numbers := temporary.New(1000*4, "numbers")
	require.NoError(t, temporary.Err())
	list := one.List("count up")
	require.NoError(t, one.Iota(list, numbers.All(), 1000, 0))
	require.NoError(t, one.Submit(ctx, list))
	var last [4]byte
	require.NoError(t, one.Download(ctx, last[:], numbers.Range(999*4, 4)))
	require.EqualValues(t, 999, binary.LittleEndian.Uint32(last[:]))
	stages := one.Profile.Stages()
	require.Len(t, stages, 1)
	require.Equal(t, "count up", stages[0].Stage)
	require.Empty(t, other.Profile.Stages())
}

func TestProgress(t *testing.T) {
	type step struct {
		phase          string
		done, expected uint64
	}
	var steps []step
	p := NewProgress(func(phase string, done, expected uint64) { steps = append(steps, step{phase, done, expected}) })
	p.Start("sort", 0)
	p.Start("output", 30)
	p.Add(10)
	p.Add(20)
	require.Equal(t, []step{{"sort", 0, 0}, {"output", 0, 30}, {"output", 10, 30}, {"output", 30, 30}}, steps)
	NewProgress(nil).Start("nobody", 1)
}
