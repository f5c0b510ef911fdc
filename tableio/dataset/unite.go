package dataset

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/tableio/core"
	"github.com/spirjoin/spirjoin/tableio/csv"
)

// columnName tells columns apart that have one name: the n-th of a file belongs to the n-th of the others.
type columnName struct {
	text string
	nth  int
}

// shape is a schema that files have, and where in it the columns of the dataset are.
type shape struct {
	schema *arrow.Schema
	at     []int // by column of the dataset that files have; -1: these files do not have it
}

// united is a column of the dataset as it is put together.
type united struct {
	field arrow.Field
	types []arrow.DataType
	paths []string // the first file with each type
	files int      // that have the column
	bare  bool     // all of them are CSV files without values in it
}

// unite finds the columns of the dataset: of the first file, then what others have beside them, then partitions.
func (s *Source) unite() {
	columns, at := []*united{}, map[columnName]int{}
	meta, sameMeta := arrow.Metadata{}, true
	for i, m := range s.members {
		if i == 0 {
			meta = m.schema.Metadata()
		}
		sameMeta = sameMeta && meta.Equal(m.schema.Metadata())
		m.shape = s.shapeOf(m.schema, func(name columnName, field arrow.Field) int {
			column, met := at[name]
			if !met {
				column = len(columns)
				at[name] = column
				columns = append(columns, &united{field: field, bare: true})
			}
			return column
		})
		for column, index := range m.shape.at {
			if index >= 0 {
				columns[column].add(m, index)
			}
		}
	}
	fields := make([]arrow.Field, 0, len(columns))
	for _, column := range columns {
		field, err := column.field, error(nil)
		field.Type, err = column.dataType()
		if field.Nullable = field.Nullable || column.files < len(s.members); err != nil {
			s.faults[len(fields)] = err
		}
		fields = append(fields, field)
	}
	s.ofFiles = len(fields)
	for _, m := range s.members {
		m.shape.at = append(m.shape.at, slices.Repeat([]int{-1}, s.ofFiles-len(m.shape.at))...)
		m.setTypes(fields)
	}
	fields = append(fields, partitionFields(s.members, func(name string) bool {
		_, has := at[columnName{text: name}]
		return has
	})...)
	if !sameMeta {
		meta = arrow.Metadata{}
	}
	s.fields = arrow.NewSchema(fields, &meta)
}

// shapeOf returns the shape of a schema. Files with equal schemas share it. Column finds the place of a column in the
// dataset.
func (s *Source) shapeOf(schema *arrow.Schema, column func(columnName, arrow.Field) int) *shape {
	if found := s.shapes[schema]; found != nil {
		return found
	}
	made := &shape{schema: schema}
	seen := map[string]int{}
	for i, field := range schema.Fields() {
		at := column(columnName{field.Name, seen[field.Name]}, field)
		seen[field.Name]++
		for len(made.at) <= at {
			made.at = append(made.at, -1)
		}
		made.at[at] = i
	}
	s.shapes[schema] = made
	return made
}

// add adds the column of a file.
func (u *united) add(m *member, index int) {
	field := m.schema.Field(index)
	u.files++
	u.field.Nullable = u.field.Nullable || field.Nullable
	if !u.field.Metadata.Equal(field.Metadata) {
		u.field.Metadata = arrow.Metadata{}
	}
	if text, ok := m.source.(*csv.Source); ok && !text.HasType(index) {
		return // it takes the type of the others
	}
	u.bare = false
	same := func(other arrow.DataType) bool { return arrow.TypeEqual(other, field.Type) }
	if !slices.ContainsFunc(u.types, same) {
		u.types, u.paths = append(u.types, field.Type), append(u.paths, m.Path)
	}
}

// dataType is the type that holds the values of all files. If there is none, it is the first type, with an error.
func (u *united) dataType() (arrow.DataType, error) {
	if u.bare {
		return u.field.Type, nil
	}
	for n := range u.types {
		dt := holdingAll(u.types[:n+1])
		if dt == nil {
			before := slices.IndexFunc(u.types[:n], func(other arrow.DataType) bool {
				return holdingAll([]arrow.DataType{other, u.types[n]}) == nil
			})
			before = max(before, 0)
			return u.types[0], fmt.Errorf("column %q is %s in %s and %s in %s, and neither type holds the other; "+
				"leave it out with columns", u.field.Name, u.types[before], u.paths[before], u.types[n], u.paths[n])
		}
		if n == len(u.types)-1 {
			return dt, nil
		}
	}
	return u.field.Type, nil
}

// setTypes gives columns of a CSV file without values the type that other files have.
func (m *member) setTypes(fields []arrow.Field) {
	text, ok := m.source.(*csv.Source)
	if !ok {
		return
	}
	for column, index := range m.shape.at {
		if index >= 0 {
			text.SetType(index, fields[column].Type)
		}
	}
}

// holdingAll returns the type among some, or of the entries of dictionaries among them, or the plain type of one, that
// holds the values of all of them; nil if there is none.
func holdingAll(types []arrow.DataType) arrow.DataType {
	candidates := slices.Clone(types)
	for _, dt := range types {
		if dictionary, ok := dt.(*arrow.DictionaryType); ok {
			candidates = append(candidates, dictionary.ValueType)
		}
	}
	for _, dt := range slices.Clone(candidates) {
		candidates = append(candidates, core.PlainType(dt))
	}
	for _, dt := range candidates {
		if !slices.ContainsFunc(types, func(other arrow.DataType) bool { return !holds(dt, other) }) {
			return dt
		}
	}
	return nil
}

// holds tells whether a type has each value of another one, exactly. Timestamps in a finer unit do, although that
// reaches less far: converting a value out of its range is an error.
func holds(dt, other arrow.DataType) bool {
	if arrow.TypeEqual(dt, other) || other.ID() == arrow.NULL {
		return true
	}
	if dictionary, ok := other.(*arrow.DictionaryType); ok {
		return dt.ID() != arrow.DICTIONARY && holds(dt, dictionary.ValueType)
	}
	id := other.ID()
	switch dt := dt.(type) {
	case *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float32Type, *arrow.Float64Type:
		return holdsNumber(dt, other)
	case *arrow.Decimal32Type, *arrow.Decimal64Type: // nothing is converted to them
		return false
	case arrow.DecimalType:
		narrow, ok := other.(arrow.DecimalType)
		return ok && dt.BitWidth() >= narrow.BitWidth() && dt.GetScale() >= narrow.GetScale() &&
			dt.GetPrecision()-dt.GetScale() >= narrow.GetPrecision()-narrow.GetScale()
	case *arrow.Date64Type:
		return id == arrow.DATE32
	case *arrow.Time32Type, *arrow.Time64Type:
		return (id == arrow.TIME32 || id == arrow.TIME64) &&
			dt.(arrow.TemporalWithUnit).TimeUnit() >= other.(arrow.TemporalWithUnit).TimeUnit()
	case *arrow.TimestampType:
		coarse, ok := other.(*arrow.TimestampType)
		return ok && dt.TimeZone == coarse.TimeZone && dt.Unit >= coarse.Unit
	case *arrow.LargeStringType:
		return id == arrow.STRING || id == arrow.STRING_VIEW
	case *arrow.LargeBinaryType:
		return id == arrow.BINARY || id == arrow.BINARY_VIEW
	}
	return false
}

// holdsNumber tells whether a type of numbers has each value of another one.
func holdsNumber(dt, other arrow.DataType) bool {
	digits := func(dt arrow.DataType) (bits int, signed bool) { // of whole numbers that are exact
		switch id := dt.ID(); {
		case id == arrow.FLOAT32:
			return 24, true
		case id == arrow.FLOAT64:
			return 53, true
		case arrow.IsSignedInteger(id):
			return dt.(arrow.FixedWidthDataType).BitWidth() - 1, true
		case arrow.IsUnsignedInteger(id):
			return dt.(arrow.FixedWidthDataType).BitWidth(), false
		}
		return 0, false
	}
	bits, signed := digits(dt)
	otherBits, otherSigned := digits(other)
	return otherBits > 0 && bits >= otherBits && (signed || !otherSigned) &&
		(arrow.IsFloating(dt.ID()) || !arrow.IsFloating(other.ID()))
}
