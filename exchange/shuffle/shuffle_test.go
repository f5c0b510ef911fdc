package shuffle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/relationtest"
	"github.com/spirjoin/spirjoin/source"
)

// moved are the rows of a rank after an exchange.
type moved struct {
	rows  [][2]int64 // key, -1 for NULL, and number
	stats Stats
	err   error
}

// move exchanges shares of rows with keys, -1 for NULL, of all ranks.
func move(t *testing.T, shares [][]int64, of func(rank int, o *Options)) []moved {
	t.Helper()
	keyed := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	numbered := arrow.NewSchema(append(keyed.Fields(), arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64}), nil)
	hashes, err := keys.PlanHashes([2]*arrow.Schema{keyed, keyed}, [2][]string{{"k"}, {"k"}})
	require.NoError(t, err)
	found := make([]moved, len(shares))
	var all sync.WaitGroup
	first := int64(0)
	for rank, job := range cluster.Local(len(shares), cluster.LocalOptions{}) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		valid := make([]bool, len(shares[rank]))
		for i, k := range shares[rank] {
			valid[i] = k >= 0
		}
		b.AppendValues(shares[rank], valid)
		column := b.NewArray()
		b.Release()
		batch := array.NewRecordBatch(keyed, []arrow.Array{column}, int64(column.Len()))
		column.Release()
		table := array.NewTableFromRecords(keyed, []arrow.RecordBatch{batch})
		batch.Release()
		alloc := memory.NewCheckedAllocator(relationtest.Dirty{Allocator: memory.DefaultAllocator})
		t.Cleanup(func() {
			table.Release()
			alloc.AssertSize(t, 0)
		})
		o := Options{Job: job, Stream: job.Open("side"), Schema: numbered, Number: first, BlockBytes: 200, Alloc: alloc,
			Divider: &exchange.Divider{Hashes: hashes, Parts: len(shares), Seed: 7}}
		of(rank, &o)
		first += int64(len(shares[rank]))
		all.Go(func() {
			flow, m := exec.NewFlow(context.Background()), &found[rank]
			defer context.AfterFunc(flow.Context(), func() {
				if err := context.Cause(flow.Context()); err != context.Canceled {
					job.Abort(err)
				}
			})()
			s := Start(flow, source.FromTable(table), o)
			for batch, err := range s.Source(-1).Batches(context.Background()) {
				if m.err = err; err != nil {
					break
				}
				k, n := batch.Column(0).(*array.Int64), batch.Column(1).(*array.Int64)
				for i := range k.Len() {
					m.rows = append(m.rows, [2]int64{k.Value(i), n.Value(i)})
					if k.IsNull(i) {
						m.rows[len(m.rows)-1][0] = -1
					}
				}
				batch.Release()
			}
			if err := flow.Wait(); m.err == nil {
				m.err = err
			}
			if m.stats = s.Stats(); m.err != nil {
				job.Abort(m.err)
				return
			}
			sent := job.Stats().Total()
			m.err = errors.Join(job.Close(), check(m.stats, sent))
		})
	}
	all.Wait()
	return found
}

// check compares counters with those of the transport.
func check(s Stats, sent cluster.Traffic) error {
	if s.SentBytes != uint64(sent.Bytes) || s.SentMessages != uint64(sent.Messages) {
		return fmt.Errorf("counted %+v, the transport %+v", s, sent)
	}
	return nil
}

// shares are rows with the keys 0 to 99 and NULL on each rank; the last rank has none.
func shares(ranks int) (all [][]int64) {
	for rank := range ranks {
		var keys []int64
		for i := range int64(101) {
			if keys = append(keys, i); i == 100 {
				keys[i] = -1
			}
		}
		if rank == ranks-1 && ranks > 1 {
			keys = nil
		}
		all = append(all, keys)
	}
	return all
}

// TestOwners: each row is on one rank, with its number, and rows with equal keys are on the same.
func TestOwners(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5} {
		all, owner, numbers := shares(ranks), make(map[int64]int), make(map[int64]bool)
		for rank, m := range move(t, all, func(int, *Options) {}) {
			require.NoError(t, m.err)
			require.EqualValues(t, len(m.rows), m.stats.Rows)
			for _, row := range m.rows {
				require.False(t, numbers[row[1]], "row %d came twice", row[1])
				require.Equal(t, all[row[1]/101][row[1]%101], row[0])
				numbers[row[1]] = true
				if at, known := owner[row[0]]; known && row[0] >= 0 {
					require.Equal(t, at, rank)
				}
				owner[row[0]] = rank
			}
		}
		require.Len(t, numbers, 101*max(1, ranks-1))
	}
}

// TestAll: without a division each rank has all rows.
func TestAll(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		for _, m := range move(t, shares(ranks), func(_ int, o *Options) { o.Divider = nil }) {
			require.NoError(t, m.err)
			require.Len(t, m.rows, 101*max(1, ranks-1))
		}
	}
}

// TestWitness: rows with a NULL key stay, or each rank has at least one of them and one row of each other rank that has
// any, and none twice.
func TestWitness(t *testing.T) {
	all := shares(4)
	for _, witness := range []bool{false, true} {
		withNull, nulls := 0, 0
		for _, m := range move(t, all, func(_ int, o *Options) { o.Divider.Nulls, o.Witness = true, witness }) {
			require.NoError(t, m.err)
			here, seen := false, make(map[[2]int64]bool)
			for _, row := range m.rows {
				require.False(t, seen[row])
				if seen[row] = true; row[0] < 0 {
					nulls, here = nulls+1, true
				}
			}
			if here {
				withNull++
			}
		}
		require.Equal(t, map[bool][2]int{false: {3, 3}, true: {4, 12}}[witness], [2]int{withNull, nulls})
	}
	for rank := range all {
		if n := len(all[rank]); n > 0 {
			all[rank] = all[rank][:n-1] // no NULL
		}
	}
	rows := 0
	for rank, m := range move(t, all, func(_ int, o *Options) { o.Divider.Nulls, o.Witness = true, true }) {
		require.NoError(t, m.err)
		from := make(map[int64]bool)
		for _, row := range m.rows {
			from[row[1]/100] = true
		}
		require.Len(t, from, 3, "rank %d", rank)
		rows += len(m.rows)
	}
	require.Equal(t, 300+3*3, rows)
}

// peak is an allocator that knows how much was allocated at most.
type peak struct {
	memory.Allocator
	now, most atomic.Int64
}

func (p *peak) add(sizeBytes int) {
	now := p.now.Add(int64(sizeBytes))
	for most := p.most.Load(); now > most && !p.most.CompareAndSwap(most, now); most = p.most.Load() {
	}
}

func (p *peak) Allocate(size int) []byte {
	p.add(size)
	return p.Allocator.Allocate(size)
}

func (p *peak) Reallocate(size int, b []byte) []byte {
	p.add(size - len(b))
	return p.Allocator.Reallocate(size, b)
}

func (p *peak) Free(b []byte) {
	p.add(-len(b))
	p.Allocator.Free(b)
}

// TestMemory: however slow ranks take their rows, a side holds no more blocks than it says.
func TestMemory(t *testing.T) {
	const rows, blockBytes = 60_000, 16 << 10
	var shares [][]int64
	for range 3 {
		share := make([]int64, rows)
		for i := range share {
			share[i] = int64(i)
		}
		shares = append(shares, share)
	}
	for _, all := range []bool{false, true} {
		peaks := make([]peak, 3)
		for _, m := range move(t, shares, func(rank int, o *Options) {
			peaks[rank].Allocator = o.Alloc
			if o.BlockBytes, o.Alloc = blockBytes, &peaks[rank]; all {
				o.Divider = nil
			}
		}) {
			require.NoError(t, m.err)
		}
		for rank := range peaks {
			t.Logf("rank %d: %d blocks", rank, peaks[rank].most.Load()/blockBytes)
			require.Less(t, peaks[rank].most.Load(), int64(BlocksHeld*blockBytes))
		}
	}
}

// TestRefusesMessages: the error of a message that is not one of this side names its sender, whether its head or its
// body is wrong.
func TestRefusesMessages(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String}}, nil)
	for name, m := range map[string]message{"head": {head: []byte{1, 2, 3, 4}},
		"body": {head: []byte{1, 0, 0, 1}, body: [][]byte{{9, 0, 0, 0, 1, 0, 0, 0}, {65}}}} {
		t.Run(name, func(t *testing.T) {
			jobs := cluster.Local(2, cluster.LocalOptions{})
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			flow := exec.NewFlow(t.Context())
			defer context.AfterFunc(flow.Context(), func() { jobs[0].Abort(context.Cause(flow.Context())) })()
			flow.Go("lie", func(ctx context.Context) error {
				_ = jobs[1].Open("side").Send(ctx, 0, m.head, m.body...)
				return nil
			})
			s := Start(flow, source.Empty(schema), Options{Job: jobs[0], Stream: jobs[0].Open("side"), Schema: schema,
				Number: -1, BlockBytes: 1, Alloc: alloc})
			for _, err := range s.Source(-1).Batches(t.Context()) {
				require.ErrorIs(t, err, backend.ErrInvalidInput)
				require.ErrorContains(t, err, "left side, from rank 1: ")
			}
			require.ErrorIs(t, flow.Wait(), backend.ErrInvalidInput)
		})
	}
}

// BenchmarkExchange moves rows of two columns of 8 bytes (SPIRJOIN_BENCH_ROWS, by default 2^22, in all) among four
// ranks of this process, and reports the CPU time of a GB of all rows. A quarter of them stays on its rank.
func BenchmarkExchange(b *testing.B) {
	const ranks = 4
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22) / ranks
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	build := array.NewRecordBuilder(&offheap.Shared, schema)
	defer build.Release()
	for row := range rows {
		for column := range 2 {
			build.Field(column).(*array.Int64Builder).Append(int64(uint64(row) * 0x9e3779b97f4a7c15 >> 20))
		}
	}
	batch := build.NewRecordBatch()
	defer batch.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	defer table.Release()
	hashes, err := keys.PlanHashes([2]*arrow.Schema{schema, schema}, [2][]string{{"k"}, {"k"}})
	require.NoError(b, err)
	b.SetBytes(int64(ranks * rows * 16))
	before := cputime.Now()
	for b.Loop() {
		var all sync.WaitGroup
		for _, job := range cluster.Local(ranks, cluster.LocalOptions{}) {
			all.Go(func() {
				flow := exec.NewFlow(b.Context())
				s := Start(flow, source.FromTable(table), Options{Job: job, Stream: job.Open("side"), Schema: schema,
					Number: -1, Side: relation.Left, BlockBytes: 16 << 20, Alloc: &offheap.Shared,
					Divider: &exchange.Divider{Hashes: hashes, Parts: ranks, Seed: 7}})
				for batch, err := range s.Source(-1).Batches(b.Context()) {
					if err != nil {
						b.Error(err)
						return
					}
					batch.Release()
				}
				if err := flow.Wait(); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
	gigabytes := float64(b.N) * float64(ranks*rows*16) / 1e9
	b.ReportMetric((cputime.Now()-before).Seconds()/gigabytes, "cpu-s/GB")
}
