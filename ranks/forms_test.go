package ranks_test

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/ranks"
	"github.com/spirjoin/spirjoin/source"
)

var (
	int64s = arrow.PrimitiveTypes.Int64
	onK    = []string{"k"}
	// blocks are small, so that each rank sends several messages.
	blocks = ranks.Knobs{Owners: true, BlockBytes: 1000}
)

// TestForms: counts, pairs, chosen columns and indicators of joins over ranks.
func TestForms(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{300, 90, 0, 0.1}), table(t, 2, int64s, shape{200, 90, 0, 0.1})
		for _, s := range []setup{{size: 1}, {size: 3, knobs: blocks}, {size: 4, knobs: ranks.Knobs{Copies: true}}} {
			for _, spec := range []join.Spec{
				{On: onK, Output: join.Count}, {On: onK, Output: join.Count, How: join.Full},
				{On: onK, Output: join.Pairs}, {How: join.Cross, Output: join.Count},
				{On: onK, How: join.Full, Indicator: "from", Columns: []string{"from", "k"}},
				{On: onK, How: join.Mark, MarkName: "found", Columns: []string{"found"}},
				{On: onK, How: join.Right, SeparateKeys: true},
				{On: onK, BatchRows: 7, BuildSide: join.BuildRight},
			} {
				check(t, device, s, left, right, spec)
			}
		}
	})
}

// TestOrders: the output of the ranks, one after the other, is in the order of a side, whose rows stay, or to whose
// ranks the output moves.
func TestOrders(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{120, 50, 0, 0.1}), table(t, 2, int64s, shape{90, 50, 0, 0.1})
		for _, how := range kinds {
			for _, order := range []join.Order{join.Unordered, join.LeftOrder, join.RightOrder} {
				spec := join.Spec{How: how, Order: order, Deterministic: order == join.Unordered}
				if how != join.Cross {
					spec.On = onK
				}
				if spec.Check() != nil {
					continue // of a side that is not there
				}
				s := setup{size: 4, unknown: order == join.LeftOrder, knobs: ranks.Knobs{BlockBytes: 500}}
				check(t, device, s, left, right, spec)
				if !devicetest.RaceDetector {
					s.knobs.Copies, s.knobs.Owners = how != join.Cross, false
					check(t, device, s, left, right, spec)
				}
				s.knobs.Copies, s.knobs.Owners, s.unknown = false, how != join.Cross, !s.unknown
				found := check(t, device, s, left, right, spec)
				require.Equal(t, how != join.Cross, found[0].way == ranks.Owners)
				if how == join.Left && order == join.LeftOrder {
					require.Zero(t, found[s.size-2].rows, "of a rank that has no left rows")
				}
			}
		}
		s := setup{size: 3, limitBytes: 64 << 20, knobs: ranks.Knobs{BlockBytes: 500}}
		check(t, device, s, left, right, join.Spec{On: onK, Order: join.RightOrder})
	})
}

// TestPairNumbers: pairs have the row numbers of the whole tables.
func TestPairNumbers(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{300, 90, 0, 0.1}), table(t, 2, int64s, shape{200, 90, 0, 0.1})
		want, got := make(map[[2]int]int), make(map[[2]int]int)
		for _, row := range oracle.Join(left, right, join.Spec{On: onK}) {
			want[[2]int{row.Left, row.Right}]++
		}
		spec := join.Spec{On: onK, Output: join.Pairs}
		for _, o := range run(t, device, setup{size: 3, knobs: blocks}, left, right, spec) {
			require.NoError(t, o.err)
			for _, p := range o.pairs {
				got[p]++
			}
		}
		require.Equal(t, want, got)
	})
}

// TestUniqueKeys: keys that must be unique are checked over all ranks, and errors name rows of the whole table, or of a
// rank if nobody knows how many rows the others have. Keys of both sides may have to be unique.
func TestUniqueKeys(t *testing.T) {
	unique := func(t *testing.T, seed uint64, rows int) arrow.Table {
		return numbered(t, seed, rows, func(i int) int64 { return int64(i * 7 % rows) })
	}
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		few, many := unique(t, 1, 97), table(t, 2, int64s, shape{300, 90, 0, 0.1})
		twice := numbered(t, 3, 97, func(i int) int64 { return int64(i % 90) })
		for _, s := range []setup{{size: 3, knobs: blocks}, {size: 3, knobs: blocks, unknown: true}, {size: 2}} {
			check(t, device, s, many, few, join.Spec{On: onK, Validate: join.ManyToOne})
			check(t, device, s, few, many, join.Spec{On: onK, Validate: join.OneToMany, How: join.Full})
			check(t, device, s, few, unique(t, 4, 97), join.Spec{On: onK, Validate: join.OneToOne, How: join.Left})
			for _, v := range []join.Validate{join.ManyToOne, join.OneToOne} {
				found := run(t, device, s, unique(t, 5, 60), twice, join.Spec{On: onK, Validate: v})
				requireFails(t, found, backend.ErrInvalidInput, "keys of the right table must be unique")
				named := regexp.MustCompile(`rows (\d+)( of rank \d)? and (\d+)( of rank \d)? both have k=(\d)`)
				for _, o := range found {
					row := named.FindStringSubmatch(o.err.Error())
					require.NotNil(t, row, "%v", o.err)
					require.Equal(t, row[5], row[1], "%v", o.err) // of rank 0
					if s.unknown {
						require.Equal(t, []string{" of rank 0", " of rank 2"}, []string{row[2], row[4]})
					} else {
						require.Equal(t, "9"+row[5], row[3], "%v", o.err)
					}
				}
			}
		}
	})
}

// requireFails checks that one rank failed with an error, or all did, and that the others say which rank it was.
func requireFails(t *testing.T, found []outcome, sentinel error, texts ...string) {
	t.Helper()
	failed := 0
	for _, o := range found {
		require.Error(t, o.err)
		for _, text := range texts {
			require.ErrorContains(t, o.err, text)
		}
		if lost := (*cluster.Lost)(nil); errors.As(o.err, &lost) {
			require.ErrorIs(t, o.err, backend.ErrCancelled)
			continue
		}
		failed++
		require.ErrorIs(t, o.err, sentinel)
	}
	require.NotZero(t, failed)
}

// TestMaxOutputRows: the limit holds for all ranks together.
func TestMaxOutputRows(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{300, 30, 0, 0}), table(t, 2, int64s, shape{200, 30, 0, 0})
		all := uint64(len(oracle.Join(left, right, join.Spec{On: onK})))
		s := setup{size: 3, knobs: blocks}
		for _, output := range []join.Output{join.Rows, join.Count, join.Pairs} {
			check(t, device, s, left, right, join.Spec{On: onK, Output: output, MaxOutputRows: all})
			requireFails(t, run(t, device, s, left, right, join.Spec{On: onK, Output: output, MaxOutputRows: all - 1}),
				backend.ErrLimit, "max_output_rows")
		}
		requireFails(t, run(t, device, s, left, right, join.Spec{On: onK, BatchRows: 1, MaxOutputRows: all / 2}),
			backend.ErrLimit, "max_output_rows")
		requireFails(t, run(t, device, s, left, right, join.Spec{How: join.Cross, MaxOutputRows: 300*200 - 1}),
			backend.ErrLimit, "300 x 200 rows")
	})
}

// TestCountStopsEarly: a rank that has drawn nothing yet learns that the others have too many rows.
func TestCountStopsEarly(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		hot := numbered(t, 1, 600, func(i int) int64 { return int64(i / 20) })
		all := uint64(len(oracle.Join(hot, hot, join.Spec{On: onK})))
		found := run(t, device, setup{size: 3, knobs: ranks.Knobs{Copies: true}}, hot, hot,
			join.Spec{On: onK, BatchRows: 1, MaxOutputRows: all/2 + 1})
		requireFails(t, found, backend.ErrLimit, "max_output_rows")
		drawn := uint64(0)
		for _, o := range found {
			drawn += o.rows
		}
		require.Less(t, drawn, all)
	})
}

// TestMemoryLimits: ranks keep within their limits, and spill.
func TestMemoryLimits(t *testing.T) {
	devicetest.SkipRace(t)
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := numbered(t, 1, 9000, func(i int) int64 { return int64(i) * 7919 % 7001 }),
			numbered(t, 2, 7000, func(i int) int64 { return int64(i) })
		for how, knobs := range map[join.How]ranks.Knobs{join.Inner: {Copies: true}, join.Full: {Owners: true},
			join.NotIn: {Owners: true}} {
			s := setup{size: 3, limitBytes: 32 << 20, tempDir: t.TempDir(), divides: 10 << 10, knobs: knobs}
			for rank, o := range check(t, device, s, left, right, join.Spec{On: onK, How: how}) {
				require.Greater(t, o.parts, 1, "%s, rank %d", how, rank)
			}
		}
		for how, output := range map[join.How]join.Output{join.Full: join.Rows, join.Inner: join.Pairs,
			join.Left: join.Count} {
			s := setup{size: 3, limitBytes: 48 << 20, tempDir: t.TempDir(), divides: 10 << 10,
				knobs: ranks.Knobs{Owners: true}}
			for rank, o := range check(t, device, s, left, right, join.Spec{On: onK, How: how, Order: join.RightOrder,
				Output: output}) {
				require.Greater(t, o.parts, 1, "%s, rank %d", how, rank)
			}
		}
		unique := join.Spec{On: onK, Validate: join.OneToOne}
		check(t, device, setup{size: 2, limitBytes: 100 << 20}, right, right, unique)
		many := numbered(t, 3, 500_000, func(i int) int64 { return int64(i) })
		requireFails(t, run(t, device, setup{size: 2, limitBytes: 7 << 20, knobs: ranks.Knobs{Owners: true}}, many,
			many, unique), backend.ErrHostMemory, "collect the")
	})
}

// TestRefused: what is not done is refused on all ranks, and so are differences, which name both ranks.
func TestRefused(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{30, 9, 0, 0}), table(t, 2, int64s, shape{20, 9, 0, 0})
		s := setup{size: 3}
		for name, spec := range map[string]join.Spec{"hmg": {On: onK, Strategy: join.StrategyHMG}} {
			requireFails(t, run(t, device, s, left, right, spec), backend.ErrUnsupported, name)
		}
		pairs := join.Spec{On: onK, Output: join.Pairs}
		requireFails(t, run(t, device, setup{size: 3, unknown: true}, left, right, pairs),
			backend.ErrUnsupported, "tables")
		requireFails(t, run(t, device, s, left, right, join.Spec{On: onK, How: join.NotIn, BuildSide: join.BuildLeft}),
			backend.ErrUnsupported, "build side")
		requireFails(t, run(t, device, s, left, right, join.Spec{On: []string{"none"}}), backend.ErrInvalidInput,
			"none")
		check(t, device, setup{size: 1}, left, right, join.Spec{On: onK, Order: join.LeftOrder})

		other := table(t, 1, arrow.PrimitiveTypes.Int32, shape{30, 9, 0, 0})
		for want, differs := range map[string]func(rank int) (l, r source.Source, spec join.Spec){
			"How is inner and left": func(rank int) (l, r source.Source, spec join.Spec) {
				if spec.On = onK; rank == 2 {
					spec.How = join.Left
				}
				return share(left, rank, 3), share(right, rank, 3), spec
			},
			"left column k is int64, nullable true and int32, nullable true": func(rank int) (
				l, r source.Source, spec join.Spec) {
				if l = share(left, rank, 3); rank == 2 {
					l = share(other, rank, 3)
				}
				return l, share(right, rank, 3), join.Spec{On: onK}
			},
		} {
			requireFails(t, runEach(t, device, s, differs), backend.ErrInvalidInput, "ranks 0 and 2 differ: "+want)
		}
		speed := func(rank int) (l, r source.Source, spec join.Spec) {
			return share(left, rank, 3), share(right, rank, 3), join.Spec{On: onK, BatchRows: 10 + rank,
				Progress: func(join.Progress) {}}
		}
		for _, o := range runEach(t, device, s, speed) {
			require.NoError(t, o.err, "what only concerns one rank may differ")
		}
	})
}

// failing yields some rows and then an error, or panics.
func failing(s source.Source, rows int, err error) source.Source {
	return source.Source{Schema: s.Schema, Rows: -1,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				for batch := range s.Batches(ctx) {
					first := batch.NewSlice(0, min(int64(rows), batch.NumRows()))
					batch.Release()
					if !yield(first, nil) {
						return
					}
					break
				}
				if err == nil {
					panic("the source panics")
				}
				yield(nil, err)
			}
		}}
}

// TestFailures: the error of one rank, its death, and lost messages end the join of all ranks.
func TestFailures(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{300, 90, 0, 0.1}), table(t, 2, int64s, shape{200, 90, 0, 0.1})
		s := setup{size: 3, knobs: blocks}
		for want, err := range map[string]error{"disk on fire": errors.New("disk on fire"), "the source panics": nil} {
			for side := range 2 {
				requireFailsAt(t, 0, runEach(t, device, s, func(rank int) (l, r source.Source, spec join.Spec) {
					of := [2]source.Source{share(left, rank, 3), share(right, rank, 3)}
					if rank == 0 {
						of[side] = failing(of[side], 5, err)
					}
					return of[0], of[1], join.Spec{On: onK, How: join.Full}
				}), want)
			}
		}
		s.options.Stall = 300 * time.Millisecond
		for _, call := range []int{0, 3, 10} {
			s.faults = cluster.Faults{Dead: func(rank, n int) bool { return rank == 2 && n >= call }}
			for rank, o := range run(t, device, s, left, right, join.Spec{On: onK}) {
				require.ErrorContains(t, o.err, "within 300ms", "rank %d", rank)
			}
		}
		s.faults = cluster.Faults{Drop: func(_ string, from, to, message int) bool {
			return from == 0 && to == 2 && message == 1
		}}
		for _, o := range run(t, device, s, left, right, join.Spec{On: onK}) {
			require.ErrorContains(t, o.err, "rank 0: message 1 of stream")
			require.ErrorContains(t, o.err, "did not arrive")
		}
	})
}

// requireFailsAt checks that a rank failed, and that the others name it.
func requireFailsAt(t *testing.T, failed int, found []outcome, want string) {
	t.Helper()
	for rank, o := range found {
		require.ErrorContains(t, o.err, want)
		lost := (*cluster.Lost)(nil)
		require.Equal(t, rank != failed, errors.As(o.err, &lost), "%v", o.err)
		require.True(t, rank == failed || lost.Rank == failed)
	}
}

// TestDelays: ranks that are slow here and there change nothing.
func TestDelays(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{300, 90, 0.3, 0.1}), table(t, 2, int64s, shape{100, 90, 0, 0.1})
		for slow := range 3 {
			s := setup{size: 3, knobs: blocks, faults: cluster.Faults{Delay: func(rank, to int) time.Duration {
				if rank == slow || to == slow {
					return 3 * time.Millisecond
				}
				return 0
			}}}
			for _, how := range []join.How{join.Full, join.NotIn} {
				check(t, device, s, left, right, join.Spec{On: onK, How: how})
			}
		}
	})
}

// TestCancelled: the context of one rank ends the join of all.
func TestCancelled(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{600, 90, 0, 0.1}), table(t, 2, int64s, shape{200, 90, 0, 0.1})
		found := runEach(t, device, setup{size: 3, knobs: blocks}, func(rank int) (l, r source.Source, spec join.Spec) {
			if spec = (join.Spec{On: onK, BatchRows: 1}); rank == 1 {
				spec.BatchRows = cancelsEarly
			}
			return share(left, rank, 3), share(right, rank, 3), spec
		})
		requireFailsAt(t, 1, found, "cancelled")
		require.ErrorIs(t, found[1].err, backend.ErrCancelled)
	})
}

// TestUndrawn: a rank that closes its result early ends the job; one whose local join needs no more rows does not.
func TestUndrawn(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{600, 90, 0, 0.1}), table(t, 2, int64s, shape{200, 90, 0, 0.1})
		one := numbered(t, 3, 1, func(int) int64 { return 5 }) // two ranks have no build rows
		check(t, device, setup{size: 3, knobs: blocks, unknown: true}, left, one,
			join.Spec{On: onK, BuildSide: join.BuildRight})

		found := runEach(t, device, setup{size: 3, knobs: blocks}, func(rank int) (l, r source.Source, spec join.Spec) {
			if spec = (join.Spec{On: onK, BatchRows: 1}); rank == 1 {
				spec.BatchRows = closesEarly
			}
			return share(left, rank, 3), share(right, rank, 3), spec
		})
		for rank, o := range found {
			require.ErrorIs(t, o.err, backend.ErrCancelled, "rank %d", rank)
			require.ErrorContains(t, o.err, "closed before")
		}
	})
}

// TestSpeeds: ranks own shares of the keys by their speeds, and the output is that of equal shares.
func TestSpeeds(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		const rows = 9000
		left, right := numbered(t, 1, rows, func(i int) int64 { return int64(i) * 7919 % rows }),
			numbered(t, 2, rows, func(i int) int64 { return int64(i) })
		s := setup{size: 3, knobs: ranks.Knobs{Owners: true}, speeds: []float64{1e5, 3e5, 1e5}}
		for _, how := range []join.How{join.Inner, join.Full, join.Anti} {
			found := check(t, device, s, left, right, join.Spec{On: onK, How: how})
			if how == join.Inner {
				for rank, want := range []float64{0.2, 0.6, 0.2} {
					require.InDelta(t, want*rows, float64(found[0].totals.Rows[rank]), 0.03*rows, "rank %d", rank)
				}
			}
		}
	})
}
