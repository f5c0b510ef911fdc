package hash

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
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
		lane := exec.NewLane(context.Background(), ops, nil)
		random := rand.New(rand.NewPCG(1, 2))
		few, _ := jointest.Workloads["duplicates"].Draw(random, 900, 0, 32)
		left := &jointest.Relation{KeyBytes: 4, Keys: few, Payload: []int{4, 8}}
		for _, rows := range []int{0, 1, 5000, 700} {
			_, many := jointest.Workloads["duplicates"].Draw(random, 900, rows, 32)
			right := &jointest.Relation{KeyBytes: 4, Keys: many, Payload: []int{8}}
			jointest.Check(t, ops, left, right, "probe", func(on, right resident.Relation) (*resident.Result, error) {
				table, err := Build(context.Background(), lane, on, false)
				require.NoError(t, err)
				defer table.Release()
				requireMarked(t, lane, table, right, few, many)
				distinct, err := BuildDistinct(context.Background(), lane, on)
				require.NoError(t, err)
				defer distinct.Release()
				requireMarked(t, lane, distinct, right, few, many)
				var counts [2]uint64
				for i, table := range []*Table{table, distinct} {
					counts[i], err = table.Count(context.Background(), lane, right)
					require.NoError(t, err)
				}
				require.Equal(t, counts[0], counts[1])
				first, err := table.Probe(context.Background(), lane, right, Options{OutputRows: 10})
				require.NoError(t, err)
				first.Release()
				return table.Probe(context.Background(), lane, right, Options{CountFirst: true})
			})
		}
	})
}

// requireMarked compares the marks of a relation with its keys.
func requireMarked(t *testing.T, lane *exec.Lane, table *Table, right resident.Relation, left, keys []uint64) {
	marks, err := table.Mark(context.Background(), lane, right)
	require.NoError(t, err)
	defer lane.Memory.Release(marks)
	want, got := make([]uint32, (len(keys)+31)/32), make([]uint32, (len(keys)+31)/32)
	for i, key := range keys {
		if slices.Contains(left, key) {
			want[i/32] |= 1 << (i % 32)
		}
	}
	if len(keys) > 0 {
		require.NoError(t, lane.Download(context.Background(), backend.AsBytes(got), marks.All()))
	}
	require.Equal(t, want, got)
}

// Keys that repeat too often for a table, and keys of another width, are errors.
func TestTableErrors(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		lane := exec.NewLane(context.Background(), ops, nil)
		memory := exec.NewScope(context.Background(), device, nil)
		defer memory.ReleaseAll()
		column := func(bytes int) resident.Column {
			b := memory.New(uint64(300*bytes), "test")
			require.NoError(t, memory.Err())
			var list backend.List
			list.Fill(b.All(), 7)
			require.NoError(t, device.Run(context.Background(), &list))
			return resident.Column{Data: b.All(), Bytes: bytes}
		}
		narrow, wide := resident.Relation{Rows: 300, Keys: column(4)}, resident.Relation{Rows: 300, Keys: column(8)}
		_, err = Build(context.Background(), lane, narrow, false)
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, "44 of 300 rows found no slot among 256")
		distinct, err := BuildDistinct(context.Background(), lane, narrow)
		require.NoError(t, err)
		defer distinct.Release()
		count, err := distinct.Count(context.Background(), lane, narrow)
		require.NoError(t, err)
		require.Equal(t, uint64(300*300), count)
		count, err = Count(context.Background(), lane, narrow, narrow, Options{Unpartitioned: true})
		require.NoError(t, err)
		require.Equal(t, uint64(300*300), count)
		_, err = distinct.Probe(context.Background(), lane, narrow, Options{})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "one row of each key")
		_, err = Build(context.Background(), lane, resident.Relation{Rows: 301, Keys: narrow.Keys}, false)
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		table, err := Build(context.Background(), lane, resident.Relation{}, true)
		require.ErrorIs(t, err, backend.ErrInvalidInput, "a column has values of 4 or 8 bytes, also without any")
		require.Nil(t, table)
		_, err = Join(context.Background(), lane, narrow, wide, Options{})
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, "keys of 4 and of 8 bytes")
	})
}
