package join

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// Spill lets streams whose build side does not fit in memory divide both sides into parts by the hashes of their keys
// (a Grace hash join; RT 3.4), which lie in temporary files in dir, of at most limitBytes together, and are joined one
// after the other. Call it before the first join.
func (e *Engine) Spill(dir string, limitBytes uint64) {
	e.tempDir = dir
	e.Budget().AllowDisk(limitBytes)
}

// mostDivisions is how often a part that does not fit either is divided again. If it does not fit then, its rows have
// few keys.
const mostDivisions = 4

// whole returns why a stream cannot be divided into parts; "" if it can.
func (e *Engine) whole(spec *Spec, depth int) (reason string) {
	switch {
	case e.tempDir == "":
		return "there is no temp_dir"
	case depth >= mostDivisions:
		return "a part in temp_dir does not fit, because few keys have its rows"
	case spec.How == NotIn || spec.How == Cross:
		return fmt.Sprintf("temp_dir is of no use: %s needs all rows at once", spec.How.noun())
	case spec.Output == Pairs:
		return "temp_dir is of no use: rows of parts have no numbers"
	case spec.Order != Unordered:
		return "temp_dir is of no use: parts are in no order"
	case spec.Validate != Any:
		return "temp_dir is of no use: keys are not validated in parts"
	}
	return ""
}

// parts are the tasks of a join whose sides were divided.
type parts struct {
	engine *Engine
	ctx    context.Context // of the join
	layout *Layout
	depth  int         // of divisions
	grant  *exec.Grant // of disk space
	file   *exchange.File
	place  *exchange.Place
	number int // of parts

	under  int // the part under way
	task   *Result
	done   bool        // it has ended, and is among those before
	before query.Stats // of the parts before
	closed bool
}

// divide divides what c has gathered and reads into parts, and begins to join the first; all of them if they are only
// counted. It ends the flow and the grant of c.
func (e *Engine) divide(ctx context.Context, c *collector, layout *Layout, depth int, progress *exec.Progress) (
	result *Result, err error) {
	// Each task acquires its memory itself. The disk is no reason for it to wait.
	p := &parts{engine: e, ctx: ctx, layout: layout, depth: depth, under: -1, grant: e.Budget().Empty()}
	defer func() {
		if result == nil {
			p.close()
		}
	}()
	if p.file, err = exchange.NewFile(e.tempDir, p.grant); err != nil {
		return nil, err
	}
	progress.Start("divide both")
	if err := p.fill(c); err != nil {
		return nil, firstError(c.flow, err)
	}
	c.release()
	c.flow.Stop()
	c.grant.Release()
	for more := true; more && (p.task == nil || layout.Spec.Output == Count); {
		if more, err = p.advance(); err != nil {
			return nil, err
		}
	}
	return &Result{Device: p.task.Device, parts: p}, nil
}

// fill divides both sides into the place.
func (p *parts) fill(c *collector) error {
	ctx, spec := c.flow.Context(), &p.layout.Spec
	if err := c.beginBoth(); err != nil {
		return err
	}
	schemas := [2]*arrow.Schema{c.sides[0].schema, c.sides[1].schema}
	hashes, err := relation.PlanHashes(schemas, [2][]string{spec.LeftOn, spec.RightOn}, spec.nullsEqual()...)
	if err != nil {
		return err
	}
	p.number = c.partsNumber(p.engine)
	divider := exchange.Divider{Hashes: hashes, Parts: p.number, Seed: uint64(p.depth)}
	p.place = exchange.NewPlace(p.file, schemas, p.number, p.engine.Allocator)
	put := func(side relation.Side, g *gathered) error {
		defer g.release()
		if g.rows == 0 {
			return nil
		}
		table := g.table()
		defer table.Release()
		divided, err := divider.Divide(ctx, side, table, p.engine.Allocator)
		if err != nil {
			return err
		}
		defer divided.Release()
		return p.place.PutAll(ctx, side, divided)
	}
	blockBytes := min(mostBlockBytes, c.capBytes/16)
	if c.grant != nil { // for what is gathered, a block of each side, one in the order of parts, and encoded ones
		if err := c.grant.Await(ctx, exec.Need{Host: c.capBytes / 4 * 3}); err != nil {
			return err
		}
	}
	rows := uint64(0)
	blocks := [2]gathered{{schema: schemas[0]}, {schema: schemas[1]}}
	defer blocks[0].release()
	defer blocks[1].release()
	if err := c.drain(ctx, func(side relation.Side, s slice) error {
		rows += uint64(s.to - s.from)
		c.progress.Done(rows)
		g := &blocks[side]
		if g.add(s); g.bytes < blockBytes && g.rows < 1<<30 {
			return nil
		}
		err := put(side, g)
		*g = gathered{schema: g.schema}
		return err
	}); err != nil {
		return err
	}
	if err := put(relation.Left, &blocks[0]); err != nil {
		return err
	}
	return put(relation.Right, &blocks[1])
}

// mostBlockBytes is the size of the pieces in which sides are divided, so that a part of each is large enough for a
// write.
const mostBlockBytes = 64 << 20

// last reports whether the part under way is the last one.
func (p *parts) last() bool { return p.under == p.number-1 }

// advance ends the part under way and begins the next one that may have output, or the last one; more is false if there
// is none.
func (p *parts) advance() (more bool, err error) {
	if p.task != nil {
		p.before, p.done = p.stats(), true
		p.task.Close()
		p.place.Forget(p.under)
	}
	if p.last() {
		return false, nil
	}
	left, right := Source{}, Source{}
	for how := p.layout.Spec.How; ; p.place.Forget(p.under) {
		p.under++
		left, right = p.source(relation.Left), p.source(relation.Right)
		without := left.Rows == 0 && !how.Keeps(relation.Right) || right.Rows == 0 && !how.Keeps(relation.Left)
		if p.last() || !without {
			break
		}
		p.before.LeftRows += uint64(left.Rows)
		p.before.RightRows += uint64(right.Rows)
	}
	fixed := *p.layout
	if limit := fixed.Spec.MaxOutputRows; limit > 0 {
		fixed.Spec.MaxOutputRows = max(1, limit-min(limit, p.before.OutputRows))
	}
	if report := fixed.Spec.Progress; report != nil {
		of := fmt.Sprintf(", part %d of %d", p.under+1, p.number)
		fixed.Spec.Progress = func(s exec.Status) {
			s.Phase += of
			report(s)
		}
	}
	task, err := p.engine.streamLayout(p.ctx, &fixed, [2]Source{left, right}, p.depth+1)
	if err != nil {
		return false, p.limited(err)
	}
	p.task, p.done = task, false
	return true, p.check()
}

// rows is the number of output rows so far.
func (p *parts) rows() uint64 {
	if p.done {
		return p.before.OutputRows
	}
	return p.before.OutputRows + p.task.Rows()
}

// check returns ErrLimit if there are too many output rows.
func (p *parts) check() error { return deliver.CheckRows(p.rows(), p.layout.Spec.MaxOutputRows, "") }

// limited is the error of a part, with the limit of rows of the whole join.
func (p *parts) limited(err error) error {
	if limit := p.layout.Spec.MaxOutputRows; errors.Is(err, backend.ErrLimit) && limit > 0 {
		return deliver.CheckRows(limit+1, limit, "")
	}
	return err
}

// batches yields the output of all parts.
func (p *parts) batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for more := true; more; {
			for batch, err := range p.task.Batches(ctx) {
				if err != nil {
					err = p.limited(err)
				} else if err = p.check(); err != nil {
					batch.Release()
					batch = nil
				}
				if !yield(batch, err) || err != nil {
					return
				}
			}
			var err error
			if more, err = p.advance(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// stats are those of all parts so far.
func (p *parts) stats() query.Stats {
	if p.done {
		return p.before
	}
	s, before := p.task.Stats(), &p.before
	s.LeftRows, s.RightRows = s.LeftRows+before.LeftRows, s.RightRows+before.RightRows
	s.OutputRows, s.Granules = s.OutputRows+before.OutputRows, s.Granules+before.Granules
	s.MatchSeconds += before.MatchSeconds
	s.EncodeSeconds += before.EncodeSeconds
	s.GatherSeconds += before.GatherSeconds
	s.TotalSeconds += before.TotalSeconds
	s.DevicePeakBytes = max(s.DevicePeakBytes, before.DevicePeakBytes)
	s.HostPeakBytes = max(s.HostPeakBytes, before.HostPeakBytes)
	for stage, seconds := range before.StageSeconds {
		s.StageSeconds[stage] += seconds
	}
	return s
}

// String says how both sides were divided.
func (p *parts) String() string {
	return fmt.Sprintf("divided      into %d parts by hashes of the keys, %s on disk; of part %d:\n", p.number,
		text.Bytes(p.file.SizeBytes()), p.under+1)
}

// close ends the part under way and frees the disk.
func (p *parts) close() {
	if p.closed {
		return
	}
	p.closed = true
	if p.task != nil {
		p.task.Close()
	}
	if p.file != nil {
		_ = p.file.Close() // it has no name
	}
	p.grant.Release()
}

// source is a side of the part under way.
func (p *parts) source(side relation.Side) Source {
	under := p.under
	return Source{Schema: p.place.Schema(side), Rows: p.place.Rows(side, under),
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
			return p.place.Batches(ctx, side, under)
		}}
}
