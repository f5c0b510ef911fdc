package hash

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/primitive"
)

// A table is built once and probed by several relations.
func TestTable(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		few, _ := jointest.Workloads["duplicates"].Draw(random, 900, 0, 32)
		left := &jointest.Relation{KeyBytes: 4, Keys: few, Payload: []int{4, 8}}
		for _, rows := range []int{0, 1, 5000, 700} {
			_, many := jointest.Workloads["duplicates"].Draw(random, 900, rows, 32)
			right := &jointest.Relation{KeyBytes: 4, Keys: many, Payload: []int{8}}
			jointest.Check(t, ops, left, right, "probe", func(on, right resident.Relation) (*resident.Result, error) {
				table, err := Build(context.Background(), ops, on, false, nil)
				require.NoError(t, err)
				defer table.Release()
				requireMarked(t, device, table, right, few, many)
				first, err := table.Probe(context.Background(), right, Options{OutputRows: 10}, nil)
				require.NoError(t, err)
				first.Release()
				return table.Probe(context.Background(), right, Options{CountFirst: true}, nil)
			})
		}
	})
}

// requireMarked compares the marks of a relation with its keys.
func requireMarked(t *testing.T, device *backend.Device, table *Table, right resident.Relation, left, keys []uint64) {
	marks, err := table.Mark(context.Background(), right, nil)
	require.NoError(t, err)
	defer marks.Release()
	want, got := make([]uint32, (len(keys)+31)/32), make([]uint32, (len(keys)+31)/32)
	for i, key := range keys {
		if slices.Contains(left, key) {
			want[i/32] |= 1 << (i % 32)
		}
	}
	if len(keys) > 0 {
		require.NoError(t, device.Download(context.Background(), backend.AsBytes(got), marks.All()))
	}
	require.Equal(t, want, got)
}

// Keys that repeat too often for a table, and keys of another width, are errors.
func TestTableErrors(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		memory := resident.Memory{Context: context.Background(), Device: device}
		defer memory.ReleaseAll()
		column := func(bytes int) resident.Column {
			b := memory.New(uint64(300*bytes), "test")
			require.NoError(t, memory.Err)
			var list backend.List
			list.Fill(b.All(), 7)
			require.NoError(t, device.Run(context.Background(), &list))
			return resident.Column{Data: b.All(), Bytes: bytes}
		}
		narrow, wide := resident.Relation{Rows: 300, Keys: column(4)}, resident.Relation{Rows: 300, Keys: column(8)}
		_, err = Build(context.Background(), ops, narrow, false, nil)
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, "44 of 300 rows found no slot among 256")
		_, err = Build(context.Background(), ops, resident.Relation{Rows: 301, Keys: narrow.Keys}, false, nil)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		table, err := Build(context.Background(), ops, resident.Relation{}, true, nil)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "a column has values of 4 or 8 bytes, also without any")
		require.Nil(t, table)
		_, err = Join(context.Background(), ops, narrow, wide, Options{}, nil)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "keys of 4 and of 8 bytes")
	})
}
