package groupby

import (
	"context"
	"errors"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/take"
)

// carried is what a table brings to windows: the codes of the keys that it gives, if any, and then values.
type carried struct {
	columns  []*arrow.Chunked
	fields   []arrow.Field
	bytes    uint64 // of the keys, beside the table
	rowBytes uint64 // of a row, beside the table
	later    bool   // the table is one of several
	keys     *tableKeys
	at       map[value]int // the column with the values or the validity; negative: no value is NULL
}

// formTexts describe columns that are not the table's own.
var formTexts = [...]string{asValidity: "NULLs of ", asInt8: "bits of ", asSquare: "squares of ",
	asShortSquare: "short squares of ", asSquareHigh: "high words of squares of "}

// Columns implements deliver.Carried.
func (c *carried) Columns() []*arrow.Chunked { return c.columns }

// Fields implements deliver.Carried.
func (c *carried) Fields() []arrow.Field { return c.fields }

// HostBytes implements deliver.Carried.
func (c *carried) HostBytes(rows uint64) uint64 { return c.bytes + rows*c.rowBytes }

func (c *carried) add(name string, column *arrow.Chunked, nulls bool, rowBytes uint64) (at int) {
	c.columns, c.rowBytes = append(c.columns, column), c.rowBytes+rowBytes
	c.fields = append(c.fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: nulls})
	return len(c.columns) - 1
}

// Carry implements deliver.Consumer.
func (c *consumer) Carry(ctx context.Context, side relation.Side, table arrow.Table, later bool) (deliver.Carried,
	error) {
	out := &carried{at: make(map[value]int), later: later}
	if err := c.carryKeys(ctx, out, side, table); err != nil {
		return nil, err
	}
	for _, form := range []form{asValues, asInt8, asSquare, asShortSquare, asSquareHigh, asValidity} {
		for _, v := range c.program.values {
			origin := c.origin(v.column)
			if name := origin.Of[side]; name != "" && v.form == form {
				field := table.Schema().Field(table.Schema().FieldIndices(name)[0])
				if err := out.carry(ctx, v, field, relation.ColumnOf(table, name), c.layout.types[v.column]); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// carry adds the values of a column in a form. Validity comes with values, and not at all if no value is NULL, or none
// of later tables.
func (c *carried) carry(ctx context.Context, v value, field arrow.Field, column *arrow.Chunked,
	t arrow.DataType) error {
	nulls, name := column.NullN() > 0, field.Name
	if c.later {
		nulls = field.Nullable
	}
	if v.form == asValidity {
		if nulls = nulls || relation.WordBits(t) == 0 && (c.later || relation.NullRows(column) > 0); !nulls {
			c.at[v] = -1
			return nil
		}
		for _, form := range []form{asValues, asInt8} {
			if at, there := c.at[value{v.column, form}]; there {
				c.at[v] = at
				return nil
			}
		}
	} else if !arrow.TypeEqual(column.DataType(), t) { // of a key whose values of the other table have another type
		return ErrUnfit
	}
	var err error
	if v.form != asValues {
		name = "\x00" + formTexts[v.form] + name
		column, err = convert(ctx, column, v.form)
	}
	if err == nil {
		c.at[v] = c.add(name, column, nulls, v.form.bytes(t, 1))
	}
	return err
}

// tableKeys are the keys of a group-by that a table of joined rows gives, with a code for each row.
type tableKeys struct {
	by    []int    // of the keys of the group-by
	names []string // of their columns
	table arrow.Table
	plan  *keys.Plan
	rows  []uint32 // a row with each code, where codes number the keys; nil if the plan decodes them
	bits  int
	// part says that the table is a part of a side. Its codes have 8 bytes in windows, because codes of other parts may
	// need them.
	part bool
}

// mostMapped is the number of rows whose keys the host numbers with a map, on one core, where they have no other codes.
// codesShare of the memory limit is the most that numbered texts and such a map take.
const (
	mostMapped = 1 << 17
	codesShare = 4
)

// carryKeys adds the codes of the keys that a table gives.
func (c *consumer) carryKeys(ctx context.Context, out *carried, side relation.Side, table arrow.Table) (err error) {
	k := &tableKeys{table: table, part: out.later}
	for i, name := range c.layout.Spec.By {
		if origin := c.origin(name); origin.Of[side] != "" {
			k.by, k.names = append(k.by, i), append(k.names, origin.Of[side])
		}
	}
	if len(k.by) == 0 {
		return nil
	}
	codes, t := []byte(nil), arrow.DataType(arrow.PrimitiveTypes.Uint32)
	room := func(byBytes int64) bool {
		fits := byBytes < 0 || out.bytes+uint64(byBytes) <= c.HostCapBytes()/codesShare
		if fits {
			out.bytes += uint64(byBytes)
		}
		return fits
	}
	if k.plan, err = keys.PlanGroups(ctx, table, k.names, false, room); err != nil {
		return err
	}
	// Where both tables give keys, codes of more than 32 bits may not fit together.
	rows, long := int(table.NumRows()), k.plan.KeyBits() > 32 && len(k.by) < len(c.layout.Spec.By)
	maps := c.sure || rows <= mostMapped && room(int64(rows)*mapEntryBytes)
	decodes := k.plan.Exact() && (!long || !maps)
	for i := range k.by {
		decodes = decodes && (k.plan.Decodes(i) || k.plan.HasRows(i))
	}
	switch {
	case decodes:
		if k.bits = k.plan.KeyBits(); k.plan.KeyBytes() == 8 {
			t = arrow.PrimitiveTypes.Uint64
		}
		codes = make([]byte, rows*k.plan.KeyBytes())
		err = k.plan.Encode(ctx, relation.Left, codes, nil)
	case maps:
		numbers, numberErr := k.plan.NumberKeys(ctx)
		for row, n := range numbers {
			if int(n) == len(k.rows) {
				k.rows = append(k.rows, uint32(row))
			}
		}
		codes, k.bits, err = backend.AsBytes(numbers), bits.Len(uint(max(1, len(k.rows))-1)), numberErr
	default:
		err = ErrUnfit
	}
	if err != nil {
		return err
	}
	if k.part && t == arrow.PrimitiveTypes.Uint32 {
		wide := make([]uint64, rows)
		for row, code := range backend.Words(codes) {
			wide[row] = uint64(code)
		}
		codes, t = backend.AsBytes(wide), arrow.PrimitiveTypes.Uint64
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bits[side] = k.bits; c.bits[0]+c.bits[1] > 64 {
		return ErrUnfit
	}
	column := arrow.NewChunked(t, []arrow.Array{relation.FixedArray(t, rows, codes, nil, 0)})
	out.keys = k
	out.add("\x00code of "+strings.Join(k.names, ", "), column, false, uint64(relation.WordBits(t)/8))
	return nil
}

// key returns column i of the keys with these codes, which the caller releases.
func (k *tableKeys) key(ctx context.Context, i int, codes []byte) (arrow.Array, error) {
	var rows []uint32
	switch {
	case k.rows != nil:
		for _, n := range backend.Words(codes) {
			rows = append(rows, k.rows[n])
		}
	case k.plan.Decodes(i):
		return k.plan.Decode(ctx, i, codes, memory.DefaultAllocator)
	default:
		rows = k.plan.RowsOf(i, codes)
	}
	return take.Rows(ctx, relation.ColumnOf(k.table, k.names[i]), rows, memory.DefaultAllocator)
}

// part returns the codes of one table among key codes, of the width that its plan has.
func (p *codePart) part(codes []byte, keyBytes int) []byte {
	mask := ^uint64(0) >> (64 - p.of.bits)
	rows := len(codes) / keyBytes
	code := func(row int) uint64 {
		if keyBytes == 4 {
			return uint64(backend.Words(codes)[row]) >> p.shift & mask
		}
		return backend.Longs(codes)[row] >> p.shift & mask
	}
	if p.of.bits > 32 {
		long := make([]uint64, rows)
		for row := range long {
			long[row] = code(row)
		}
		return backend.AsBytes(long)
	}
	short := make([]uint32, rows)
	for row := range short {
		short[row] = uint32(code(row))
	}
	return backend.AsBytes(short)
}

// keyColumns replaces the codes of groups by the columns of their keys.
func (r *reducing) keyColumns(ctx context.Context, g *groups) (err error) {
	g.columns = make([]arrow.Array, len(g.by))
	for _, part := range r.keys {
		codes := part.part(g.codes, r.plan.Facts.KeyBytes)
		for i, by := range part.of.by {
			if g.columns[by] == nil && r.gives(by, part.of) {
				if g.columns[by], err = r.keyColumn(ctx, by, part.of, i, codes); err != nil {
					return err
				}
			}
		}
	}
	g.memory.GiveHost(uint64(cap(g.codes)))
	g.codes = nil
	for by, column := range g.columns {
		if column == nil {
			if g.columns[by], err = r.sameKey(g.by[by], g.rows); err != nil {
				return err
			}
		}
		if err := chargeColumn(g.memory, g.columns[by]); err != nil {
			return err
		}
	}
	return nil
}

// gives reports whether a table gives a key to these rows.
func (r *reducing) gives(by int, of *tableKeys) bool {
	origin := r.origin(r.layout.Spec.By[by])
	table, some := origin.side(r.of)
	return some && r.carried[table].keys == of
}

// keyColumn returns the column of a key, of the type of the output.
func (r *reducing) keyColumn(ctx context.Context, by int, of *tableKeys, i int, codes []byte) (arrow.Array, error) {
	column, err := of.key(ctx, i, codes)
	if errors.Is(err, relation.ErrBatchTooLarge) {
		return nil, ErrUnfit
	}
	if err != nil {
		return nil, err
	}
	defer column.Release()
	converted, err := keys.Convert(ctx, column, r.layout.Schema.Field(by).Type, memory.DefaultAllocator)
	if beyond := new(keys.BeyondError); errors.As(err, &beyond) {
		return nil, ErrUnfit // whose error names a row
	}
	return converted, err
}

// sameKey returns the column of a key that no table gives to these rows.
func (r *reducing) sameKey(name string, rows int) (arrow.Array, error) {
	switch r.origin(name).Role {
	case deliver.Mark:
		return scalar.MakeArrayFromScalar(scalar.NewBooleanScalar(r.matched), rows, memory.DefaultAllocator)
	case deliver.Indicator:
		text := scalar.NewStringScalar(deliver.IndicatorText(r.of))
		return scalar.MakeArrayFromScalar(text, rows, memory.DefaultAllocator)
	}
	return relation.Nulls(r.layout.types[name], rows, memory.DefaultAllocator)
}
