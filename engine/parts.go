package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
	"github.com/spirjoin/spirjoin/team"
)

// stream is a probe side on its way to a join: a goroutine of the flow reads slices, and another gathers them to parts
// whose keys take the codes of the build side. Each is one step ahead of the next.
type stream struct {
	*buildSide
	flow       *exec.Flow
	source     *source.Reading
	sourceRows int64      // negative if unknown
	task       *task.Task // as the build side's, in this run
	none       *lowering  // with a probe side without rows
	rows       uint64     // that were gathered
	bytes      uint64     // of these
	largest    uint64     // bytes of a batch
	ended      bool       // the source has no more
	ahead      bool       // granules may be loaded and delivered while others are joined
	// grant grows with what is gathered beside the build side's tableBytes; nil from the plan on, and without a limit.
	grant      *exec.Grant
	tableBytes uint64
	// bounds of a part, which may be smaller by as much as one slice has; 0 bytes: no limit
	mostRows, mostBytes uint64
	devices             int // that join parts
	// memory for all parts, and what it could be if no other query had memory; 0: no limit
	partsBytes, aloneBytes uint64
}

// leastPartRows is the least number of rows of a part of the probe side, if memory allows: fewer would cost more in
// launches, and in walks over the build side, than in work.
const leastPartRows = 1 << 20

// bestPartBytes is the memory of a part whose rows cost the host much more than launches. Parts are larger only if a
// walk over the keys of the build side would cost more than their rows: up to a quarter of its memory, and up to
// walkedBytes for each of its rows. Beyond that they only take more memory.
const (
	bestPartBytes = 32 << 20
	walkedBytes   = 4
)

// leastGranule is the least number of rows of a granule if the host has no memory for more.
const leastGranule = 1 << 10

func newStream(flow *exec.Flow, b *buildSide, of *task.Task, from *source.Reading, sourceRows int64) (
	s *stream, err error) {
	s = &stream{buildSide: b, flow: flow, source: from, sourceRows: sourceRows, task: of, devices: 1,
		ahead: !b.engine.Device().Info().Unified}
	if b.keys == nil && of.How != join.Cross {
		ctx, end := exec.Track(flow.Context(), "plan")
		defer end()
		if err := b.planKeys(ctx, from.Schema); err != nil {
			return nil, err
		}
	}
	if of.Consumer != nil {
		if b.carried, err = of.Consumer.Carry(flow.Context(), b.side, b.table, false); err != nil {
			return nil, err
		}
	}
	none := source.NoRows(from.Schema)
	if s.none, err = s.lower(none); err != nil {
		none.Release()
		return nil, err
	}
	return s, nil
}

// lower binds a table of the probe side to the codes of the build side.
func (s *stream) lower(probe arrow.Table) (*lowering, error) {
	keys, err := s.bind(s.flow.Context(), probe)
	if err != nil {
		return nil, err
	}
	l := s.lowering(s.task, probe, keys)
	l.sides = l.buildSide()
	if err := l.carry(s.flow.Context(), 1-s.side); err != nil {
		return nil, err
	}
	if s.none != nil {
		l.unique, l.unpinned = s.none.unique, s.none.unpinned
	}
	return l, nil
}

// bestRows is the number of rows of a part from which on a walk over the build side costs no more than a walk over the
// part.
func (s *stream) bestRows() uint64 { return max(uint64(s.table.NumRows()), leastPartRows) }

// wishBytes estimates the memory of the largest parts and of the batches that they share.
func (s *stream) wishBytes() uint64 {
	rowBytes := float64(s.bytes) / float64(max(1, s.rows))
	if s.rows == 0 {
		rowBytes = float64(relation.RowBytes(s.source.Schema.Fields()...))
	}
	rows := s.mostRows
	if s.ended {
		rows = s.rows
	}
	return partsBytes(s.ahead, rowBytes, rows, s.largest)
}

// partsBytes is the memory of the parts of a probe side, of rows rows each, with the batches at their ends.
func partsBytes(ahead bool, rowBytes float64, rows, batchBytes uint64) uint64 {
	return query.PartsAtOnce(ahead)*max(query.LeastPartBytes, uint64(rowBytes*float64(rows))) + 2*batchBytes
}

// fitBatches bounds the size of parts, so that all of them fit in memory together with the batches that they begin and
// end in: a slice keeps its whole batch alive. Parts are neighbours, so these are two batches. If other queries leave
// no room for them, parts are as small as they may be.
func (s *stream) fitBatches() error {
	parts := query.PartsAtOnce(s.ahead) * uint64(s.devices)
	least := parts * query.LeastPartBytes
	switch {
	case s.partsBytes == 0:
		return nil
	case s.aloneBytes < 2*s.largest+least:
		return s.tooLarge(s.aloneBytes - min(s.aloneBytes, least))
	}
	s.mostBytes = max(s.partsBytes-min(s.partsBytes, 2*s.largest), least) / parts
	return nil
}

func (s *stream) tooLarge(leftBytes uint64) error {
	return &backend.OpError{Op: "join stream", Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
		"a record batch takes %s, memory_limit leaves %s for two; raise it, or give smaller batches",
		text.Limit(s.largest), text.Limit(leftBytes))}
}

// gather returns the next part as a table; nil if there are no more rows.
func (s *stream) gather(ctx context.Context) (arrow.Table, error) {
	g := source.Gathered{Schema: s.source.Schema}
	defer g.Release()
	for !s.ended && (g.Rows == 0 || g.Rows+g.Most <= s.mostRows && (s.mostBytes == 0 || g.Bytes < s.mostBytes)) {
		next, some, err := s.source.Next(ctx)
		if err != nil {
			return nil, err
		}
		if s.ended = !some; !some {
			break
		}
		g.Add(next)
		s.largest = max(s.largest, next.BatchBytes())
		if s.rows == 0 { // of the first part, before the join
			s.task.Progress.Done(g.Rows)
		}
		if s.grant == nil {
			continue
		}
		if err := s.claim(ctx, g.Bytes+s.source.WaitingBytes()); err != nil {
			return nil, err
		}
	}
	s.rows, s.bytes = s.rows+g.Rows, s.bytes+g.Bytes
	if g.Rows == 0 {
		return nil, nil
	}
	return g.Table(), nil
}

// claim waits for the memory of the build side and of slices of sizeBytes, the last of which may keep a whole batch
// alive.
func (s *stream) claim(ctx context.Context, sizeBytes uint64) error {
	all := s.engine.HostCapBytes()
	if left := all - min(all, s.tableBytes); sizeBytes+s.largest > left {
		return s.tooLarge(left)
	}
	return s.grant.Await(ctx, exec.Need{Host: s.tableBytes + sizeBytes + s.largest})
}

// parts gathers and lowers part after part into a pipe, the first of them from a table that is there already, or nil.
func (s *stream) parts(first arrow.Table) *exec.Pipe[*query.Part] {
	out, at := exec.NewPipe[*query.Part](s.flow, s.devices-1), uint64(0)
	put := func(ctx context.Context, table arrow.Table) error {
		l, err := s.lower(table)
		if err != nil {
			return err
		}
		table.Retain()
		part := &query.Part{Trees: l.trees, Table: table, First: at}
		at += uint64(table.NumRows())
		return out.Put(ctx, part)
	}
	if first != nil {
		first.Retain()
	}
	s.flow.Go("gather", func(ctx context.Context) (err error) {
		for table := first; ; {
			if table == nil {
				if table, err = s.gather(ctx); err != nil {
					return err
				}
			}
			if table == nil {
				out.End()
				return nil
			}
			err := s.fitBatches()
			if err == nil {
				err = put(ctx, table)
			}
			table.Release()
			if table = nil; err != nil {
				return err
			}
		}
	})
	return out
}

// query turns the query of tables into the query of a stream.
func (s *stream) query(q query.Spec) query.Spec {
	rows := [2]string{text.Count(s.table.NumRows()), "some"}
	if s.sourceRows >= 0 {
		rows[1] = "about " + text.Count(s.sourceRows)
	}
	q.Title = s.task.Title(rows[s.side], rows[1-s.side])
	q.Trees, q.Parts, q.PartsRows = s.none.trees(s.engine.Engine), true, uint64(max(0, s.sourceRows))
	if s.ended {
		q.PartsRows = s.rows
	}
	return q
}

// stream plans by the first part of the probe side, which is being read and has about sourceRows rows, and starts the
// join. It takes the table of the build side and, unless it fails, the flow and the grant, which is open, or nil if
// host memory has no limit. If it fails, the source is read on, or the flow has ended.
func (b *buildSide) stream(flow *exec.Flow, grant *exec.Grant, from *source.Reading, sourceRows int64) (
	result *query.Result, err error) {
	progress := b.task.Progress
	own := []arrow.Table{b.table}
	release := sync.OnceFunc(func() {
		relation.ReleaseAll(own)
	})
	defer func() {
		if result == nil {
			release()
		}
	}()
	s, err := newStream(flow, b, b.task, from, sourceRows)
	if err != nil {
		return nil, err
	}
	own = append(own, s.none.tables[1-b.side])
	if err := s.none.planProofs(flow.Context()); err != nil {
		return nil, err
	}
	s.mostRows = cmp.Or(b.engine.GranuleRows, s.bestRows())
	s.shareRows()
	s.tableBytes = relation.TableBytes(b.table)
	s.mostBytes = max(bestPartBytes, min(s.tableBytes/4, walkedBytes*uint64(b.table.NumRows())))
	if s.grant = grant; grant != nil {
		s.mostBytes = min(s.mostBytes, b.engine.HostCapBytes()/8)
	}
	progress.Start("read " + from.Side.String())
	first, err := s.gather(flow.Context())
	progress.Start("plan")
	s.grant = nil
	if err != nil {
		return nil, err
	}
	l := s.none
	if first != nil {
		defer first.Release()
		if l, err = s.lower(first); err != nil {
			return nil, err
		}
		l.expected = s.expected()
		s.none.unpinned = !l.keys.Pinned(1-b.side, b.engine.Device())
	}
	if !s.ended { // granules need not be larger than parts can be
		s.mostRows = s.rows
	}
	_, end := exec.Track(flow.Context(), "plan")
	q := l.lower()
	q.Facts.Stays, q.Facts.Granule = !s.ended, s.mostRows
	if b.divides {
		build, probe := uint64(b.table.NumRows()), s.expected()
		schemas, tables := [2]*arrow.Schema{}, [2]arrow.Table{}
		schemas[b.side], schemas[1-b.side], tables[b.side] = b.table.Schema(), s.source.Schema, b.table
		q.DivideTime = b.engine.divideTime(build+probe,
			s.tableBytes+probe*relation.RowBytes(s.source.Schema.Fields()...),
			b.engine.DividesOnDevice(b.task.Layout, schemas, tables))
	}
	q = s.query(q)
	q.Release, q.Grant, q.PartsBytes, q.WaitingBytes = release, grant, s.wishBytes(), s.source.WaitingBytes()
	planned, err := s.plan(q, l)
	end()
	if backend.OutOfMemory(err) {
		return nil, newUnfit(err, b.table, first)
	}
	if err != nil {
		return nil, err
	}
	if err := b.turn.Wait(flow.Context()); err != nil {
		return nil, err
	}
	return team.Stream(flow, planned, s.parts(first))
}

// plan plans a query, and the parts that fit beside it, on one device or several.
func (s *stream) plan(q query.Spec, l *lowering) (*query.Query, error) {
	planned, err := planGranules(s.engine.Engine, q)
	switch {
	case errors.Is(err, backend.ErrDeviceMemory) || err == nil && s.engine.Scatter:
		planned, err = s.scattered(planned, err, q, l)
	case err == nil:
		planned, err = s.together(planned, l)
	}
	if err != nil {
		return nil, err
	}
	taken := &planned.Alternatives[0].Facts
	s.devices = 1 + len(planned.Others)
	s.ahead, s.mostRows = taken.Ahead, min(s.bestRows(), taken.Granule)
	if s.partsBytes, s.aloneBytes = planned.PartsRoom(); s.partsBytes > 0 && s.aloneBytes < s.spareBytes {
		return nil, s.tooLarge(s.aloneBytes)
	}
	return planned, s.fitBatches()
}

// unfitError is the error of a stream that does not fit in memory, with the rows gathered of both sides. Reading goes
// on.
type unfitError struct {
	error
	build, first arrow.Table // first may be nil
}

func newUnfit(err error, build, first arrow.Table) error {
	build.Retain()
	if first != nil {
		first.Retain()
	}
	return &unfitError{err, build, first}
}

func (e *unfitError) Unwrap() error { return e.error }

// giveBack gives what was gathered back to the collector.
func (e *unfitError) giveBack(ctx context.Context, c *task.Collector, of *task.Task, side relation.Side) error {
	if of.Sources[side].Table() == nil { // otherwise it is read again
		if err := c.BackTable(ctx, side, e.build); err != nil {
			return err
		}
	}
	if e.first == nil {
		return nil
	}
	return c.BackTable(ctx, 1-side, e.first)
}

func (e *unfitError) release() {
	e.build.Release()
	if e.first != nil {
		e.first.Release()
	}
}

// planGranules plans a query, with smaller granules if host memory is short: device memory may be host memory.
func planGranules(e *query.Engine, q query.Spec) (*query.Query, error) {
	planned, err := e.Plan(q)
	for errors.Is(err, backend.ErrHostMemory) && q.Facts.Granule > leastGranule {
		q.Facts.Granule = max(q.Facts.Granule/4, leastGranule)
		planned, err = e.Plan(q)
	}
	return planned, err
}

// expected is how many rows the probe side may have, of which one part was gathered: as the source says, or a guess,
// and no fewer than a part may have.
func (s *stream) expected() uint64 {
	const guess = 8 // parts
	switch {
	case s.ended:
		return s.rows
	case s.sourceRows < 0:
		return min(guess*s.rows, primitive.MaxRows)
	}
	return min(max(uint64(s.sourceRows), 2*s.rows), primitive.MaxRows)
}
