package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// family is a group of key types that compare in the same way.
type family uint8

const (
	integers family = iota
	decimals
	floats
	booleans
	dates
	timestamps // without a time zone
	instants   // timestamps with one
	times
	durations
	texts
	bytesOnly
	monthIntervals
	dayIntervals
	nanoIntervals
	nulls1 // the type without values, which compares with everything
)

// comparesWith are the families of the other side, as docs/keys.md has them; a family is listed once more for its own
// weight among the choices.
var comparesWith = map[family][]family{
	integers: {integers, integers, decimals, floats}, decimals: {decimals, decimals, integers},
	floats: {floats, floats, integers}, booleans: {booleans}, dates: {dates, timestamps},
	timestamps: {timestamps, timestamps, dates}, instants: {instants}, times: {times}, durations: {durations},
	texts: {texts}, bytesOnly: {bytesOnly}, monthIntervals: {monthIntervals}, dayIntervals: {dayIntervals},
	nanoIntervals: {nanoIntervals}, nulls1: {integers, floats, dates, texts},
}

// keyType is an Arrow type of keys and how DuckDB holds it.
type keyType struct {
	arrow  arrow.DataType
	family family
	// duck is the type of the column in DuckDB. Units of time are plain numbers there, because its own types have other
	// ranges, special values at their ends, and no units below a microsecond for some of them.
	duck string
	unit int64 // nanoseconds that a temporal type counts
}

const (
	second = 1_000_000_000
	day    = 86_400 * second
)

// keyTypes are the types that keys may have, by name. A decimal of more than 38 digits is none of them: DuckDB holds no
// such number.
var keyTypes = func() map[string]keyType {
	all := map[string]keyType{
		"int8":          {arrow.PrimitiveTypes.Int8, integers, "TINYINT", 0},
		"int16":         {arrow.PrimitiveTypes.Int16, integers, "SMALLINT", 0},
		"int32":         {arrow.PrimitiveTypes.Int32, integers, "INTEGER", 0},
		"int64":         {arrow.PrimitiveTypes.Int64, integers, "BIGINT", 0},
		"uint8":         {arrow.PrimitiveTypes.Uint8, integers, "UTINYINT", 0},
		"uint16":        {arrow.PrimitiveTypes.Uint16, integers, "USMALLINT", 0},
		"uint32":        {arrow.PrimitiveTypes.Uint32, integers, "UINTEGER", 0},
		"uint64":        {arrow.PrimitiveTypes.Uint64, integers, "UBIGINT", 0},
		"float16":       {arrow.FixedWidthTypes.Float16, floats, "FLOAT", 0},
		"float32":       {arrow.PrimitiveTypes.Float32, floats, "FLOAT", 0},
		"float64":       {arrow.PrimitiveTypes.Float64, floats, "DOUBLE", 0},
		"bool":          {arrow.FixedWidthTypes.Boolean, booleans, "BOOLEAN", 0},
		"date32":        {arrow.FixedWidthTypes.Date32, dates, "INTEGER", day},
		"date64":        {arrow.FixedWidthTypes.Date64, dates, "BIGINT", second / 1000},
		"string":        {arrow.BinaryTypes.String, texts, "VARCHAR", 0},
		"large_string":  {arrow.BinaryTypes.LargeString, texts, "VARCHAR", 0},
		"string_view":   {arrow.BinaryTypes.StringView, texts, "VARCHAR", 0},
		"binary":        {arrow.BinaryTypes.Binary, bytesOnly, "BLOB", 0},
		"large_binary":  {arrow.BinaryTypes.LargeBinary, bytesOnly, "BLOB", 0},
		"binary_view":   {arrow.BinaryTypes.BinaryView, bytesOnly, "BLOB", 0},
		"fixed5":        {&arrow.FixedSizeBinaryType{ByteWidth: 5}, bytesOnly, "BLOB", 0},
		"interval_mon":  {arrow.FixedWidthTypes.MonthInterval, monthIntervals, "INTEGER", 0},
		"interval_day":  {arrow.FixedWidthTypes.DayTimeInterval, dayIntervals, "BLOB", 0},
		"interval_nano": {arrow.FixedWidthTypes.MonthDayNanoInterval, nanoIntervals, "BLOB", 0},
		"null":          {arrow.Null, nulls1, "INTEGER", 0},
	}
	for _, t := range []arrow.DataType{&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal32Type{Precision: 5},
		&arrow.Decimal64Type{Precision: 18, Scale: 4}, &arrow.Decimal128Type{Precision: 15, Scale: 2},
		&arrow.Decimal128Type{Precision: 20}, &arrow.Decimal128Type{Precision: 38, Scale: 3},
		&arrow.Decimal256Type{Precision: 30, Scale: 1}} {
		d := t.(arrow.DecimalType)
		duck := fmt.Sprintf("DECIMAL(%d,%d)", d.GetPrecision(), d.GetScale())
		all[fmt.Sprintf("decimal%d(%d,%d)", d.BitWidth(), d.GetPrecision(), d.GetScale())] = keyType{t, decimals, duck, 0}
	}
	for unit, name := range []string{"s", "ms", "us", "ns"} {
		nanos := int64(second)
		for range unit {
			nanos /= 1000
		}
		unit := arrow.TimeUnit(unit)
		all["timestamp_"+name] = keyType{&arrow.TimestampType{Unit: unit}, timestamps, "BIGINT", nanos}
		zone := []string{"UTC", "Asia/Tokyo"}[unit%2]
		all["instant_"+name] = keyType{&arrow.TimestampType{Unit: unit, TimeZone: zone}, instants, "BIGINT", nanos}
		all["duration_"+name] = keyType{&arrow.DurationType{Unit: unit}, durations, "BIGINT", nanos}
		if unit < arrow.Microsecond {
			all["time_"+name] = keyType{&arrow.Time32Type{Unit: unit}, times, "BIGINT", nanos}
		} else {
			all["time_"+name] = keyType{&arrow.Time64Type{Unit: unit}, times, "BIGINT", nanos}
		}
	}
	return all
}()

// typesOf are the names of the types of a family.
func typesOf(f family) (names []string) {
	for name, t := range keyTypes {
		if t.family == f {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// number is a value of keys that is the same on both sides, before either type takes what it can of it: quarters, or
// one of the special values.
type number struct {
	whole   int64
	quarter int64 // 0 to 3, above the whole number
	kind    special
}

type special uint8

const (
	plain special = iota
	nan
	negativeNaN
	negativeZero
	infinite
	negativeInfinite
	tiny     // the least float above 0
	greatest // of the type
	least
	greatestUnsigned
)

// specials are values at which types end, or between which floats leave gaps.
var specials = func() (all []number) {
	for _, n := range []int64{0, -1, 1, 127, 128, -128, -129, 255, 256, 2048, 2049, 32767, 32768, -32768, 65535, 65536,
		1 << 24, 1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<32 - 1, 1 << 32, 1 << 53, 1<<53 + 1, -1 << 53,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1} {
		all = append(all, number{whole: n})
	}
	for kind := nan; kind <= greatestUnsigned; kind++ {
		all = append(all, number{kind: kind})
	}
	return append(all, number{whole: 0, quarter: 1}, number{whole: -1, quarter: 2})
}()

// values turn the index of a value into the value, one way for each name.
var keyValues = map[string]func(index int64) number{
	"dense":    func(i int64) number { return number{whole: i - 3} },
	"spread":   func(i int64) number { return number{whole: int64(scramble(uint64(i)))} },
	"quarters": func(i int64) number { return number{whole: i>>2 - 2, quarter: i & 3} },
	"special": func(i int64) number {
		if uint64(i) < uint64(len(specials)) {
			return specials[i]
		}
		return number{whole: i}
	},
}

// scramble is a bijection that leaves no pattern (splitmix64).
func scramble(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// integer is the number in an integer type; what is too large wraps.
func (n number) integer(width int, signed bool) int64 {
	top := int64(uint64(math.MaxUint64) >> (64 - width))
	if signed {
		top = int64(uint64(top) >> 1)
	}
	switch n.kind {
	case greatest, infinite:
		return top
	case least, negativeInfinite:
		if signed {
			return -top - 1
		}
		return 0
	case greatestUnsigned:
		return -1
	case plain:
		return n.whole
	}
	return 0
}

func (n number) float(width int) float64 {
	most, tiniest := math.MaxFloat64, math.SmallestNonzeroFloat64
	switch width {
	case 32:
		most, tiniest = math.MaxFloat32, math.SmallestNonzeroFloat32
	case 16:
		most, tiniest = 65504, 1.0/(1<<24)
	}
	switch n.kind {
	case nan:
		return math.NaN()
	case negativeNaN: // with other bits below, too
		return math.Float64frombits(math.Float64bits(math.NaN()) | 1<<63 | 1<<40)
	case negativeZero:
		return math.Copysign(0, -1)
	case infinite:
		return math.Inf(1)
	case negativeInfinite:
		return math.Inf(-1)
	case tiny:
		return tiniest
	case greatest:
		return most
	case least:
		return -most
	case greatestUnsigned:
		return math.MaxUint64
	}
	return float64(n.whole) + float64(n.quarter)/4
}

// decimal is the unscaled number.
func (n number) decimal(precision, scale int32) *big.Int {
	power := func(digits int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil) }
	switch n.kind {
	case greatest:
		return new(big.Int).Sub(power(precision), big.NewInt(1))
	case least:
		return new(big.Int).Sub(big.NewInt(1), power(precision))
	}
	whole := new(big.Int).Rem(big.NewInt(n.integer(64, true)), power(precision-scale))
	whole.Mul(whole, power(scale))
	return whole.Add(whole, big.NewInt(n.quarter*power(scale).Int64()/4))
}

// count is the number as a time in steps of step nanoseconds, within 64 bits.
func (n number) count(t keyType, step int64) int64 {
	if t.family != times {
		switch n.kind {
		case greatest:
			return n.integer(bitWidth(t.arrow), true)
		case least:
			return n.integer(bitWidth(t.arrow), true)
		}
	}
	const most = int64(9e18)
	steps := n.integer(64, true) % (most/step/4 - 1)
	moment := steps*step + n.quarter*(step/4)
	if t.family == times {
		moment = (moment%day + day) % day
	}
	units := moment / t.unit
	if moment%t.unit < 0 {
		units--
	}
	return units
}

// text is the number as a text, some of them long, and of the same first bytes.
func (n number) text() string {
	switch {
	case n.kind != plain:
		return [...]string{nan: "\x00", negativeNaN: "", negativeZero: "é", infinite: "e\u0301", negativeInfinite: " ",
			tiny: "a\x00b", greatest: "\U0010ffff", least: "\x00\x00", greatestUnsigned: strings.Repeat("long", 100)}[n.kind]
	case n.whole >= 0 && n.whole < 10_000:
		return fmt.Sprintf("%05d", n.whole) + strings.Repeat("/", int(n.quarter))
	}
	return strings.Repeat("x", int(uint64(n.whole)%60)) + fmt.Sprint(n.whole) + strings.Repeat("/", int(n.quarter))
}

func bitWidth(t arrow.DataType) int { return t.(arrow.FixedWidthDataType).BitWidth() }
