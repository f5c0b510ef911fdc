package columnchunk

import (
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// TestReadSchemaOfOldLists has the forms of lists and maps that programs wrote before they agreed on one, and what the
// format's rules of backward compatibility take them for.
func TestReadSchemaOfOldLists(t *testing.T) {
	var (
		required = parquet.Repetitions.Required
		optional = parquet.Repetitions.Optional
		repeated = parquet.Repetitions.Repeated
		list     = schema.NewListLogicalType()
		mapping  = schema.MapLogicalType{}
	)
	number := func(name string, repetition parquet.Repetition) schema.Node {
		return schema.NewInt32Node(name, repetition, -1)
	}
	group := func(
		name string, repetition parquet.Repetition, logical schema.LogicalType, fields ...schema.Node,
	) schema.Node {
		node, err := schema.NewGroupNode(name, repetition, fields, -1)
		if logical != nil {
			node, err = schema.NewGroupNodeLogical(name, repetition, fields, logical, -1)
		}
		require.NoError(t, err)
		return node
	}
	entry := group("key_value", repeated, nil, number("key", required), number("value", optional))
	optionalList := func(name string, of schema.Node) schema.Node { return group(name, optional, list, of) }
	twoLevels := group("array", repeated, list, number("array", repeated))
	for _, c := range []struct {
		node schema.Node
		want string
	}{
		{number("a", repeated), "list<item: int32, nullable>"},
		{group("a", repeated, nil, number("n", required)), "list<item: struct<n: int32>, nullable>"},
		{group("a", repeated, list, number("n", repeated)),
			"list<a: list<n: int32>>"},
		{group("a", repeated, mapping, entry),
			"list<a: map<int32, int32, items_nullable>>"},
		{optionalList("a", number("element", repeated)), "list<element: int32>"},
		{optionalList("a", group("pair", repeated, nil, number("n", required), number("m", required))),
			"list<pair: struct<n: int32, m: int32>, nullable>"},
		{optionalList("a", group("array", repeated, nil, number("n", required))),
			"list<array: struct<n: int32>, nullable>"},
		{optionalList("a", group("a_tuple", repeated, nil, number("n", required))),
			"list<a_tuple: struct<n: int32>, nullable>"},
		{optionalList("a", group("bag", repeated, nil, number("n", optional))),
			"list<n: int32, nullable>"},
		{optionalList("a", twoLevels),
			"list<array: list<array: int32>>"},
		{optionalList("a", group("bag", repeated, nil, optionalList("array", number("array", repeated)))),
			"list<array: list<array: int32>, nullable>"},
		{optionalList("a", group("array", repeated, mapping, entry)),
			"list<array: map<int32, int32, items_nullable>>"},
		{optionalList("a", group("list", repeated, nil, number("n", repeated))),
			"list<list: struct<n: list<item: int32, nullable>>>"},
		{group("a", optional, nil, optionalList("b", twoLevels)),
			"struct<b: list<array: list<array: int32>> nullable>"},
		{optionalList("a", group("array", repeated, list, twoLevels)),
			"list<array: list<array: list<array: int32>>>"},
		{group("a", optional, mapping, group("map", repeated, nil, number("key", optional), number("value", optional))),
			"list<map: struct<key: int32 nullable, value: int32 nullable>, nullable>"},
		{group("a", optional, mapping, group("map", repeated, nil, number("key", required))),
			"list<key: int32>"},
		{group("a", optional, mapping, group("map", repeated, nil, number("key", required), optionalList("value", twoLevels))),
			"map<int32, list<array: list<array: int32>>, items_nullable>"},
	} {
		got, fields, err := ReadSchema(fileOfNodes(t, nil, c.node))
		require.NoError(t, err)
		text := got.Field(0).Type.String()
		if fields[0].Err != nil {
			text = fields[0].Err.Error()
		}
		require.Equal(t, c.want, text)
	}
}
