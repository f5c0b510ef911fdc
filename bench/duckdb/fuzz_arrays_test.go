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
