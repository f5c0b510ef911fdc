package groupby

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/groupby/reduce"
	"github.com/spirjoin/spirjoin/relation"
)

// request is a reduction of a column that is not placed in words yet.
type request struct {
	fn    reduce.Func
	value value // of no column: a count of rows
	// part is which 64-bit word of wide values, the lowest first, is summed by itself: so no sum of 128 bits overflows.
	// Negative for whole values.
	part int
}

// program is the reductions that aggregates need, each once, and how they become output columns.
type program struct {
	requests []request
	values   []value // the columns on the device
	picks    []pick  // rows of which values are output
	columns  []finisher
	table    arrow.Table
	later    bool
	types    map[string]arrow.DataType // of input columns
	numbers  int                       // the reduction that gives the first row of each group; negative if none does
}

// finisher makes an output column of the states of groups.
type finisher struct {
	aggregate *Aggregate
	input     arrow.Field
	result    arrow.DataType
	value     value // the input on the device
	count     int   // the state that counts the values; negative if all groups have one
	of        []int // other states
	squares   []int // states that have the sum of squares, if it is exact
	chosen    int   // the pick that has the value; negative if states have it
}

// lower makes the program of the aggregates of a table. With later, other tables may have NULL where this one has none.
// The states of distinct values are not among its requests ([work.countDistinct]).
func lower(l *Layout, table arrow.Table, later bool) *program {
	p := &program{table: table, numbers: -1, later: later, types: l.types}
	for i := range l.Computed {
		a := &l.Computed[i]
		f := finisher{aggregate: a, input: l.inputs[i], result: l.Schema.Field(len(l.Spec.By) + i).Type, count: -1,
			chosen: -1}
		if a.Column != "" {
			f.value = value{a.Column, formOf(f.input.Type)}
		}
		if lower := functions[a.Func].lower; lower != nil {
			lower(p, &f)
		}
		p.columns = append(p.columns, f)
	}
	return p
}

// countNullable has the values of a column counted that may have NULL.
func (p *program) countNullable(f *finisher) {
	if name := f.value.column; name != "" && (p.later || relation.NullRows(relation.ColumnOf(p.table, name)) > 0) {
		f.count = p.need(request{fn: reduce.Count, value: f.value, part: -1})
	}
}

// countAll has the values of a column counted, or the rows if no value is NULL.
func (p *program) countAll(f *finisher) {
	if p.countNullable(f); f.count < 0 {
		f.count = p.need(request{fn: reduce.Count, part: -1})
	}
}

// distinct gives each column that is a number of different values the state with these, which count returns for an
// input column, called once for each.
func (p *program) distinct(count func(column string) (state int, err error)) (err error) {
	known := make(map[string]int)
	for i := range p.columns {
		f := &p.columns[i]
		if !functions[f.aggregate.Func].distinct {
			continue
		}
		column := f.aggregate.Column
		state, counted := known[column]
		if !counted {
			if state, err = count(column); err != nil {
				return err
			}
			known[column] = state
		}
		f.count = state
	}
	return nil
}

// squareBits is the most bits of a column of squares; 0 if there are none.
func (p *program) squareBits() (most int) {
	for _, v := range p.values {
		if v.form >= asSquare {
			most = max(most, relation.WordBits(v.form.of(p.types[v.column])))
		}
	}
	return most
}

// sum returns the states that hold the sum of values: one, or one for each 64-bit word of wider values, the lowest word
// first.
func (p *program) sum(v value) (states []int) {
	bits := relation.WordBits(v.form.of(p.types[v.column]))
	if bits <= 64 {
		return []int{p.need(request{reduce.Sum, v, -1})}
	}
	for part := range bits / 64 {
		states = append(states, p.need(request{reduce.Sum, v, part}))
	}
	return states
}

// first has the first row of each group found.
func (p *program) first() int {
	if p.numbers < 0 {
		p.numbers = p.need(request{fn: reduce.First, part: -1})
	}
	return p.numbers
}

// pick returns the index of a row that is wanted, which is added if it is new.
func (p *program) pick(wanted pick) int {
	i := slices.Index(p.picks, wanted)
	if i < 0 {
		i, p.picks = len(p.picks), append(p.picks, wanted)
	}
	return i
}

// need returns the index of a reduction, which is added if it is new.
func (p *program) need(r request) int {
	if i := slices.Index(p.requests, r); i >= 0 {
		return i
	}
	if r.value.column != "" && !slices.Contains(p.values, r.value) {
		p.values = append(p.values, r.value)
	}
	p.requests = append(p.requests, r)
	return len(p.requests) - 1
}

// reduction is a request of values that are not placed yet.
func (p *program) reduction(r request) (out reduce.Reduction) {
	if out.Func = r.fn; r.value.column != "" {
		t := r.value.form.of(p.types[r.value.column])
		out.Value = reduce.Value{Kind: wordKind(t), Bits: relation.WordBits(t)}
	}
	return out
}

// reductions are the requests, of columns in planned words.
func (p *program) reductions(words *relation.Words) (all []reduce.Reduction) {
	for _, r := range p.requests {
		v := reduce.Value{ValidWord: -1}
		if r.value.column != "" {
			v = place(words, slices.Index(p.values, r.value))
		}
		all = append(all, r.of(v))
	}
	return all
}

// of is the reduction of values that are placed.
func (r *request) of(v reduce.Value) reduce.Reduction {
	if r.part >= 0 {
		parts := v.Bits / 64
		if v.Word, v.Bits = v.Word+r.part, 64; r.part < parts-1 {
			v.Kind = reduce.Unsigned
		}
	}
	return reduce.Reduction{Func: r.fn, Value: v}
}
