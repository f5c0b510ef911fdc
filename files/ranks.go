package files

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/relation"
)

// Distributed is this rank's part of a join of files. The caller closes it.
type Distributed struct {
	*spirjoin.DistributedResult
	tables []arrow.Table // sides that were read first
}

// Close ends the part of this rank and releases its memory; see [spirjoin.DistributedResult].
func (d *Distributed) Close() {
	if d.DistributedResult != nil {
		d.DistributedResult.Close()
	}
	relation.ReleaseAll(d.tables)
}

// JoinDistributed begins to join the files with the other ranks of a job. It is collective; each rank reads its own
// parts, which [Pair.Share] has left. A side is joined as it is read if it is long, if memory is limited, or if the
// engine has a folder for temporary files; otherwise it is read first. A job of one rank reads as Join does. Call it
// once, after Choose and Share.
//
// An error that comes before the ranks meet does not end the job: the caller calls job.Abort. Errors: as for
// [spirjoin.Engine.JoinDistributed], and of reading.
func (p *Pair) JoinDistributed(ctx context.Context, job spirjoin.Job, layout *spirjoin.JoinLayout, use Use) (
	_ *Distributed, err error) {
	engine, err := p.options.Engine()
	if err != nil {
		return nil, err
	}
	d := new(Distributed)
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	streamed := func(t *Table) bool {
		return t.Rows() < 0 || t.Rows() >= p.options.streamedRows() || p.options.limited()
	}
	if job.Size() == 1 {
		long, some := p.streamedSide(&layout.Spec, use)
		some = some && p.streamable(layout, long)
		streamed = func(t *Table) bool {
			return some && (long == eitherSide || p.options.TempDir || t.side == relation.Side(long))
		}
	}
	var of [2]spirjoin.Source
	for side, t := range p.tables {
		of[side] = t.source()
		if streamed(t) {
			continue
		}
		table, err := p.load(ctx, side)
		if err != nil {
			return nil, err
		}
		d.tables, of[side] = append(d.tables, table), spirjoin.FromTable(table)
	}
	if err := p.reserve(engine, of); err != nil {
		return nil, err
	}
	if d.DistributedResult, err = engine.JoinDistributedLayout(ctx, job, layout, of[0], of[1]); err != nil {
		return nil, p.explainKeys(err, &layout.Spec)
	}
	return d, nil
}
