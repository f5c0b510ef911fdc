package columnchunk

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// FileField is a top-level field of a file.
type FileField struct {
	Field  arrow.Field
	Leaf   int     // the number of its Parquet column; -1: a nested field
	Column *Column // for a Decoder; nil: pqarrow has to read the field
	Err    error   // not nil: the field cannot be read; it names the column
}

// ReadSchema returns the Arrow schema of a file and, in the same order, where its fields come from.
//
// Types are those of the Arrow schema that a writer may have stored in the file, if they can hold the column: large and
// view forms, dictionaries, seconds, 32-bit decimals, time zones and extension types are restored. Otherwise they are
// those that pqarrow derives from the column; JSON becomes the extension type arrow.json, UUID arrow.uuid. Nullability
// is that of the column.
//
// A field whose meaning has no Arrow type has an error: INTERVAL, and TIME WITH TIME ZONE, which is a time adjusted to
// UTC in a file without an Arrow schema. (Writers of Arrow data mark all their times as adjusted, although Arrow's
// times have no zone.)
//
// A stored schema is decoded without checks; it must have been verified, because a malformed one can make the library
// panic.
func ReadSchema(reader *file.Reader) (*arrow.Schema, []FileField, error) {
	meta := reader.MetaData()
	stored, err := storedSchema(meta.KeyValueMetadata())
	if err != nil {
		return nil, nil, fmt.Errorf("the stored Arrow schema: %w", err)
	}
	manifest, err := pqarrow.NewSchemaManifest(meta.Schema, meta.KeyValueMetadata(), nil)
	if err != nil && stored != nil { // the stored types may be beyond pqarrow
		manifest, err = pqarrow.NewSchemaManifest(meta.Schema, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	var origins []arrow.Field
	if stored != nil && stored.NumFields() != len(manifest.Fields) {
		stored = nil
	}
	if stored != nil {
		origins = stored.Fields() // a copy
	}
	adjusted := adjustedTimes(meta)
	fields := make([]FileField, len(manifest.Fields))
	arrowFields := make([]arrow.Field, len(fields))
	for i, inferred := range manifest.Fields {
		var origin *arrow.Field
		if stored != nil && origins[i].Name == inferred.Field.Name {
			origin = &origins[i]
		}
		field := fileField(inferred, origin, meta.Schema)
		if field.Leaf >= 0 {
			_, interval := meta.Schema.Column(field.Leaf).LogicalType().(schema.IntervalLogicalType)
			if interval || stored == nil && adjusted[field.Leaf] {
				field.Err = fmt.Errorf("column %q: type %s cannot be read; leave it out with columns", field.Field.Name,
					map[bool]string{true: "INTERVAL", false: "TIME WITH TIME ZONE"}[interval])
				field.Column = nil
			}
		}
		fields[i], arrowFields[i] = field, field.Field
	}
	schemaMeta := manifest.SchemaMeta
	if stored != nil {
		kept := stored.Metadata()
		schemaMeta = &kept
	}
	return arrow.NewSchema(arrowFields, schemaMeta), fields, nil
}

// fileField chooses the type of a field that pqarrow has inferred; origin is what was stored of it.
func fileField(inferred pqarrow.SchemaField, origin *arrow.Field, parquet *schema.Schema) FileField {
	field := *inferred.Field
	field.Metadata = fieldMetadata(field.Metadata, origin)
	if !inferred.IsLeaf() {
		return FileField{Field: field, Leaf: -1}
	}
	leaf := parquet.Column(inferred.ColIndex)
	_, isJSON := leaf.LogicalType().(schema.JSONLogicalType)
	switch {
	case origin != nil && restores(origin.Type, leaf):
		field.Type = origin.Type
	case isJSON && field.Type.ID() == arrow.BINARY:
		if dt, err := extensions.NewJSONType(arrow.BinaryTypes.String); err == nil {
			field.Type = dt
		}
	}
	out := FileField{Field: field, Leaf: inferred.ColIndex}
	if Decodes(field.Type, leaf) {
		out.Column = &Column{Field: field, Leaf: leaf}
	}
	return out
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

// adjustedTimes says which columns are times that were explicitly adjusted to UTC. The older annotations of times,
// which say nothing of a zone, read as adjusted too.
func adjustedTimes(meta *metadata.FileMetaData) map[int]bool {
	adjusted := map[int]bool{}
	leaf := 0
	for _, element := range meta.GetSchema() {
		if !element.IsSetType() {
			continue // a group
		}
		if logical := element.GetLogicalType(); logical != nil && logical.IsSetTIME() &&
			logical.GetTIME().GetIsAdjustedToUTC() {
			adjusted[leaf] = true
		}
		leaf++
	}
	return adjusted
}
