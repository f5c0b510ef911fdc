package workload

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/pingcap/go-tpc/tpch/dbgen"
)

var money = &arrow.Decimal128Type{Precision: 15, Scale: 2}

func notNull(name string, dt arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: dt} }

// OrdersSchema is TPC-H's orders: keys int64, money decimal(15,2), dates date32.
var OrdersSchema = arrow.NewSchema([]arrow.Field{
	notNull("o_orderkey", arrow.PrimitiveTypes.Int64),
	notNull("o_custkey", arrow.PrimitiveTypes.Int64),
	notNull("o_orderstatus", arrow.BinaryTypes.String),
	notNull("o_totalprice", money),
	notNull("o_orderdate", arrow.FixedWidthTypes.Date32),
	notNull("o_orderpriority", arrow.BinaryTypes.String),
	notNull("o_clerk", arrow.BinaryTypes.String),
	notNull("o_shippriority", arrow.PrimitiveTypes.Int32),
	notNull("o_comment", arrow.BinaryTypes.String),
}, nil)

// LineitemSchema is TPC-H's lineitem; l_orderkey refers to o_orderkey.
var LineitemSchema = arrow.NewSchema([]arrow.Field{
	notNull("l_orderkey", arrow.PrimitiveTypes.Int64),
	notNull("l_partkey", arrow.PrimitiveTypes.Int64),
	notNull("l_suppkey", arrow.PrimitiveTypes.Int64),
	notNull("l_linenumber", arrow.PrimitiveTypes.Int32),
	notNull("l_quantity", money),
	notNull("l_extendedprice", money),
	notNull("l_discount", money),
	notNull("l_tax", money),
	notNull("l_returnflag", arrow.BinaryTypes.String),
	notNull("l_linestatus", arrow.BinaryTypes.String),
	notNull("l_shipdate", arrow.FixedWidthTypes.Date32),
	notNull("l_commitdate", arrow.FixedWidthTypes.Date32),
	notNull("l_receiptdate", arrow.FixedWidthTypes.Date32),
	notNull("l_shipinstruct", arrow.BinaryTypes.String),
	notNull("l_shipmode", arrow.BinaryTypes.String),
	notNull("l_comment", arrow.BinaryTypes.String),
}, nil)

// rowBuilder appends the columns of one row after another.
type rowBuilder struct {
	*array.RecordBuilder
	column int
	dates  map[string]arrow.Date32 // there are seven years of them
	err    error
}

func newRowBuilder(schema *arrow.Schema) *rowBuilder {
	return &rowBuilder{RecordBuilder: array.NewRecordBuilder(memory.NewGoAllocator(), schema), dates: map[string]arrow.Date32{}}
}

func (b *rowBuilder) next() array.Builder {
	builder := b.Field(b.column)
	b.column = (b.column + 1) % b.Schema().NumFields()
	return builder
}

func (b *rowBuilder) key(v int64)   { b.next().(*array.Int64Builder).Append(v) }
func (b *rowBuilder) count(v int64) { b.next().(*array.Int32Builder).Append(int32(v)) }
func (b *rowBuilder) text(v string) { b.next().(*array.StringBuilder).Append(v) }
func (b *rowBuilder) cents(v int64) {
	b.next().(*array.Decimal128Builder).Append(decimal128.FromI64(v))
}
func (b *rowBuilder) whole(v int64)   { b.cents(v * 100) }
func (b *rowBuilder) date(iso string) { b.next().(*array.Date32Builder).Append(b.days(iso)) }

func (b *rowBuilder) days(iso string) arrow.Date32 {
	date, known := b.dates[iso]
	if !known {
		day, err := time.Parse(time.DateOnly, iso)
		if err != nil && b.err == nil {
			b.err = err
		}
		date = arrow.Date32FromTime(day)
		b.dates[iso] = date
	}
	return date
}

// appendOrder and appendLine take dbgen's rows, whose money is in cents and
// whose rates are in hundredths.
func (b *rowBuilder) appendOrder(o *dbgen.Order) {
	b.key(int64(o.OKey))
	b.key(int64(o.CustKey))
	b.text(o.Status)
	b.cents(int64(o.TotalPrice))
	b.date(o.Date)
	b.text(o.OrderPriority)
	b.text(o.Clerk)
	b.count(o.ShipPriority)
	b.text(o.Comment)
}

func (b *rowBuilder) appendLine(l *dbgen.LineItem) {
	b.key(int64(l.OKey))
	b.key(int64(l.PartKey))
	b.key(int64(l.SuppKey))
	b.count(int64(l.LCnt))
	b.whole(int64(l.Quantity))
	b.cents(int64(l.EPrice))
	b.cents(int64(l.Discount))
	b.cents(int64(l.Tax))
	b.text(l.RFlag)
	b.text(l.LStatus)
	b.date(l.SDate)
	b.date(l.CDate)
	b.date(l.RDate)
	b.text(l.ShipInstruct)
	b.text(l.ShipMode)
	b.text(l.Comment)
}
