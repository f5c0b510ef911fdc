package core

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/internal/text"
)

// ColumnIndices finds the columns by name. Nil names mean all columns; a name may be given twice. An error wraps
// ErrColumn and reports all names that are unknown or ambiguous.
func ColumnIndices(schema *arrow.Schema, names []string) ([]int, error) {
	if names == nil {
		all := make([]int, schema.NumFields())
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	fields := make([]string, schema.NumFields())
	first, twice := map[string]int{}, map[string]bool{}
	for i, field := range schema.Fields() {
		fields[i] = field.Name
		if _, seen := first[field.Name]; seen {
			twice[field.Name] = true
		} else {
			first[field.Name] = i
		}
	}
	var faults []error
	indices := make([]int, 0, len(names))
	for _, name := range names {
		index, known := first[name]
		switch {
		case !known:
			faults = append(faults, UnknownColumn(name, fields))
		case twice[name]:
			faults = append(faults, fmt.Errorf("%w %q is ambiguous: the name occurs more than once", ErrColumn, name))
		default:
			indices = append(indices, index)
		}
	}
	return indices, JoinFaults(faults...)
}

// UnknownColumn returns an error that wraps ErrColumn and names the nearest of the fields, or the first ones.
func UnknownColumn(name string, fields []string) error {
	if near, ok := text.Nearest(name, fields); ok {
		return fmt.Errorf("%w %q does not exist; did you mean %q?", ErrColumn, name, near)
	}
	shown := fields[:min(len(fields), 20)]
	more := ""
	if len(shown) < len(fields) {
		more = fmt.Sprintf(" and %d more", len(fields)-len(shown))
	}
	return fmt.Errorf("%w %q does not exist; there are: %s%s", ErrColumn, name, strings.Join(shown, ", "), more)
}

// ChosenSchema is the schema of some columns, with the metadata of the whole.
func ChosenSchema(schema *arrow.Schema, columns []int) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		fields[i] = schema.Field(column)
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}
