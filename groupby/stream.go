package groupby

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// partShare is the inverse of the share of a memory limit that a part of a stream with as many groups as rows takes at
// most.
const partShare = 16

// Stream is [Engine.GroupLayout] of record batches, which have the columns of layout.Needed, among others. It reads
// them part by part, one batch ahead, and holds a part and the groups in memory. Batches yields batches in order; the
// receiver releases them. An error ends it.
func (e *Engine) Stream(ctx context.Context, layout *Layout,
	batches func(context.Context) iter.Seq2[arrow.RecordBatch, error]) (r *Result, err error) {
	if layout == nil || batches == nil {
		return nil, &backend.OpError{Op: "group by", Err: backend.ErrInvalidInput,
			Detail: "the source is empty, or of a table or reader that is nil"}
	}
	return e.begin(ctx, layout, nil, func(ctx context.Context, w *work) error {
		return w.stream(layout).run(ctx, exec.Ahead(w.result.flow, "read", batches))
	})
}

// stream begins the group-by of a stream.
func (w *work) stream(layout *Layout) *streaming {
	s := &streaming{work: w, layout: layout, distinct: make(map[string]*partials), mostRows: w.partRows()}
	w.result.stream = s
	return s
}

// streaming is the group-by of a stream.
type streaming struct {
	*work
	layout   *Layout
	main     *partials
	distinct map[string]*partials // by column whose values are counted
	rows     uint64               // of the parts before
	mostRows int64                // of a part
	division
}

func (s *streaming) release() {
	for p := range s.partials() {
		p.release()
	}
	s.division.release()
}

// run groups parts and then what came of them.
func (s *streaming) run(ctx context.Context, batches iter.Seq2[arrow.RecordBatch, error]) error {
	part, rows, bytes := []arrow.RecordBatch(nil), int64(0), uint64(0)
	defer func() { relation.ReleaseAll(part) }()
	most := uint64(exec.Unlimited)
	if s.HostCapBytes() != exec.Unlimited {
		most = s.share(partShare)
		if err := s.result.grant.Grow(exec.Need{Host: 2 * most}); err != nil {
			return err
		}
	}
	end := func() error {
		defer func() {
			relation.ReleaseAll(part)
			part, rows, bytes = nil, 0, 0
		}()
		return s.part(ctx, part)
	}
	for batch, err := range batches {
		if err != nil {
			return err
		}
		chosen, err := s.choose(batch)
		batch.Release()
		if err != nil {
			return err
		}
		table := array.NewTableFromRecords(chosen.Schema(), []arrow.RecordBatch{chosen})
		part, rows = append(part, chosen), rows+chosen.NumRows()
		bytes += relation.TableBytes(table) + uint64(chosen.NumRows())*s.layout.groupBytes()
		table.Release()
		if rows >= s.mostRows || bytes >= most {
			if err := end(); err != nil {
				return err
			}
		}
	}
	if rows > 0 || s.main == nil {
		if err := end(); err != nil {
			return err
		}
	}
	return s.finish(ctx)
}

// groupBytes is about what a group takes: its key code and states.
func (l *Layout) groupBytes() uint64 { return uint64(8 + 24*len(l.Spec.Aggregates)) }

// choose returns the needed columns of a batch.
func (s *streaming) choose(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	var fields []arrow.Field
	var columns []arrow.Array
	for _, name := range s.layout.Needed {
		if err := relation.CheckName(batch.Schema(), "a batch", name); err != nil {
			return nil, err
		}
		i := batch.Schema().FieldIndices(name)[0]
		if got, want := batch.Column(i).DataType(), s.layout.types[name]; !arrow.TypeEqual(got, want) {
			return nil, fmt.Errorf("%w: a batch has column %q of type %s, the schema says %s", backend.ErrInvalidInput,
				name, got, want)
		}
		columns, fields = append(columns, batch.Column(i)), append(fields, batch.Schema().Field(i))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, batch.NumRows()), nil
}

// numbered tells whether groups need the number of their first row, which identifies those whose different values are
// counted. Groups without it are made faster (package reduce).
func (s *streaming) numbered() bool {
	return len(s.layout.distinct) > 0
}

// part groups a part.
func (s *streaming) part(ctx context.Context, batches []arrow.RecordBatch) error {
	table := s.layout.tableOf(batches)
	defer table.Release()
	s.progress.Start("group")
	if s.main == nil {
		s.main = &partials{streaming: s, by: s.layout.Spec.By}
	}
	if err := s.add(ctx, s.main, table, s.rows, func(table arrow.Table) *program {
		p := lower(s.layout, table, true)
		if s.numbered() {
			p.first()
		}
		return p
	}); err != nil {
		return err
	}
	for _, column := range s.layout.distinct {
		if s.distinct[column] == nil {
			s.distinct[column] = &partials{streaming: s, by: withColumn(s.layout.Spec.By, column)}
		}
		if err := s.add(ctx, s.distinct[column], table, s.rows, func(table arrow.Table) *program {
			p := &program{table: table, numbers: -1}
			p.first()
			return p
		}); err != nil {
			return err
		}
	}
	s.rows += uint64(table.NumRows())
	s.progress.Done(s.rows)
	return nil
}

// leastHalf is how many rows a part has at least that is grouped in two halves.
const leastHalf = 1 << 12

// add adds the groups of a part, whose first row in the stream has this number. If memory has no room for it, also
// after the groups before are divided, its halves follow each other, and later parts have no more rows.
func (s *streaming) add(ctx context.Context, to *partials, table arrow.Table, first uint64,
	lower func(arrow.Table) *program) error {
	group := func() (*groups, error) {
		to.program = lower(table)
		g, err := s.group(ctx, to.program, to.by)
		if err != nil {
			return nil, err
		}
		if g.rows > 0 && to.numbered() {
			err = to.number(g, first)
		}
		if err != nil || g.rows == 0 {
			g.release()
			return nil, err
		}
		table.Retain()
		g.owned = true
		return g, nil
	}
	g, err := group()
	if s.short(err) && errors.Is(err, backend.ErrHostMemory) { // of which the groups before have some
		if err = s.divide(ctx); err == nil {
			g, err = group()
		}
	}
	if g != nil {
		return to.add(ctx, g)
	}
	rows := table.NumRows()
	if !backend.OutOfMemory(err) || rows < leastHalf {
		return err
	}
	s.mostRows = min(s.mostRows, rows/2)
	for _, part := range [2][2]int64{{0, rows / 2}, {rows / 2, rows}} {
		half := rowsOf(table, part[0], part[1])
		err := s.add(ctx, to, half, first+uint64(part[0]), lower)
		half.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the rows [from, to) of a table.
func rowsOf(table arrow.Table, from, to int64) arrow.Table {
	columns := make([]arrow.Column, table.NumCols())
	for i := range columns {
		columns[i] = *array.NewColumnSlice(table.Column(i), from, to)
		defer columns[i].Release()
	}
	return array.NewTable(table.Schema(), columns, to-from)
}

// finish makes the groups of all parts, or of the first division.
func (s *streaming) finish(ctx context.Context) (err error) {
	s.ended.Store(true)
	s.progress.Start("merge groups")
	s.result.program, s.result.stats.Rows = s.main.program, s.rows
	if s.rows == 0 {
		return s.nothing(ctx)
	}
	if !s.divided {
		s.result.groups, err = s.complete(ctx)
		if !s.short(err) {
			return err
		}
		if err := s.divide(ctx); err != nil {
			return err
		}
	}
	s.result.grant.Shrink(exec.Need{}) // nothing is read any more
	s.result.groups, err = s.draw(ctx)
	return err
}

// complete merges what waits and counts different values. After an error that a division may end, the merged groups
// wait for it.
func (s *streaming) complete(ctx context.Context) (g *groups, err error) {
	merged := make(map[*partials]*groups)
	defer func() {
		for p, of := range merged {
			switch {
			case s.short(err):
				p.only = of
			case of != g:
				of.release()
			}
		}
	}()
	for p := range s.partials() {
		if merged[p], err = p.finish(ctx); err != nil {
			return nil, err
		}
	}
	all := merged[s.main]
	if err = s.main.program.distinct(func(column string) (int, error) {
		return s.countPairs(ctx, all, merged[s.distinct[column]], column, s.main.rowState())
	}); err != nil {
		return nil, err
	}
	return all, nil
}

// nothing is the result of no rows.
func (s *streaming) nothing(ctx context.Context) error {
	table := s.layout.tableOf(nil)
	defer table.Release()
	g, err := s.all(ctx, lower(s.layout, table, true))
	s.result.groups = g
	return err
}

// countPairs adds a state to g, the number of different values of a column, and returns its index. inner has the pairs
// of a group and a value. g and inner come from different tables; groups are equal if their first rows in the stream
// are. row is the state of g with the first rows.
func (s *streaming) countPairs(ctx context.Context, g, inner *groups, column string, row int) (state int, err error) {
	if s.merging != nil {
		if err := s.merging(); err != nil {
			return 0, err
		}
	}
	if len(s.layout.Spec.By) == 0 {
		return g.addState([]uint64{inner.values(column)}), nil
	}
	pairs := &program{table: inner.table, numbers: -1}
	pairs.need(request{fn: reduce.Count, part: -1})
	outer, err := s.group(ctx, pairs, s.layout.Spec.By)
	if err != nil {
		return 0, err
	}
	defer outer.release()
	counts, first, err := outer.countPairs(ctx, inner, column, inner.words(s.distinct[column].rowState(), 0))
	if err != nil {
		return 0, err
	}
	return g.align(row, first, counts)
}
