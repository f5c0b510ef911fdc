package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/join"
)

// specOf is the specification that a command line stands for.
func specOf(t *testing.T, args ...string) (spec spirjoin.JoinSpec) {
	p := commandtest.Program{Program: &command.Program{Name: "spirjoin",
		Commands: func(run *command.Session) []*cli.Command {
			s := session{run}
			join := s.joinCommand()
			join.Action = func(c *cli.Context) error {
				o, err := s.joinOptions(c, nil)
				spec = o.spec
				return err
			}
			return []*cli.Command{join}
		}}}
	o := p.AtTerminal(t.Context(), append([]string{"join", "l", "r", "--batch-rows", "7"}, args...)...)
	require.Equal(t, commandtest.Outcome{}, o)
	return spec
}

// Each flag of the command line is the option of the library.
func TestJoinSpecOfFlags(t *testing.T) {
	k := []string{"k"}
	plain := spirjoin.JoinSpec{LeftOn: k, RightOn: k, Suffix: "_right", BatchRows: 7, Algorithm: join.Auto}
	for _, c := range []struct {
		args []string
		want func(s *spirjoin.JoinSpec)
	}{
		{nil, func(*spirjoin.JoinSpec) {}},
		{[]string{"--how", "outer"}, func(s *spirjoin.JoinSpec) { s.How = join.Full }},
		{[]string{"--how", "right_anti"}, func(s *spirjoin.JoinSpec) { s.How = join.RightAnti }},
		{[]string{"--how", "mark", "--mark-name", "found"},
			func(s *spirjoin.JoinSpec) { s.How, s.MarkName = join.Mark, "found" }},
		{[]string{"--how", "not-in"}, func(s *spirjoin.JoinSpec) { s.How = join.NotIn }},
		{[]string{"--nulls-equal"}, func(s *spirjoin.JoinSpec) { s.NullsEqual = k }},
		{[]string{"--nulls-equal=k"}, func(s *spirjoin.JoinSpec) { s.NullsEqual = k }},
		{[]string{"--on", `x\,y=z`, "--nulls-equal=k", `--nulls-equal=x\,y`}, func(s *spirjoin.JoinSpec) {
			s.LeftOn, s.RightOn = []string{"k", "x,y"}, []string{"k", "z"}
			s.NullsEqual = s.LeftOn
		}},
		{[]string{"--validate", "1:m"}, func(s *spirjoin.JoinSpec) { s.Validate = join.OneToMany }},
		{[]string{"--maintain-order", "left"}, func(s *spirjoin.JoinSpec) { s.Order = join.LeftOrder }},
		{[]string{"--maintain-order", "right", "--deterministic"},
			func(s *spirjoin.JoinSpec) { s.Order, s.Deterministic = join.RightOrder, true }},
		{[]string{"--build-side", "right", "--algo", "hj"},
			func(s *spirjoin.JoinSpec) { s.BuildSide, s.Algorithm = join.BuildRight, "hj" }},
		{[]string{"--indicator", "from", "--no-coalesce"},
			func(s *spirjoin.JoinSpec) { s.Indicator, s.SeparateKeys = "from", true }},
		{[]string{"--suffix", "2", "--columns", "a,b"},
			func(s *spirjoin.JoinSpec) { s.Suffix, s.Columns = "2", []string{"a", "b"} }},
	} {
		want := plain
		c.want(&want)
		require.Equal(t, want, specOf(t, append([]string{"--on", "k"}, c.args...)...), "%v", c.args)
	}
	cross := specOf(t, "--how", "cross", "--max-output-rows", "5")
	require.Equal(t, spirjoin.JoinSpec{How: join.Cross, MaxOutputRows: 5, Suffix: "_right", BatchRows: 7,
		Algorithm: join.Auto}, cross)
}
