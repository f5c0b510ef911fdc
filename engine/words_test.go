package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// wordTypes are of every width that travels as words.
var wordTypes = []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Timestamp_us,
	&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal256Type{Precision: 70, Scale: 3},
	arrow.FixedWidthTypes.MonthDayNanoInterval, &arrow.FixedSizeBinaryType{ByteWidth: 16}}

// nulls are how many values of a column are NULL.
type nulls int

const (
	none nulls = iota
	some
	all
)

// chunkOf is a slice of random values, which begins anywhere in its buffers.
func chunkOf(random *rand.Rand, dt arrow.DataType, rows int, null nulls) arrow.Array {
	offset, bits := random.IntN(40), relation.WordBits(dt)
	fill := func(bits int) []byte {
		bytes := make([]byte, (bits+7)/8)
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		return bytes
	}
	values := memory.NewBufferBytes(fill((offset + rows) * bits))
	var validity *memory.Buffer
	count := 0
	if null == some || null == all {
		bitmap := fill(offset + rows)
		if null == all {
			bitutil.SetBitsTo(bitmap, int64(offset), int64(rows), false)
		}
		validity, count = memory.NewBufferBytes(bitmap), rows-bitutil.CountSetBits(bitmap, offset, rows)
	}
	data := array.NewData(dt, rows, []*memory.Buffer{validity, values}, nil, count, offset)
	defer data.Release()
	return array.MakeFromData(data)
}

// wordsTable has a key k below values, now and then NULL, and random payload columns c0, c1, ..., each of which comes
// in chunks of at most chunk rows.
func wordsTable(t testing.TB, seed uint64, rows, values, chunk int, types []arrow.DataType, null []nulls) arrow.Table {
	random := rand.New(rand.NewPCG(seed, uint64(rows)))
	keys := array.NewInt32Builder(memory.DefaultAllocator)
	defer keys.Release()
	for range rows {
		if keys.Append(int32(random.IntN(values))); random.IntN(9) == 0 {
			keys.SetNull(keys.Len() - 1)
		}
	}
	key := keys.NewArray()
	fields := []arrow.Field{{Name: "k", Type: key.DataType(), Nullable: true}}
	columns := [][]arrow.Array{{key}}
	for i, dt := range types {
		var chunks []arrow.Array
		for left := rows; left > 0; {
			n := min(left, random.IntN(chunk+1))
			of := null[i]
			if of == some && random.IntN(4) == 0 {
				of = none
			}
			chunks, left = append(chunks, chunkOf(random, dt, n, of)), left-n
		}
		columns = append(columns, chunks)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: null[i] != none})
	}
	var all []arrow.Column
	for i, chunks := range columns {
		chunked := arrow.NewChunked(fields[i].Type, chunks)
		column := arrow.NewColumn(fields[i], chunked)
		all = append(all, *column)
		t.Cleanup(column.Release)
		chunked.Release()
		for _, c := range chunks {
			c.Release()
		}
	}
	table := array.NewTable(arrow.NewSchema(fields, nil), all, int64(rows))
	t.Cleanup(table.Release)
	return table
}

// TestWords: every kind by every algorithm with payload of every width, with and without NULLs, of slices that begin
// anywhere, in one chunk and in many, on the device and on the host, whole, in granules, in windows and in batches that
// begin within a word.
func TestWords(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	var types [2][]arrow.DataType
	var null [2][]nulls
	for i, dt := range wordTypes {
		for side := range types {
			types[side] = append(types[side], dt, dt)
			null[side] = append(null[side], none, []nulls{some, some, all}[(i+side)%3])
		}
	}
	var tables [3][2]arrow.Table
	for i, chunk := range []int{1 << 20, 150, 9} {
		tables[i] = [2]arrow.Table{wordsTable(t, 1, 190, 90, chunk, types[0], null[0]),
			wordsTable(t, 2, 310, 110, chunk, types[1], null[1])}
	}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, len(kinds)-1, len(algorithms), len(tables), 3, len(parts), 2) {
			of := tables[c[2]]
			check(of[0], of[1], join.Spec{On: onK, How: kinds[c[0]], Algorithm: algorithms[c[1]], BatchRows: 77 * c[3],
				Materialize: join.MaterializeDevice, BuildSide: join.BuildSide(1 + c[5])}, parts[c[4]])
		}
	})
}

// TestManyNullableColumns: more bits than one word has, and columns of which only the other table has NULLs.
func TestManyNullableColumns(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	var types []arrow.DataType
	var left, right []nulls
	for i := range 40 {
		types = append(types, []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
			arrow.FixedWidthTypes.Boolean}[i%3])
		left, right = append(left, some), append(right, nulls(i%3))
	}
	tables := [2]arrow.Table{wordsTable(t, 3, 100, 40, 1<<20, types, left), wordsTable(t, 4, 130, 40, 50, types, right)}
	onDevices(t, func(t *testing.T, check func(left, right arrow.Table, spec join.Spec, part [2]uint64)) {
		for _, c := range devicetest.Combinations(t, 4, len(algorithms), len(parts)) {
			how := []join.How{join.Inner, join.Left, join.Full, join.RightSemi}[c[0]]
			check(tables[0], tables[1], join.Spec{On: onK, How: how,
				Algorithm: algorithms[c[1]], Materialize: join.MaterializeDevice, BatchRows: 50}, parts[c[2]])
		}
	})
}

// TestWordsInPieces: more rows than are brought to words at a time, and more than one tile of the kernels.
func TestWordsInPieces(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipShort(t)
	const rows = relation.StageRows + 70_001
	types := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int16,
		&arrow.Decimal128Type{Precision: 38}}
	left := wordsTable(t, 5, rows, 3*rows, 300_000, types, []nulls{some, none, some})
	right := wordsTable(t, 6, 3000, 3*rows, 1<<20, types[:1], []nulls{some})
	device, done := hostDevice(t, host.Options{Discrete: true}, backend.DeviceOptions{})
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	check(t, ops, left, right, join.Spec{On: onK, Materialize: join.MaterializeDevice}, [2]uint64{})
	noMemoryInUse(t, device)
	require.NoError(t, done())
}

// requireNullCounts holds the number of NULLs that columns state against their bitmaps.
func requireNullCounts(t *testing.T, batch arrow.RecordBatch) {
	for i, column := range batch.Columns() {
		validity := column.Data().Buffers()[0]
		if validity == nil || validity.Len() == 0 {
			continue
		}
		set := bitutil.CountSetBits(validity.Bytes(), column.Data().Offset(), column.Len())
		require.Equal(t, column.Len()-set, column.NullN(), "column %d", i)
	}
}
