package columnchunk

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// FileField is a top-level field of a file.
type FileField struct {
	Field  arrow.Field
	First  int     // its first Parquet column
	Leaves int     // how many it has
	Column *Column // for a Decoder, of column First; nil: pqarrow has to read the field
	Int96  bool    // a timestamp in nanoseconds, which can be read in microseconds too
	Err    error   // not nil: the field cannot be read; it names the column

	schema *schema.Schema            // with this field alone, its lists in the form of today
	stored metadata.KeyValueMetadata // its Arrow schema, where pqarrow needs that
}

// ReadSchema returns the Arrow schema of a file and, in the same order, where its fields come from.
//
// Types come from the Arrow schema that a writer may have stored in the file, if they can hold the column: large and
// view forms, dictionaries, seconds, 32-bit decimals, time zones and extension types are restored. Otherwise they are
// those that pqarrow derives from the column; JSON becomes the extension type arrow.json, UUID arrow.uuid, and INT96 a
// timestamp without zone. Nullability is that of the column. A time adjusted to UTC is a time: Arrow's have no zone, and
// writers of Arrow data mark all of theirs as adjusted.
//
// A field has an error where its meaning has no Arrow type, as of INTERVAL, and where pqarrow does not understand it. Its
// type then is that of the stored values, or binary.
//
// A stored schema is decoded without checks; it must have been verified, because a malformed one can make the library
// panic.
func ReadSchema(reader *file.Reader) (*arrow.Schema, []FileField, error) {
	meta := reader.MetaData()
	stored, err := storedSchema(meta.KeyValueMetadata())
	if err != nil {
		return nil, nil, fmt.Errorf("the stored Arrow schema: %w", err)
	}
	starts, err := fieldStarts(meta.GetSchema())
	if err != nil {
		return nil, nil, err
	}
	if stored != nil && stored.NumFields() != len(starts)-1 {
		stored = nil
	}
	var origins []arrow.Field
	if stored != nil {
		origins = stored.Fields() // a copy
	}
	fields := make([]FileField, len(starts)-1)
	arrowFields := make([]arrow.Field, len(fields))
	leaves := 0
	for i := range fields {
		node, err := fieldNode(meta, starts[i], starts[i+1])
		if err != nil {
			return nil, nil, err
		}
		var origin *arrow.Field
		if stored != nil && origins[i].Name == node.Name() {
			origin = &origins[i]
		}
		fields[i] = fileField(node, origin, leaves, meta.Schema)
		arrowFields[i] = fields[i].Field
		leaves += fields[i].Leaves
	}
	if leaves != meta.Schema.NumColumns() {
		return nil, nil, fmt.Errorf("the fields of the schema have %d columns, it has %d", leaves, meta.Schema.NumColumns())
	}
	var schemaMeta *arrow.Metadata
	if stored != nil {
		kept := stored.Metadata()
		schemaMeta = &kept
	}
	return arrow.NewSchema(arrowFields, schemaMeta), fields, nil
}

// fileField finds the type of a field whose columns begin at a leaf of a file; origin is what was stored of it.
func fileField(node schema.Node, origin *arrow.Field, first int, leaves *schema.Schema) FileField {
	out := FileField{First: first, Leaves: countLeaves(node)}
	inferred, err := out.infer(node, nil)
	if err == nil && origin != nil && !(inferred.IsLeaf() && restores(origin.Type, leaves.Column(first))) {
		// pqarrow restores what we do not; but types may be stored that are beyond it.
		if again, err := out.infer(node, origin); err == nil {
			inferred = again
		} else if inferred, err = out.infer(node, nil); err != nil {
			return out.refused(node.Name(), err)
		}
	}
	if err != nil {
		return out.refused(node.Name(), err)
	}
	field := *inferred.Field
	field.Metadata = fieldMetadata(field.Metadata, origin)
	if !inferred.IsLeaf() {
		out.Field = field
		return out
	}
	leaf := leaves.Column(first)
	_, isJSON := leaf.LogicalType().(schema.JSONLogicalType)
	_, isInterval := leaf.LogicalType().(schema.IntervalLogicalType)
	switch {
	case origin != nil && restores(origin.Type, leaf):
		field.Type = origin.Type
	case isJSON && field.Type.ID() == arrow.BINARY:
		if dt, err := extensions.NewJSONType(arrow.BinaryTypes.String); err == nil {
			field.Type = dt
		}
	case leaf.PhysicalType() == parquet.Types.Int96: // local time or UTC, which the file does not tell
		field.Type = &arrow.TimestampType{Unit: arrow.Nanosecond}
		out.Int96 = true
	}
	out.Field = field
	switch {
	case isInterval:
		out.Refuse(errors.New("type INTERVAL has no equivalent here"))
	case Decodes(field.Type, leaf):
		out.Column = &Column{Field: field, Leaf: leaf}
	}
	return out
}

// Refuse makes it an error to read the field.
func (f *FileField) Refuse(reason error) {
	f.Column = nil
	f.Err = fmt.Errorf("column %q cannot be read: %w; leave it out with columns", f.Field.Name, reason)
}

// refused is the field where its type is not known.
func (f FileField) refused(name string, reason error) FileField {
	f.Field = arrow.Field{Name: name, Type: arrow.BinaryTypes.Binary, Nullable: true}
	f.Refuse(reason)
	return f
}

// infer has pqarrow derive the type of the field, with what was stored of it or nil.
func (f *FileField) infer(node schema.Node, origin *arrow.Field) (inferred pqarrow.SchemaField, err error) {
	err = caught(func() (err error) {
		if origin != nil {
			serialized := flight.SerializeSchema(arrow.NewSchema([]arrow.Field{*origin}, nil), memory.NewGoAllocator())
			f.stored = metadata.NewKeyValueMetadata()
			if err := f.stored.Append(storedArrowKey, base64.StdEncoding.EncodeToString(serialized)); err != nil {
				return err
			}
		} else {
			f.stored = nil
		}
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node}, -1)
		if err != nil {
			return err
		}
		modern, err := modernLists(root)
		if err != nil {
			return err
		}
		f.schema = schema.NewSchema(modern.(*schema.GroupNode))
		manifest, err := pqarrow.NewSchemaManifest(f.schema, f.stored, nil)
		if err == nil {
			inferred = manifest.Fields[0]
		}
		return err
	})
	return inferred, err
}

func countLeaves(node schema.Node) int {
	group, ok := node.(*schema.GroupNode)
	if !ok {
		return 1
	}
	n := 0
	for i := range group.NumFields() {
		n += countLeaves(group.Field(i))
	}
	return n
}

// Alone returns the metadata of a file with this field alone, whose columns are the columns of a file. pqarrow thereby
// reads the field without a look at the others, which may be many, or beyond it.
func (f *FileField) Alone(meta *metadata.FileMetaData) *metadata.FileMetaData {
	alone, inner := *meta, *meta.FileMetaData
	inner.KeyValueMetadata = f.stored
	inner.RowGroups = slices.Clone(inner.RowGroups)
	for i, group := range inner.RowGroups {
		part := *group
		part.Columns = part.Columns[f.First : f.First+f.Leaves]
		inner.RowGroups[i] = &part
	}
	alone.FileMetaData, alone.Schema = &inner, f.schema
	return &alone
}

// restores says whether a stored type is that of the column: the values can be decoded as such, and mean the same.
func restores(dt arrow.DataType, leaf *schema.Column) bool {
	if !Decodes(dt, leaf) {
		return false
	}
	dt = storageType(dt)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = dictionary.ValueType
	}
	switch logical := leaf.LogicalType().(type) {
	case schema.TimestampLogicalType:
		timestamp, ok := dt.(*arrow.TimestampType)
		return ok && (timestamp.TimeZone != "") == logical.IsAdjustedToUTC()
	case schema.StringLogicalType, schema.JSONLogicalType:
		return isText(dt)
	case schema.EnumLogicalType:
		return true
	}
	return !isText(dt)
}

func isText(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

const (
	fieldIDKey     = "PARQUET:field_id"
	storedArrowKey = "ARROW:schema"
)

// fieldMetadata adds what was stored and leaves out the field number -1, "none", that the library notes on every column
// of a file that numbers none.
func fieldMetadata(inferred arrow.Metadata, origin *arrow.Field) arrow.Metadata {
	merged := map[string]string{}
	if origin != nil {
		merged = origin.Metadata.ToMap()
	}
	for key, value := range inferred.ToMap() {
		merged[key] = value
	}
	if merged[fieldIDKey] == "-1" {
		delete(merged, fieldIDKey)
	}
	return arrow.MetadataFrom(merged)
}

// storedSchema is the Arrow schema in the metadata, or nil.
func storedSchema(meta metadata.KeyValueMetadata) (*arrow.Schema, error) {
	text := meta.FindValue(storedArrowKey)
	if text == nil {
		return nil, nil
	}
	serialized, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(*text, "="))
	if err != nil {
		return nil, err
	}
	return flight.DeserializeSchema(serialized, memory.NewGoAllocator())
}
