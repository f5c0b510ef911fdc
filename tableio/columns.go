package tableio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/internal/text"
)

// columnIndices finds the columns by name, reporting all faults together. Nil
// names mean all columns; a name may be given twice.
func columnIndices(schema *arrow.Schema, names []string) ([]int, error) {
	if names == nil {
		all := make([]int, schema.NumFields())
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	fields := make([]string, schema.NumFields())
	for i := range fields {
		fields[i] = schema.Field(i).Name
	}
	var faults []error
	indices := make([]int, 0, len(names))
	for _, name := range names {
		switch first := slices.Index(fields, name); {
		case first < 0:
			faults = append(faults, unknownColumn(name, fields))
		case slices.Contains(fields[first+1:], name):
			faults = append(faults, fmt.Errorf("%w %q is ambiguous: the name occurs more than once", ErrColumn, name))
		default:
			indices = append(indices, first)
		}
	}
	return indices, joinFaults(faults...)
}

func unknownColumn(name string, fields []string) error {
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
