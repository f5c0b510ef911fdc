package keys

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/relation"
)

// exact is the exact value of a key: a number in the unit of its class, a special value, or the bytes of a text.
type exact struct {
	beyond int // -1: -Inf, 1: +Inf, 2: NaN, 3: NULL if it is a value, 0: a number or a text
	number *big.Rat
	text   string // if there is no number
}

func (e exact) compare(other exact) int {
	if e.beyond != 0 || other.beyond != 0 {
		return cmp.Compare(e.beyond, other.beyond)
	}
	if e.number == nil && other.number == nil {
		return cmp.Compare(e.text, other.text)
	}
	return e.number.Cmp(other.number)
}

func (e exact) String() string {
	if e.beyond == 0 && e.number == nil {
		return fmt.Sprintf("%q", e.text)
	}
	return map[int]string{-1: "-Inf", 1: "+Inf", 2: "NaN", 3: "NULL", 0: fmt.Sprint(e.number)}[e.beyond]
}

// exactOf reads row i by the definition of its type; ok is false for a null.
func exactOf(column arrow.Array, i int) (e exact, ok bool) {
	if column.DataType().ID() == arrow.NULL || column.IsNull(i) {
		return e, false
	}
	integer := func(v int64) exact { return exact{number: new(big.Rat).SetInt64(v)} }
	seconds := func(v int64, unit arrow.TimeUnit) exact {
		return exact{number: big.NewRat(v, int64(1e9/unit.Multiplier()))}
	}
	unscaled := func(v *big.Int, scale int32) exact {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
		if scale < 0 {
			return exact{number: new(big.Rat).SetInt(v.Mul(v, power))}
		}
		return exact{number: new(big.Rat).SetFrac(v, power)}
	}
	float := func(v float64) exact {
		switch {
		case math.IsNaN(v):
			return exact{beyond: 2}
		case math.IsInf(v, 0):
			return exact{beyond: int(math.Copysign(1, v))}
		}
		return exact{number: new(big.Rat).SetFloat64(v)}
	}
	switch c := column.(type) {
	case *array.Dictionary:
		return exactOf(c.Dictionary(), c.GetValueIndex(i))
	case *array.Boolean:
		if c.Value(i) {
			return integer(1), true
		}
		return integer(0), true
	case *array.Int8:
		return integer(int64(c.Value(i))), true
	case *array.Int16:
		return integer(int64(c.Value(i))), true
	case *array.Int32:
		return integer(int64(c.Value(i))), true
	case *array.Int64:
		return integer(c.Value(i)), true
	case *array.Uint8:
		return integer(int64(c.Value(i))), true
	case *array.Uint16:
		return integer(int64(c.Value(i))), true
	case *array.Uint32:
		return integer(int64(c.Value(i))), true
	case *array.Uint64:
		return exact{number: new(big.Rat).SetFrac(new(big.Int).SetUint64(c.Value(i)), big.NewInt(1))}, true
	case *array.Float16:
		return float16Of(c.Value(i).Uint16()), true
	case *array.Float32:
		return float(float64(c.Value(i))), true
	case *array.Float64:
		return float(c.Value(i)), true
	case *array.Date32:
		return integer(int64(c.Value(i)) * 86400), true
	case *array.Date64:
		return seconds(int64(c.Value(i)), arrow.Millisecond), true
	case *array.Timestamp:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.TimestampType).Unit), true
	case *array.Time32:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.Time32Type).Unit), true
	case *array.Time64:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.Time64Type).Unit), true
	case *array.Duration:
		return seconds(int64(c.Value(i)), c.DataType().(*arrow.DurationType).Unit), true
	case *array.MonthInterval:
		return integer(int64(c.Value(i))), true
	case *array.DayTimeInterval: // the bits that are stored
		v := c.Value(i)
		return integer(int64(v.Milliseconds)<<32 + int64(uint32(v.Days))), true
	case *array.MonthDayNanoInterval:
		v := c.Value(i)
		return exact{text: fmt.Sprint(v.Months, v.Days, v.Nanoseconds)}, true
	case interface{ Value(int) string }: // strings of all layouts
		return exact{text: c.Value(i)}, true
	case interface{ Value(int) []byte }: // and bytes
		return exact{text: string(c.Value(i))}, true
	case *array.Decimal32:
		return unscaled(big.NewInt(int64(c.Value(i))), c.DataType().(arrow.DecimalType).GetScale()), true
	case *array.Decimal64:
		return unscaled(big.NewInt(int64(c.Value(i))), c.DataType().(arrow.DecimalType).GetScale()), true
	case *array.Decimal128:
		return unscaled(c.Value(i).BigInt(), c.DataType().(arrow.DecimalType).GetScale()), true
	case *array.Decimal256:
		return unscaled(c.Value(i).BigInt(), c.DataType().(arrow.DecimalType).GetScale()), true
	}
	panic("no exact value for " + column.DataType().String())
}

// float16Of decodes a half-precision number by its definition.
func float16Of(bits uint16) exact {
	sign := int64(1 - 2*int(bits>>15))
	exponent, fraction := int(bits>>10&31), int64(bits&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return exact{beyond: 2}
	case exponent == 31:
		return exact{beyond: int(sign)}
	case exponent == 0:
		exponent = 1
	default:
		fraction += 1024
	}
	power := new(big.Int).Lsh(big.NewInt(1), uint(exponent))
	return exact{number: new(big.Rat).SetFrac(power.Mul(power, big.NewInt(sign*fraction)),
		new(big.Int).Lsh(big.NewInt(1), 25))}
}

// keyRow is a row as seen by the oracle and by the plan.
type keyRow struct {
	values  []exact
	null    bool
	encoded bool
	code    uint64
}

func readRows(plan *Plan, side relation.Side, table arrow.Table, on []string) ([]keyRow, error) {
	rows := make([]keyRow, table.NumRows())
	for k, name := range on {
		at := 0
		for _, chunk := range table.Column(table.Schema().FieldIndices(name)[0]).Data().Chunks() {
			for i := range chunk.Len() {
				value, ok := exactOf(chunk, i)
				if !ok && plan.keys[k].nullsEqual {
					value, ok = exact{beyond: 3}, true
				}
				rows[at].values = append(rows[at].values, value)
				rows[at].null = rows[at].null || !ok
				at++
			}
		}
	}
	n := int(plan.Rows(side))
	keys, ids := make([]byte, n*plan.KeyBytes()), make([]uint32, n)
	if err := plan.Encode(context.Background(), side, keys, ids); err != nil {
		return nil, err
	}
	for i := range n {
		row := i
		if plan.LeavesOut(side) {
			row = int(ids[i])
		} else if n != len(rows) {
			return nil, fmt.Errorf("%d codes for %d rows, none said to be left out", n, len(rows))
		}
		rows[row].encoded = true
		if plan.KeyBytes() == 4 {
			rows[row].code = uint64(relation.View[uint32](keys)[i])
		} else {
			rows[row].code = relation.View[uint64](keys)[i]
		}
		if plan.KeyBits() < 64 && rows[row].code>>plan.KeyBits() != 0 {
			return nil, fmt.Errorf("code %#x of %s row %d has more than %d bits", rows[row].code, side, row,
				plan.KeyBits())
		}
	}
	return rows, nil
}

// checkHashed checks codes that are hashes: equal values have equal codes, and [Plan.Equal] is right for all pairs.
func checkHashed(plan *Plan, left, right []keyRow) error {
	var rows [2][]uint32
	for i, l := range left {
		for j, r := range right {
			switch equal := equalRow(l, r); {
			case l.null && l.encoded || r.null && r.encoded:
				return fmt.Errorf("left row %d or right row %d has a null key and a code", i, j)
			case l.encoded && r.encoded:
				rows[relation.Left] = append(rows[relation.Left], uint32(i))
				rows[relation.Right] = append(rows[relation.Right], uint32(j))
				if equal && l.code != r.code {
					return fmt.Errorf("left row %d and right row %d are equal, and their codes %#x and %#x are not", i,
						j, l.code, r.code)
				}
			case equal:
				return fmt.Errorf("left row %d and right row %d are equal, and one is left out", i, j)
			}
		}
	}
	keep := fullBits(len(rows[relation.Left]))
	if err := plan.Equal(context.Background(), rows, keep); err != nil {
		return err
	}
	for n, i := range rows[relation.Left] {
		l, r := left[i], right[rows[relation.Right][n]]
		if equalRow(l, r) != hasBit(keep, n) {
			return fmt.Errorf("values %v and %v are said to be equal: %t", l.values, r.values, hasBit(keep, n))
		}
	}
	return nil
}

func equalRow(l, r keyRow) bool {
	return !l.null && !r.null && slices.EqualFunc(l.values, r.values,
		func(a, b exact) bool { return a.compare(b) == 0 })
}

// checkRows checks that codes order as the values do, within a side and across, are equal if and only if all values
// are, and that no row with a match is left out.
func checkRows(plan *Plan, left, right []keyRow) error {
	if !plan.Exact() {
		return checkHashed(plan, left, right)
	}
	compare := func(a, b keyRow) int {
		for k := range a.values {
			if c := a.values[k].compare(b.values[k]); c != 0 {
				return c
			}
		}
		return 0
	}
	var encoded, open []keyRow
	for side, rows := range [][]keyRow{left, right} {
		others := slices.DeleteFunc(slices.Clone([][]keyRow{right, left}[side]),
			func(row keyRow) bool { return row.null })
		slices.SortFunc(others, compare)
		for i, row := range rows {
			switch {
			case row.null && row.encoded:
				return fmt.Errorf("%s row %d has a null key and a code", relation.Side(side), i)
			case row.encoded && plan.unmeasured[side]:
				open = append(open, row)
			case row.encoded:
				encoded = append(encoded, row)
			case !row.null:
				if _, found := slices.BinarySearchFunc(others, row, compare); found {
					return fmt.Errorf("%s row %d is left out, but its values %v have a match", relation.Side(side), i,
						row.values)
				}
			}
		}
	}
	for _, a := range open {
		for _, b := range encoded {
			if equal := compare(a, b) == 0; equal != (a.code == b.code) {
				return fmt.Errorf("values %v and %v, equal: %t, have codes %#x and %#x", a.values, b.values, equal, a.code,
					b.code)
			}
		}
	}
	slices.SortFunc(encoded, compare)
	for i := range encoded[min(1, len(encoded)):] {
		a, b := encoded[i], encoded[i+1]
		if want, got := compare(a, b), cmp.Compare(a.code, b.code); want != got {
			return fmt.Errorf("values %v and %v compare %d, their codes %#x and %#x %d", a.values, b.values, want,
				a.code, b.code, got)
		}
	}
	return nil
}

// checkPlan plans, encodes and checks two tables, also with either side open.
func checkPlan(left, right arrow.Table, on []string, nullsEqual ...bool) error {
	read := func(plan *Plan) (l, r []keyRow, err error) {
		if l, err = readRows(plan, relation.Left, left, on); err == nil {
			r, err = readRows(plan, relation.Right, right, on)
		}
		return l, r, err
	}
	for _, open := range []relation.Side{relation.Left, relation.Right} {
		plan, err := PlanOpen(context.Background(), left, right, on, on, open, false, nullsEqual...)
		if err != nil {
			return err
		}
		l, r, err := read(plan)
		if err == nil {
			err = checkRows(plan, l, r)
		}
		if err != nil {
			return fmt.Errorf("%s side open: %w", open, err)
		}
	}
	plan, err := PlanJoin(context.Background(), left, right, on, on, nullsEqual...)
	if err != nil {
		return err
	}
	l, r, err := read(plan)
	if err != nil {
		return err
	}
	for k := range on {
		lt, rt := left.Schema().Field(k).Type, right.Schema().Field(k).Type
		if len(on) > 1 || len(nullsEqual) > 0 && nullsEqual[0] || !arrow.TypeEqual(lt, rt) ||
			arrow.IsDecimal(relation.TraitOf(lt).Storage.ID()) ||
			relation.TraitOf(lt).Class.IsText() && plan.Exact() { // short texts
			continue
		}
		for _, row := range append(append([]keyRow{}, l...), r...) {
			if !row.null && !row.encoded {
				return fmt.Errorf("a row of value %v is left out although both types are %s", row.values, lt)
			}
		}
	}
	return checkRows(plan, l, r)
}
