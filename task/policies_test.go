package task

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
)

func TestDeeper(t *testing.T) {
	all := [2]int64{100, 1000}
	for _, c := range []struct {
		rows     [2]int64
		validate join.Validate
		depth    int
		want     int
	}{
		{[2]int64{10, 100}, join.Any, 0, 1},
		{[2]int64{10, 100}, join.Any, 2, 3},
		{[2]int64{50, 1000}, join.Any, 0, 1},
		{[2]int64{51, 1000}, join.Any, 0, mostDivisions},
		{[2]int64{51, 1000}, join.OneToMany, 0, 1},
		{[2]int64{100, 20}, join.Any, 0, 1}, // the longer side of the part does not count
		{[2]int64{51, 51}, join.Any, 1, mostDivisions},
		{[2]int64{0, 900}, join.Any, 1, 2},
	} {
		require.Equal(t, c.want, deeper(c.depth, c.validate, c.rows, all), "%+v", c)
	}
}

func TestValidates(t *testing.T) {
	for _, c := range []struct {
		validate join.Validate
		rows     [2]int64
		want     bool
	}{
		{join.Any, [2]int64{9, 9}, false},
		{join.OneToMany, [2]int64{1, 9}, false},
		{join.OneToMany, [2]int64{2, 0}, true},
		{join.ManyToOne, [2]int64{9, 1}, false},
		{join.ManyToOne, [2]int64{0, 2}, true},
		{join.OneToOne, [2]int64{1, 1}, false},
		{join.OneToOne, [2]int64{1, 2}, true},
	} {
		require.Equal(t, c.want, validates(c.validate, c.rows), "%+v", c)
	}
}

func TestSilent(t *testing.T) {
	for how, want := range map[join.How][3]bool{ // no left rows, no right rows, rows of both sides
		join.Inner: {true, true, false}, join.Left: {true, false, false}, join.Right: {false, true, false},
		join.Full: {false, false, false}, join.Semi: {true, true, false}, join.Anti: {true, false, false},
		join.RightAnti: {false, true, false},
	} {
		require.Equal(t, want, [3]bool{silent(how, 0, 7), silent(how, 7, 0), silent(how, 7, 7)}, how)
	}
	p := parts{sides: &sides{part: &Task{Form: join.Form{How: join.Anti}}}, noNulls: true} // a not-in join
	p.divider.Parts = 8
	require.True(t, p.silent(8, 7, 0), "left rows with a NULL")
	require.False(t, p.silent(7, 7, 0))
	p.nothing = true
	require.True(t, p.silent(7, 7, 7))
}

func TestPartsNumber(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		left, right float64
		capBytes    uint64
		want        int
	}{
		{0, gib, gib, 8},
		{gib, 100 * gib, gib, 16},
		{100 * gib, gib + 1, gib, 17},
		{100 * gib, 100 * gib, gib, 512},
	} {
		require.Equal(t, c.want, partsNumber(c.left, c.right, c.capBytes), "%+v", c)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for _, c := range []struct {
		all, rows int64
		sizeBytes uint64
		want      float64
	}{
		{1000, 0, 0, 1000 * float64(relation.RowBytes(schema.Fields()...))},
		{1000, 10, 300, 30_000},
		{-1, 0, 0, 8 * mostBlockBytes},
		{-1, 10, 300, 8 * mostBlockBytes},
		{-1, 10, 1 << 30, 8 << 30},
	} {
		g := source.Gathered{Schema: schema}
		g.Rows, g.Bytes = uint64(c.rows), c.sizeBytes
		require.InDelta(t, c.want, estimateBytes(c.all, &g), 1, "%+v", c)
	}
}

func TestBlockSide(t *testing.T) {
	for how, want := range map[join.How][2]relation.Side{ // right side larger, smaller
		join.Inner: {relation.Left, relation.Right}, join.Cross: {relation.Left, relation.Right},
		join.Left: {relation.Left, relation.Left}, join.Full: {relation.Left, relation.Left},
		join.Semi: {relation.Left, relation.Left}, join.Right: {relation.Right, relation.Right},
		join.RightAnti: {relation.Right, relation.Right},
	} {
		require.Equal(t, want, [2]relation.Side{blockSide(how, 1, 2), blockSide(how, 2, 1)}, how)
	}
}

func TestFitted(t *testing.T) {
	const capBytes = 1 << 30
	room := KeyRanges{Lines: 2}.fitted(1<<40, 1<<40, 8, 1, capBytes)
	require.Less(t, room.ChunkRows*12, uint64(capBytes), "codes and numbers fit the device")
	require.Less(t, room.TaskRows*12, uint64(capBytes/2), "so do two lines of tasks")
	for name, c := range map[string]struct {
		knobs                KeyRanges
		left, right, devices uint64
		chunk, task          uint64
	}{
		"chunks of the longer side": {KeyRanges{Lines: 2}, 1000, 401, 4, 250, leastTaskRows},
		"no rows":                   {KeyRanges{Lines: 2}, 0, 0, 2, 1, leastTaskRows},
		"tasks for all lines":       {KeyRanges{Lines: 2}, 6 << 20, 6 << 20, 2, 3 << 20, 1 << 20},
		"forced":                    {KeyRanges{Lines: 1, ChunkRows: 10, TaskRows: 1}, 1000, 1000, 2, 10, 2},
	} {
		got := c.knobs.fitted(c.left, c.right, 4, c.devices, capBytes)
		require.Equal(t, [2]uint64{c.chunk, c.task}, [2]uint64{got.ChunkRows, got.TaskRows}, name)
	}
}

// selection is rows of keys of 4 bytes.
func selection(rows uint64) *query.Selection {
	return &query.Selection{Rows: rows, Codes: make([]byte, 4*rows), Keyless: true}
}

// TestAddRange: ranges without output are skipped, unless their keys are validated.
func TestAddRange(t *testing.T) {
	for name, c := range map[string]struct {
		how       join.How
		validated bool
		rows      [2]uint64
		skipped   bool
	}{
		"both sides":         {join.Inner, false, [2]uint64{1, 1}, false},
		"no right rows":      {join.Inner, false, [2]uint64{2, 0}, true},
		"left join":          {join.Left, false, [2]uint64{2, 0}, false},
		"keys to validate":   {join.Inner, true, [2]uint64{2, 0}, false},
		"a key, which is so": {join.Inner, true, [2]uint64{1, 0}, true},
	} {
		skipped := int64(0)
		p := keyRanges{part: &Task{Form: join.Form{How: c.how}}, keys: new(keys.Plan),
			skip: func(left, right int64) { skipped += left + right }}
		if c.validated {
			p.unique[relation.Left] = p.keys
		}
		p.add(selection(c.rows[0]), selection(c.rows[1]))
		require.Equal(t, c.skipped, len(p.ranges) == 0, name)
		if c.skipped {
			require.EqualValues(t, c.rows[0]+c.rows[1], skipped, name)
			require.Equal(t, skipped, p.given, name)
		}
	}
}

// TestFailedRange: a range that a device has no memory for is halved on a side of which each row can be in either half.
func TestFailedRange(t *testing.T) {
	const few, many = 2 * leastBlockRows, 3 * leastBlockRows
	left, right := []relation.Side{relation.Left}, []relation.Side{relation.Right}
	for name, c := range map[string]struct {
		how    join.How
		rows   [2]uint64
		err    error
		halves []relation.Side // the side that is halved; none: the task fails
	}{
		"inner, left smaller":  {join.Inner, [2]uint64{few, many}, backend.ErrDeviceMemory, left},
		"inner, right smaller": {join.Inner, [2]uint64{many, few}, backend.ErrDeviceMemory, right},
		"left":                 {join.Left, [2]uint64{many, few}, backend.ErrDeviceMemory, left},
		"right":                {join.Right, [2]uint64{few, many}, backend.ErrDeviceMemory, right},
		"full":                 {join.Full, [2]uint64{many, many}, backend.ErrDeviceMemory, nil},
		"too few rows":         {join.Inner, [2]uint64{few - 1, many}, backend.ErrDeviceMemory, nil},
		"another error":        {join.Inner, [2]uint64{many, many}, backend.ErrDeviceLost, nil},
	} {
		var p keyRanges
		failed := &Task{Form: join.Form{How: c.how}, from: 0.5, to: 0.75,
			Range: &Range{Sides: [2]*query.Selection{selection(c.rows[0]), selection(c.rows[1])}}}
		require.Equal(t, c.halves != nil, p.Failed(failed, c.err), name)
		if c.halves == nil {
			require.Empty(t, p.halves, name)
			continue
		}
		side := c.halves[0]
		require.Len(t, p.halves, 2, name)
		rows := uint64(0)
		for i, half := range p.halves {
			rows += half.Range.Sides[side].Rows
			require.Equal(t, c.rows[1-side], half.Range.Sides[1-side].Rows, name)
			require.Equal(t, i == 0, half.Range.Sides[side].Keyless, name)
			require.Equal(t, i == 0, half.Range.Sides[1-side].Keyless, name)
			require.Equal(t, i > 0, half.again[1-side], name)
			require.Equal(t, 0.5+float64(i)/8, half.from, name)
			require.Equal(t, 0.625+float64(i)/8, half.to, name)
		}
		require.Equal(t, c.rows[side], rows, name)
	}
}

// numbers is a table of a column k, with one batch for every so many rows.
func numbers(t *testing.T, first, end, batch int64) arrow.Table {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	var batches []arrow.RecordBatch
	for ; first < end; first += batch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for k := first; k < min(first+batch, end); k++ {
			b.Field(0).(*array.Int64Builder).Append(k)
		}
		batches = append(batches, b.NewRecordBatch())
		b.Release()
	}
	defer relation.ReleaseAll(batches)
	table := array.NewTableFromRecords(schema, batches)
	t.Cleanup(table.Release)
	return table
}

// keysOf reads the column k of a source.
func keysOf(ctx context.Context, batches func(context.Context) iter.Seq2[arrow.RecordBatch, error]) (all []int64,
	err error) {
	for batch, err := range batches(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, batch.Column(0).(*array.Int64).Int64Values()...)
		batch.Release()
	}
	return all, nil
}

// taken is what a task was made of.
type taken struct {
	name     string
	rows     [2][]int64
	from, to float64
}

// divided divides a count of an inner join of the keys 0 to 2999 with 1000 to 4999 at a depth of divisions, and returns
// its tasks. fail may fail one.
func divided(t *testing.T, depth int, fail func(of *Task) error) (tasks []taken) {
	left, right := numbers(t, 0, 3000, 2500), numbers(t, 1000, 5000, 4000)
	layout, err := join.NewLayout(left.Schema(), right.Schema(), join.Spec{On: []string{"k"}, Output: join.Count})
	require.NoError(t, err)
	whole := Whole(layout, source.FromTable(left), source.FromTable(right), nil)
	whole.Depth = depth
	m := means(t, 0)
	var mu sync.Mutex
	run := func(ctx context.Context, of *Task, turn Turn) (Output, error) {
		if err := turn.Wait(ctx); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if err := fail(of); err != nil {
			return nil, err
		}
		task := taken{name: of.name, from: of.from, to: of.to}
		for side, s := range of.Sources {
			var err error
			if task.rows[side], err = keysOf(ctx, s.Batches); err != nil {
				return nil, err
			}
		}
		tasks = append(tasks, task)
		return nothing{}, nil
	}
	s, err := Divide(t.Context(), m, NewCollector(exec.NewFlow(t.Context()), m, whole, nil), whole, nil, run)
	require.NoError(t, err)
	s.Close()
	at := 0.0
	for _, task := range tasks {
		require.Equal(t, at, task.from, task.name)
		at = task.to
	}
	require.Equal(t, 1.0, at)
	return tasks
}

// TestParts: the parts have each row once, and equal keys are in the same part.
func TestParts(t *testing.T) {
	tasks := divided(t, 0, func(*Task) error { return nil })
	require.Len(t, tasks, 8)
	of, rows := make(map[int64]string), [2]int{}
	for _, task := range tasks {
		for side, all := range task.rows {
			rows[side] += len(all)
			for _, k := range all {
				if part, ok := of[k]; ok {
					require.Equal(t, part, task.name, "both rows of key %d", k)
				}
				of[k] = task.name
			}
		}
	}
	require.Equal(t, [2]int{3000, 4000}, rows)
	require.Len(t, of, 5000)
}

// TestBlocks: each block of the left side meets all rows of the right side. A block that fails for lack of memory comes
// in halves.
func TestBlocks(t *testing.T) {
	failed := false
	tasks := divided(t, mostDivisions, func(of *Task) error {
		if failed || of.block.NumRows() < 2*leastBlockRows {
			return nil
		}
		failed = true
		return fmt.Errorf("planted: %w", backend.ErrDeviceMemory)
	})
	require.True(t, failed)
	var names []string
	var left []int64
	for _, task := range tasks {
		names, left = append(names, task.name), append(left, task.rows[relation.Left]...)
		require.Len(t, task.rows[relation.Right], 4000)
	}
	require.Equal(t, []string{"block 1", "block 2"}, names[:2])
	require.Len(t, left, 3000)
	require.True(t, slices.IsSorted(left))
}
