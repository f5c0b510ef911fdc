package keys

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

// matrix reads the table of docs/keys.md that says which types can be compared.
func matrix(t *testing.T) (compare map[[2]string]bool) {
	text, err := os.ReadFile("../../docs/keys.md")
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

// rowOfMatrix returns the name of a type's row and column in the matrix.
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
	case *arrow.MonthIntervalType:
		return "months"
	case *arrow.DayTimeIntervalType:
		return "days and time"
	case *arrow.MonthDayNanoIntervalType:
		return "months, days, nanos"
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return "string"
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		return "binary"
	case *arrow.NullType:
		return "null"
	}
	return "integer"
}

// matrixTypes returns all types of keys, and dictionaries of some of each class.
func matrixTypes() (types []arrow.DataType) {
	for _, group := range relationtest.KeyTypes {
		for _, dt := range group {
			if !containsType(types, dt) {
				types = append(types, dt)
			}
		}
	}
	b, f := arrow.BinaryTypes, arrow.FixedWidthTypes
	fixed := &arrow.FixedSizeBinaryType{ByteWidth: 8}
	types = append(types, arrow.Null, f.MonthInterval, f.DayTimeInterval, f.MonthDayNanoInterval,
		b.String, b.LargeString, b.StringView, b.Binary, b.LargeBinary, b.BinaryView, fixed,
		&arrow.FixedSizeBinaryType{ByteWidth: 3})
	for i, dt := range []arrow.DataType{arrow.PrimitiveTypes.Uint64, f.Duration_ns, arrow.PrimitiveTypes.Float32,
		b.String,
		b.LargeBinary, fixed, f.DayTimeInterval, f.MonthDayNanoInterval} {
		indices := []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32}
		types = append(types, &arrow.DictionaryType{IndexType: indices[i%len(indices)], ValueType: dt})
	}
	return types
}

// matrixTexts are texts at the limits of their encodings, short ones first; "null" is a null.
var matrixTexts = []string{"", "a", "a\x00", "A", "ß", "ss", "null", "abc", "abd", "abcdefg", "abcdef\x00",
	"abcdefgh", "abcdefgi", "abcdefg\x00", "abcdefghi", "fifteen bytes..", "sixteen bytes...", "seventeen bytes..",
	strings.Repeat("x", 300), strings.Repeat("x", 299) + "y"}

// matrixTable returns a table with a column of a type: cells or, for text types, the texts that the type can hold.
func matrixTable(dt arrow.DataType, cells []cell, texts []string) arrow.Table {
	value := dt
	d, dictionary := dt.(*arrow.DictionaryType)
	if dictionary {
		value = d.ValueType
	}
	if value.ID() == arrow.NULL {
		return tableOf([]arrow.Array{array.NewNull(len(cells))}, [][]int{nil})
	}
	if row := rowOfMatrix(value); row != "string" && row != "binary" {
		return single(dt, cells...)
	}
	texts = slices.Clone(texts)
	for i, text := range texts {
		if fixed, ok := value.(*arrow.FixedSizeBinaryType); ok && len(text) != fixed.ByteWidth {
			texts[i] = "null"
		}
	}
	column := textsOf(value, texts, 1)
	if dictionary {
		indices := make([]cell, len(texts))
		for i := range indices {
			indices[i].raw = uint64(i)
		}
		column = array.NewDictionaryArray(dt, columnOf(d.IndexType, indices, 2), column)
	}
	return tableOf([]arrow.Array{column}, [][]int{{4}})
}

// TestMatrix checks each pair of types against the matrix of the document. Comparable types match by value, at the
// limits of both types. For others, the error names the columns, the types and the remedy.
func TestMatrix(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	compare, seen := matrix(t), map[[2]string]bool{}
	types := matrixTypes()
	var cells []cell
	for i, raw := range interesting {
		cells = append(cells, cell{raw: raw, null: i%31 == 7, wide: i%29 == 3})
	}
	on, short := keyNames(1), matrixTexts[:11]
	for i, lt := range types {
		for j, rt := range types {
			pair := [2]string{rowOfMatrix(lt), rowOfMatrix(rt)}
			seen[pair] = true
			for _, texts := range [][2][]string{{matrixTexts, matrixTexts}, {short, matrixTexts}} {
				left, right := matrixTable(lt, cells, texts[relation.Left]), matrixTable(rt, cells, texts[relation.Right])
				for _, nullsEqual := range devicetest.Short([]bool{(i+j)%2 > 0}, []bool{false, true}) {
					err := checkPlan(left, right, on, nullsEqual)
					if compare[pair] {
						require.NoError(t, err, "%s and %s, NULL equals NULL: %v", lt, rt, nullsEqual)
						continue
					}
					require.ErrorIs(t, err, backend.ErrUnsupported, "%s and %s", lt, rt)
					for _, part := range []string{`left key column "k0" (` + lt.String() + `)`,
						`right key column "k0" (` + rt.String() + `): `, "cast one of them"} {
						require.ErrorContains(t, err, part)
					}
				}
				if !compare[pair] || pair[relation.Left] != "string" && pair[relation.Left] != "binary" {
					break
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
