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
