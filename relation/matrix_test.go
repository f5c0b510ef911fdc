package relation

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// matrix reads the table of docs/keys.md that says which types compare.
func matrix(t *testing.T) (compare map[[2]string]bool) {
	text, err := os.ReadFile("../docs/keys.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Two columns: what compares with what\n\n")
	require.True(t, found)
	var names []string
	compare = make(map[[2]string]bool)
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|\n"), "|") {
			cells = append(cells, strings.Trim(cell, " *"))
		}
		switch {
		case names == nil:
			names = cells
		case !strings.HasPrefix(cells[0], "---"):
			for i, cell := range cells[1:] {
				require.Contains(t, []string{"yes", "-"}, cell)
				compare[[2]string{cells[0], names[i+1]}] = cell == "yes"
			}
		}
	}
	require.Len(t, compare, (len(names)-1)*(len(names)-1))
	return compare
}

// rowOfMatrix is the row and the column of the matrix that a type belongs to.
func rowOfMatrix(dt arrow.DataType) string {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return rowOfMatrix(dt.ValueType)
	case *arrow.BooleanType:
		return "bool"
	case arrow.DecimalType:
		return "decimal"
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return "float"
	case *arrow.Date32Type, *arrow.Date64Type:
		return "date"
	case *arrow.TimestampType:
		if dt.TimeZone != "" {
			return "timestamp with zone"
		}
		return "timestamp"
	case *arrow.Time32Type, *arrow.Time64Type:
		return "time"
	case *arrow.DurationType:
		return "duration"
	}
	return "integer"
}

// TestMatrix holds each pair of types against the matrix of the document: what compares does so by value, at the edges
// of both types, and what does not is refused by an error that names the columns and the types and what to do.
func TestMatrix(t *testing.T) {
	compare, seen := matrix(t), map[[2]string]bool{}
	var types []arrow.DataType
	for _, group := range keyTypes {
		for _, dt := range group {
			if !containsType(types, dt) {
				types = append(types, dt)
			}
		}
	}
	types = append(types, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.PrimitiveTypes.Uint64},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: types[len(types)-2]})
	var cells []cell
	for i, raw := range interesting {
		cells = append(cells, cell{raw: raw, null: i%31 == 7, wide: i%29 == 3})
	}
	on := keyNames(1)
	for _, lt := range types {
		for _, rt := range types {
			pair := [2]string{rowOfMatrix(lt), rowOfMatrix(rt)}
			seen[pair] = true
			left, right := single(lt, cells...), single(rt, cells...)
			for _, nullsEqual := range []bool{false, true} {
				err := checkPlan(left, right, on, nullsEqual)
				switch {
				case !compare[pair]:
					require.ErrorIs(t, err, backend.ErrUnsupported, "%s and %s", lt, rt)
					for _, part := range []string{`left key column "k0" (` + lt.String() + `)`,
						`right key column "k0" (` + rt.String() + `): `, "cast one of them"} {
						require.ErrorContains(t, err, part)
					}
				default:
					require.NoError(t, err, "%s and %s, NULL equals NULL: %v", lt, rt, nullsEqual)
				}
			}
		}
	}
	for pair := range compare {
		require.True(t, seen[pair], "no types of %v", pair)
	}
}

func containsType(types []arrow.DataType, dt arrow.DataType) bool {
	for _, other := range types {
		if arrow.TypeEqual(other, dt) {
			return true
		}
	}
	return false
}
