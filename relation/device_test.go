package relation

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/primitive"
)

// discreteDevice is a device whose memory the host does not see, so that everything goes through staging.
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

// TestLoadInChunks loads more rows than one staging buffer holds, with rows left out and without.
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
		if plan.HasNulls(Left) {
			given = ids.All()
		}
		require.NoError(t, plan.Load(ctx, device, Left, keys.All(), given))
		gotKeys, gotIDs := make([]byte, len(wantKeys)), make([]uint32, rows)
		require.NoError(t, device.Download(ctx, gotKeys, keys.All()))
		require.True(t, string(wantKeys) == string(gotKeys), "keys, a null every %d rows", nullEvery)
		if plan.HasNulls(Left) {
			require.NoError(t, device.Download(ctx, backend.AsBytes(gotIDs), ids.All()))
			require.Equal(t, wantIDs, gotIDs)
		}
		keys.Release()
		ids.Release()
	}
}

// TestDeviceColumnOfSlices gathers a column whose chunks are slices that begin in the middle of a byte of their
// bitmaps.
func TestDeviceColumnOfSlices(t *testing.T) {
	ctx, device := context.Background(), discreteDevice(t)
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	whole := nullableInts(500, 3)
	full := nullableInts(40, 0)
	column := arrow.NewChunked(whole.DataType(), []arrow.Array{
		array.NewSlice(whole, 5, 90), array.NewSlice(full, 3, 21), array.NewSlice(whole, 101, 101),
		array.NewSlice(whole, 133, 450),
	})
	random := rand.New(rand.NewPCG(1, 2))
	ids := make([]uint32, 777)
	for i := range ids {
		ids[i] = uint32(random.IntN(column.Len()))
	}
	c, err := UploadColumn(ctx, device, "n", column, uint64(len(ids)))
	require.NoError(t, err)
	defer c.Release()
	buffer, err := device.Allocate(context.Background(), backend.DeviceLocal, uint64(len(ids)*4), "row numbers")
	require.NoError(t, err)
	defer buffer.Release()
	_, err = device.Upload(ctx, buffer.All(), backend.AsBytes(ids))
	require.NoError(t, err)
	var list backend.List
	require.NoError(t, c.RecordGather(&list, ops, buffer.All(), uint32(len(ids))))
	require.NoError(t, device.Run(ctx, &list))
	got, err := c.Fetch(ctx, device, uint32(len(ids)), memory.DefaultAllocator)
	require.NoError(t, err)
	defer got.Release()
	want, err := Take(ctx, column, ids, memory.DefaultAllocator)
	require.NoError(t, err)
	defer want.Release()
	require.Positive(t, want.NullN())
	require.True(t, array.Equal(want, got), "want %v\ngot %v", want, got)
}
