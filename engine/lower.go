package engine

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/task"
)

// lowering makes physical trees of a task.
type lowering struct {
	*task.Task
	engine *Engine
	spec   *join.Spec // of the task
	tables [2]arrow.Table
	keys   *keys.Plan
	unique [2]*keys.Plan    // keys of the sides alone that must be unique; nil: they need not
	sides  [2]relation.Side // the build side and the probe side
	// later says that the probe table stands for later ones of its schema, whose columns may have NULLs if the schema
	// allows it. expected is the number of rows that all parts of a probe side may have; 0 if there are no parts.
	later    bool
	expected uint64
	carried  [2]deliver.Carried // columns of each table that the consumer of the task needs
	unpinned bool               // keys of the probe table count as in ordinary memory ([query.Scan.Unpinned])
	several  bool               // several devices join parts of the probe side
	guess    bool               // the range of the keys may be guessed
	byRange  bool               // tables are joined by ranges of keys
	short    error              // what the devices lack for whole tables, if these are joined by ranges for that
	facts    operator.Facts     // once the task was lowered
	whole    *lowering          // of the whole join, if the task is a range of keys; otherwise nil
}

// lower returns what the join is, and all ways to run it.
func (l *lowering) lower() query.Spec {
	spec := l.spec
	l.sides = l.buildSide()
	f := operator.Facts{KeyBytes: l.keys.KeyBytes(), KeyBits: max(1, l.keys.KeyBits())}
	for side, table := range l.sides {
		f.Rows[side] = l.rows(table)
	}
	if l.expected > 0 { // all rows of a part may have a key
		f.Rows[operator.Probe] = l.expected
	}
	if l.whole != nil {
		l.share(&f)
	} else {
		l.sample(&f)
	}
	if spec.Validate.Unique(l.sides[operator.Build]) {
		f.Unique, f.Proved = true, l.keys.Exact() // hashes of unique keys may be equal
	}
	q := query.Spec{
		Title: l.title(),
		Facts: f, Algorithms: join.AlgorithmsNamed(spec.Algorithm), Forced: spec.Algorithm != join.Auto,
		Schema:   l.Layout.Schema,
		Meanings: join.Meanings, Product: l.How == join.Cross,
		Unique: l.unique, Numbers: l.Output == join.Pairs, Quota: l.Quota, Divided: l.Depth > 0,
		BatchRows: l.batchRows(), Consumer: l.Consumer,
		Progress: l.Progress,
	}
	if l.keys.Guessed() {
		q.Check = l.check
	}
	if q.Ordered = l.Ordered(); q.Ordered && l.Order == join.RightOrder {
		q.First = relation.Right
	}
	if nulls := l.keys.Nulls(relation.Right); l.How == join.NotIn && nulls > 0 {
		q.Empty = fmt.Sprintf("the key is NULL in %s of the right table, so no value is known to be absent from it",
			text.Plural(nulls, "row"))
	}
	l.facts = f
	q.Trees = l.trees(l.engine.Engine)
	for _, column := range q.Trees[0].Columns {
		for _, v := range column.Of {
			if v != nil {
				q.RowBytes += relation.ColumnBytes(v.Column)/uint64(max(1, v.Column.Len())) + 1
			}
		}
	}
	return q
}

// batchRows is the maximum number of rows of a batch.
func (l *lowering) batchRows() uint64 { return l.engine.BatchRows(l.spec.BatchRows, l.Layout.Schema) }

// trees are the ways to run the join on a device, by where columns are put together.
func (l *lowering) trees(on *query.Engine) (trees []query.Join) {
	for _, place := range l.places(l.Ordered()) {
		trees = append(trees, l.tree(on, place, l.Ordered()))
	}
	return trees
}

// buildSide returns the build side, which is the one that the task names or the one with fewer rows, and the probe
// side.
func (l *lowering) buildSide() [2]relation.Side {
	right := l.rows(relation.Right) < l.rows(relation.Left)
	if l.Build != join.BuildAuto {
		right = l.Build == join.BuildRight
	}
	if right {
		return [2]relation.Side{relation.Right, relation.Left}
	}
	return [2]relation.Side{relation.Left, relation.Right}
}

// title names the task and the rows of both tables that it joins. Of a range, these are the rows of the range.
func (l *lowering) title() string {
	if l.Range != nil {
		return l.Title(text.Count(l.rows(relation.Left)), text.Count(l.rows(relation.Right)))
	}
	return l.Title(text.Count(l.tables[0].NumRows()), text.Count(l.tables[1].NumRows()))
}

// rows returns the number of rows of a side that have a key.
func (l *lowering) rows(side relation.Side) uint64 {
	if l.Range != nil {
		return l.Range.Sides[side].Rows
	}
	return l.keys.Rows(side)
}

// want says which rows an operator makes.
func (l *lowering) want() (w operator.Want) {
	how := l.How
	w.Pairs, w.Count = how.Pairs(), l.Output == join.Count
	for side, table := range l.sides {
		w.Rest[side] = how.Keeps(table)
		w.Matched[side] = how == join.Mark && table == relation.Left || how == join.Semi && table == relation.Left ||
			how == join.RightSemi && table == relation.Right
	}
	return w
}

// places are where columns may be put together: on the device, where that is possible for one, and on the host. What
// is put in order is fetched by the host, and so are rows of one side that a filter finds.
func (l *lowering) places(ordered bool) []join.Materialize {
	possible := false // of rows that are selected, devices have row numbers
	for side, table := range l.tables {
		for _, c := range l.Layout.Columns {
			name, ok := c.In(relation.Side(side))
			possible = possible || l.Range == nil && ok && relation.WordBits(relation.ColumnOf(table, name).DataType()) > 0
		}
	}
	switch {
	case l.Consumer != nil:
		return []join.Materialize{join.MaterializeDevice}
	case !possible || ordered || !l.keys.Exact() && !l.How.Pairs() || l.spec.Materialize == join.MaterializeHost:
		return []join.Materialize{join.MaterializeHost}
	case l.spec.Materialize == join.MaterializeDevice:
		return []join.Materialize{join.MaterializeDevice}
	}
	return []join.Materialize{join.MaterializeDevice, join.MaterializeHost}
}

func nullable(table arrow.Table, name string) bool {
	return table.Schema().Field(table.Schema().FieldIndices(name)[0]).Nullable
}

// numbersColumn is the column of row numbers of a table; nil if it has none.
func numbersColumn(table arrow.Table) *arrow.Chunked {
	if len(table.Schema().FieldIndices(join.NumberColumn)) == 0 {
		return nil
	}
	return relation.ColumnOf(table, join.NumberColumn)
}

// scan is the scan of a table, without columns.
func (l *lowering) scan(side relation.Side) *query.Scan {
	s := &query.Scan{Side: side, Table: l.tables[side], Keys: l.keys, Origins: numbersColumn(l.tables[side])}
	switch {
	case !l.How.Keeps(side):
	case l.How == join.NotIn && l.tables[relation.Right].NumRows() > 0:
		s.Keyless = keys.KeylessValues
	default:
		s.Keyless = keys.KeylessAll
	}
	if l.Range != nil {
		s.Selection, s.Proof = l.Range.Sides[side], l.Range.Proofs[side]
	}
	return s
}

// tree is the join with columns put together in one place.
//
// On the device columns of fixed width are payload as words; the host fetches the others by row number, which is
// payload too. With MaterializeHost row numbers are all payload there is.
func (l *lowering) tree(on *query.Engine, place join.Materialize, ordered bool) query.Join {
	j := query.Join{Output: l.want(), Place: place.String()}
	j.Merges = l.several && l.keys.Exact() && j.Output.Marks(operator.Build)
	if !l.keys.Exact() {
		j.Keep, j.Transfer.Compared = l.keys.Equal, len(l.Layout.Spec.LeftOn)
	}
	var scans [2]*query.Scan // by table
	var side [2]int          // of the operator, by table
	for s, table := range l.sides {
		scans[table], side[table] = l.scan(table), s
		j.Scans[s] = scans[table]
		scans[table].Numbers = l.Output == join.Pairs || ordered && l.How.Has(table) || j.Merges && s == operator.Build
	}
	var fields [2][]arrow.Field    // of the columns that are payload, by table
	var values [2][]*deliver.Value // of these
	add := func(table int, field arrow.Field, column *arrow.Chunked) {
		s := scans[table]
		s.Columns, s.Names = append(s.Columns, column), append(s.Names, field.Name)
		fields[table] = append(fields[table], field)
	}
	columns := l.Layout.Columns
	if l.Consumer != nil {
		columns, j.Carried, j.Transfer.Stays = nil, l.carried, true
		for table, carried := range l.carried {
			for i, column := range carried.Columns() {
				add(table, carried.Fields()[i], column)
			}
		}
	}
	for i, c := range columns {
		field := l.Layout.Schema.Field(i)
		out := deliver.Column{Name: field.Name, Type: field.Type, First: int(c.Side),
			Role: map[join.Role]deliver.Role{join.IndicatorColumn: deliver.Indicator, join.MarkColumn: deliver.Mark}[c.Role]}
		for table := range l.tables {
			name, ok := c.In(relation.Side(table))
			if !ok || !c.GivenBy(relation.Side(table), l.How) {
				continue
			}
			v := &deliver.Value{Column: relation.ColumnOf(l.tables[table], name)}
			out.Of[table] = v
			if place == join.MaterializeHost || relation.WordBits(v.Column.DataType()) == 0 {
				j.Transfer.Host[side[table]]++
				scans[table].Numbers = true
				continue
			}
			later := l.later && side[table] == operator.Probe
			add(table, arrow.Field{Name: name, Type: v.Column.DataType(),
				Nullable: v.Column.NullN() > 0 || later && nullable(l.tables[table], name)}, v.Column)
			values[table] = append(values[table], v)
		}
		j.Columns = append(j.Columns, out)
	}
	var words [2]*relation.Words
	for s, scan := range j.Scans {
		scan.Words = relation.PlanWords(fields[scan.Side])
		scan.Unpinned = l.unpinned && s == operator.Probe
		scan.Encodes, scan.InPlace = on.EncodesKeys(scan), on.InPlace(scan)
		words[s] = &scan.Words
		for i, v := range values[scan.Side] {
			v.Words = &scan.Words.Columns[i]
		}
		switch {
		case j.Keep != nil:
			scan.Numbers = true
		case j.Output.Count:
			scan.Numbers = false
		}
		l.transfer(&j, s)
	}
	if l.Consumer == nil {
		j.HeldBytes += deliver.RepackBytes(on.Device().Info(), words, min(l.batchRows(), primitive.MaxRows))
	}
	return j
}

// transfer notes what a side of a tree moves, and the memory in which it is staged.
func (l *lowering) transfer(j *query.Join, side int) {
	scan := j.Scans[side]
	j.Transfer.RowNumbers[side] = scan.Numbers
	j.Transfer.InPlace[side] = scan.InPlaceBits()
	j.Transfer.ArrowBits[side], j.Transfer.Repacked[side] = scan.Words.ArrowBits(), scan.Words.RepackedBits()
	j.Transfer.Keys[side] = scan.Encoding()
	rows := uint64(scan.Table.NumRows())
	if l.later && side == operator.Probe {
		rows = relation.StageRows
	}
	j.HeldBytes = max(j.HeldBytes, scan.StageBytes(rows))
}

// carry finds the columns of tables that the consumer of the task needs; it does nothing if there is no consumer.
func (l *lowering) carry(ctx context.Context, sides ...relation.Side) (err error) {
	for _, side := range sides {
		if l.Consumer != nil && err == nil {
			l.carried[side], err = l.Consumer.Carry(ctx, side, l.tables[side], l.later && side == l.sides[operator.Probe])
		}
	}
	return err
}
