package files

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// JoinOptions say how two files are joined.
type JoinOptions struct {
	Spec  spirjoin.JoinSpec
	Read  [2]tableio.ReadOptions // Allocator, AheadBytes, Opening and Progress are set by this package
	Write tableio.WriteOptions
}

// Report measures a join of files.
type Report struct {
	spirjoin.JoinStats
	ReadSeconds  float64 // reading whole tables; a side that is joined as it is read does not count
	WriteSeconds float64 // waiting for encoding and writing
	Plan         string  // with measured times
}

// Join joins two files, or inputs of several files each ([tableio.Open]), and writes the rows to a third one, which appears whole or not at all. It keeps within the
// limits of the engine, whose temporary folder it uses if a side does not fit in memory. Of a file whose rows are
// joined as it is read, no more than some batches are in memory.
//
// Under Options.MemoryLimitBytes the engine sets memory aside for reading, 1/32 of the limit for each file or more if a
// page is larger, as [spirjoin.Engine.Reserve] does: for good, and not while other joins run. Open an engine for each
// such join. The drivers and the program itself do not count.
//
// Errors: as for [tableio.Open], [spirjoin.Engine.Join], [spirjoin.Engine.JoinStream] and [tableio.Create]. A
// [TextError] says which value of a CSV file made a key text.
func Join(ctx context.Context, engine *spirjoin.Engine, left, right, output string, o JoinOptions) (*Report, error) {
	p, err := Open(ctx, [2]string{left, right}, o.Read, For(engine))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	layout, err := p.Layout(o.Spec)
	if err != nil {
		return nil, err
	}
	writer, err := tableio.Create(output, layout.Schema, writing(engine, o.Write))
	if err != nil {
		return nil, err
	}
	defer writer.Abort() // does nothing after Commit
	p.Choose(layout)
	expected := p.Expected(layout, ToWrite)
	defer engine.PrepareJoin(ctx, layout, expected[0], expected[1])()
	joined, err := p.Join(ctx, layout, ToWrite)
	if err != nil {
		return nil, err
	}
	defer joined.Close()
	report := &Report{ReadSeconds: p.ReadSeconds()}
	if report.WriteSeconds, err = Write(ctx, joined, writer, o.Spec.Progress); err != nil {
		return nil, err
	}
	report.JoinStats, report.Plan = joined.Stats(), joined.Explain()
	return report, nil
}

// Joined is a join of files in progress. The caller closes it.
type Joined struct {
	*spirjoin.JoinResult                // nil for ToExplain of files that were read whole
	Tables               [2]arrow.Table // both sides, if they were read whole; nil otherwise
	Plan                 string         // for ToExplain
}

// Close ends the join and releases its memory.
func (j *Joined) Close() {
	if j.JoinResult != nil {
		j.JoinResult.Close()
	}
	relation.ReleaseAll(j.Tables[:])
}

// Join begins to join the files, of which it reads the needed columns and the row groups that may have a match. One
// side is joined as it is read if that pays for this use and is possible; otherwise both are read first. Call it once.
//
// Errors: as for [spirjoin.Engine.PlanJoin] and [spirjoin.Engine.JoinStream], and of reading.
func (p *Pair) Join(ctx context.Context, layout *spirjoin.JoinLayout, use Use) (*Joined, error) {
	p.Choose(layout)
	span := exec.Begin(ctx, "start stream")
	result, err := p.joinStream(ctx, layout, use)
	span.End()
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return p.joinTables(ctx, layout, use)
	case use == ToExplain:
		return &Joined{JoinResult: result, Plan: result.Plan()}, nil
	}
	return &Joined{JoinResult: result}, nil
}

// joinStream starts a join of which one side is joined as it is read. The result is nil if it is better, or only
// possible, to read both first.
func (p *Pair) joinStream(ctx context.Context, layout *spirjoin.JoinLayout, use Use) (*spirjoin.JoinResult, error) {
	from, err := p.streamed(ctx, layout, use)
	if from == nil || err != nil {
		return nil, err
	}
	defer from.release() // the result keeps it
	engine, err := p.options.Engine()
	if err != nil {
		return nil, err
	}
	var result *spirjoin.JoinResult
	if err = p.reserve(engine, from.of); err == nil {
		result, err = engine.JoinStreamLayout(ctx, layout, from.of[0], from.of[1])
	}
	if err != nil {
		return nil, p.explainStream(err, layout)
	}
	return result, nil
}

// joinTables reads both sides and starts the join, or only plans it.
func (p *Pair) joinTables(ctx context.Context, layout *spirjoin.JoinLayout, use Use) (_ *Joined, err error) {
	joined := new(Joined)
	defer func() {
		if err != nil {
			joined.Close()
		}
	}()
	if joined.Tables, err = p.loadBoth(ctx); err != nil {
		return nil, err
	}
	engine, err := p.options.Engine()
	if err != nil {
		return nil, err
	}
	span := exec.Begin(ctx, "plan")
	plan, err := engine.PlanJoin(ctx, layout, joined.Tables[0], joined.Tables[1])
	span.End()
	if err != nil {
		return nil, p.explainKeys(err, &layout.Spec)
	}
	if use == ToExplain {
		joined.Plan = plan.String()
		return joined, nil
	}
	defer exec.BeginWait(ctx, "wait for first rows").End()
	if joined.JoinResult, err = plan.Run(ctx); err != nil {
		return nil, err
	}
	return joined, nil
}
