package relation

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
)

// CheckColumn returns nil if the schema of a side has exactly one column of that name, otherwise
// backend.ErrInvalidInput with the nearest name.
func CheckColumn(schema *arrow.Schema, side Side, name string) error {
	switch found := schema.FieldIndices(name); len(found) {
	case 1:
		return nil
	case 0:
		var names []string
		for _, field := range schema.Fields() {
			names = append(names, field.Name)
		}
		hint := "it has no columns"
		if nearest := NearestName(name, names); nearest != "" {
			hint = fmt.Sprintf("did you mean %q?", nearest)
		} else if len(names) > 0 {
			hint = "its columns are " + strings.Join(names, ", ")
		}
		return fmt.Errorf("%w: the %s table has no column %q; %s", backend.ErrInvalidInput, side, name, hint)
	default:
		return fmt.Errorf("%w: the %s table has %d columns %q; rename all but one", backend.ErrInvalidInput, side,
			len(found), name)
	}
}
