package ranges

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Operator is a sort-merge join by ranges (smj-um of GFTR; HMG 3.3). The keys of the build side are sorted once with
// their row numbers, and each granule of the probe side likewise. A range search finds the number of pairs, and pairs
// are expanded in runs into windows of any size; payload is gathered from the columns of the chunks. Rows that have a
// partner, or none, are found by searching for them in the other side, independently of the number of pairs, and
// compacted from the columns of the chunks in their order.
type Operator struct {
	// Once says that there is only one granule, so that the sorted keys of the build side need not be kept after it.
	Once bool

	lane  *exec.Lane // its memory is the operator's
	want  operator.Want
	build *relation.Chunk
	keys  *Sorted       // of the build side
	marks backend.Range // of the build side, in row order; absent where they do not matter
}

// Open returns an operator with its own memory, allocated from the lane. The caller closes it.
func Open(ctx context.Context, lane *exec.Lane, want operator.Want) *Operator {
	return &Operator{lane: lane.Nested(ctx), want: want}
}

// Close releases the device memory.
func (o *Operator) Close() { o.lane.Memory.ReleaseAll() }

// Rewind implements [operator.Operator].
func (o *Operator) Rewind(ctx context.Context) error {
	return operator.ClearBitmap(ctx, o.lane, o.marks)
}

// numbers says which row numbers of a side are of use: none where rows are only counted, or never put.
func (o *Operator) numbers(side int) Numbers {
	return Numbers{None: o.want.Count || !o.want.Pairs && !o.want.Marks(side)}
}

// Build implements [operator.Operator].
func (o *Operator) Build(ctx context.Context, build *relation.Chunk) (err error) {
	if err = build.Check("smj-um"); err != nil {
		return err
	}
	o.build = build
	if o.marks, err = o.want.NewBitmap(ctx, o.lane, operator.Build, build.Rows); err != nil {
		return err
	}
	o.keys, err = Sort(ctx, o.lane, build, "build", o.numbers(operator.Build))
	return err
}

// Probe implements [operator.Operator].
func (o *Operator) Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink operator.Sink) error {
	if err := probe.CheckJoin("smj-um", o.build); err != nil {
		return err
	}
	granule := lane.Nested(ctx)
	defer granule.Memory.ReleaseAll()
	keys, err := Sort(ctx, granule, probe, "probe", o.numbers(operator.Probe))
	if err != nil {
		return err
	}
	marks, err := o.want.NewBitmap(ctx, granule, operator.Probe, probe.Rows)
	if err != nil {
		return err
	}
	if err := Mark(ctx, granule, [2]*Sorted{o.keys, keys}, [2]backend.Range{o.marks, marks}); err != nil {
		return err
	}
	if o.want.Pairs {
		if err := o.pairs(ctx, granule, probe, keys, sink); err != nil {
			return err
		}
	}
	granule.Memory.Release(keys.IDs.Buffer)
	return o.rows(ctx, granule, operator.Probe, probe, marks, sink)
}

// Finish implements [operator.Operator].
func (o *Operator) Finish(ctx context.Context, sink operator.Sink) error {
	return o.rows(ctx, o.lane, operator.Build, o.build, o.marks, sink)
}

// pairs counts the pairs and expands them, window by window.
func (o *Operator) pairs(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, keys *Sorted,
	sink operator.Sink) error {
	m, err := Search(ctx, lane, o.keys, keys, o.want.Count)
	if err != nil {
		return err
	}
	defer m.Release()
	lane.Memory.Release(keys.Keys.Buffer)
	if o.Once {
		o.lane.Memory.Release(o.keys.Keys.Buffer)
	}
	if err := sink.Count(ctx, m.Total); err != nil || o.want.Count {
		return err
	}
	out := operator.Pairs{Lane: lane, Chunks: [2]*relation.Chunk{o.build, probe}, Keys: o.want.Keys}
	for first := uint64(0); first < m.Total; {
		w, err := sink.Window(ctx, min(m.Total-first, primitive.MaxRows))
		if err != nil {
			return err
		}
		rows := min(w.Rows, m.Total-first)
		if rows < m.Total {
			rows = min(rows, operator.WindowRows)
		}
		if err := out.Write(ctx, sink, w, rows, func(list *backend.List, build, probe backend.Range) error {
			return m.RecordPairs(list, first, uint32(rows), build, probe)
		}); err != nil {
			return err
		}
		first += rows
	}
	return nil
}

// rows puts, or counts, the rows of a side that are wanted with or without a partner.
func (o *Operator) rows(ctx context.Context, lane *exec.Lane, side int, c *relation.Chunk, marks backend.Range,
	sink operator.Sink) error {
	in := operator.NewInput(lane, c, [2]string{"build", "probe"}[side])
	in.Ordered = c.Keys.Data
	rows := operator.Rows{Input: &in, Side: side, Marks: marks, Untransformed: true}
	return rows.WriteWanted(ctx, sink, &o.want)
}
