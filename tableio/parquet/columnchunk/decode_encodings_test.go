package columnchunk

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// encodingsOf lists the encodings that the writer has for a type, besides PLAIN and dictionaries.
func encodingsOf(dt arrow.DataType) []parquet.Encoding {
	deltas := []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.ByteStreamSplit}
	switch dt.ID() {
	case arrow.BOOL:
		return []parquet.Encoding{parquet.Encodings.RLE}
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return []parquet.Encoding{parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray}
	case arrow.FLOAT32, arrow.FLOAT64, arrow.FIXED_SIZE_BINARY, arrow.FLOAT16, arrow.DECIMAL128, arrow.DECIMAL256,
		arrow.EXTENSION:
		return deltas[1:]
	}
	return deltas
}

func TestDecodeEveryEncoding(t *testing.T) {
	for _, nulls := range []nullness{required, noNulls, someNulls, allNulls} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for p, pageBytes := range []int64{500, 1 << 20} {
				for which := range 2 {
					if !devicetest.Turn(p+which, 2) {
						continue
					}
					name := fmt.Sprintf("nulls=%s/version=%d/page=%d/encoding=%d", nulls, version+1, pageBytes, which)
					t.Run(name, func(t *testing.T) {
						r := rand.New(rand.NewPCG(4, uint64(which)))
						cases := decodeCases()
						columns := make([]arrow.Array, len(cases))
						properties := []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(version),
							parquet.WithDataPageSize(pageBytes), parquet.WithBatchSize(100), parquet.WithVersion(parquet.V2_LATEST)}
						for i, c := range cases {
							columns[i] = testArray(c, 700, nulls, r)
							defer columns[i].Release()
							encodings := encodingsOf(c.dt)
							properties = append(properties,
								parquet.WithEncodingFor(columnName(i, c.dt), encodings[which%len(encodings)]))
						}
						requireDecodes(t, cases, columns, writeColumns(t, columns, nulls != required, nil, properties...))
					})
				}
			}
		}
	}
}

func TestDecodeInt96(t *testing.T) {
	c := decodeCase{arrow.FixedWidthTypes.Timestamp_ns, func(r *rand.Rand) any { return int64(r.Uint64()) }, nil}
	for _, nulls := range []nullness{required, someNulls} {
		column := testArray(c, 100, nulls, rand.New(rand.NewPCG(5, 5)))
		content := writeColumns(t, []arrow.Array{column}, nulls != required,
			[]pqarrow.WriterOption{pqarrow.WithDeprecatedInt96Timestamps(true)})
		require.Equal(t, parquet.Types.Int96, openFile(t, content).MetaData().Schema.Column(0).PhysicalType())
		requireDecodes(t, []decodeCase{c}, []arrow.Array{column}, content)
		column.Release()
	}
}

func TestInt96InMicroseconds(t *testing.T) {
	for _, c := range []struct {
		day    int32
		nanos  int64
		micros int64
		err    string
	}{
		{2440588, 0, 0, ""},
		{2440587, 86_399_999_999_000, -1, ""},
		{5373484, 0, 253_402_214_400_000_000, ""},                        // 9999-12-31
		{-105862232, -32_509_551_616_000, 9_089_380_393_200_000_000, ""}, // 290000-12-30 by Spark
		{2440588, 1, 0, "finer than a microsecond"},
		{2440588, 86_400_000_000_000, 0, "day 2440588 and nanosecond 86400000000000"},
		{2440588, -1000, 0, "nanosecond -1000"},
		{math.MaxInt32, 0, 0, "day 2147483647"},
		{math.MinInt32, 0, 0, "day -2147483648"},
	} {
		src := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(c.nanos)), uint32(c.day))
		var dst [8]byte
		err := int96ToMicros(dst[:], src)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.micros, int64(binary.LittleEndian.Uint64(dst[:])))
	}
}

func TestDecodeValuesLongerThanABatch(t *testing.T) {
	long := func(r *rand.Rand) any {
		b := make([]byte, r.IntN(3*expandedBytes))
		for i := range b {
			b[i] = 'a' + byte(i/1000%3)
		}
		return string(b) + fmt.Sprint(r.IntN(100))
	}
	c := decodeCase{arrow.BinaryTypes.String, long, []arrow.DataType{arrow.BinaryTypes.StringView}}
	for _, encoding := range encodingsOf(c.dt) {
		column := testArray(c, 60, someNulls, rand.New(rand.NewPCG(6, 6)))
		content := writeColumns(t, []arrow.Array{column}, true, nil, parquet.WithDictionaryDefault(false),
			parquet.WithEncoding(encoding))
		requireDecodes(t, []decodeCase{c}, []arrow.Array{column}, content)
		column.Release()
	}
}

func TestDecodeFixedBytesWithSharedPrefixes(t *testing.T) {
	column := testColumn(t, &arrow.FixedSizeBinaryType{ByteWidth: 3}, false, parquet.Types.FixedLenByteArray,
		schema.NoLogicalType{}, 3)
	prefixes := []byte{8, 1, 3, 0, 2, 1, 0b01} // 0, then differences of 1 + {1, 0}: 2, 3
	suffixes := []byte{8, 1, 3, 6, 3, 1, 0b10} // 3, then differences of -2 + {0, 1}: 1, 0
	got, err := decodePages(t, column, 3, pageV1(3, parquet.Encodings.DeltaByteArray, prefixes, suffixes, []byte("abcd")))
	require.NoError(t, err)
	defer got.Release()
	values := got.(*array.FixedSizeBinary)
	require.Equal(t, "abc abd abd", fmt.Sprintf("%s %s %s", values.Value(0), values.Value(1), values.Value(2)))
	_, err = decodePages(t, column, 3, pageV1(3, parquet.Encodings.DeltaByteArray, prefixes,
		[]byte{8, 1, 3, 6, 1, 1, 0b11}, []byte("abcdefg")))
	require.ErrorContains(t, err, "in a column of 3")
}

func TestUnpackDeltasOfEveryWidth(t *testing.T) {
	for width := 0; width <= 64; width++ {
		bits := func(i int) uint64 { return 0x9e3779b97f4a7c15 * uint64(i+1) & (1<<width - 1) }
		in := []byte{8, 1, 9, 0, 0, byte(width)} // a block of eight: nine values from 0 on
		packed := make([]byte, width)
		for i := range 8 {
			for b := range width {
				packed[(i*width+b)/8] |= byte(bits(i)>>b&1) << ((i*width + b) % 8)
			}
		}
		out := make([]int64, 9)
		rest, err := unpackDeltas(append(append(in, packed...), 77), out)
		require.NoError(t, err, "width %d", width)
		require.Equal(t, []byte{77}, rest)
		for i := range 8 {
			require.Equal(t, bits(i), uint64(out[i+1]-out[i]), "width %d", width)
		}
	}
}
