package relation

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
)

// CheckColumn returns nil if the schema of a side has exactly one column of that name, otherwise
// backend.ErrInvalidInput with the nearest name.
func CheckColumn(schema *arrow.Schema, side Side, name string) error {
	return CheckName(schema, "the "+side.String()+" table", name)
}

// CheckName is [CheckColumn] for any table, which errors call so.
func CheckName(schema *arrow.Schema, table, name string) error {
	switch found := schema.FieldIndices(name); len(found) {
	case 1:
		return nil
	case 0:
		var names []string
		for _, field := range schema.Fields() {
			names = append(names, field.Name)
		}
		hint := "it has no columns"
		if nearest, near := text.Nearest(name, names); near {
			hint = fmt.Sprintf("did you mean %q?", nearest)
		} else if len(names) > 0 {
			hint = "its columns are " + strings.Join(names, ", ")
		}
		return fmt.Errorf("%w: %s has no column %q; %s", backend.ErrInvalidInput, table, name, hint)
	default:
		return fmt.Errorf("%w: %s has %d columns %q; rename all but one", backend.ErrInvalidInput, table,
			len(found), name)
	}
}
