package shuffle

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// types are one of each layout, and most others.
var types = []arrow.DataType{
	arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16,
	arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.MonthInterval,
	arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
	&arrow.Decimal128Type{Precision: 30, Scale: 2}, &arrow.Decimal256Type{Precision: 60, Scale: 2},
	&arrow.FixedSizeBinaryType{ByteWidth: 5}, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64},
	arrow.BinaryTypes.StringView, arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.PrimitiveTypes.Int16),
	arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16),
	arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}),
	arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int16),
	arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
}

// values are JSON of a value of a type, from a random number.
func value(dt arrow.DataType, x int) string {
	switch t := dt.(type) {
	case *arrow.BooleanType:
		return fmt.Sprint(x%2 == 0)
	case *arrow.DictionaryType:
		return value(t.ValueType, x)
	case *arrow.ListType:
		return []string{"[]", "[" + value(t.Elem(), x) + "]", "[null, " + value(t.Elem(), x/2) + "]"}[x%3]
	case *arrow.LargeListType:
		return []string{"[]", "[" + value(t.Elem(), x) + "]", "[null, " + value(t.Elem(), x/2) + "]"}[x%3]
	case *arrow.FixedSizeListType:
		return "[null, " + value(t.Elem(), x) + "]"
	case *arrow.StructType:
		return fmt.Sprintf(`{"x": %d, "y": %q}`, x%100, fmt.Sprint("y", x))
	case *arrow.MapType:
		return fmt.Sprintf(`[{"key": "k%d", "value": %d}]`, x, x%100)
	case *arrow.DayTimeIntervalType:
		return fmt.Sprintf(`{"days": %d, "milliseconds": 7}`, x)
	case *arrow.MonthIntervalType:
		return fmt.Sprintf(`{"months": %d}`, x)
	case *arrow.MonthDayNanoIntervalType:
		return fmt.Sprintf(`{"months": %d, "days": 1, "nanoseconds": 2}`, x)
	case *arrow.FixedSizeBinaryType:
		return `"YWJjZGU="`
	case *arrow.LargeBinaryType:
		return []string{`""`, `"YWJj"`}[x%2]
	case *arrow.StringType, *arrow.StringViewType:
		return fmt.Sprintf("%q", []string{"", "text", "a text of more than twelve bytes"}[x%3]+fmt.Sprint(x%10))
	case *arrow.Date32Type:
		return `"2026-11-28"`
	case arrow.DecimalType:
		return fmt.Sprintf("%q", fmt.Sprint(x, ".25"))
	}
	return fmt.Sprint(x % 100)
}

// rich returns rows with a column of each type, whose memory the test frees.
func rich(t testing.TB, seed uint64, rows int, nulls float64, types []arrow.DataType) arrow.RecordBatch {
	t.Helper()
	random, fields, columns := rand.New(rand.NewPCG(seed, 1)), []arrow.Field{}, []arrow.Array{}
	for i, dt := range types {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		text := "["
		for row := range rows {
			if row > 0 {
				text += ", "
			}
			if random.Float64() < nulls || dt.ID() == arrow.NULL {
				text += "null"
			} else {
				text += value(dt, random.IntN(1000))
			}
		}
		require.NoError(t, b.UnmarshalJSON([]byte(text+"]")), "%s %s", dt, text)
		column := b.NewArray()
		b.Release()
		defer column.Release()
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: true})
		columns = append(columns, column)
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(rows))
	t.Cleanup(batch.Release)
	return batch
}

// carry copies a message to where a decoder wants it.
func carry(d *decoder, head []byte, body [][]byte) (arrow.RecordBatch, error) {
	a, err := d.begin(slices.Clone(head))
	if err != nil {
		return nil, err
	}
	defer a.Release()
	to := a.body()
	if len(to) != len(body) {
		return nil, malformed("%d buffers, not %d", len(to), len(body))
	}
	for i := range to {
		if len(to[i]) != len(body[i]) {
			return nil, malformed("buffer %d has %d bytes, not %d", i, len(to[i]), len(body[i]))
		}
		copy(to[i], body[i])
	}
	return d.finish(context.Background(), a)
}

// TestWire: rows of every type arrive as they were sent, also slices that begin anywhere, rows without NULLs and with
// nothing else, and no columns.
func TestWire(t *testing.T) {
	alloc := memory.NewCheckedAllocator(relationtest.Dirty{Allocator: memory.DefaultAllocator})
	defer alloc.AssertSize(t, 0)
	for _, nulls := range []float64{0, 0.3, 1} {
		for _, of := range append([][]arrow.DataType{types, nil}, func() (each [][]arrow.DataType) {
			for _, dt := range types {
				each = append(each, []arrow.DataType{dt})
			}
			return each
		}()...) {
			whole := rich(t, 1, 50, nulls, of)
			f := newFormat(whole.Schema())
			e, d := newEncoder(f, alloc), newDecoder(f, alloc, codec.Host{})
			for _, cut := range [][2]int64{{0, 50}, {0, 8}, {8, 27}, {3, 4}, {13, 50}, {49, 50}} {
				rows := whole.NewSlice(cut[0], cut[1])
				m, err := e.encode(&parcel{RecordBatch: rows})
				require.NoError(t, err)
				require.Less(t, len(m.head), 1<<10)
				got, err := carry(d, m.head, m.body)
				require.NoError(t, err, "%s, rows %d, NULLs %g", rows.Schema(), cut, nulls)
				require.True(t, array.RecordEqual(rows, got), "%s\n%s", rows, got)
				require.True(t, rows.Schema().Equal(got.Schema()))
				got.Release()
				m.Release()
				rows.Release()
			}
			e.Release()
			d.Release()
		}
	}
}

// TestManyColumns: a message of thousands of columns keeps within the limits of a transport.
func TestManyColumns(t *testing.T) {
	dictionary := types[17]
	rows := rich(t, 1, 9, 0.5, slices.Repeat([]arrow.DataType{dictionary, arrow.BinaryTypes.String}, 1500))
	f := newFormat(rows.Schema())
	e, d := newEncoder(f, memory.DefaultAllocator), newDecoder(f, memory.DefaultAllocator, codec.Host{})
	defer e.Release()
	defer d.Release()
	m, err := e.encode(&parcel{RecordBatch: rows})
	require.NoError(t, err)
	defer m.Release()
	require.LessOrEqual(t, len(m.head), cluster.HeadBytes)
	require.LessOrEqual(t, len(m.body), cluster.MaxBuffers)
	got, err := carry(d, m.head, m.body)
	require.NoError(t, err)
	defer got.Release()
	require.True(t, array.RecordEqual(rows, got))
}

// TestSentInPlace: buffers of columns that are not nested are not copied, but for bitmaps that begin within a byte.
func TestSentInPlace(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	whole := rich(t, 1, 64, 0.3, []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32,
		arrow.BinaryTypes.String, types[17]})
	e := newEncoder(newFormat(whole.Schema()), alloc)
	for from, copies := range map[int64]int{0: 0, 16: 0, 17: 5} {
		rows := whole.NewSlice(from, 64)
		m, err := e.encode(&parcel{RecordBatch: rows})
		require.NoError(t, err)
		require.Len(t, m.copied, copies)
		m.Release()
		rows.Release()
	}
	e.Release()
}

// TestDictionaryOnce: a dictionary travels with the first rows that use it, also if equal ones are in other memory, and
// again if it changes.
func TestDictionaryOnce(t *testing.T) {
	dt := types[17:18]
	first, again, other := rich(t, 1, 50, 0, dt), rich(t, 1, 50, 0, dt), rich(t, 2, 50, 0, dt)
	f := newFormat(first.Schema())
	e, d := newEncoder(f, memory.DefaultAllocator), newDecoder(f, memory.DefaultAllocator, codec.Host{})
	defer e.Release()
	defer d.Release()
	for i, rows := range []arrow.RecordBatch{first, first, again, other, first} {
		m, err := e.encode(&parcel{RecordBatch: rows})
		require.NoError(t, err)
		require.Equal(t, []int{3, 1, 1, 3, 3}[i], len(m.body), "indices, and offsets and texts of the dictionary")
		got, err := carry(d, m.head, m.body)
		require.NoError(t, err)
		require.True(t, array.RecordEqual(rows, got))
		got.Release()
		m.Release()
	}
}

// TestMalformed: whatever is in a message, it is refused, or makes rows that can be read.
func TestMalformed(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	random, refused := rand.New(rand.NewPCG(1, 1)), 0
	for n := range 3000 {
		dt := []arrow.DataType{types[n%len(types)], arrow.BinaryTypes.String}
		rows := rich(t, uint64(n%50), 20, 0.2, dt)
		f := newFormat(rows.Schema())
		e, d := newEncoder(f, alloc), newDecoder(f, alloc, codec.Host{})
		m, err := e.encode(&parcel{RecordBatch: rows})
		require.NoError(t, err)
		head, body := slices.Clone(m.head), [][]byte{}
		for _, b := range m.body {
			body = append(body, slices.Clone(b))
		}
		switch of := random.IntN(3); {
		case of == 0:
			head[random.IntN(len(head))] = byte(random.Uint32())
		case of == 1:
			head = head[:random.IntN(len(head))]
		default:
			b := body[random.IntN(len(body))]
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
		got, err := carry(d, head, body)
		if err != nil {
			refused++
			require.ErrorIs(t, err, backend.ErrInvalidInput)
		} else {
			for _, c := range got.Columns() {
				for i := range c.Len() {
					_ = c.ValueStr(i)
				}
			}
			got.Release()
		}
		m.Release()
		e.Release()
		d.Release()
	}
	require.Greater(t, refused, 1000)
}

// TestLies: what a message must not say, field by field.
func TestLies(t *testing.T) {
	text, index := arrow.BinaryTypes.String, types[17]
	le := func(numbers ...int32) (b []byte) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		return b
	}
	for name, c := range map[string]struct {
		of   arrow.DataType
		head []byte
		body [][]byte
		want string
	}{
		"no head":                {text, nil, nil, "rows"},
		"2^60 rows":              {text, binary.AppendUvarint(nil, 1<<60), nil, "rows"},
		"more bytes than are":    {text, append(binary.AppendUvarint([]byte{1, 0, 0}, 1<<40), 0), nil, "bytes of values"},
		"a head too long":        {arrow.PrimitiveTypes.Int32, []byte{1, 0, 0, 9}, [][]byte{le(1)}, "too long"},
		"NULLs of no row":        {text, []byte{1, 2}, nil, "NULLs"},
		"other NULLs":            {text, []byte{2, 1, 0, 1}, [][]byte{{3}, le(0, 0, 1), {65}}, "0 NULLs, not 1"},
		"descending offsets":     {text, []byte{2, 0, 0, 3}, [][]byte{le(0, 5, 3), {65, 65, 65}}, "descend"},
		"an offset below zero":   {text, []byte{2, 0, 0, 3}, [][]byte{le(-1, 1, 2), {65, 65, 65}}, "descend"},
		"offsets beyond":         {text, []byte{2, 0, 0, 3}, [][]byte{le(0, 1, 4), {65, 65, 65}}, "beyond"},
		"offsets that end early": {text, []byte{2, 0, 0, 3}, [][]byte{le(0, 1, 2), {65, 65, 65}}, "beyond"},
		"no dictionary":          {index, []byte{1, 0, 0}, [][]byte{{0}}, "no dictionary"},
		"an index too large":     {index, []byte{1, 0, 2, 0, 1}, [][]byte{{1}, le(0, 1), {65}}, "index"},
		"an index below zero":    {index, []byte{1, 0, 2, 0, 1}, [][]byte{{255}, le(0, 1), {65}}, "index"},
		"nested nonsense":        {arrow.ListOf(text), []byte{1, 4}, [][]byte{le(7)}, "nested"},
	} {
		t.Run(name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.of, Nullable: true}}, nil)
			d := newDecoder(newFormat(schema), alloc, codec.Host{})
			defer d.Release()
			_, err := carry(d, c.head, c.body)
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, c.want)
		})
	}
}
