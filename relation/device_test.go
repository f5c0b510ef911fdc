package relation

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
)

// discreteDevice opens a device whose memory the host cannot access, so that all copies go through staging buffers.
func discreteDevice(t *testing.T) *backend.Device {
	driver, err := host.New(host.Options{Discrete: true, Poison: true}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

func nullableInts(rows, nullEvery int) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range rows {
		if nullEvery > 0 && i%nullEvery == 0 {
			b.AppendNull()
		} else {
			b.Append(int32(i * 7))
		}
	}
	return b.NewArray()
}

// TestLoadInChunks loads more rows than one staging buffer holds, with and without rows that are left out.
func TestLoadInChunks(t *testing.T) {
	ctx, device := context.Background(), discreteDevice(t)
	for _, nullEvery := range []int{0, 3} {
		table := tableOf([]arrow.Array{nullableInts(2*stageRows+12345, nullEvery)}, [][]int{nil})
		plan, err := PlanKeys(ctx, table, table, keyNames(1), keyNames(1))
		require.NoError(t, err)
		rows := plan.Rows(Left)
		wantKeys, wantIDs := make([]byte, rows*uint64(plan.KeyBytes())), make([]uint32, rows)
		require.NoError(t, plan.Encode(ctx, Left, wantKeys, wantIDs))
		keys, err := device.Allocate(context.Background(), backend.DeviceLocal, uint64(len(wantKeys)), "keys")
		require.NoError(t, err)
		ids, err := device.Allocate(context.Background(), backend.DeviceLocal, rows*4, "row numbers")
		require.NoError(t, err)
		given := backend.Range{}
		if plan.LeavesOut(Left) {
			given = ids.All()
		}
		require.NoError(t, plan.Load(ctx, device, Left, keys.All(), given))
		gotKeys, gotIDs := make([]byte, len(wantKeys)), make([]uint32, rows)
		require.NoError(t, device.Download(ctx, gotKeys, keys.All()))
		require.True(t, string(wantKeys) == string(gotKeys), "keys, a null every %d rows", nullEvery)
		if plan.LeavesOut(Left) {
			require.NoError(t, device.Download(ctx, backend.AsBytes(gotIDs), ids.All()))
			require.Equal(t, wantIDs, gotIDs)
		}
		keys.Release()
		ids.Release()
	}
}
