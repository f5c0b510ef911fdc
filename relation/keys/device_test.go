package keys

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
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

// TestLoadInPieces loads more rows than the staging memory holds at a time, with and without rows that are left out,
// with keys of 4 and of 8 bytes.
func TestLoadInPieces(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	ctx, device := context.Background(), discreteDevice(t)
	const rows = 17*backend.StagedBytes/8 + 12345
	for _, nullEvery := range []int{0, 3} {
		for columns := 1; columns <= 2; columns++ {
			column := nullableInts(rows, nullEvery)
			table := tableOf([]arrow.Array{column, column}[:columns], make([][]int, columns))
			plan, err := PlanJoin(ctx, table, table, keyNames(columns), keyNames(columns))
			require.NoError(t, err)
			require.Equal(t, 4*columns, plan.KeyBytes())
			want := make([]byte, plan.Rows(relation.Left)*uint64(plan.KeyBytes()))
			require.NoError(t, plan.Encode(ctx, relation.Left, want, make([]uint32, plan.Rows(relation.Left))))
			keys, err := device.Allocate(ctx, backend.DeviceLocal, uint64(len(want)), "keys")
			require.NoError(t, err)
			err = plan.LoadRows(ctx, device, relation.Left, 0, rows, keys.All())()
			require.NoError(t, err)
			got := make([]byte, len(want))
			require.NoError(t, device.Download(ctx, got, keys.All()))
			require.True(t, string(want) == string(got), "keys, a null every %d rows", nullEvery)
			keys.Release()
		}
	}
}
