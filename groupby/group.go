package groupby

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// groups are finished groups on the host.
type groups struct {
	keys   *keys.Plan
	by     []string
	table  arrow.Table // whose rows are grouped
	rows   int
	codes  []byte     // key codes, of keys.KeyBytes() each
	states [][][]byte // by reduction and word, 8 bytes for each group
	hashes *keys.Plan // of keys of equal hashes, which were numbered: they come from first rows; otherwise nil
	none   bool       // there are no rows, which are one group all the same
	owned  bool       // the table is released with the groups
	picked []picked   // of the picks of the program
	strips bool       // they were made strip by strip
	// columns are the key columns of groups of windows, which have no codes; nil for other groups. repeats says that some
	// of these groups are there several times.
	columns []arrow.Array
	repeats bool
	first   int         // the reduction that gives first rows; negative if none does
	memory  *exec.Grant // of the groups and of work on them; nil: there is no limit
}

// words is a word of the states of a reduction.
func (g *groups) words(reduction, word int) []uint64 {
	return backend.Longs(g.states[reduction][word])
}

// addState adds a state of one word for each group, and returns its index.
func (g *groups) addState(words []uint64) int {
	g.states = append(g.states, [][]byte{backend.AsBytes(words)})
	return len(g.states) - 1
}

// release releases the table and the memory of the groups. Safe on nil, and again.
func (g *groups) release() {
	if g == nil {
		return
	}
	if g.owned {
		g.table.Release()
		g.owned = false
	}
	relation.ReleaseAll(g.columns)
	g.columns = nil
	g.memory.Release()
}

// group puts the rows of the table of p in groups by their keys. The caller releases them.
func (w *work) group(ctx context.Context, p *program, by []string) (g *groups, err error) {
	w.progress.Start("measure keys")
	memory := w.memory()
	defer func() {
		if g == nil {
			memory.Release()
		}
	}()
	defer w.result.grant.GiveUnused()
	guess := w.onHost() && p.table.NumRows() >= w.guessedRows() &&
		!slices.ContainsFunc(p.requests, func(r request) bool {
			_, ok := stripStateOf(r, nil)
			return !ok
		})
	plan, err := keys.PlanGroups(ctx, p.table, by, guess, roomIn(memory))
	if err == nil && plan.Guessed() && !haveStrips(plan, int(p.table.NumRows())) { // the guess is useless
		plan, err = keys.PlanGroups(ctx, p.table, by, false, roomIn(memory))
	}
	if err != nil {
		return nil, err
	}
	w.Collide(plan)
	for k := range by {
		if !plan.Decodes(k) && !plan.HasRows(k) {
			p.first()
		}
	}
	done, err := w.groupBy(ctx, p, &groups{keys: plan, by: by, table: p.table, first: p.numbers, memory: memory})
	if err == nil && !plan.Exact() && done.rows > 0 {
		done, err = w.verified(ctx, p, done)
	}
	if err == nil {
		err = done.pick(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// groupBy completes groups of which keys are planned.
func (w *work) groupBy(ctx context.Context, p *program, g *groups) (*groups, error) {
	s, release, err := w.scan(ctx, p, g.keys)
	defer release()
	if err != nil {
		return nil, err
	}
	t, err := w.planStrips(p, s)
	back, short := func() {}, error(nil)
	if t != nil {
		back, short = charge(g.memory, t.bytes(len(p.requests), int(p.table.NumRows())))
	}
	switch {
	case err != nil:
	case t != nil && short == nil:
		w.progress.Start("group")
		g.states = make([][][]byte, len(p.requests))
		err = t.reduce(ctx, g)
		back()
		if err == nil { // of the groups alone
			err = g.memory.Grow(exec.Need{Host: uint64(g.rows) * t.groupBytes(len(p.requests))})
		}
	case g.keys.Guessed():
		err = keys.ErrGuess
	default:
		err = w.reduce(ctx, p, s, g)
	}
	if errors.Is(err, keys.ErrGuess) { // it was wrong or useless
		release()
		if g.keys, err = keys.PlanGroups(ctx, p.table, g.by, false, roomIn(g.memory)); err == nil {
			return w.groupBy(ctx, p, g)
		}
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// scan loads the table with the values of p as payload. The caller releases its columns.
func (w *work) scan(ctx context.Context, p *program, plan *keys.Plan) (s *query.Scan, release func(),
	err error) {
	s = &query.Scan{Side: relation.Left, Table: p.table, Keys: plan}
	memory := w.memory()
	release = func() {
		relation.ReleaseAll(s.Columns)
		s.Columns = nil
		memory.Release()
	}
	var fields []arrow.Field
	for _, v := range p.values {
		column := relation.ColumnOf(p.table, v.column)
		need := exec.Need{Host: v.form.bytes(column.DataType(), uint64(p.table.NumRows()))}
		if err := memory.Grow(need); err != nil {
			return s, release, err
		}
		column, err := convert(ctx, column, v.form)
		if err != nil {
			return s, release, err
		}
		s.Columns, s.Names = append(s.Columns, column), append(s.Names, v.column)
		fields = append(fields, arrow.Field{Name: v.column, Type: column.DataType(), Nullable: column.NullN() > 0})
	}
	s.Words = relation.PlanWords(fields)
	s.Encodes, s.InPlace = w.EncodesKeys(s), w.InPlace(s)
	return s, release, nil
}

// reduce loads the table granule by granule, reduces it and brings the groups to the host.
func (w *work) reduce(ctx context.Context, p *program, s *query.Scan, g *groups) error {
	w.progress.Start("group")
	rows := int(p.table.NumRows())
	granule := w.granule(s)
	facts := reduce.Facts{Rows: uint64(min(rows, granule)), KeyBytes: s.Keys.KeyBytes(),
		KeyBits: max(1, s.Keys.KeyBits()), Payload: s.Payload(), Tuning: w.Ops.Tuning(),
		Strategy: algorithms[w.result.Layout.Spec.Algorithm].strategy}
	_, facts.CannotDraw = w.Device().Rasterizer()
	plan, err := reduce.NewPlan(facts, p.reductions(&s.Words))
	if err != nil {
		return err
	}
	back, err := charge(g.memory, s.Words.HostStageBytes(uint64(min(rows, granule))))
	if err != nil {
		return err
	}
	defer back()
	lane := w.lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	op := plan.Open(ctx, lane)
	defer op.Close()
	for from := 0; from < rows; from += granule {
		if err := w.add(ctx, op, s, from, min(rows, from+granule)); err != nil {
			return err
		}
	}
	g.states = make([][][]byte, len(p.requests))
	return op.Finish(ctx, func(ctx context.Context, some *reduce.Groups) error { return g.collect(ctx, lane, some) })
}

// add loads a granule and adds it to the groups.
func (w *work) add(ctx context.Context, op *reduce.Operator, s *query.Scan, from, to int) error {
	memory := w.lane.Scope(ctx)
	defer memory.ReleaseAll()
	chunk, err := s.Load(ctx, w.lane, memory, from, to)
	if err != nil {
		return err
	}
	return op.Add(ctx, w.lane, chunk, uint64(from))
}

// granuleShare of the limit of device memory are the rows that are on the device at a time.
const granuleShare = 4

// granule is the number of rows that are on the device at a time.
func (w *work) granule(s *query.Scan) int {
	if w.GranuleRows > 0 {
		return w.GranuleRows
	}
	rowBytes := uint64(s.Keys.KeyBytes())
	for i, bytes := range s.Words.Bytes {
		if i >= len(s.InPlace) || !s.InPlace[i] {
			rowBytes += uint64(bytes)
		}
	}
	most := w.DeviceCapBytes() / granuleShare / rowBytes
	return int(max(min(most, 1<<31), relation.StageRows)) / relation.StageRows * relation.StageRows
}

// collect brings finished groups to the host.
func (g *groups) collect(ctx context.Context, lane *exec.Lane, some *reduce.Groups) error {
	if some.Rows == 0 {
		return nil
	}
	var transfers []backend.Transfer
	bring := func(to []byte, from relation.Values, bytes int) ([]byte, error) {
		if from.Bytes != bytes || from.Data.SizeBytes != some.Rows*uint64(bytes) {
			return nil, fmt.Errorf("%w: %d bytes for %d groups", backend.ErrInvalidInput, from.Data.SizeBytes,
				some.Rows)
		}
		n := len(to)
		to, err := g.extend(to, int(from.Data.SizeBytes))
		if err != nil {
			return nil, err
		}
		transfers = append(transfers, backend.Transfer{Device: from.Data, Host: to[n:]})
		return to, nil
	}
	var err error
	if g.codes, err = bring(g.codes, some.Keys, some.Keys.Bytes); err != nil {
		return err
	}
	for i, words := range some.States {
		if g.states[i] == nil {
			g.states[i] = make([][]byte, len(words))
		}
		for j, word := range words {
			if g.states[i][j], err = bring(g.states[i][j], word, 8); err != nil {
				return err
			}
		}
	}
	g.rows += int(some.Rows)
	return lane.Device().DownloadAll(ctx, transfers)
}
