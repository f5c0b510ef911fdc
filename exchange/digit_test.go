package exchange_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// TestDigit: a device finds the parts that the host finds, of keys of either width, and with any seed.
func TestDigit(t *testing.T) {
	const rows = 5000
	values := make([]string, rows)
	for i := range values {
		values[i] = fmt.Sprint(i*i%4001 - 1000)
	}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		for _, key := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
			for seed, parts := range []int{8, 128, 512} {
				table := keyed(t, key, values)
				schemas, on := [2]*arrow.Schema{table.Schema(), table.Schema()}, [2][]string{{"k"}, {"k"}}
				hashes, err := keys.PlanHashes(schemas, on)
				require.NoError(t, err)
				d := &exchange.Divider{Hashes: hashes, Parts: parts, Seed: uint64(seed), KeyBytes: hashes.ValueBytes()}
				require.Equal(t, key.(arrow.FixedWidthDataType).Bytes(), d.KeyBytes)
				divided, err := d.Divide(t.Context(), relation.Left, table, memory.DefaultAllocator)
				require.NoError(t, err)

				lane := jointest.Lane(t, device, nil)
				values := relation.Values{Data: lane.Memory.New(rows*uint64(d.KeyBytes), "keys").All(), Bytes: d.KeyBytes}
				transfers, err := relation.Transfers(table.Column(0).Data(), 0, rows, values.Data)
				require.NoError(t, err)
				_, err = device.UploadAll(t.Context(), transfers)
				require.NoError(t, err)
				digit := d.Digit()
				parted, counts, err := peers.Partition(t.Context(), lane, &relation.Chunk{Rows: rows, Keys: values}, digit.Bits,
					digit.Seed)
				require.NoError(t, err)
				got := make([]byte, parted.Keys.Data.SizeBytes)
				require.NoError(t, device.Download(t.Context(), got, parted.Keys.Data))
				var want []byte
				for part, rows := range divided {
					require.EqualValues(t, rows.NumRows(), counts[part])
					want = append(want, rows.Column(0).Data().Buffers()[1].Bytes()...)
					rows.Release()
				}
				require.Equal(t, want, got)
				lane.Memory.ReleaseAll()
			}
		}
	})
}
