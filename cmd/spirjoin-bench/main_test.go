package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/internal/leak"
)

var tested = commandtest.Program{Program: &program}

func TestMain(m *testing.M) {
	tested.RunIfAsked()
	leak.Main(m)
}

var benchQuickly = []string{"--device", "host", "--warm", "0s", "--repeat", "2"}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"spirjoin-bench": {"-h"}, "graphics": {"graphics", "-h"}, "joins": {"joins", "-h"},
		"end-to-end": {"end-to-end", "--help"}, "multigpu": {"multigpu", "-h"}, "outofcore": {"outofcore", "-h"},
		"planner": {"planner", "f", "--help"}, "distributed": {"distributed", "-h"},
		"primitive": {"help", "primitive"},
	} {
		o := tested.Require(t, command.ExitDone, args...)
		require.Empty(t, o.Stderr)
		for line := range strings.Lines(o.Stdout) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 100, "help of %s: %s", name, line)
		}
		golden.Require(t, filepath.Join("help", name+".txt"), o.Stdout)
	}
	require.Equal(t, tested.Require(t, command.ExitDone, "--help").Stdout, tested.Require(t, command.ExitDone).Stdout)
}

// The help of a command lists all its flags.
func TestHelpListsFlags(t *testing.T) {
	for _, c := range program.Session(nil, nil, nil).App().Commands {
		help := tested.Require(t, command.ExitDone, c.Name, "--help").Stdout
		for _, flag := range c.Flags {
			require.Contains(t, help, "\n   "+flag.String()+"\n", c.Name)
		}
	}
}

func TestVersion(t *testing.T) {
	require.Regexp(t, `^spirjoin-bench version .+ \(go[0-9.]+.*, \w+/\w+\)\n$`,
		tested.Require(t, command.ExitDone, "version").Stdout)
}

func TestUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"jions":                                `did you mean "joins"?`,
		"joins --rowz 1":                       `unknown flag --rowz; `,
		"planner":                              `planner takes files of measured joins, and --rates`,
		"planner no-such.csv --rates tpu":      `no rates for "tpu"; there are host`,
		"joins shj":                            `no join "shj"; there are phj-om`,
		"joins --repeat 0":                     `--repeat must be at least 1`,
		"joins --key-bytes 5 --device host":    `keys have 5 bytes, must be 4 or 8`,
		"primitive srot":                       `no primitive "srot"; there are cascade_decode, cascade_encode, compact, compare_texts, copy`,
		"primitive --rows 0":                   `--rows "0": give numbers of rows`,
		"primitive --rows 2^10..2^9":           `--rows "2^10..2^9": give numbers of rows`,
		"primitive --rows 10..x":               `--rows "10..x": give numbers of rows`,
		"primitive --key wide":                 `--key "wide": give numbers of bits`,
		"primitive --repeat 0":                 `--repeat must be at least 1`,
		"primitive --tuning items":             `--tuning "items": write SETTING=NUMBER`,
		"primitive --tuning items=-1":          `--tuning "items=-1": write SETTING=NUMBER`,
		"primitive sort --device host --key 7": `sort offers key=[32 64]`,
	} {
		o := tested.Require(t, command.ExitUsage, strings.Fields(line)...)
		require.Contains(t, o.Stderr, want, line)
		require.Empty(t, o.Stdout, line)
	}
}
