package text

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	columns := []string{"l_orderkey", "l_partkey", "l_quantity", "a", "Größe"}
	for name, want := range map[string]string{
		"l_orderkye":  "l_orderkey", // swapped
		"orderkey":    "l_orderkey",
		"L_ORDERKEY":  "l_orderkey",
		"l_prtkey":    "l_partkey",
		"l_quantitty": "l_quantity",
		"größe":       "Größe",
		"l_partkey ":  "l_partkey",
		"shipdate":    "",
		"b":           "", // one letter is not near to another
		"":            "",
	} {
		got, ok := Nearest(name, columns)
		require.Equal(t, want, got, name)
		require.Equal(t, want != "", ok, name)
	}
	_, ok := Nearest("x", nil)
	require.False(t, ok)
}

func TestEditDistanceProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 0, 8, -1)
		a, b, c := []rune(word.Draw(rt, "a")), []rune(word.Draw(rt, "b")), []rune(word.Draw(rt, "c"))
		require.Equal(rt, editDistance(a, b), editDistance(b, a))
		require.Equal(rt, string(a) == string(b), editDistance(a, b) == 0)
		require.LessOrEqual(rt, editDistance(a, b), max(len(a), len(b)))
		require.GreaterOrEqual(rt, editDistance(a, b), max(len(a), len(b))-min(len(a), len(b)))
		ac := append(append([]rune{}, a...), c...)
		require.LessOrEqual(rt, editDistance(a, ac), len(c))
	})
}
