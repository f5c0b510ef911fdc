package exchange_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// placed is a place under limits of memory and disk, and rows divided into seven parts.
type placed struct {
	*exchange.Place
	*exchange.Divider
	budget *exec.Budget
	file   *exchange.File
	of     *memory.CheckedAllocator
	table  arrow.Table
	dir    string
	failed []error
}

func placeUnder(t *testing.T, hostBytes, placeBytes, diskBytes uint64) *placed {
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprint(i*7919%3000))
	}
	p := &placed{budget: exec.NewBudget(exec.Need{Host: hostBytes}), dir: t.TempDir(),
		of: memory.NewCheckedAllocator(memory.DefaultAllocator), table: keyed(t, arrow.BinaryTypes.String, values)}
	p.budget.AllowDisk(diskBytes)
	grant := p.budget.Empty()
	var err error
	p.file, err = exchange.NewFile(p.dir, grant)
	require.NoError(t, err)
	schemas := [2]*arrow.Schema{p.table.Schema(), p.table.Schema()}
	hashes, err := keys.PlanHashes(schemas, [2][]string{{"k"}, {"k"}})
	require.NoError(t, err)
	p.Divider = &exchange.Divider{Hashes: hashes, Parts: 7}
	p.Place = exchange.NewPlace(exchange.PlaceOptions{Schemas: schemas, Parts: 7, Alloc: p.of, Budget: p.budget,
		File: p.file, MemoryBytes: placeBytes, Fail: func(err error) { p.failed = append(p.failed, err) }})
	t.Cleanup(func() {
		p.Close()
		require.NoError(t, p.file.Close())
		grant.Release()
		p.of.AssertSize(t, 0)
		require.Equal(t, hostBytes, p.budget.Free().Host)
		require.Equal(t, diskBytes, p.budget.Free().Disk)
		files, err := os.ReadDir(p.dir)
		require.NoError(t, err)
		require.Empty(t, files, "the file has no name")
	})
	return p
}

// divided is the rows of each part.
func (p *placed) divided(t *testing.T) []arrow.RecordBatch {
	batches, err := p.Divide(t.Context(), relation.Left, p.table, p.of)
	require.NoError(t, err)
	return batches
}

// TestPlace: parts come back as they were put, wherever they were: all in memory, some of them, or all on disk. The
// last ones are the first to go there. They can be read again until they are taken, and then leave memory and disk.
func TestPlace(t *testing.T) {
	for name, placeBytes := range map[string]uint64{"memory": 1 << 40, "both": 100_000, "disk": 0} {
		t.Run(name, func(t *testing.T) {
			p := placeUnder(t, 1<<40, placeBytes, math.MaxUint64)
			for range 2 { // two blocks of each part
				require.NoError(t, p.PutAll(t.Context(), relation.Right, p.divided(t)))
			}
			held := uint64(1<<40) - p.budget.Free().Host
			require.LessOrEqual(t, held, placeBytes)
			require.Equal(t, name == "memory", p.file.SizeBytes() == 0)
			require.Equal(t, name == "disk", held == 0)
			type reader = func(context.Context, relation.Side, int) iter.Seq2[arrow.RecordBatch, error]
			for _, read := range []reader{p.Read, p.Take} {
				for part, want := range p.divided(t) {
					require.Equal(t, 2*want.NumRows(), p.Rows(relation.Right, part))
					require.Zero(t, p.Rows(relation.Left, part))
					blocks := 0
					for batch, err := range read(t.Context(), relation.Right, part) {
						require.NoError(t, err)
						require.True(t, array.RecordEqual(want, batch))
						blocks++
						batch.Release()
					}
					require.Equal(t, 2, blocks)
					want.Release()
				}
			}
			require.EqualValues(t, 1<<40, p.budget.Free().Host, "nothing is left in memory")
			before := p.file.SizeBytes()
			require.NoError(t, p.PutAll(t.Context(), relation.Left, p.divided(t)))
			require.Equal(t, before, p.file.SizeBytes(), "the space is used again")
			p.Forget(0)
			for range p.Read(t.Context(), relation.Left, 0) {
				require.Fail(t, "the part is given up")
			}
		})
	}
}

// allocateThen allocates, and calls before the first time.
type allocateThen struct {
	memory.Allocator
	first func()
}

func (a *allocateThen) Allocate(size int) []byte {
	if first := a.first; first != nil {
		a.first = nil
		first()
	}
	return a.Allocator.Allocate(size)
}

// TestSpaceIsFreeOnceRead: a block that is taken keeps its space in the file until it has been read.
func TestSpaceIsFreeOnceRead(t *testing.T) {
	p := placeUnder(t, 1<<40, 0, math.MaxUint64)
	require.NoError(t, p.PutAll(t.Context(), relation.Right, p.divided(t)))
	want, others := p.divided(t), p.divided(t)
	for i, other := range others {
		if i > 0 {
			defer other.Release()
			others[i] = other.NewSlice(0, 0)
		}
	}
	others[0].Release()
	others[0] = want[1].NewSlice(0, want[1].NumRows()-100) // it fits in the space of what is read
	p.Alloc = &allocateThen{p.of, func() { require.NoError(t, p.PutAll(t.Context(), relation.Left, others)) }}
	for batch, err := range p.Take(t.Context(), relation.Right, 0) {
		require.NoError(t, err)
		require.True(t, array.RecordEqual(want[0], batch))
		batch.Release()
	}
	require.EqualValues(t, want[1].NumRows()-100, p.Rows(relation.Left, 0), "it was put meanwhile")
	for _, batch := range want {
		batch.Release()
	}
}

// TestFirstPartsStay: with room for about half of the rows, the first parts are never written.
func TestFirstPartsStay(t *testing.T) {
	p := placeUnder(t, 1<<40, 120_000, math.MaxUint64)
	for range 3 {
		require.NoError(t, p.PutAll(t.Context(), relation.Left, p.divided(t)))
	}
	written := p.file.SizeBytes()
	require.NotZero(t, written)
	p.Forget(6)
	p.Forget(5)
	p.Forget(0)
	p.Forget(1)
	require.NoError(t, p.PutAll(t.Context(), relation.Right, p.divided(t)))
	require.Equal(t, written, p.file.SizeBytes(), "there is room in memory, and in the file")
}

// TestPlaceGivesBack: whoever waits for memory gets the memory of a place, whose blocks go to disk. If the disk is
// full, the place fails, not the waiters.
func TestPlaceGivesBack(t *testing.T) {
	p := placeUnder(t, 1<<20, 1<<20, math.MaxUint64)
	require.NoError(t, p.PutAll(t.Context(), relation.Left, p.divided(t)))
	require.Zero(t, p.file.SizeBytes())
	grant, err := p.budget.Acquire(t.Context(), exec.Need{Host: 1 << 20})
	require.NoError(t, err)
	require.NotZero(t, p.file.SizeBytes())
	require.NoError(t, p.PutAll(t.Context(), relation.Right, p.divided(t)), "there is no memory")
	grant.Release()
	for part, want := range p.divided(t) {
		for _, side := range []relation.Side{relation.Left, relation.Right} {
			for batch, err := range p.Take(t.Context(), side, part) {
				require.NoError(t, err)
				require.True(t, array.RecordEqual(want, batch))
				batch.Release()
			}
		}
		want.Release()
	}

	p = placeUnder(t, 1<<20, 1<<20, 1000)
	require.NoError(t, p.PutAll(t.Context(), relation.Left, p.divided(t)))
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := p.budget.Acquire(ctx, exec.Need{Host: 1 << 20})
		require.ErrorIs(t, err, backend.ErrCancelled)
	})
	require.Eventually(t, func() bool { return p.Err() != nil }, 10e9, 1e6)
	cancel()
	waiting.Wait()
	require.Len(t, p.failed, 1)
	require.ErrorIs(t, p.failed[0], backend.ErrDiskSpace)
	require.ErrorIs(t, p.PutAll(t.Context(), relation.Left, p.divided(t)), backend.ErrDiskSpace)
	for _, err := range p.Take(t.Context(), relation.Left, 0) {
		require.ErrorIs(t, err, backend.ErrDiskSpace)
	}
}

// TestPlaceFails: a full disk and a cancelled context are errors; nothing leaks.
func TestPlaceFails(t *testing.T) {
	p := placeUnder(t, 1<<20, 0, 1000)
	err := p.PutAll(t.Context(), relation.Left, p.divided(t))
	require.ErrorIs(t, err, backend.ErrDiskSpace)
	require.ErrorContains(t, err, "temp_limit")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.PutAll(ctx, relation.Left, p.divided(t)), backend.ErrCancelled)
	for _, err := range p.Read(ctx, relation.Left, 0) {
		require.ErrorIs(t, err, backend.ErrCancelled)
	}
	_, err = exchange.NewFile(p.dir+"/none", p.budget.Empty())
	require.ErrorContains(t, err, "temp_dir")
}
