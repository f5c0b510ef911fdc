package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/operator"
)

func TestArrange(t *testing.T) {
	for line, want := range map[string]string{
		"":                                 "",
		"--version":                        "--version",
		"help":                             "--help",
		"help join":                        "join --help",
		"help gen pkfk":                    "gen pkfk --help",
		"devices --json":                   "devices --json",
		"join a b --on k":                  "join --on k -- a b",
		"join a --on k b -o out.parquet":   "join --on k -o out.parquet -- a b",
		"join --on=k a b --count":          "join --on=k --count -- a b",
		"join - b -o -":                    "join -o - -- - b",
		"join --count -- --on b":           "join --count -- --on b",
		"join a b --on -k":                 "join --on -k -- a b",
		"gen pkfk --seed -1 -o dir":        "gen pkfk --seed -1 -o dir",
		"join a b -on k":                   "join -on k -- a b",
		"join --nulls-equal a b --on k":    "join --nulls-equal= --on k -- a b",
		"join --nulls-equal=x,y a b":       "join --nulls-equal=x,y -- a b",
		"join a b --help":                  "join --help",
		"join a b --on k -h":               "join --help",
		"help join a b":                    "join --help",
		"groupby f --agg count --help":     "groupby --help",
		"tune sort --help":                 "tune --help",
		"bench planner f --help":           "bench planner --help",
		"bench primitive sort --help":      "bench primitive --help",
		"join a b -qo x":                   "join -q -o x -- a b",
		"join a b -q -q --on k --on l":     "join -q -q --on k --on l -- a b",
		"join a b --device 0 --device 1":   "join --device 0 --device 1 -- a b",
		"join -qh":                         "join --help",
		"join -- a --help":                 "join -- a --help",
		"join a b --max-output-rows 2^27x": "join --max-output-rows 2^27x -- a b",
	} {
		got, err := arrange((&session{}).app(), strings.Fields("spirjoin "+line))
		require.NoError(t, err, line)
		require.Equal(t, strings.Fields("spirjoin "+want), got, line)
	}
}

func TestArrangeNamesWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		"jion a b":                        `unknown command "jion"; did you mean "join"?`,
		"quux":                            `unknown command "quux"; there are help, join, groupby, devices, doctor, gen, bench, tune, version`,
		"help dovices":                    `unknown command "dovices"; did you mean "devices"?`,
		"gen tcph":                        `unknown command "tcph"; did you mean "tpch"?`,
		"join a b --ont k":                `unknown flag --ont; did you mean --on?`,
		"join a b --memorylimit":          `unknown flag --memorylimit; did you mean --memory-limit?`,
		"join a b --xyzzyxyzzy":           `unknown flag --xyzzyxyzzy; see spirjoin join --help`,
		"join a b --on":                   `flag --on needs a value`,
		"join a b -o":                     `flag -o needs a value`,
		"join a b -qo":                    `flag -o needs a value`,
		"join a b -qx":                    `unknown flag -qx; see spirjoin join --help`,
		"join a b -o x -o y":              `flag -o is given twice`,
		"join a b --output x -o y":        `flag -o is given twice`,
		"join a b --how left --how=right": `flag --how is given twice`,
		"--json devices":                  `unknown flag --json; see spirjoin --help`,
		"--help join":                     `"join" must come before the flags; it is not an argument of spirjoin`,
	} {
		_, err := arrange((&session{}).app(), strings.Fields("spirjoin "+line))
		require.ErrorIs(t, err, errUsage, line)
		require.EqualError(t, err, want, line)
	}
}

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
		o := runProgram(t, exitUsage, "join", table, args[2], "--on", wrong+"=id", "--count", "--device", "host")
		require.Contains(t, o.stderr, `has no column "`+wrong+`"; did you mean `+want+"?\n")
		shell, err := exec.Command("sh", "-c", "printf %s "+want).Output()
		require.NoError(t, err)
		runProgram(t, exitDone, "join", table, args[2], "--on", string(shell)+"=id", "--count", "--device", "host")
	}
}

func FuzzArrange(f *testing.F) {
	f.Add("join a b --on k -o -")
	f.Add("help gen tpch --sf=0.1")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		got, err := arrange((&session{}).app(), append([]string{"spirjoin"}, words...))
		if err != nil {
			require.True(t, errors.Is(err, errUsage), "%v", err)
			return
		}
		require.GreaterOrEqual(t, len(got), 1)
	})
}

// Help names the algorithms that there are, also one more.
func TestHelpNamesAlgorithms(t *testing.T) {
	all := join.Algorithms
	defer func() { join.Algorithms = all }()
	join.Algorithms = append(slices.Clone(all), another{})
	o := runProgram(t, exitDone, "join", "--help")
	require.Contains(t, strings.Join(strings.Fields(o.stdout), " "), "NAME: "+oneOf(join.AlgorithmNames()[1:])+";")
	require.Contains(t, o.stdout, " or another;")
}

// another is an algorithm.
type another struct{ operator.Algorithm }

func (another) Name() string { return "another" }
