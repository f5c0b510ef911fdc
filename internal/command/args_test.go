package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"
)

// session is a run of a program with commands of every form.
var session = (&Program{Name: "spirjoin", Commands: func(*Session) []*cli.Command {
	return []*cli.Command{
		{Name: "join", Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "on"}, &cli.StringFlag{Name: "how"}, &cli.BoolFlag{Name: "count"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}}, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}},
			&cli.GenericFlag{Name: "device", Value: new(Names)}, &cli.GenericFlag{Name: "max-output-rows", Value: new(Rows)},
			&cli.GenericFlag{Name: "memory-limit", Value: new(Size)},
			&cli.GenericFlag{Name: "nulls-equal", Value: new(optional)},
		}},
		{Name: "devices", Flags: []cli.Flag{&cli.BoolFlag{Name: "json"}}},
		{Name: "gen", Subcommands: []*cli.Command{{Name: "tpch"},
			{Name: "pkfk", Flags: []cli.Flag{&cli.Uint64Flag{Name: "seed"}, &cli.StringFlag{Name: "o"}}}}},
		{Name: "bench", SkipFlagParsing: true},
	}
}}).Session(nil, nil, nil)

// optional is a flag that needs no value.
type optional struct{ Names }

func (*optional) ValueIsOptional() {}

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
		"gen tpch f --help":                "gen tpch --help",
		"bench joins -r 5 --help":          "bench joins -r 5 --help",
		"help bench joins":                 "bench joins --help",
		"bench":                            "bench",
		"join a b -qo x":                   "join -q -o x -- a b",
		"join a b -q -q --on k --on l":     "join -q -q --on k --on l -- a b",
		"join a b --device 0 --device 1":   "join --device 0 --device 1 -- a b",
		"join -qh":                         "join --help",
		"join -- a --help":                 "join -- a --help",
		"join a b --max-output-rows 2^27x": "join --max-output-rows 2^27x -- a b",
	} {
		got, err := arrange(session.App(), strings.Fields("spirjoin "+line))
		require.NoError(t, err, line)
		require.Equal(t, strings.Fields("spirjoin "+want), got, line)
	}
}

func TestArrangeNamesWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		"jion a b":                        `unknown command "jion"; did you mean "join"?`,
		"quux":                            `unknown command "quux"; there are help, join, devices, gen, bench, version`,
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
		_, err := arrange(session.App(), strings.Fields("spirjoin "+line))
		require.ErrorIs(t, err, errUsage, line)
		require.EqualError(t, err, want, line)
	}
}

func FuzzArrange(f *testing.F) {
	f.Add("join a b --on k -o -")
	f.Add("help gen tpch --sf=0.1")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		got, err := arrange(session.App(), append([]string{"spirjoin"}, words...))
		if err != nil {
			require.True(t, errors.Is(err, errUsage), "%v", err)
			return
		}
		require.GreaterOrEqual(t, len(got), 1)
	})
}
