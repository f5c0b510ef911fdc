package jointest

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Options say how an operator is run. Its output must not depend on them.
type Options struct {
	Granule uint64 // probe rows at a time; 0: all
	Window  uint64 // maximum number of rows of a window; 0: as many as requested
	// Facts changes the facts of the plan, which are exact otherwise; nil leaves them.
	Facts func(f *operator.Facts)
	// Sink wraps the sink that collects the output; nil: it is used as it is.
	Sink func(operator.Sink) operator.Sink
	// Ctx is the context of the operator; nil: one that does not end.
	Ctx context.Context
	// Grant is charged for the memory of the operator and its output; nil: nothing is charged.
	Grant *exec.Grant
}

// Output is the output of an operator.
type Output struct {
	Count uint64 // sum of the counts reported to the sink
	// Rows begin with a byte: bit i says that the row has a row of side i, and bit 2 that it has a partner. Key and
	// payload follow. Rows are sorted.
	Rows    [][]byte
	Windows int
	Plan    *operator.Plan
}

// Relations draws two relations from a workload. Keys are truncated to keyBytes.
func (w Workload) Relations(random *rand.Rand, rows [2]int, keyBytes int, payload [2][]int) (build, probe *Relation) {
	build = &Relation{KeyBytes: keyBytes, Payload: payload[operator.Build]}
	probe = &Relation{KeyBytes: keyBytes, Payload: payload[operator.Probe]}
	build.Keys, probe.Keys = w.Draw(random, rows[operator.Build], rows[operator.Probe], keyBytes*8)
	for _, r := range []*Relation{build, probe} {
		for i := range r.Keys {
			r.Keys[i] &= ^uint64(0) >> (64 - 8*keyBytes)
		}
	}
	return build, probe
}

// Wants are all kinds of output, by name, without a key column.
var Wants = map[string]operator.Want{
	"inner":            {Pairs: true},
	"left":             {Pairs: true, Rest: [2]bool{false, true}},
	"right":            {Pairs: true, Rest: [2]bool{true, false}},
	"full":             {Pairs: true, Rest: [2]bool{true, true}},
	"semi probe":       {Matched: [2]bool{false, true}},
	"semi build":       {Matched: [2]bool{true, false}},
	"semi both":        {Matched: [2]bool{true, true}},
	"anti probe":       {Rest: [2]bool{false, true}},
	"anti build":       {Rest: [2]bool{true, false}},
	"anti both":        {Rest: [2]bool{true, true}},
	"mark probe":       {Matched: [2]bool{false, true}, Rest: [2]bool{false, true}},
	"mark build":       {Matched: [2]bool{true, false}, Rest: [2]bool{true, false}},
	"semi and anti":    {Matched: [2]bool{true, false}, Rest: [2]bool{false, true}},
	"count":            {Pairs: true, Count: true},
	"count full":       {Pairs: true, Rest: [2]bool{true, true}, Count: true},
	"count semi probe": {Matched: [2]bool{false, true}, Count: true},
	"count semi build": {Matched: [2]bool{true, false}, Count: true},
	"count anti":       {Rest: [2]bool{true, true}, Count: true},
}

// Oracle returns the expected output, by the simplest join.
func Oracle(build, probe *Relation, want operator.Want) (o Output) {
	sides := [2]*Relation{build, probe}
	of := [2]map[uint64][]int{{}, {}} // rows by key
	for side, r := range sides {
		for i, key := range r.Keys {
			of[side][key] = append(of[side][key], i)
		}
	}
	put := func(head byte, key uint64, rows [2]int) {
		o.Count++
		if want.Count {
			return
		}
		row := []byte{head}
		if want.Keys {
			row = appendValue(row, build.KeyBytes, key)
		}
		for side, r := range sides {
			if head>>side&1 == 0 {
				continue
			}
			for c, width := range r.Payload {
				row = appendValue(row, width, r.value(c, rows[side]))
			}
		}
		o.Rows = append(o.Rows, row)
	}
	for side, r := range sides {
		for i, key := range r.Keys {
			partners := of[1-side][key]
			if want.Pairs && side == operator.Probe {
				for _, b := range partners {
					put(0b111, key, [2]int{b, i})
				}
			}
			if len(partners) > 0 && want.Matched[side] {
				put(0b100|1<<side, key, [2]int{i, i})
			}
			if len(partners) == 0 && want.Rest[side] {
				put(1<<side, key, [2]int{i, i})
			}
		}
	}
	o.Rows = sortedRows(o.Rows)
	return o
}

// FactsOf returns the exact facts about two relations, changed by o.Facts.
func FactsOf(lane *exec.Lane, build, probe *Relation, o Options) operator.Facts {
	f := operator.Facts{
		Rows:     [2]uint64{uint64(len(build.Keys)), uint64(len(probe.Keys))},
		KeyBytes: build.KeyBytes, Payload: [2][]int{build.Payload, probe.Payload},
		Granule: o.Granule, Window: o.Window,
		Tuning: lane.Tuning(), CacheBytes: 1 << 20,
	}
	f.On(lane.Device())
	var counts [2]map[uint64]int
	all, differ := slices.Concat(build.Keys, probe.Keys), uint64(0)
	for _, key := range all {
		differ |= key ^ all[0]
	}
	f.KeyBits, f.Narrow = max(1, bits.Len64(differ)), build.KeyBytes == 8 && len(all) > 0 && differ>>32 == 0
	for side, r := range []*Relation{build, probe} {
		f.Sorted[side], counts[side] = slices.IsSorted(r.Keys), map[uint64]int{}
		for _, key := range r.Keys {
			counts[side][key]++
			f.Hottest[side] = max(f.Hottest[side], float64(counts[side][key])/float64(len(r.Keys)))
		}
	}
	for key, n := range counts[operator.Build] {
		f.OutputRows += uint64(n) * uint64(counts[operator.Probe][key])
	}
	for side, ratio := range []*float64{&f.BuildRatio, &f.MatchRatio} {
		for key, n := range counts[side] {
			if counts[1-side][key] > 0 {
				*ratio += float64(n) / float64(f.Rows[side])
			}
		}
	}
	f.Unique = len(counts[operator.Build]) == len(build.Keys)
	if f.Rows[operator.Build] > 0 {
		f.Distinct = float64(f.Rows[operator.Build]) / float64(len(counts[operator.Build]))
	}
	if o.Facts != nil {
		o.Facts(&f)
	}
	return f
}

// Run joins two relations: it plans, opens the operator, and gives it the build side and the probe side, granule by
// granule. Columns of a granule are overwritten once it was probed. The test fails if an operator changes its inputs,
// exceeds the capacity of a window, or puts more rows than it has announced. The error is the operator's, or the reason
// why the plan was rejected.
func Run(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm, build, probe *Relation, want operator.Want,
	o Options) (out Output, err error) {
	ctx := o.Ctx
	if ctx == nil {
		ctx = context.Background()
	}
	facts := FactsOf(lane, build, probe, o)
	plan, err := algorithm.Plan(&facts, want)
	require.NoError(t, err)
	if plan.Reject != nil {
		return out, plan.Reject
	}
	out.Plan = plan
	own := exec.NewLane(ctx, lane.Ops, o.Grant)
	own.Profile = lane.Profile
	kept := &collector{Collector: operator.Collector{Lane: own, Most: o.Window}, t: t}
	defer kept.Release()
	sink := operator.Sink(kept)
	if o.Sink != nil {
		sink = o.Sink(kept)
	}
	op := algorithm.Open(ctx, own, plan)
	defer op.Close()
	on, release := build.chunk(t, lane, facts.Narrow)
	defer release()
	if err := op.Build(ctx, on); err != nil {
		return out, err
	}
	granule := o.Granule
	if granule == 0 {
		granule = max(1, facts.Rows[operator.Probe])
	}
	for first := uint64(0); first == 0 || first < facts.Rows[operator.Probe]; first += granule {
		part := *probe
		part.Keys = probe.Keys[first:min(first+granule, facts.Rows[operator.Probe])]
		part.first = int(first)
		if err := part.probe(ctx, t, lane, own, op, facts.Narrow, sink); err != nil {
			return out, err
		}
	}
	if err := op.Finish(ctx, sink); err != nil {
		return out, err
	}
	build.unchanged(t, lane, on)
	out.Count, out.Windows = kept.Rows, len(kept.Windows)
	for _, w := range kept.Windows {
		out.Rows = append(out.Rows, fetchWindow(t, lane.Device(), w, [2]*Relation{build, probe}, want.Keys)...)
	}
	out.Rows = sortedRows(out.Rows)
	return out, nil
}

// probe gives a granule to an operator, with its own lane.
func (r *Relation) probe(ctx context.Context, t testing.TB, lane, own *exec.Lane, op operator.Operator, narrow bool,
	sink operator.Sink) error {
	on, release := r.chunk(t, lane, narrow)
	defer release()
	if err := op.Probe(ctx, own, on, sink); err != nil {
		return err
	}
	r.unchanged(t, lane, on)
	list := lane.List("overwrite")
	for _, column := range on.Columns() {
		if column.Data.SizeBytes > 0 {
			list.Fill(column.Data, 0xdead0000)
		}
	}
	return lane.Submit(context.Background(), list)
}

// CheckRun runs an operator and compares its output with the simplest join's.
func CheckRun(t testing.TB, lane *exec.Lane, algorithm operator.Algorithm, build, probe *Relation, want operator.Want,
	o Options, describe string) Output {
	t.Helper()
	got, err := Run(t, lane, algorithm, build, probe, want, o)
	require.NoError(t, err, describe)
	require.Empty(t, Difference(Oracle(build, probe, want), got), describe)
	return got
}

// Difference describes how an output differs from the expected one; "" if it does not.
func Difference(expected, got Output) string {
	for i, row := range got.Rows {
		if i >= len(expected.Rows) || !bytes.Equal(row, expected.Rows[i]) {
			return fmt.Sprintf("row %d of %d, sorted, is % x; %d rows are expected, and there % x", i, len(got.Rows),
				row, len(expected.Rows),
				slices.Concat(expected.Rows[min(i, len(expected.Rows)):min(i+1, len(expected.Rows))]...))
		}
	}
	if len(got.Rows) != len(expected.Rows) || got.Count != expected.Count {
		return fmt.Sprintf("%d rows, %d counted; %d and %d are expected", len(got.Rows), got.Count, len(expected.Rows),
			expected.Count)
	}
	return ""
}

// collector is a sink that checks the contract of operators.
type collector struct {
	operator.Collector
	t   testing.TB
	put uint64
}

func (c *collector) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	require.Positive(c.t, rows, "a window for no rows")
	return c.Collector.Window(ctx, rows)
}

func (c *collector) Put(ctx context.Context, w *operator.Window) error {
	require.Positive(c.t, w.Rows, "a window without rows")
	c.put += w.Rows
	require.LessOrEqual(c.t, c.put, c.Rows, "more rows are put than were counted")
	if c.Most > 0 {
		require.LessOrEqual(c.t, w.Rows, c.Most, "more rows than a window has room for")
	}
	return c.Collector.Put(ctx, w)
}

// Chunk uploads a relation to a device; release releases it.
func (r *Relation) Chunk(t testing.TB, lane *exec.Lane) (on *relation.Chunk, release func()) {
	return r.chunk(t, lane, false)
}

func (r *Relation) chunk(t testing.TB, lane *exec.Lane, narrow bool) (on *relation.Chunk, release func()) {
	memory := lane.Scope(context.Background())
	column := func(width int, value func(i int) uint64) relation.Values {
		data := r.column(width, value)
		b := memory.New(uint64(len(data)), "test")
		require.NoError(t, memory.Err())
		if len(data) > 0 {
			point, err := lane.Device().Upload(context.Background(), b.All(), data)
			require.NoError(t, err)
			require.NoError(t, point.Wait(context.Background()))
		}
		return relation.Values{Data: b.All(), Bytes: width}
	}
	on = &relation.Chunk{Rows: uint64(len(r.Keys)), Keys: column(r.KeyBytes, r.key), Narrow: narrow}
	if narrow && len(r.Keys) > 0 {
		on.HighWord = uint32(r.Keys[0] >> 32)
	}
	for c, width := range r.Payload {
		on.Payload = append(on.Payload, column(width, func(i int) uint64 { return r.value(c, i) }))
	}
	return on, memory.ReleaseAll
}

// unchanged compares a chunk with what was uploaded.
func (r *Relation) unchanged(t testing.TB, lane *exec.Lane, on *relation.Chunk) {
	if on.Rows == 0 {
		return
	}
	same := func(width int, on backend.Range, value func(i int) uint64) {
		data := make([]byte, on.SizeBytes)
		require.NoError(t, lane.Download(context.Background(), data, on))
		require.True(t, bytes.Equal(r.column(width, value), data), "the operator changes its input")
	}
	same(r.KeyBytes, on.Keys.Data, r.key)
	for c, width := range r.Payload {
		same(width, on.Payload[c].Data, func(i int) uint64 { return r.value(c, i) })
	}
}

func (r *Relation) key(row int) uint64 { return r.Keys[row] }

func (r *Relation) column(width int, value func(i int) uint64) (data []byte) {
	for i := range r.Keys {
		data = appendValue(data, width, value(i))
	}
	return data
}

// fetchWindow returns the rows of a window.
func fetchWindow(t testing.TB, device *backend.Device, w *operator.Window, sides [2]*Relation, keys bool) [][]byte {
	head := byte(0)
	for side, of := range w.Of {
		if of {
			head |= 1 << side
		}
	}
	if w.Matched {
		head |= 1 << 2
	}
	rows := make([][]byte, w.Rows)
	for i := range rows {
		rows[i] = []byte{head}
	}
	add := func(b *backend.Buffer, width int) {
		data := make([]byte, int(w.Rows)*width)
		if len(data) == 0 {
			return
		}
		require.NoError(t, device.Download(context.Background(), data, b.Range(0, uint64(len(data)))))
		for i := range rows {
			rows[i] = append(rows[i], data[i*width:(i+1)*width]...)
		}
	}
	if keys {
		add(w.Keys, sides[0].KeyBytes)
	} else {
		require.Nil(t, w.Keys, "a key column that nobody wants")
	}
	for side, r := range sides {
		if !w.Of[side] {
			require.Empty(t, w.Payload[side], "columns of a side that rows are not of")
			continue
		}
		require.Len(t, w.Payload[side], len(r.Payload))
		for c, width := range r.Payload {
			add(w.Payload[side][c], width)
		}
	}
	return rows
}
