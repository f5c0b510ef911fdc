package relation

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

func TestCommonType(t *testing.T) {
	p, f := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	stamp := func(unit arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	}
	decimal := func(bits int, precision, scale int32) (dt arrow.DataType) {
		dt, err := arrow.NewDecimalType(map[int]arrow.Type{32: arrow.DECIMAL32, 64: arrow.DECIMAL64,
			128: arrow.DECIMAL128,
			256: arrow.DECIMAL256}[bits], precision, scale)
		require.NoError(t, err)
		return dt
	}
	dictionary := &arrow.DictionaryType{IndexType: p.Int8, ValueType: p.Int32}
	for _, c := range []struct{ a, b, want arrow.DataType }{
		{p.Int32, p.Int32, p.Int32},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.String},
		{p.Int8, p.Int64, p.Int64},
		{p.Uint8, p.Uint32, p.Uint32},
		{p.Uint8, p.Int8, p.Int16},
		{p.Uint16, p.Int8, p.Int32},
		{p.Uint32, p.Int64, p.Int64},
		{p.Uint64, p.Int8, decimal(128, 20, 0)},
		{p.Float32, p.Float64, p.Float64},
		{f.Float16, p.Float32, p.Float32},
		{f.Float16, p.Uint8, f.Float16},
		{f.Float16, p.Int16, p.Float32},
		{p.Float32, p.Int32, p.Float64},
		{p.Float64, p.Int64, nil},
		{p.Float64, decimal(32, 9, 2), nil},
		{decimal(32, 9, 2), p.Int8, decimal(32, 9, 2)},
		{decimal(32, 9, 2), p.Int32, decimal(64, 12, 2)},
		{decimal(64, 18, 0), decimal(128, 10, 2), decimal(128, 20, 2)},
		{decimal(128, 38, -3), decimal(128, 38, 2), decimal(256, 43, 2)},
		{decimal(128, 38, 30), decimal(256, 76, 1), nil},
		{decimal(32, 5, 2), p.Uint64, decimal(128, 22, 2)},
		{f.Date32, f.Date64, f.Date64},
		{f.Date32, stamp(arrow.Microsecond, ""), stamp(arrow.Microsecond, "")},
		{f.Date64, stamp(arrow.Second, ""), stamp(arrow.Millisecond, "")},
		{stamp(arrow.Second, ""), stamp(arrow.Nanosecond, ""), stamp(arrow.Nanosecond, "")},
		{stamp(arrow.Second, "Asia/Tokyo"), stamp(arrow.Nanosecond, "Asia/Tokyo"),
			stamp(arrow.Nanosecond, "Asia/Tokyo")},
		{stamp(arrow.Second, "Asia/Tokyo"), stamp(arrow.Second, "Europe/Berlin"), stamp(arrow.Second, "UTC")},
		{stamp(arrow.Second, ""), stamp(arrow.Second, "UTC"), nil},
		{f.Time32s, f.Time32ms, f.Time32ms},
		{f.Time32s, f.Time64ns, f.Time64ns},
		{f.Duration_s, f.Duration_us, f.Duration_us},
		{arrow.Null, p.Int8, p.Int8},
		{arrow.Null, arrow.BinaryTypes.String, arrow.BinaryTypes.String},
		{dictionary, p.Int64, p.Int64},
		{dictionary, dictionary, p.Int32},
		{f.Boolean, p.Int8, nil},
		{f.Date32, p.Int32, nil},
		{arrow.BinaryTypes.String, p.Int32, nil},
		{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView, arrow.BinaryTypes.LargeString},
		{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString},
		{arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 3}, arrow.BinaryTypes.LargeBinary},
		{arrow.BinaryTypes.Binary, arrow.BinaryTypes.String, nil},
	} {
		for _, pair := range [][2]arrow.DataType{{c.a, c.b}, {c.b, c.a}} {
			got, ok := CommonType(pair[0], pair[1])
			require.Equal(t, c.want != nil, ok, "%s and %s: %v", pair[0], pair[1], got)
			if ok {
				require.True(t, arrow.TypeEqual(c.want, got), "%s and %s: %s", pair[0], pair[1], got)
			}
		}
	}
}
