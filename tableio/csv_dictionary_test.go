package tableio

import (
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// TestCSVQuotesTextsOfDictionaries: a text that CSV would misread is quoted in a column of a dictionary as well.
func TestCSVQuotesTextsOfDictionaries(t *testing.T) {
	texts := dictionaryFromJSON(t, dictionaryOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String),
		`["plain", "a,b", "say \"so\"", "two\nlines", ""]`, 0, 1, 2, 3, 4, -1)
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: texts.DataType(), Nullable: true},
		{Name: "b", Type: texts.DataType(), Nullable: true}}, nil)
	path := tempPath(t, CSV)
	writeFile(t, path, schema, []arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{texts, texts}, 6)},
		WriteOptions{})
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a,b\nplain,plain\n\"a,b\",\"a,b\"\n\"say \"\"so\"\"\",\"say \"\"so\"\"\"\n\"two\nlines\",\"two\nlines\"\n"+
		"\"\",\"\"\n,\n", string(got))
}
