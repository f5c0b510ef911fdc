package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
)

func TestSplitList(t *testing.T) {
	require.Equal(t, []string{"a", "b"}, splitList("a,b", ','))
	require.Equal(t, []string{""}, splitList("", ','))
	require.Equal(t, []string{"a", ""}, splitList("a,", ','))
	require.Equal(t, []string{`a\,b`, "c"}, splitList(`a\,b,c`, ','))
	require.Equal(t, []string{`a\\`, "b"}, splitList(`a\\,b`, ','), "an escaped backslash escapes nothing")
	require.Equal(t, "a,b", unescape(`a\,b`))
	require.Equal(t, `a\`, unescape(`a\\`))
}

// Any names can be written in a list.
func TestSplitListHoldsAnyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune(`ab ,=:"\é`))), 1, 4).Draw(t, "names")
		var written, quoted []string
		for _, name := range names {
			written = append(written, strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`, `"`, `\"`).Replace(name))
			quoted = append(quoted, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
		}
		for _, name := range names {
			require.Len(t, splitList(listName(name), ','), 1)
			require.Len(t, splitList(listName(name), ':'), 1)
			require.Equal(t, name, unescape(listName(name)))
		}
		for _, list := range [][]string{written, quoted} {
			var got []string
			for _, part := range splitList(strings.Join(list, ","), ',') {
				require.Len(t, splitList(part, '='), 1)
				got = append(got, unescape(part))
			}
			require.Equal(t, names, got)
		}
	})
}

// A column that an error suggests can be pasted into a shell.
func TestSuggestedColumnsArePasteable(t *testing.T) {
	_, args := orders(t, ".csv")
	table := tableFile(t, filepath.Join(t.TempDir(), "t.parquet"), ints(" b", 1), ints("c,d", 1), ints(`e"f`, 1),
		ints("$g", 1), ints("it's", 1), ints("plain", 1))
	for wrong, want := range map[string]string{"b": `' b'`, "cd": `'"c,d"'`, "ef": `'"e""f"'`, "g": `'$g'`,
		"its": `'it'\''s'`, "plan": `"plain"`} {
		o := tested.Require(t, command.ExitUsage, "join", table, args[2], "--on", wrong+"=id", "--count", "--device", "host")
		require.Contains(t, o.Stderr, `has no column "`+wrong+`"; did you mean `+want+"?\n")
		shell, err := exec.Command("sh", "-c", "printf %s "+want).Output()
		require.NoError(t, err)
		tested.Require(t, command.ExitDone, "join", table, args[2], "--on", string(shell)+"=id", "--count", "--device",
			"host")
	}
}

// Help names the algorithms that there are, also one more.
func TestHelpNamesAlgorithms(t *testing.T) {
	all := join.Algorithms
	defer func() { join.Algorithms = all }()
	join.Algorithms = append(slices.Clone(all), another{})
	o := tested.Require(t, command.ExitDone, "join", "--help")
	require.Contains(t, strings.Join(strings.Fields(o.Stdout), " "), "NAME: "+oneOf(join.AlgorithmNames()[1:])+";")
	require.Contains(t, o.Stdout, " or another;")
}

// another is an algorithm.
type another struct{ operator.Algorithm }

func (another) Name() string { return "another" }
