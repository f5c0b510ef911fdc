package columnchunk

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// fuzzTypes are a type and the column of decodeCases that it reads.
func fuzzTypes() (types []arrow.DataType, cases []int) {
	for i, c := range decodeCases() {
		for _, dt := range append([]arrow.DataType{c.dt}, c.also...) {
			types, cases = append(types, dt), append(cases, i)
		}
	}
	return types, cases
}

const (
	fuzzRows     = 1 << 12
	fuzzMaxBytes = 1 << 16
)

// packPages writes pages as a fuzzer can mutate them: of each a kind, an encoding, that of the levels, the bytes of
// levels, the values, the bytes, and these.
func packPages(t testing.TB, pages file.PageReader) (out []byte) {
	for pages.Next() {
		page := pages.Page()
		head := [4]byte{0, byte(page.Encoding())}
		switch page := page.(type) {
		case *file.DataPageV1:
			head[0], head[2] = 1, byte(page.DefinitionLevelEncoding())
		case *file.DataPageV2:
			head[0], head[3] = 2, byte(page.DefinitionLevelByteLen())
		}
		out = append(out, head[:]...)
		out = binary.LittleEndian.AppendUint16(out, uint16(page.NumValues()))
		out = binary.LittleEndian.AppendUint16(out, uint16(len(page.Data())))
		out = append(out, page.Data()...)
	}
	require.NoError(t, pages.Err())
	return out
}

func unpackPages(in []byte) (pages []file.Page, largest int) {
	for len(in) >= 8 {
		values := int32(binary.LittleEndian.Uint16(in[4:]))
		length := min(int(binary.LittleEndian.Uint16(in[6:])), len(in)-8)
		data := memory.NewBufferBytes(append([]byte(nil), in[8:8+length]...))
		encoding := parquet.Encoding(in[1])
		switch in[0] % 3 {
		case 0:
			pages = append(pages, file.NewDictionaryPage(data, values, encoding))
		case 1:
			pages = append(pages, file.NewDataPageV1(data, values, encoding, parquet.Encoding(in[2]), parquet.Encodings.RLE, 0))
		case 2:
			pages = append(pages, file.NewDataPageV2(data, values, 0, values, encoding, int32(int8(in[3])), 0, 0, false))
		}
		largest = max(largest, length)
		in = in[8+length:]
	}
	return pages, largest
}

// boundingAllocator fails a test where more is taken than is documented.
type boundingAllocator struct {
	memory.Allocator
	t            testing.TB
	bound, taken int
}

func (b *boundingAllocator) count(bytes int) {
	b.taken += bytes
	if b.taken > b.bound {
		b.t.Fatalf("%d bytes are taken, %d are allowed", b.taken, b.bound)
	}
}

func (b *boundingAllocator) Allocate(size int) []byte {
	b.count(size)
	return b.Allocator.Allocate(size)
}

func (b *boundingAllocator) Reallocate(size int, old []byte) []byte {
	b.count(size - len(old))
	return b.Allocator.Reallocate(size, old)
}

func (b *boundingAllocator) Free(old []byte) {
	b.count(-len(old))
	b.Allocator.Free(old)
}

// decodeBound is what the comment of Decoder promises for a chunk.
func decodeBound(dt arrow.DataType, rows, pages, largestPage int) int {
	round := func(bytes int) int { return (bytes + 63) &^ 63 }
	bound := round((rows + 7) / 8)
	switch dt := storageType(dt).(type) {
	case *arrow.DictionaryType:
		entries := rows + largestPage // distinct values
		return bound + round(rows*dt.IndexType.(arrow.FixedWidthDataType).Bytes()) + decodeBound(dt.ValueType, entries, 1, 0)
	case arrow.FixedWidthDataType:
		return bound + round(rows*max(1, dt.BitWidth()/8))
	}
	if dt.ID() == arrow.STRING_VIEW || dt.ID() == arrow.BINARY_VIEW {
		return bound + round(16*rows) + fuzzMaxBytes + 64*pages
	}
	return bound + round(8*(rows+1)) + max(8*fuzzMaxBytes, leastDataBytes) + 128
}

func FuzzDecode(f *testing.F) {
	types, cases := fuzzTypes()
	all := decodeCases()
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for which := range 4 {
			nulls := []nullness{required, someNulls}[which&1]
			r := rand.New(rand.NewPCG(7, uint64(which)))
			columns := make([]arrow.Array, len(all))
			properties := []parquet.WriterProperty{parquet.WithDictionaryDefault(which >= 2),
				parquet.WithDataPageVersion(version),
				parquet.WithDataPageSize(64), parquet.WithBatchSize(16), parquet.WithVersion(parquet.V2_LATEST)}
			for i, c := range all {
				columns[i] = testArray(c, 40, nulls, r)
				if encodings := encodingsOf(c.dt); which < 2 {
					properties = append(properties, parquet.WithEncodingFor(columnName(i, c.dt), encodings[(i+which)%len(encodings)]))
				}
			}
			reader := openFile(f, writeColumns(f, columns, nulls != required, nil, properties...))
			for i, c := range cases {
				pages, err := reader.RowGroup(0).GetColumnPageReader(c)
				require.NoError(f, err)
				content := packPages(f, pages)
				f.Add(byte(i), uint16(40), nulls != required, content)
				f.Add(byte(i), uint16(40+6*fuzzRows), nulls != required, content) // in slices
				require.NoError(f, pages.Close())
			}
		}
	}
	reader := openFile(f, writeColumns(f, columnsOf(all, required), false, nil, parquet.WithVersion(parquet.V2_LATEST)))
	optional := openFile(f, writeColumns(f, columnsOf(all, noNulls), true, nil, parquet.WithVersion(parquet.V2_LATEST)))
	f.Fuzz(func(t *testing.T, which byte, rows uint16, nullable bool, packed []byte) {
		kind := int(which) % len(types)
		leaf := reader.MetaData().Schema.Column(cases[kind])
		if nullable {
			leaf = optional.MetaData().Schema.Column(cases[kind])
		}
		dt := types[kind]
		pages, largest := unpackPages(packed)
		n := int(rows) % fuzzRows
		mem := &boundingAllocator{Allocator: memory.NewGoAllocator(), t: t, bound: decodeBound(dt, n, len(packed), largest)}
		d := Decoder{MaxBytes: fuzzMaxBytes}
		column := Column{Field: arrow.Field{Name: "fuzz", Type: dt, Nullable: nullable}, Leaf: leaf}
		slice := n/(1+int(rows)/fuzzRows) + 1
		err := d.Open(column, int64(n), &pageList{pages: pages})
		for left := n; err == nil; {
			var got arrow.Array
			if got, err = d.Next(context.Background(), int64(min(slice, left)), mem); err != nil {
				break
			}
			require.Equal(t, min(slice, left), got.Len())
			require.NoError(t, array.ValidateFull(got))
			if views, ok := got.(array.ViewLike); ok {
				for i := range got.Len() {
					_ = views.ValueStr(i)
				}
			}
			left -= got.Len()
			got.Release()
			if left == 0 {
				break
			}
		}
		d.Close()
		require.Zero(t, mem.taken, "left allocated")
		scratch := cap(d.scratch.entries) + cap(d.scratch.plain) +
			cap(d.scratch.levels) + cap(d.scratch.bits) +
			4*(cap(d.scratch.offsets)+cap(d.scratch.indices)+cap(d.scratch.lengths)+cap(d.scratch.prefixes))
		require.LessOrEqual(t, scratch, 2*(32*(largest+n)+16*n+fuzzMaxBytes)+64<<10+int(unsafe.Sizeof(d)))
	})
}

func columnsOf(cases []decodeCase, nulls nullness) []arrow.Array {
	columns := make([]arrow.Array, len(cases))
	for i, c := range cases {
		columns[i] = testArray(c, 1, nulls, rand.New(rand.NewPCG(8, 8)))
	}
	return columns
}
