package csv

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// United is what is known of the columns of several files. The n-th column of a name in one file is united with the n-th
// column of that name in the others. The zero value has no files.
type United struct {
	columns map[columnName]*columnFacts
	files   int
}

type columnName struct {
	text string
	nth  int // how many columns before it have the name
}

// Add adds a file, which must not be read before SetTypes. The order of files decides which value is said to have made
// a column text.
func (u *United) Add(s *Source) {
	if u.columns == nil {
		u.columns = map[columnName]*columnFacts{}
	}
	seen := map[string]int{}
	for i, field := range s.fields.Fields() {
		name := columnName{field.Name, seen[field.Name]}
		if seen[field.Name]++; s.facts == nil || s.facts[i].given {
			continue
		}
		all := u.columns[name]
		if all == nil {
			all = new(columnFacts)
			u.columns[name] = all
		}
		for kind := range s.facts[i].because {
			s.facts[i].because[kind].file, s.facts[i].because[kind].Path = u.files, s.in.Path
		}
		all.merge(*s.facts[i])
		s.facts[i] = all
	}
	u.files++
}

// SetTypes gives the columns of a file that was added types that hold the values of all files.
func (u *United) SetTypes(s *Source) {
	fields := s.fields.Fields()
	for i := range fields {
		if s.facts != nil && !s.facts[i].given {
			fields[i].Type = s.facts[i].dataType()
		}
	}
	s.fields = arrow.NewSchema(fields, nil)
}

// SetType gives a column without values another type. It returns false, and changes nothing, if the column has values,
// if its type was given, or if no CSV column has that type.
func (s *Source) SetType(column int, dt arrow.DataType) bool {
	if s.HasType(column) {
		return false
	}
	fields := s.fields.Fields()
	fields[column].Type = dt
	if _, err := newBuilder(fields[column], s.nulls); err != nil {
		return false
	}
	s.fields = arrow.NewSchema(fields, nil)
	return true
}

// HasType tells whether the type of a column was given or has values.
func (s *Source) HasType(column int) bool {
	return s.facts == nil || s.facts[column].given || s.facts[column].values
}

// WhyText returns the value that made a column text; false if its type was given, or no value did.
func (s *Source) WhyText(column int) (reason TextReason, ok bool) {
	if s.facts == nil {
		return TextReason{}, false
	}
	return s.facts[column].whyText()
}

// PartitionType is the type that holds all of some texts that are not NULL, as for values of a column, but int64, a date
// or text.
func PartitionType(values []string) arrow.DataType {
	kinds := kindInt64 | kindDate
	for _, value := range values {
		kinds = kindsOf([]byte(value), kinds)
	}
	switch {
	case len(values) == 0 || kinds == 0:
		return arrow.BinaryTypes.String
	case kinds&kindInt64 != 0:
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.FixedWidthTypes.Date32
}
