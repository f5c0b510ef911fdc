package tableio

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/tableio/tabletest"
)

// dirty is an allocator whose memory is not zero, as memory that is reused.
type dirty struct{ memory.Allocator }

func (d dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size)
	memory.Set(b, 0xee)
	return b
}

func (d dirty) Reallocate(size int, b []byte) []byte {
	grown := d.Allocate(size)
	copy(grown, b)
	d.Allocator.Free(b)
	return grown
}

// TestNestedInMemoryThatIsReused reads nested columns into memory that is not zero, as readFile does.
func TestNestedInMemoryThatIsReused(t *testing.T) {
	element := func(dt arrow.DataType) arrow.DataType {
		return arrow.ListOfField(arrow.Field{Name: "element", Type: dt, Nullable: true})
	}
	columns := []struct {
		dt   arrow.DataType
		json string
	}{
		{element(arrow.PrimitiveTypes.Int64), `[1, 2], null, [], [null, 5], [6]`},
		{element(arrow.BinaryTypes.String), `["a", "bcd"], [null], null, [], ["e"]`},
		{element(element(arrow.PrimitiveTypes.Int16)), `[[1], [2, 3]], [null, []], [], null, [[4]]`},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "b", Type: element(arrow.FixedWidthTypes.Boolean), Nullable: true}),
			`{"a":"x","b":[true,false]}, null, {"a":null,"b":null}, {"a":"","b":[]}, {"a":"y","b":[null]}`},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64),
			`[{"key":"k","value":1.5}], null, [], [{"key":"l","value":null},{"key":"m","value":2}], [{"key":"n","value":3}]`},
	}
	const times = 3000 // the values of each column
	var fields []arrow.Field
	var arrays []arrow.Array
	for i, c := range columns {
		values, _, err := array.FromJSON(memory.DefaultAllocator, c.dt,
			strings.NewReader("["+strings.Repeat(c.json+",", times-1)+c.json+"]"))
		require.NoError(t, err)
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: c.dt, Nullable: true})
		arrays = append(arrays, values)
	}
	schema := arrow.NewSchema(fields, nil)
	batch := array.NewRecordBatch(schema, arrays, 5*times)
	want := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	for _, format := range []Format{Parquet, ArrowFile, ArrowStream} {
		path := tempPath(t, format)
		writeFile(t, path, schema, []arrow.RecordBatch{batch}, WriteOptions{})
		readFile(t, path, nil, ReadOptions{}, func(got arrow.Table) {
			tabletest.RequireSameTable(t, want, got)
		})
	}
}
