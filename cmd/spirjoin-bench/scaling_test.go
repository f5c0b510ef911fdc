package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
)

// One device that is named twice joins as one and as two, and the file says so.
func TestMultiGPU(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	o := tested.Require(t, command.ExitDone, append([]string{"multigpu", "broadcast", "--figure", "hmg-18,hmg-19",
		"--cell",
		"=0.5", "--scale", "16", "--return", "count,pairs", "--algorithm", "smj-om", "--device", "host", "--csv", path},
		benchQuickly...)...)
	require.Empty(t, o.Stderr)
	lines := strings.Split(o.Stdout, "\n")
	require.Regexp(t, `^device 2: .*Go kernels`, lines[1])
	require.Regexp(t, `^DEVICES +LINKS UP +DOWN +TOGETHER +HOST MEMORY$`, lines[2])
	require.Equal(t, "hmg-18: workload B by size and number of devices; rows divided by 2^16", lines[6])
	require.Regexp(t, `^CELL +STRATEGY +OUTPUT +DEVICES +MEDIAN +SPREAD +TUPLES/S +SPEEDUP +BOUND +REACHED$`, lines[7])
	require.Regexp(t, `^B f=0.5  broadcast  count +1( +[\d.]+ [mu]?s){2} +[\d.]+ [kMG]/s +1.00x +[\d.]+ [mu]?s +\d+%$`,
		lines[8])
	require.Regexp(t, `(?m)^skew=0.5   broadcast  pairs +2 `, o.Stdout)
	require.NotRegexp(t, `(?m)^skew=0.5   broadcast  pairs +1 `, o.Stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1+2*2+2*2, strings.Count(string(text), "\n"))
	require.Equal(t, 2*2+2*2, strings.Count(string(text), `,smj-om,8,8,"",yes,`))
	require.Contains(t, string(text), `"spirjoin-bench multigpu broadcast --figure hmg-18,hmg-19 --cell =0.5 --scale 16 `+
		"--device host --device host --return count,pairs --algorithm smj-om --repeat 2 --warm 0s\"")
}

func TestOutOfCore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	o := tested.Require(t, command.ExitDone, append([]string{"outofcore", "hj", "--figure", "device-memory,memory-limit",
		"--scale", "13", "--return", "rows", "--dir", dir, "--csv", path}, benchQuickly...)...)
	require.Empty(t, o.Stderr)
	commandtest.RequireFiles(t, dir, "results.csv")
	require.Contains(t, o.Stdout, "; rows divided by 2^13\n")
	require.Regexp(t, `(?m)^CELL +ALGORITHM +OUTPUT +LIMIT +MEDIAN +SPREAD +NS/TUPLE +OF FIRST +REACHED$`, o.Stdout)
	require.Regexp(t, `(?m)^\|S\|=2\^15  hj +rows +none( +[\d.]+ [mu]?s){2} +[\d.]+ +1.00x +\d+%$`, o.Stdout)
	require.Regexp(t, `(?m)^\|S\|=2\^15  hj +rows +1/2 \d+\.\d [KM]iB `, o.Stdout)
	require.Contains(t, strings.Join(strings.Fields(o.Stdout), " "), "; divided into ")
}

func TestScalingUsage(t *testing.T) {
	list := tested.Require(t, command.ExitDone, "multigpu", "--figure", "list").Stdout
	list += tested.Require(t, command.ExitDone, "outofcore", "--figure", "list").Stdout
	golden.Require(t, "scaling-figures.txt", list)
	for args, want := range map[string]string{
		"multigpu --figure rt-14":             `no figure "rt-14"; there are hmg-14, `,
		"multigpu narrowcast":                 `no strategy "narrowcast"; there are broadcast`,
		"multigpu --counts 1,3 --device host": "3 devices are to join, 2 are named",
		"multigpu --counts two":               `--counts "two": give numbers of devices`,
		"multigpu --return ranges":            `no output "ranges"; there are count, pairs, rows`,
		"multigpu --algorithm best":           `"best"`,
		"multigpu --scale 63":                 "--scale is 63, must be 0 to 62",
		"outofcore --figure hmg-14":           `no figure "hmg-14"; there are rt-14, device-memory, memory-limit, and all`,
		"outofcore best":                      `"best"`,
		"outofcore --return pairs":            `no output "pairs"; there are count, rows`,
		"outofcore --repeat 0":                "--repeat must be at least 1",
		"multigpu --figure hmg-18 --cell f=7": `no cell contains "f=7"; there are B f=0.5, B f=1, B f=1.5, ` +
			`B f=2, B f=3, B f=4, B f=5, B f=8, B f=10`,
		"outofcore --figure rt-14 --cell |R|":           `no cell contains "|R|"; there are |S|=`,
		"outofcore --figure rt-14 --cell x --scale -10": "--scale is -10, must be 0 to 62",
	} {
		o := tested.Require(t, command.ExitUsage, append(strings.Fields(args), "--device", "host")...)
		require.Contains(t, o.Stderr, want)
		require.Empty(t, o.Stdout)
	}
	require.Contains(t, tested.Require(t, command.ExitNoDevice, "multigpu", "--device", "host", "--device",
		"abacus").Stderr, "abacus")
	tested.Require(t, command.ExitInputOutput, "outofcore", "--device", "host", "--dir",
		filepath.Join(t.TempDir(), "missing"))
}
