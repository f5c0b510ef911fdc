package main

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
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

// keyArray makes an array of a type. What lies below a null is the value that would be there.
func keyArray(t keyType, step int64, numbers []number, valid []bool) arrow.Array {
	width := 0
	if fixed, ok := t.arrow.(arrow.FixedWidthDataType); ok {
		width = fixed.BitWidth()
	}
	count := func(n number) int64 { return n.count(t, step) }
	switch t.family {
	case integers:
		signed := arrow.IsSignedInteger(t.arrow.ID())
		return integerArray(t.arrow, width, numbers, valid, func(n number) int64 { return n.integer(width, signed) })
	case dates, timestamps, instants, times, durations:
		return integerArray(t.arrow, width, numbers, valid, count)
	case floats:
		switch width {
		case 16:
			return fixedArray(t.arrow, numbers, valid, func(n number) float16.Num { return halfOf(n) })
		case 32:
			return fixedArray(t.arrow, numbers, valid, func(n number) float32 { return float32(n.float(32)) })
		}
		return fixedArray(t.arrow, numbers, valid, func(n number) float64 { return n.float(64) })
	case decimals:
		d := t.arrow.(arrow.DecimalType)
		unscaled := func(n number) *big.Int { return n.decimal(d.GetPrecision(), d.GetScale()) }
		switch width {
		case 128:
			return fixedArray(t.arrow, numbers, valid,
				func(n number) decimal128.Num { return decimal128.FromBigInt(unscaled(n)) })
		case 256:
			return fixedArray(t.arrow, numbers, valid,
				func(n number) decimal256.Num { return decimal256.FromBigInt(unscaled(n)) })
		}
		return integerArray(t.arrow, width, numbers, valid, func(n number) int64 { return unscaled(n).Int64() })
	case monthIntervals:
		return integerArray(t.arrow, width, numbers, valid, func(n number) int64 { return n.integer(32, true) })
	case dayIntervals:
		return fixedArray(t.arrow, numbers, valid, func(n number) arrow.DayTimeInterval {
			v := n.integer(64, true)
			return arrow.DayTimeInterval{Days: int32(v), Milliseconds: int32(v>>32 + n.quarter)}
		})
	case nanoIntervals:
		return fixedArray(t.arrow, numbers, valid, func(n number) arrow.MonthDayNanoInterval {
			v := n.integer(64, true)
			return arrow.MonthDayNanoInterval{Months: int32(v), Days: int32(v >> 32), Nanoseconds: n.quarter - v}
		})
	case texts, bytesOnly:
		b := array.NewBuilder(memory.DefaultAllocator, t.arrow)
		defer b.Release()
		for i, n := range numbers {
			text := n.text()
			if !valid[i] {
				b.AppendNull()
				continue
			}
			switch b := b.(type) {
			case array.StringLikeBuilder:
				b.Append(text)
			case *array.FixedSizeBinaryBuilder:
				b.Append([]byte((text + "     ")[:5]))
			case interface{ Append([]byte) }:
				b.Append([]byte(text))
			}
		}
		return b.NewArray()
	case booleans:
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i, n := range numbers {
			if b.Append(n.integer(64, true)&1 == 1); !valid[i] {
				b.SetNull(i)
			}
		}
		return b.NewArray()
	}
	return array.NewNull(len(numbers))
}

// halfOf rounds to a float of 16 bits; arrow's own conversion makes infinite values of NaNs.
func halfOf(n number) float16.Num {
	switch n.kind {
	case nan:
		return float16.FromBits(0x7e00)
	case negativeNaN:
		return float16.FromBits(0xfe01)
	case tiny:
		return float16.FromBits(1)
	}
	return float16.New(float32(n.float(16)))
}

func integerArray(t arrow.DataType, width int, numbers []number, valid []bool, value func(number) int64) arrow.Array {
	switch width {
	case 8:
		return fixedArray(t, numbers, valid, func(n number) int8 { return int8(value(n)) })
	case 16:
		return fixedArray(t, numbers, valid, func(n number) int16 { return int16(value(n)) })
	case 32:
		return fixedArray(t, numbers, valid, func(n number) int32 { return int32(value(n)) })
	}
	return fixedArray(t, numbers, valid, value)
}

func fixedArray[T arrow.FixedWidthType](
	t arrow.DataType, numbers []number, valid []bool, value func(number) T,
) arrow.Array {
	values := make([]T, len(numbers))
	for i, n := range numbers {
		values[i] = value(n)
	}
	nullCount, bitmap := 0, make([]byte, (len(valid)+7)/8)
	for i, ok := range valid {
		if bitutil.SetBitTo(bitmap, i, ok); !ok {
			nullCount++
		}
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(bitmap), memory.NewBufferBytes(arrow.GetBytes(values))}
	if nullCount == 0 {
		buffers[0] = nil
	}
	data := array.NewData(t, len(values), buffers, nil, nullCount, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// dictionaryArray says the same with a dictionary, in which entries repeat, one is NULL, and one is not referred to. It
// returns the array itself where that has more values than an index may count.
func dictionaryArray(plain arrow.Array) arrow.Array {
	var entries []int
	first, indices := map[string]int{}, make([]int8, plain.Len())
	valid := make([]bool, plain.Len())
	for i := range plain.Len() {
		text := "null"
		if plain.IsValid(i) {
			text = plain.ValueStr(i) + string(rune('0'+i%2)) // twice in the dictionary
		}
		if _, ok := first[text]; !ok {
			first[text] = len(entries)
			entries = append(entries, i)
		}
		if len(entries) > math.MaxInt8 {
			plain.Retain()
			return plain
		}
		indices[i], valid[i] = int8(first[text]), text != "null" || i%3 > 0 // of NULL: an entry, or no index
	}
	var parts []arrow.Array
	for _, i := range append(entries, 0) {
		if plain.Len() > 0 {
			parts = append(parts, array.NewSlice(plain, int64(i), int64(i+1)))
		}
	}
	dictionary := array.NewSlice(plain, 0, 0)
	if len(parts) > 0 {
		dictionary.Release()
		var err error
		if dictionary, err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			panic(err)
		}
	}
	for _, p := range parts {
		p.Release()
	}
	defer dictionary.Release()
	b := array.NewInt8Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(indices, valid)
	index := b.NewArray()
	defer index.Release()
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: plain.DataType()}
	return array.NewDictionaryArray(t, index, dictionary)
}

// duckValue is a value of a key column as the appender of DuckDB takes it.
func duckValue(column arrow.Array, i int) any {
	if column.DataType().ID() == arrow.NULL || column.IsNull(i) {
		return nil
	}
	decimal := func(unscaled *big.Int) any {
		d := column.DataType().(arrow.DecimalType)
		return duckdb.Decimal{Width: uint8(d.GetPrecision()), Scale: uint8(d.GetScale()), Value: unscaled}
	}
	switch c := column.(type) {
	case *array.Dictionary:
		return duckValue(c.Dictionary(), c.GetValueIndex(i))
	case *array.Int8:
		return c.Value(i)
	case *array.Int16:
		return c.Value(i)
	case *array.Int32:
		return c.Value(i)
	case *array.Int64:
		return c.Value(i)
	case *array.Uint8:
		return c.Value(i)
	case *array.Uint16:
		return c.Value(i)
	case *array.Uint32:
		return c.Value(i)
	case *array.Uint64:
		return c.Value(i)
	case *array.Float16:
		return float32(oracle.Half(c.Value(i)))
	case *array.Float32:
		return c.Value(i)
	case *array.Float64:
		return c.Value(i)
	case *array.Boolean:
		return c.Value(i)
	case *array.MonthInterval:
		return int32(c.Value(i))
	case *array.DayTimeInterval:
		return arrow.GetBytes([]arrow.DayTimeInterval{c.Value(i)})
	case *array.MonthDayNanoInterval:
		return arrow.GetBytes([]arrow.MonthDayNanoInterval{c.Value(i)})
	case array.StringLike:
		return c.Value(i)
	case interface{ Value(int) []byte }:
		return slices.Clone(c.Value(i))
	case *array.Decimal32:
		return decimal(big.NewInt(int64(c.Value(i))))
	case *array.Decimal64:
		return decimal(big.NewInt(int64(c.Value(i))))
	case *array.Decimal128:
		return decimal(c.Value(i).BigInt())
	case *array.Decimal256:
		return decimal(c.Value(i).BigInt())
	case *array.Date32:
		return int32(c.Value(i))
	case *array.Date64:
		return int64(c.Value(i))
	case *array.Timestamp:
		return int64(c.Value(i))
	case *array.Time32:
		return int64(c.Value(i))
	case *array.Time64:
		return int64(c.Value(i))
	case *array.Duration:
		return int64(c.Value(i))
	}
	panic(fmt.Sprintf("no key value of %T", column))
}

// payloadTypes are the types that only payload columns have; payload columns may also have key types. Values are made
// from JSON.
var payloadTypes = map[string]struct {
	arrow arrow.DataType
	json  func(r uint64) string
}{
	"fixed3": {&arrow.FixedSizeBinaryType{ByteWidth: 3},
		func(r uint64) string { return `"` + string(rune('a'+r%26)) + `bcd"` }},
	"list": {arrow.ListOf(arrow.PrimitiveTypes.Int16), func(r uint64) string {
		return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprint(int16(r))+",null,", int(r>>16%3)), ",") + "]"
	}},
	"struct": {arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}), func(r uint64) string {
		return fmt.Sprintf(`{"a": %d, "b": %s}`, r%1000, jsonText(r>>10))
	}},
	"dictionary": {&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		func(r uint64) string { return jsonText(r % 50) }},
	"map": {arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), func(r uint64) string {
		return fmt.Sprintf(`[{"key": %s, "value": %d}]`, jsonText(r), int8(r))
	}},
}

func jsonText(r uint64) string {
	return `"` + strings.Repeat("é", int(r%3)) + strings.Repeat("x", bits.TrailingZeros64(r|1<<20)) +
		fmt.Sprint(r>>3%100_000) + `"`
}

// payloadArray makes an array of a type of payloadTypes or keyTypes.
func payloadArray(name string, random func(i int) uint64, valid []bool) (arrow.Array, error) {
	if t, ok := keyTypes[name]; ok {
		numbers := make([]number, len(valid))
		for i := range numbers {
			r := random(i)
			if numbers[i] = (number{whole: int64(r), quarter: int64(r & 3)}); r>>60 == 0 {
				numbers[i] = specials[r%uint64(len(specials))]
			}
		}
		return keyArray(t, 1, numbers, valid), nil
	}
	t := payloadTypes[name]
	var text strings.Builder
	text.WriteString("[")
	for i := range valid {
		if i > 0 {
			text.WriteString(",")
		}
		if valid[i] {
			text.WriteString(t.json(random(i)))
		} else {
			text.WriteString("null")
		}
	}
	text.WriteString("]")
	a, _, err := array.FromJSON(memory.DefaultAllocator, t.arrow, strings.NewReader(text.String()))
	return a, err
}

func payloadNames() (names []string) {
	for name := range keyTypes {
		names = append(names, name)
	}
	for name := range payloadTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// appendCell appends the bytes of a value, different for different values. Floats keep their bits, also NaN.
func appendCell(to []byte, column arrow.Array, i int) []byte {
	if column.DataType().ID() == arrow.NULL || column.IsNull(i) {
		return append(to, 0)
	}
	var value []byte
	switch c := column.(type) {
	case *array.Dictionary:
		return appendCell(to, c.Dictionary(), c.GetValueIndex(i))
	case *array.Boolean:
		if value = []byte{0}; c.Value(i) {
			value[0] = 1
		}
	case interface{ Value(int) []byte }:
		value = c.Value(i)
	case interface{ Value(int) string }:
		value = []byte(c.Value(i))
	default:
		if t, ok := column.DataType().(arrow.FixedWidthDataType); ok && column.DataType().ID() != arrow.FIXED_SIZE_LIST {
			data := column.Data()
			at := (data.Offset() + i) * t.Bytes()
			value = data.Buffers()[1].Bytes()[at : at+t.Bytes()]
		} else {
			value = []byte(column.ValueStr(i))
		}
	}
	to = append(to, 1, byte(len(value)), byte(len(value)>>8), byte(len(value)>>16))
	return append(to, value...)
}
