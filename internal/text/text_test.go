package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWriteTable(t *testing.T) {
	var b bytes.Buffer
	WriteTable(&b, []Align{Left, Right, Left}, [][]string{
		{"NAME", "N", "Z"}, {"é", "1000", ""}, {"long name", "7", "end"},
	})
	require.Equal(t, "NAME          N  Z\né          1000\nlong name     7  end\n", b.String())
}

func TestShorten(t *testing.T) {
	require.Equal(t, "äöü", Shorten("äöü", 3))
	require.Equal(t, "äö…", Shorten("äöüß", 3))
	require.Equal(t, "a·b c", Printable("a\tb c"))
}

func TestFold(t *testing.T) {
	require.Equal(t, "", Fold("", 10, "\n"))
	require.Equal(t, "aa bb\n  cc", Fold("aa bb cc", 5, "\n  "))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zé]{1,12} ){0,20}`).Draw(t, "text")
		width := rapid.IntRange(1, 30).Draw(t, "width")
		folded := Fold(text, width, "\n")
		require.Equal(t, strings.Fields(text), strings.Fields(folded))
		for _, line := range strings.Split(folded, "\n") {
			require.True(t, utf8.RuneCountInString(line) <= width || !strings.Contains(line, " "), line)
		}
	})
}
