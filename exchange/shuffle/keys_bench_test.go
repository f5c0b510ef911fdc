package shuffle

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/mpi"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/cputime"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
)

// keyTables are the sorted keys of TPC-H, 8 of each 32 numbers, and a random payload: one row of each order, with a
// customer, or four lines, with a price in cents.
var keyTables = map[string]func(row, random uint64) (key, payload int64){
	"o_orderkey": func(row, random uint64) (int64, int64) {
		return int64(row/8*32 + row%8), int64(random % 15_000_000)
	},
	"l_orderkey": func(row, random uint64) (int64, int64) {
		return int64(row/32*32 + row/4%8), int64(random % 10_500_000)
	},
}

// keyTable returns the share of a rank, and the sum of all its values.
func keyTable(b *testing.B, name string, rank, rows int) (table arrow.Table, sum uint64) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	build := array.NewRecordBuilder(&offheap.Shared, schema)
	defer build.Release()
	for column := range 2 {
		build.Field(column).(*array.Int64Builder).Reserve(rows)
	}
	for i := range rows {
		row := uint64(rank*rows + i)
		k, v := keyTables[name](row, row*0x9e3779b97f4a7c15>>20)
		build.Field(0).(*array.Int64Builder).Append(k)
		build.Field(1).(*array.Int64Builder).Append(v)
		sum += uint64(k) + uint64(v)
	}
	batch := build.NewRecordBatch()
	defer batch.Release()
	table = array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	b.Cleanup(table.Release)
	return table, sum
}

// exchangeOnce moves the share of a rank, and returns the sum of all values that come if check is set.
func exchangeOnce(ctx context.Context, job cluster.Job, table arrow.Table, blockBytes uint64, coding Coding,
	check bool) (sum uint64, stats Stats, err error) {
	hashes, err := keys.PlanHashes([2]*arrow.Schema{table.Schema(), table.Schema()}, [2][]string{{"k"}, {"k"}})
	if err != nil {
		return 0, stats, err
	}
	flow := exec.NewFlow(ctx)
	defer context.AfterFunc(flow.Context(), func() {
		if err := context.Cause(flow.Context()); err != context.Canceled {
			job.Abort(err)
		}
	})()
	s := Start(flow, source.FromTable(table), Options{Job: job, Stream: job.Open("keys"), Schema: table.Schema(),
		Number: -1, BlockBytes: blockBytes, Alloc: &offheap.Shared, Coding: coding,
		Divider: &exchange.Divider{Hashes: hashes, Parts: job.Size(), Seed: 7}})
	for batch, err := range s.Source(-1).Batches(ctx) {
		if err != nil {
			return 0, stats, flow.End(err)
		}
		if check {
			for _, column := range batch.Columns() {
				for _, v := range column.(*array.Int64).Int64Values() {
					sum += uint64(v)
				}
			}
		}
		batch.Release()
	}
	err = flow.Wait()
	return sum, s.Stats(), err
}

// exchangeRounds moves the share of a rank several times after a round that checks the sum of all values, and returns
// the median time of all ranks.
func exchangeRounds(ctx context.Context, job cluster.Job, table arrow.Table, sum uint64, blockBytes uint64,
	coding Coding) (median time.Duration, stats Stats, err error) {
	const rounds = 5
	var times []time.Duration
	for round := range 1 + rounds {
		if _, err := job.Gather(ctx, "begin", nil); err != nil {
			return 0, stats, err
		}
		begin, got := time.Now(), uint64(0)
		if got, stats, err = exchangeOnce(ctx, job, table, blockBytes, coding, round == 0); err != nil {
			return 0, stats, err
		}
		said, err := job.Gather(ctx, "end", binary.LittleEndian.AppendUint64(nil, got-sum))
		if err != nil {
			return 0, stats, err
		}
		if round > 0 {
			times = append(times, time.Since(begin))
			continue
		}
		wrong := uint64(0)
		for _, difference := range said {
			wrong += binary.LittleEndian.Uint64(difference)
		}
		if wrong != 0 {
			return 0, stats, fmt.Errorf("the sum of all values differs by %d", int64(wrong))
		}
	}
	slices.Sort(times)
	return times[rounds/2], stats, nil
}

// BenchmarkSlowLink moves the keys of orders and lines (SPIRJOIN_BENCH_ROWS for each of two ranks, by default 2^20) over
// links of some rate, in MB/s, raw, encoded on the host, and as the measured rate of the link suggests.
func BenchmarkSlowLink(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<20)
	for _, name := range []string{"o_orderkey", "l_orderkey"} {
		for _, rate := range []float64{50, 200, 1000} {
			for coder, coding := range map[string]Coding{"off": {}, "host": {Coder: codec.Host{}, Forced: true},
				"auto": {Coder: codec.Host{Sharers: 2}}} {
				b.Run(fmt.Sprintf("column=%s/link=%g/codec=%s", name, rate, coder), func(b *testing.B) {
					tables, sums := [2]arrow.Table{}, [2]uint64{}
					for rank := range tables {
						tables[rank], sums[rank] = keyTable(b, name, rank, rows)
					}
					before := cputime.Now()
					for b.Loop() {
						var all sync.WaitGroup
						for rank, job := range cluster.Local(2, cluster.LocalOptions{Faults: cluster.Faults{
							BytesPerSecond: func(int, int) float64 { return rate * 1e6 }}}) {
							all.Go(func() {
								median, stats, err := exchangeRounds(b.Context(), job, tables[rank], sums[rank], 2<<20, coding)
								if err != nil {
									b.Error(err)
								}
								if rank == 0 && err == nil {
									report(b, 2*rows, median, stats)
								}
							})
						}
						all.Wait()
					}
					b.ReportMetric((cputime.Now()-before).Seconds()/float64(b.N), "cpu-s/op")
				})
			}
		}
	}
}

// report reports GB/s of all rows of all ranks, and the ratio of what a rank sends.
func report(b *testing.B, rows int, median time.Duration, stats Stats) {
	b.ReportMetric(float64(rows)*16/1e9/median.Seconds(), "GB/s")
	b.ReportMetric(float64(stats.RawBytes)/float64(max(1, stats.SentBytes)), "ratio")
}

// BenchmarkDevices moves the keys of orders and lines (SPIRJOIN_BENCH_ROWS for each rank, by default 2^22) between two
// ranks, raw, encoded on the host, and encoded by a device of each rank's own. Ranks are goroutines or, under an MPI
// launcher, processes of one device each; then it needs -test.benchtime=1x, so that all ranks do the same:
//
//	go test -c ./exchange/shuffle && SPIRJOIN_TEST_DEVICES=nvidia SPIRJOIN_BENCH_ROWS=67108864 \
//	  mpirun -n 2 --bind-to none ./shuffle.test -test.run '^$' -test.bench Devices -test.benchtime 1x
func BenchmarkDevices(b *testing.B) {
	rows := devicetest.Rows(b, "SPIRJOIN_BENCH_ROWS", 1<<22)
	const size, coderBytes, blockBytes = 2, 1 << 30, 64 << 20
	jobs := func() []cluster.Job { return cluster.Local(size, cluster.LocalOptions{}) }
	if mpi.LaunchedRanks() > 0 {
		job, err := mpi.Start(cluster.Options{Stall: time.Minute})
		require.NoError(b, err)
		require.Equal(b, size, job.Size(), "ranks")
		defer func() { require.NoError(b, job.Close()) }()
		jobs = func() []cluster.Job { return []cluster.Job{job} }
	}
	devicetest.BenchGroup(b, size, func(devices []*backend.Device, device string) {
		for _, name := range []string{"o_orderkey", "l_orderkey"} {
			for _, coder := range []string{"off", "host", "device"} {
				b.Run(fmt.Sprintf("device=%s/column=%s/codec=%s", device, name, coder), func(b *testing.B) {
					if mpi.LaunchedRanks() > 0 && b.N != 1 {
						b.Fatal("ranks of MPI need -test.benchtime=1x")
					}
					for range b.N {
						var all sync.WaitGroup
						for _, job := range jobs() {
							table, sum := keyTable(b, name, job.Rank(), rows)
							coding := Coding{Forced: true}
							switch coder {
							case "host":
								coding.Coder = codec.Host{Sharers: size}
							case "device":
								ops, err := primitive.New(devices[job.Rank()], jointest.Tuning(b, devices[job.Rank()].Info()))
								require.NoError(b, err)
								coding.Coder = codec.NewDevice(ops, nil, coderBytes)
							}
							all.Go(func() {
								median, stats, err := exchangeRounds(b.Context(), job, table, sum, blockBytes, coding)
								if err != nil {
									job.Abort(err)
									b.Error(err)
								} else if job.Rank() == 0 || mpi.LaunchedRanks() > 0 {
									report(b, size*rows, median, stats)
								}
							})
						}
						all.Wait()
					}
				})
			}
		}
	})
}
