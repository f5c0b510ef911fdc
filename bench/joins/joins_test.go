package joins

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// cell is a workload of few rows, changed.
func cell(change func(*Cell)) Cell {
	c := Cell{Spec: workload.DefaultPKFK(4000, 9000)}
	change(&c)
	return c
}

var cells = []Cell{
	cell(func(c *Cell) {}),
	cell(func(c *Cell) {
		c.Spec.KeyBytes, c.Spec.RPayloads, c.Spec.SPayloads, c.Spec.MatchRatio = 8, []int{8, 4}, []int{8}, 0.3
	}),
	cell(func(c *Cell) { c.Spec.Zipf, c.Spec.RPayloads, c.Spec.SPayloads = 1.5, nil, []int{4, 8, 4} }),
	cell(func(c *Cell) {
		c.Spec.Multiplicity, c.Spec.SelfJoin, c.Spec.SRows = workload.Multiplicity{8, 16}, true, 4000
	}),
	cell(func(c *Cell) {
		c.Spec.RPayloads, c.Spec.SPayloads, c.Spec.Multiplicity = nil, nil, workload.Multiplicity{3, 3}
	}),
	cell(func(c *Cell) { c.Dimensions = 3 }),
	cell(func(c *Cell) { c.Spec.Distinct, c.Spec.RRows, c.Spec.SRows = 100, 700, 1000 }),
	cell(func(c *Cell) { c.Spec.RRows, c.Spec.SRows, c.Spec.MatchRatio = 9000, 4000, 0.5 }), // S is the build side
	cell(func(c *Cell) { c.Spec.SelfJoin, c.Spec.SRows, c.Spec.Zipf = true, 4000, 0.9 }),    // both are skewed
	cell(func(c *Cell) { c.Crossed = workload.CrossedSpec{Hot: 3, HotRows: 20} }),
}

// kinds are joins of rows with and without a partner.
var kinds = []Cell{
	cell(func(c *Cell) { c.Spec.MatchRatio = 0.5 }),
	cell(func(c *Cell) { c.Spec.MatchRatio, c.Spec.RRows, c.Spec.SRows = 0.5, 9000, 4000 }),
	cell(func(c *Cell) { c.Spec.MatchRatio, c.Granule, c.Window = 0.5, 1<<10, 1<<11 }),
	cell(func(c *Cell) { c.Spec.MatchRatio, c.Spec.Distinct, c.Granule = 0.5, 300, 1<<10 }),
}

// few are algorithms of each sort.
func few(t *testing.T) []Algorithm {
	few, err := Find([]string{"phj-om", "phj-um", "hj", "smj-om", "smj-um", "auto"})
	require.NoError(t, err)
	return few
}

func init() { pieceRows = 1000 } // several pieces of each result

func TestMeasure(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t, device.Info())
		for n, c := range cells {
			if tuning != nil && n != 1 {
				continue // instrumented pipelines take seconds to compile
			}
			bed, err := NewBed(context.Background(), device, tuning, c)
			require.NoError(t, err)
			func() {
				defer bed.Release()
				results, err := bed.Measure(context.Background(), Algorithms(), 1, time.Millisecond, func(string) {})
				require.NoError(t, err, "%v", c)
				for i, a := range Algorithms() {
					r := results[i]
					require.Equal(t, a.Name, r.Algorithm)
					if a.unique && !bed.unique {
						require.ErrorIs(t, r.Skipped, ErrNotUnique)
						continue
					}
					require.NoError(t, r.Skipped, "%s: %v", a.Name, c)
					require.Equal(t, 1, r.Times.Runs, "without those that warm")
					require.Positive(t, r.Rows)
					require.NotZero(t, r.PeakBytes)
					require.Positive(t, r.Times.Median)
					require.Positive(t, r.Wall.Median)
				}
			}()
		}
	})
}

// Joins of all kinds pass the check, also by granules and windows.
func TestHow(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t, device.Info())
		for n, c := range kinds {
			for _, how := range Hows() {
				if c.How = how; tuning != nil && (n != 0 || how != "full") {
					continue
				}
				bed, err := NewBed(context.Background(), device, tuning, c)
				require.NoError(t, err)
				for side := range bed.check.rest {
					require.Positive(t, bed.check.matched[side].rows)
					require.Positive(t, bed.check.rest[side].rows)
				}
				want := bed.check.pairs.rows
				for side := range bed.check.rest {
					if bed.want.Rest[side] {
						want += bed.check.rest[side].rows
					}
					if bed.want.Matched[side] {
						want += bed.check.matched[side].rows
					}
				}
				if !bed.want.Pairs {
					want -= bed.check.pairs.rows
				}
				results, err := bed.Measure(context.Background(), few(t), 1, 0, func(string) {})
				bed.Release()
				require.NoError(t, err, "%v", c)
				for _, r := range results {
					require.NoError(t, r.Skipped, "%s: %v", r.Algorithm, c)
					require.Equal(t, want, r.Rows, "%s: %v", r.Algorithm, c)
				}
			}
		}
	})
}

// The checksums of the rows of each side equal the checksums of the simplest join.
func TestChecker(t *testing.T) {
	for _, c := range append(slices.Clone(kinds), cells[3]) {
		tables, err := c.make(context.Background())
		require.NoError(t, err)
		check, err := newChecker(context.Background(), tables.lefts[0], tables.right)
		require.NoError(t, err)
		var keys [2][]uint64
		var weights [2][]uint64
		for side, table := range []arrow.Table{tables.lefts[0], tables.right} {
			for i := range table.Column(0).Data().Chunks() {
				columns := make([]hostColumn, table.NumCols())
				for n := range columns {
					columns[n] = hostColumnOf(chunkData(table, n, i))
				}
				rows := table.Column(0).Data().Chunk(i).Len()
				weights[side] = append(weights[side], hashRows(side, columns, 0, rows)...)
				for row := range rows {
					keys[side] = append(keys[side], columns[0].at(row))
				}
			}
		}
		tables.release()
		want := checker{bytes: check.bytes, greatest: max(slices.Max(keys[0]), slices.Max(keys[1]))}
		for side := range keys {
			partners := map[uint64][]uint64{}
			for i, key := range keys[1-side] {
				partners[key] = append(partners[key], weights[1-side][i])
			}
			for i, key := range keys[side] {
				weight := weights[side][i]
				class := &want.rest[side]
				if len(partners[key]) > 0 {
					class = &want.matched[side]
				}
				class.rows, class.sum = class.rows+1, class.sum+weight
				for _, other := range partners[key] {
					if side == sideR {
						want.pairs.rows, want.pairs.sum = want.pairs.rows+1, want.pairs.sum+weight*other
					}
				}
			}
		}
		require.Equal(t, want, *check, "%v", c)
	}
}

// changedAlgorithm is another algorithm, but that opening is called before each operator, and put before each window is
// put.
type changedAlgorithm struct {
	operator.Algorithm
	opening func() error
	put     func(w *operator.Window) error
}

func (c *changedAlgorithm) Plan(f *operator.Facts, want operator.Want) (*operator.Plan, error) {
	p, err := c.Algorithm.Plan(f, want)
	if err == nil {
		p.Algorithm = c
	}
	return p, err
}

func (c *changedAlgorithm) Open(ctx context.Context, lane *exec.Lane, p *operator.Plan) operator.Operator {
	return &changedOperator{c.Algorithm.Open(ctx, lane, p), c, c.opening()}
}

type changedOperator struct {
	operator.Operator
	algorithm *changedAlgorithm
	err       error
}

func (o *changedOperator) Build(ctx context.Context, build *relation.Chunk) error {
	if o.err != nil {
		return o.err
	}
	return o.Operator.Build(ctx, build)
}

func (o *changedOperator) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	return o.Operator.Probe(ctx, lane, probe, &changedSink{sink, o.algorithm.put})
}

func (o *changedOperator) Finish(ctx context.Context, sink operator.Sink) error {
	return o.Operator.Finish(ctx, &changedSink{sink, o.algorithm.put})
}

type changedSink struct {
	operator.Sink
	put func(w *operator.Window) error
}

func (s *changedSink) Put(ctx context.Context, w *operator.Window) error {
	if err := s.put(w); err != nil {
		return err
	}
	return s.Sink.Put(ctx, w)
}

// Algorithms are verified one after the other and then run in turn. One that does not fit is left out from then on.
func TestMeasureInTurn(t *testing.T) {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	defer func() { require.NoError(t, device.Close()) }()
	bed, err := NewBed(context.Background(), device, nil, cells[0])
	require.NoError(t, err)
	defer bed.Release()
	var order, told []string
	algorithms := Algorithms()[:3]
	for i := range algorithms {
		a := &algorithms[i]
		a.Name = string(rune('a' + i))
		a.by = &changedAlgorithm{Algorithm: a.by, opening: func() error {
			order = append(order, a.Name)
			if a.Name == "b" && len(order) > 6 {
				return fmt.Errorf("full: %w", backend.ErrDeviceMemory)
			}
			return nil
		}, put: func(*operator.Window) error { return nil }}
	}
	results, err := bed.Measure(context.Background(), algorithms, 3, 0, func(what string) { told = append(told, what) })
	require.NoError(t, err)
	require.Equal(t, "abc"+"abc"+"abc"+"ac", strings.Join(order, ""), "verified, and three rounds")
	require.Equal(t, []string{"verify a", "verify b", "verify c", "time"}, told)
	require.ErrorIs(t, results[1].Skipped, backend.ErrDeviceMemory)
	require.Zero(t, results[1].Times)
	require.Equal(t, []int{3, 3}, []int{results[0].Times.Runs, results[2].Times.Runs})
}

// The check must see each kind of fault, on each kind of workload, also in the last of the pieces that are downloaded.
func TestCheckSeesFaults(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		temporary, err := device.Allocate(context.Background(), backend.DeviceLocal, 8, "exchange")
		require.NoError(t, err)
		defer temporary.Release()
		word := func(buffer *backend.Buffer, row, bytes uint64) backend.Range { return buffer.Range(row*bytes, bytes) }
		exchange := func(list *backend.List, buffer *backend.Buffer, bytes, a, b uint64) {
			list.Copy(word(temporary, 0, bytes), word(buffer, a, bytes))
			list.Copy(word(buffer, a, bytes), word(buffer, b, bytes))
			list.Copy(word(buffer, b, bytes), word(temporary, 0, bytes))
		}
		type fault func(w *operator.Window, list *backend.List)
		pairs := map[string]fault{
			"key": func(w *operator.Window, list *backend.List) { list.Fill(word(w.Keys, w.Rows-1, 4), 12345) },
			"R": func(w *operator.Window, list *backend.List) {
				list.Fill(word(w.Payload[0][0], 1234, 4), 12345)
			},
			"S": func(w *operator.Window, list *backend.List) {
				list.Fill(word(w.Payload[1][0], 0, 4), 12345)
			},
			"row missing": func(w *operator.Window, list *backend.List) { w.Rows-- },
			"row twice": func(w *operator.Window, list *backend.List) {
				for _, b := range slices.Concat([]*backend.Buffer{w.Keys}, w.Payload[0], w.Payload[1]) {
					list.Copy(word(b, 1, 4), word(b, w.Rows-1, 4))
				}
			},
			"halves exchanged": func(w *operator.Window, list *backend.List) {
				for _, b := range w.Payload[0] {
					exchange(list, b, 4, 1, w.Rows-1)
				}
			},
			"another column": func(w *operator.Window, list *backend.List) { w.Payload[0] = append(w.Payload[0], nil) },
			"no keys":        func(w *operator.Window, list *backend.List) { w.Keys = nil },
			"without a partner": func(w *operator.Window, list *backend.List) {
				w.Matched = false
			},
		}
		alone := map[string]fault{ // rows of S
			"key":         pairs["key"],
			"S":           pairs["S"],
			"row missing": pairs["row missing"],
			"row twice":   pairs["row twice"],
			"with a partner": func(w *operator.Window, list *backend.List) {
				w.Matched = true
			},
			"of the other side": func(w *operator.Window, list *backend.List) {
				w.Of, w.Payload = [2]bool{true, false}, [2][]*backend.Buffer{w.Payload[1], nil}
			},
		}
		last := kinds[0]
		last.How = "right"
		for _, c := range []struct {
			Cell
			faults  map[string]fault
			windows int // before the one with the fault
		}{{cells[0], pairs, 0}, {cells[3], pairs, 0}, {cells[5], pairs, 2}, {last, alone, 1}} {
			bed, err := NewBed(context.Background(), device, jointest.Tuning(t, device.Info()), c.Cell)
			require.NoError(t, err)
			for name, plant := range c.faults {
				a, windows := Algorithms()[0], 0
				a.by = &changedAlgorithm{Algorithm: a.by, opening: func() error { return nil },
					put: func(w *operator.Window) error {
						if windows++; windows <= c.windows {
							return nil
						}
						var list backend.List
						plant(w, &list)
						return device.Run(context.Background(), &list)
					}}
				_, err := bed.Measure(context.Background(), []Algorithm{a}, 1, 0, func(string) {})
				require.ErrorIs(t, err, measure.ErrWrong, "%s: %v", name, c.Cell)
				require.Equal(t, c.windows+1, windows)
			}
			bed.Release()
		}
	})
}

// A count must be right too.
func TestCheckSeesWrongCounts(t *testing.T) {
	devicetest.HostTest(t)
	check := checker{pairs: checksum{rows: 7}, matched: [2]checksum{{3, 1}, {4, 1}}}
	for _, h := range hows {
		if !h.want.Count {
			continue
		}
		out := &output{}
		out.Rows = 7
		if !h.want.Pairs {
			out.Rows = 3
		}
		require.NoError(t, check.verify(context.Background(), nil, out, h.want))
		out.Rows++
		require.ErrorIs(t, check.verify(context.Background(), nil, out, h.want), measure.ErrWrong)
	}
}

// Cells that cannot be made are refused.
func TestValidate(t *testing.T) {
	devicetest.HostTest(t)
	for _, c := range []Cell{
		cell(func(c *Cell) { c.How = "outer" }),
		cell(func(c *Cell) { c.Granule = 100 }),
		cell(func(c *Cell) { c.How, c.Dimensions = "semi", 2 }),
		cell(func(c *Cell) { c.Spec.Distinct, c.Spec.Multiplicity = 10, workload.Multiplicity{1, 2} }),
		cell(func(c *Cell) { c.Spec.Distinct = -1 }),
	} {
		require.Error(t, c.Validate(), "%v", c)
	}
	require.NoError(t, cells[0].Validate())
	require.Equal(t, "pkfk r=4000 s=9000 key-bytes=4 r-payload-bytes=4 s-payload-bytes=4 match-ratio=1 zipf=0 "+
		"multiplicity=1 seed=1 how=left granule=64 window=7",
		cell(func(c *Cell) { c.How, c.Granule, c.Window = "left", 64, 7 }).String())
}
