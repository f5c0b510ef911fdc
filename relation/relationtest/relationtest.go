// Package relationtest has what the tests of relation, relation/keys and relation/take share. For tests only.
package relationtest

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// KeyTypes are all types that can be keys, grouped by the types that they can be compared with.
var KeyTypes = [][]arrow.DataType{
	{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.PrimitiveTypes.Uint64,
		&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 0},
		&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: -3},
		&arrow.Decimal128Type{Precision: 38, Scale: 30}, &arrow.Decimal256Type{Precision: 76, Scale: 1},
	},
	{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	},
	{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Millisecond},
		&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond},
	},
	{
		&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
		&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Asia/Tokyo"},
		&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+01:00"},
	},
	{
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Time64ns,
	},
	{
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us,
		arrow.FixedWidthTypes.Duration_ns,
	},
	{arrow.FixedWidthTypes.Boolean},
}

// Dirty is an allocator of memory full of ones, as memory outside Go's heap may be.
type Dirty struct{ memory.Allocator }

// Allocate returns memory full of ones.
func (d Dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size)
	memory.Set(b, 0xff)
	return b
}

// Reallocate returns other memory with the content of b, and ones behind it.
func (d Dirty) Reallocate(size int, b []byte) []byte {
	grown := d.Allocate(size)
	copy(grown, b)
	d.Allocator.Free(b)
	return grown
}
