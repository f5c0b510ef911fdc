package columnchunk

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// modernLists brings nested nodes of older programs into the forms that pqarrow (18.8) takes for what they mean. Added
// groups are required, so that the definition and repetition levels of the columns stay the same.
//
//   - A list whose elements are lists or maps may have these as its repeated group, or as the only and repeated field of
//     that group: the group then is the element (parquet-format, LogicalTypes.md, backward compatibility of lists). pqarrow
//     takes the first for a structure, and the second for a list with one level less.
//   - A repeated group that is a list or map itself, outside of any list, is a list of these. pqarrow refuses it.
//   - A map whose keys may be NULL, which the format does not allow, becomes a list of keys and values.
//
// The node is not used any more.
func modernLists(node schema.Node) (schema.Node, error) {
	group, ok := node.(*schema.GroupNode)
	if !ok {
		return node, nil
	}
	fields := make(schema.FieldList, group.NumFields())
	for i := range fields {
		field := group.Field(i)
		inner, isGroup := field.(*schema.GroupNode)
		repeated := isGroup && inner.RepetitionType() == parquet.Repetitions.Repeated
		annotated := isGroup && (isList(inner) || isMap(inner))
		onlyRepeats := isGroup && inner.NumFields() == 1 &&
			inner.Field(0).RepetitionType() == parquet.Repetitions.Repeated
		var err error
		switch {
		case repeated && isList(group) && onlyRepeats: // the element
			if fields[i], err = repeatedElement(inner); err != nil {
				return nil, err
			}
		case repeated && annotated && !isList(group) && !isMap(group): // a list of its own
			element, err := repeatedElement(inner)
			if err != nil {
				return nil, err
			}
			if fields[i], err = schema.NewGroupNodeLogical(inner.Name(), parquet.Repetitions.Required,
				schema.FieldList{element}, schema.NewListLogicalType(), inner.FieldID()); err != nil {
				return nil, err
			}
		default:
			if fields[i], err = modernLists(field); err != nil {
				return nil, err
			}
		}
	}
	logical := group.LogicalType()
	if isMap(group) && len(fields) == 1 {
		if entry, ok := fields[0].(*schema.GroupNode); ok && entry.NumFields() == 2 &&
			entry.Field(0).RepetitionType() == parquet.Repetitions.Optional {
			logical = schema.NewListLogicalType()
		}
	}
	return regroup(group, group.RepetitionType(), fields, logical)
}

// repeatedElement makes the repeated group of a list whose element a repeated group is.
func repeatedElement(group *schema.GroupNode) (schema.Node, error) {
	fields := make(schema.FieldList, group.NumFields())
	for i := range fields {
		fields[i] = group.Field(i)
	}
	once, err := regroup(group, parquet.Repetitions.Required, fields, group.LogicalType())
	if err != nil {
		return nil, err
	}
	element, err := modernLists(once)
	if err != nil {
		return nil, err
	}
	return schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1)
}

// regroup makes a group like another one.
func regroup(
	group *schema.GroupNode, repetition parquet.Repetition, fields schema.FieldList, logical schema.LogicalType,
) (*schema.GroupNode, error) {
	if logical == nil || logical.IsNone() {
		return schema.NewGroupNode(group.Name(), repetition, fields, group.FieldID())
	}
	return schema.NewGroupNodeLogical(group.Name(), repetition, fields, logical, group.FieldID())
}

func isList(group *schema.GroupNode) bool {
	_, ok := group.LogicalType().(schema.ListLogicalType)
	return ok
}

func isMap(group *schema.GroupNode) bool {
	_, ok := group.LogicalType().(schema.MapLogicalType)
	return ok
}
