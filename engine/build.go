package engine

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
	"github.com/spirjoin/spirjoin/task"
)

// Built is a table on the device, sorted, partitioned or made a hash table once, to be joined with many tables. Until
// Close it holds the memory of the table, of one part of a probe side and of batches of output; others may wait for it.
// Only one result can be in progress at a time. A join with the build side waits for no memory.
type Built struct {
	buildSide
	built *query.Built
}

// buildSide is a table that is the build side of joins.
type buildSide struct {
	engine  *Engine
	without []query.DeviceFailure // devices of the engine that were lost before
	task    *task.Task
	keys    *keys.Build   // nil in a cross join
	side    relation.Side // that the table is
	table   arrow.Table
	carried deliver.Carried // of the table, for the consumer of the task; nil without one
	probe   *arrow.Schema   // of the tables that it will be joined with; nil if it is the schema of the only source

	spareBytes uint64    // see [task.Collector]
	guess      bool      // the range of the keys may be guessed
	divides    bool      // both sides are divided if they do not fit the memory of the device
	turn       task.Turn // on the device
}

// Build loads the side of a join that spec.BuildSide names onto the device; BuildAuto is the left one. The tables to be
// joined with it have the schema probe and about probeRows rows, 0 if unknown. The table must stay alive until Close.
//
// Every join with the build side is independent: a kind that returns rows of the build side without a partner returns
// those that have none in this probe table.
//
// Errors: as for [Engine.Plan]; backend.ErrInvalidInput for a cross join, which has no keys.
func (e *Engine) Build(ctx context.Context, table arrow.Table, probe *arrow.Schema, probeRows uint64, spec join.Spec) (
	*Built, error) {
	e, without, err := e.able()
	if err != nil {
		return nil, err
	}
	b := &Built{buildSide: buildSide{engine: e, without: without, table: table, side: spec.BuildSide.Side(), probe: probe}}
	if table == nil {
		return nil, missing("the %s table is nil", b.side)
	}
	schemas := [2]*arrow.Schema{}
	schemas[b.side], schemas[1-b.side] = table.Schema(), probe
	if spec.How == join.Cross {
		return nil, &backend.OpError{Op: "build side", Err: backend.ErrInvalidInput, Detail: "cross joins have no build side"}
	}
	layout, err := join.NewLayout(schemas[relation.Left], schemas[relation.Right], spec)
	if err != nil {
		return nil, err
	}
	b.task = task.Whole(layout, source.Source{}, source.Source{}, nil).Building(b.side)
	if err := b.planKeys(ctx, probe); err != nil {
		return nil, err
	}
	none := source.NoRows(probe)
	defer none.Release()
	l := b.lowering(b.task, none, b.keys.Plan)
	if err := l.planProofs(ctx); err != nil {
		return nil, err
	}
	q := l.lower()
	q.Empty = "" // of the probe table that stands for others
	build := q.Trees[0].Scans[0].Rows()
	if probeRows == 0 {
		probeRows = max(build, 1<<20)
	}
	f := &q.Facts
	f.Stays, f.Rows[1], f.OutputRows, f.MatchRatio, f.BuildRatio = true, probeRows, probeRows, 1, 1
	f.Granule = probeRows
	sourced, err := source.Schema(probe, 1-b.side, layout.Needed[1-b.side]) // as [Built.JoinStream] has it
	if err != nil {
		return nil, err
	}
	rowBytes := relation.RowBytes(sourced.Fields()...)
	q.PartsBytes = partsBytes(false, float64(rowBytes), min(probeRows, leastPartRows), rowBytes*source.SliceRows)
	planned, err := planGranules(e.Engine, q)
	if err != nil {
		return nil, err
	}
	if b.built, err = planned.Build(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// planKeys plans the codes of the keys of the table, for probe sides with this schema.
func (b *buildSide) planKeys(ctx context.Context, probe *arrow.Schema) (err error) {
	defer exec.Begin(ctx, "measure keys").End()
	spec := &b.task.Layout.Spec
	on, equal := spec.Keys(), spec.NullEquals()
	b.keys, err = keys.PlanBuild(ctx, b.table, probe, on[b.side], on[1-b.side], b.side,
		b.guess && b.engine.guesses(spec, b.table), equal...)
	if err == nil {
		b.engine.Collide(b.keys.Plan)
	}
	return err
}

// check refuses a schema whose columns differ from the ones that the build side was made for.
func (b *buildSide) check(probe *arrow.Schema) error {
	side := 1 - b.side
	for _, name := range b.task.Layout.Needed[side] {
		if err := relation.CheckColumn(probe, side, name); err != nil {
			return err
		}
		of := func(s *arrow.Schema) arrow.Field { return s.Field(s.FieldIndices(name)[0]) }
		field, planned, detail := of(probe), of(b.probe), ""
		switch {
		case !arrow.TypeEqual(field.Type, planned.Type):
			detail = fmt.Sprintf("has type %s, planned was %s", field.Type, planned.Type)
		case field.Nullable && !planned.Nullable:
			detail = "may be NULL, planned was that it is not"
		default:
			continue
		}
		return &backend.OpError{Op: "join", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%s column %q %s; make the build side for this schema", side, name, detail)}
	}
	return nil
}

// bind gives the keys of a probe table the codes of the build side.
func (b *buildSide) bind(ctx context.Context, probe arrow.Table) (*keys.Plan, error) {
	if b.keys != nil {
		return b.keys.Bind(ctx, probe)
	}
	tables := [2]arrow.Table{}
	tables[b.side], tables[1-b.side] = b.table, probe
	return keys.PlanCross(tables[relation.Left], tables[relation.Right])
}

// lowering is the lowering of the join with a probe table.
func (b *buildSide) lowering(of *task.Task, probe arrow.Table, plan *keys.Plan) *lowering {
	l := &lowering{Task: of, engine: b.engine, spec: &of.Layout.Spec, keys: plan, later: true}
	l.tables[b.side], l.tables[1-b.side], l.carried[b.side] = b.table, probe, b.carried
	return l
}

// Join joins the build side with a table. The caller closes the result; the table must stay alive until then.
//
// Errors: backend.ErrInvalidInput for another schema or a build side that is in use; as for [Plan.Run].
func (b *Built) Join(ctx context.Context, probe arrow.Table) (*Result, error) {
	if probe == nil {
		return nil, missing("the %s table is nil", 1-b.side)
	}
	if err := b.check(probe.Schema()); err != nil {
		return nil, err
	}
	keys, err := b.bind(ctx, probe)
	if err != nil {
		return nil, err
	}
	l := b.lowering(b.task.Renewed(), probe, keys)
	l.unique[b.side] = b.built.Query.Unique[b.side]
	if err := l.planProofs(ctx); err != nil {
		return nil, err
	}
	return reportWithout(b.without)(resultOf(b.built.Probe(ctx, b.engine.Bind(l.lower()))))
}

// Explain returns the text of the plan.
func (b *Built) Explain() string { return b.built.Query.String() }

// Close releases all memory. A result that was not closed before fails with backend.ErrCancelled.
func (b *Built) Close() {
	if b != nil && b.built != nil {
		b.built.Close()
	}
}
