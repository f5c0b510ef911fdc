package groupby

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// partials are the groups of the parts of a stream. The groups of a part are a table: its keys, the columns of which
// first values are output, the states, and the number of the first row in the stream. Tables of several parts are
// merged by a group-by of their rows in which states are reduced: counts are added, the least of least values is
// taken, and so on.
//
//	part 1   a 2 rows, sum 5     part 2   a 1 row, sum 7     merged   a 3 rows, sum 12
//	         b 1 row,  sum 1              c 1 row, sum 2              b 1 row, sum 1; c 1 row, sum 2
//
// Parts wait until they have twice the groups of the last merge, or of the first part, so that a group takes part in
// few merges.
type partials struct {
	*streaming
	program *program // of the parts
	by      []string
	only    *groups // of the first part or of the last merge, until there are others
	tables  []arrow.Table
	rows    int
	merged  int // groups of the first part or of the last merge
	charged uint64
	divider exchange.Divider
	place   *exchange.Place // of tables that were divided
}

func stateName(i int) string { return fmt.Sprintf("\x00%d", i) }

func pickName(i int) string { return fmt.Sprintf("\x00pick %d", i) }

const deviations = " of squared deviations"

// rowState is the state behind all others, of groups that are numbered: the first row in the stream.
func (s *partials) rowState() int { return len(s.program.requests) }

// number gives the groups of a part, whose first row has this number in the stream, the state with their first rows.
func (s *partials) number(g *groups, firstRow uint64) error {
	if err := g.memory.Grow(exec.Need{Host: 8 * uint64(g.rows)}); err != nil {
		return err
	}
	numbers := make([]uint64, g.rows)
	for i, n := range g.words(g.first, 0) {
		numbers[i] = firstRow + n
	}
	g.states = append(g.states[:s.rowState()], [][]byte{backend.AsBytes(numbers)})
	return nil
}

// add takes the groups of a part, and their table.
func (s *partials) add(ctx context.Context, g *groups) error {
	if s.only == nil && len(s.tables) == 0 && !s.divides() && !g.repeats {
		s.only, s.rows, s.merged = g, g.rows, g.rows
		return s.waits(ctx)
	}
	if first := s.only; first != nil {
		s.only = nil // which keep may find when it divides what there is
		if err := s.keep(ctx, first); err != nil {
			g.release()
			return err
		}
	}
	s.rows += g.rows
	if err := s.keep(ctx, g); err != nil {
		return err
	}
	if s.divides() || s.rows <= 2*s.merged+s.mergeRows() {
		return nil
	}
	merged, err := s.merge(ctx)
	if s.short(err) {
		return s.divide(ctx)
	}
	if err != nil {
		return err
	}
	s.only, s.merged, s.rows = merged, merged.rows, merged.rows
	return s.waits(ctx)
}

// finish returns all groups, or the groups of the current division.
func (s *partials) finish(ctx context.Context) (*groups, error) {
	if s.only != nil {
		g := s.only
		s.only = nil
		return g, nil
	}
	return s.merge(ctx)
}

func (s *partials) release() {
	s.only.release()
	s.only = nil
	s.releaseTables()
	if s.place != nil {
		s.place.Close()
	}
}

func (s *partials) releaseTables() {
	relation.ReleaseAll(s.tables)
	s.tables = nil
}

// keep makes groups a table that waits, or divides them, and releases their own.
func (s *partials) keep(ctx context.Context, g *groups) error {
	defer g.release()
	if !s.divides() {
		held := s.memory()
		table, err := s.table(ctx, g, 0, g.rows, held)
		held.Release() // the tables that wait count together
		if err == nil {
			s.tables = append(s.tables, table)
			return s.waits(ctx)
		}
		if !s.short(err) {
			return err
		}
		if err := s.divide(ctx); err != nil {
			return err
		}
	}
	for from := 0; from < g.rows; from += dividedRows {
		if err := s.putGroups(ctx, g, from, min(g.rows, from+dividedRows)); err != nil {
			return err
		}
	}
	return nil
}

// putGroups divides the groups [from, to).
func (s *partials) putGroups(ctx context.Context, g *groups, from, to int) error {
	held := s.memory()
	defer held.Release()
	table, err := s.table(ctx, g, from, to, held)
	if err != nil {
		return err
	}
	defer table.Release()
	return s.put(ctx, table)
}

// table makes the groups [from, to) a table, whose memory is charged to held.
func (s *partials) table(ctx context.Context, g *groups, from, to int, held *exec.Grant) (arrow.Table, error) {
	var batches []arrow.RecordBatch
	defer func() { relation.ReleaseAll(batches) }()
	for most := to - from; from < to; {
		batch, err := s.batch(ctx, g, from, min(from+most, to), held)
		if errors.Is(err, relation.ErrBatchTooLarge) && most > 1 {
			most = (most + 1) / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		batches, from = append(batches, batch), from+int(batch.NumRows())
	}
	return array.NewTableFromRecords(batches[0].Schema(), batches), nil
}

// batch is the groups [from, to) of a table.
func (s *partials) batch(ctx context.Context, g *groups, from, to int, held *exec.Grant) (arrow.RecordBatch, error) {
	if s.gathering != nil {
		if err := s.gathering(to - from); err != nil {
			return nil, err
		}
	}
	var fields []arrow.Field
	var columns []arrow.Array
	defer func() { relation.ReleaseAll(columns) }()
	var short error
	add := func(name string, column arrow.Array) {
		columns = append(columns, column)
		fields = append(fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: true})
		if short == nil {
			short = chargeColumn(held, column)
		}
	}
	for k, name := range s.by {
		column, err := g.key(ctx, k, from, to)
		if err != nil {
			return nil, err
		}
		add(name, column)
	}
	for i, r := range s.program.requests {
		if r.fn == reduce.First {
			continue
		}
		f := finishing{finisher: &finisher{result: s.program.stateType(r), of: []int{i}, count: s.program.countOf(r)},
			groups: g, from: from, to: to}
		if r.fn != reduce.Count {
			f.validate(1)
		}
		add(stateName(i), f.valueStates())
		if r.fn == reduce.Moments {
			add(stateName(i)+deviations, f.make(copied(f.word(0, 1))))
		}
	}
	for i := range g.picked {
		column, err := g.fetch(ctx, i, from, to)
		if err != nil {
			return nil, err
		}
		add(pickName(i), column)
	}
	if s.numbered() {
		row := finishing{finisher: &finisher{result: arrow.PrimitiveTypes.Uint64, of: []int{s.rowState()}}, groups: g,
			from: from, to: to}
		add(stateName(s.rowState()), row.valueStates())
	}
	if short != nil {
		return nil, short
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(to-from)), nil
}

// stateType is the type of a state as a column: of 128 bits if it has two words that are one number.
func (p *program) stateType(r request) arrow.DataType {
	of := p.reduction(r)
	switch kind, words := of.State(); {
	case kind == reduce.Float:
		return arrow.PrimitiveTypes.Float64
	case words == 2:
		return &arrow.Decimal128Type{Precision: digits128}
	case kind == reduce.Unsigned:
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Int64
}

// countOf is the state that counts the values of a request; negative if each group has some.
func (p *program) countOf(r request) int {
	for i, other := range p.requests {
		if other.fn == reduce.Count && other.value == r.value {
			return i
		}
	}
	return -1
}

// merge groups the waiting tables and, unless there is an error, releases them. The result has the same states as a
// part.
func (s *partials) merge(ctx context.Context) (*groups, error) {
	if s.merging != nil {
		if err := s.merging(); err != nil {
			return nil, err
		}
	}
	table := concatenate(s.tables)
	p := &program{table: table, numbers: -1}
	for i, r := range s.program.requests {
		if r.fn == reduce.First {
			p.first()
		} else {
			p.need(request{r.fn.Merge(), value{column: stateName(i)}, -1})
		}
	}
	if s.numbered() {
		p.need(request{reduce.Min, value{column: stateName(s.rowState())}, -1})
	}
	for i, wanted := range s.program.picks {
		p.picks = append(p.picks, pick{pickName(i), wanted.of})
	}
	g, err := s.group(ctx, p, s.by)
	if err != nil {
		table.Release()
		return nil, err
	}
	g.owned = true
	for i, r := range s.program.requests {
		if r.fn == reduce.Moments && g.rows > 0 {
			if err := mergeMoments(ctx, g, i, s.program.countOf(r)); err != nil {
				g.release()
				return nil, err
			}
		}
	}
	s.releaseTables()
	return g, nil
}

// concatenate returns the rows of tables of one schema, behind each other.
func concatenate(tables []arrow.Table) arrow.Table {
	columns := make([][]arrow.Array, tables[0].NumCols())
	for _, t := range tables {
		for i := range columns {
			columns[i] = append(columns[i], t.Column(i).Data().Chunks()...)
		}
	}
	return array.NewTableFromSlice(tables[0].Schema(), columns)
}

// mergeMoments replaces state i by the moments of the rows of a table of partials, on the host: the sum of squared
// deviations of a union is the sum over both, plus n·m/(n+m) times the square of the difference of their means (Chan et
// al.).
func mergeMoments(ctx context.Context, g *groups, i, count int) error {
	groupOf, back, err := g.ofRows(ctx)
	defer back()
	if err != nil {
		return err
	}
	moments, err := charge(g.memory, 3*8*uint64(g.rows))
	if err != nil {
		return err
	}
	defer moments()
	n, mean, squares := make([]float64, g.rows), make([]float64, g.rows), make([]float64, g.rows)
	at := 0
	state := func(name string) *arrow.Chunked { return relation.ColumnOf(g.table, name) }
	counts, means, sums := state(stateName(count)), state(stateName(i)), state(stateName(i)+deviations)
	for c, chunk := range counts.Chunks() {
		if ctx.Err() != nil {
			return backend.ContextError(ctx)
		}
		m, s := means.Chunk(c).(*array.Float64), sums.Chunk(c).(*array.Float64)
		for row, k := range chunk.(*array.Uint64).Values() {
			j := groupOf[at]
			if at++; k == 0 {
				continue
			}
			if n[j] == 0 { // the difference could be beyond all numbers
				n[j], mean[j], squares[j] = float64(k), m.Value(row), s.Value(row)
				continue
			}
			all, difference := n[j]+float64(k), m.Value(row)-mean[j]
			squares[j] += s.Value(row) + difference*(difference*(n[j]*(float64(k)/all)))
			mean[j] += difference * (float64(k) / all)
			n[j] = all
		}
	}
	for j := range squares {
		backend.Longs(g.states[i][0])[j] = math.Float64bits(mean[j])
		backend.Longs(g.states[i][1])[j] = math.Float64bits(squares[j])
	}
	return nil
}
