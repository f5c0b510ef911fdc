package relation

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

func TestWordBits(t *testing.T) {
	for dt, want := range map[arrow.DataType]int{
		arrow.FixedWidthTypes.Boolean: 1, arrow.PrimitiveTypes.Int8: 8, arrow.PrimitiveTypes.Uint16: 16,
		arrow.FixedWidthTypes.Float16: 16, arrow.PrimitiveTypes.Float32: 32, arrow.FixedWidthTypes.Date64: 64,
		&arrow.Decimal128Type{Precision: 20}: 128, arrow.FixedWidthTypes.MonthDayNanoInterval: 128,
		&arrow.Decimal256Type{Precision: 40}: 256, &arrow.FixedSizeBinaryType{ByteWidth: 16}: 128,
		&arrow.FixedSizeBinaryType{ByteWidth: 3}: 0, &arrow.FixedSizeBinaryType{}: 0, arrow.Null: 0,
		arrow.BinaryTypes.String: 0, arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Int8): 0,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}: 0,
	} {
		require.Equal(t, want, WordBits(dt), "%s", dt)
	}
}

// TestPlanWords is the example of the documentation of Words.
func TestPlanWords(t *testing.T) {
	w := PlanWords([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int32},
		{Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "c", Type: &arrow.Decimal128Type{Precision: 20}},
		{Name: "d", Type: arrow.PrimitiveTypes.Int16},
		{Name: "e", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
	})
	require.Equal(t, []int{4, 8, 8, 8, 4}, w.Bytes)
	require.Equal(t, 4, w.SharedFrom())
	require.Equal(t, kernel.Fields{Shorts: 1, Bytes: 1, Bits: 2}, w.Shared[0].Fields)
	for i, want := range []WordColumn{
		{First: 0, Count: 1}, {First: 1, Count: 1, Valid: &SharedField{0, 2}}, {First: 2, Count: 2},
		{First: 4, Value: &SharedField{0, 0}}, {First: 4, Value: &SharedField{0, 1}, Valid: &SharedField{0, 3}},
	} {
		want.Type = w.Columns[i].Type
		require.Equal(t, want, w.Columns[i], "column %d", i)
	}
	require.Equal(t, 32+64+1+128+16+8+1, w.ArrowBits())
	require.Equal(t, 2*128+32+16+8+2, w.RepackedBits())
	none := PlanWords(nil)
	require.Empty(t, none.Bytes)
	require.Zero(t, none.ArrowBits()+none.RepackedBits()+int(none.StageBytes(1000)))
}

// TestPlanWordsProperty: each column has its own bits, and there are no more shared words than these bits fill.
func TestPlanWordsProperty(t *testing.T) {
	types := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, &arrow.Decimal256Type{Precision: 40}}
	rapid.Check(t, func(t *rapid.T) {
		var fields []arrow.Field
		for range rapid.IntRange(0, 60).Draw(t, "columns") {
			fields = append(fields, arrow.Field{Type: rapid.SampledFrom(types).Draw(t, "type"),
				Nullable: rapid.Bool().Draw(t, "nullable")})
		}
		w := PlanWords(fields)
		shared, taken, own := 0, make(map[SharedField]bool), 0
		field := func(f *SharedField, bits int) {
			for i, of := range w.Shared[f.Word].Of() {
				if i == f.Field {
					require.EqualValues(t, bits, of.Bits)
					require.LessOrEqual(t, of.Place+of.Bits, uint32(32))
				}
			}
			require.False(t, taken[*f])
			taken[*f] = true
			shared += bits
		}
		for i, c := range w.Columns {
			bits := WordBits(fields[i].Type)
			require.Equal(t, bits < 32, c.Value != nil)
			require.Equal(t, fields[i].Nullable, c.Valid != nil)
			if c.Value != nil {
				field(c.Value, bits)
			} else {
				require.Equal(t, own, c.First)
				for _, bytes := range w.Bytes[c.First:][:c.Count] {
					bits -= 8 * bytes
				}
				require.Zero(t, bits)
			}
			if c.Valid != nil {
				field(c.Valid, 1)
			}
			own += c.Count
		}
		require.Equal(t, own, w.SharedFrom())
		require.Len(t, w.Shared, (shared+31)/32)
	})
}

// TestStage: Stage finds the bits of slices that begin within a byte, of columns in one chunk and in several, with and
// without validity.
func TestStage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	types := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16}
	for _, lengths := range [][]int{{200}, {1, 0, 64, 7, 99, 29}, {33, 167}} {
		var columns []*arrow.Chunked
		var fields []arrow.Field
		for _, dt := range types {
			var chunks []arrow.Array
			for n, rows := range lengths {
				before := random.IntN(20)
				b := array.NewBuilder(memory.DefaultAllocator, dt)
				for range before + rows + random.IntN(5) {
					if v := random.Uint32(); v%3 == 0 && n%2 == 0 {
						b.AppendNull()
					} else if bools, ok := b.(*array.BooleanBuilder); ok {
						bools.Append(v&8 != 0)
					} else if bytes, ok := b.(*array.Int8Builder); ok {
						bytes.Append(int8(v >> 4))
					} else {
						b.(*array.Int16Builder).Append(int16(v >> 4))
					}
				}
				whole := b.NewArray()
				b.Release()
				chunks = append(chunks, array.NewSlice(whole, int64(before), int64(before+rows)))
				whole.Release()
			}
			columns = append(columns, arrow.NewChunked(dt, chunks))
			fields = append(fields, arrow.Field{Type: dt, Nullable: true})
		}
		w := PlanWords(fields)
		require.Len(t, w.Shared, 1)
		shared := &w.Shared[0]
		for _, r := range [][2]int{{0, 200}, {0, 0}, {63, 66}, {1, 2}, {70, 199}} {
			from, rows := r[0], r[1]-r[0]
			staged := make([]byte, shared.SourceBytes(uint64(rows)))
			require.NoError(t, shared.Stage(columns, from, r[1], staged))
			origins, sources := backend.Words(staged[:OriginBytes]), backend.Words(staged[OriginBytes:])
			packed := make([]uint32, rows)
			for i, field := range shared.Of() {
				for row := range packed {
					at := uint64(origins[2*i])*32 + uint64(origins[2*i+1]) + uint64(row)*uint64(field.Bits)
					packed[row] |= sources[at/32] >> (at % 32) & (1<<field.Bits - 1) << field.Place
				}
			}
			for c, column := range columns {
				flat, err := array.Concatenate(column.Chunks(), memory.DefaultAllocator)
				require.NoError(t, err)
				for row, word := range packed {
					value := func(f *SharedField) uint32 {
						for i, field := range shared.Of() {
							if i == f.Field {
								return word >> field.Place & (1<<field.Bits - 1)
							}
						}
						panic("no such field")
					}
					valid := flat.IsValid(from + row)
					require.Equal(t, valid, value(w.Columns[c].Valid) == 1, "column %d, row %d of %v", c, row, r)
					if !valid {
						continue
					}
					switch flat := flat.(type) {
					case *array.Boolean:
						require.Equal(t, flat.Value(from+row), value(w.Columns[c].Value) == 1)
					case *array.Int8:
						require.Equal(t, flat.Value(from+row), int8(value(w.Columns[c].Value)))
					case *array.Int16:
						require.Equal(t, flat.Value(from+row), int16(value(w.Columns[c].Value)))
					}
				}
				flat.Release()
			}
		}
		for _, c := range columns {
			c.Release()
		}
	}
}

func TestStageOfCorruptBuffers(t *testing.T) {
	data := array.NewData(arrow.FixedWidthTypes.Boolean, 100,
		[]*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 12))}, nil, 0, 0)
	defer data.Release()
	bools := array.MakeFromData(data)
	defer bools.Release()
	column := arrow.NewChunked(bools.DataType(), []arrow.Array{bools})
	defer column.Release()
	w := PlanWords([]arrow.Field{{Type: bools.DataType()}})
	staged := make([]byte, w.Shared[0].SourceBytes(100))
	require.ErrorIs(t, w.Shared[0].Stage([]*arrow.Chunked{column}, 0, 100, staged), backend.ErrInvalidInput)
}
