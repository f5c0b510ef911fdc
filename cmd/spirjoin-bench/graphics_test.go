package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/stretchr/testify/require"
)

// The host draws nothing: the lines of drawing methods say so, and all else is measured.
func TestGraphics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := tested.Require(t, command.ExitDone, append([]string{"graphics", "--figure", "garuda-6.2,garuda-11,garuda-12a",
		"--scale", "15", "--out", dir}, benchQuickly...)...)
	require.Empty(t, o.Stderr)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Regexp(t, `^points into an image: none, .*does not draw`, lines[1])
	require.Regexp(t, `^keys counted by a kernel with atomics: [\d.]+ [kMG]/s$`, lines[2])
	require.Equal(t, "garuda-6.2: histogram of 2^10 keys, 512 bins", lines[4])
	require.Regexp(t, `^CELL +METHOD +MEDIAN +MIN +MAX +ROWS/S +OUTPUT ROWS +TIME$`, lines[5])
	require.Regexp(t, `^uniform  graphics  skipped: .*does not draw`, lines[6])
	require.Regexp(t, `(?m)^uniform  compute( +[\d.]+ [mun]?s){3} +[\d.]+ [kMG]/s +\d+ +-$`, o.Stdout)
	require.Regexp(t, `(?m)^JO5   phj-um  `, o.Stdout)
	require.Regexp(t, `(?m)^SGO3  compute  `, o.Stdout)
	for _, figure := range []string{"garuda-6.2", "garuda-11", "garuda-12a"} {
		for _, extension := range []string{".csv", ".svg"} {
			require.FileExists(t, filepath.Join(dir, figure+extension))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "garuda-11.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "spirjoin-bench graphics --figure garuda-6.2,garuda-11,garuda-12a --scale 15")
	require.NotContains(t, string(text), dir)
}

func TestGraphicsUsage(t *testing.T) {
	golden.Require(t, "graphics-figures.txt",
		tested.Require(t, command.ExitDone, "graphics", "--figure", "list").Stdout)
	for args, want := range map[string]string{
		"--figure garuda-7": `no figure "garuda-7"; there are garuda-6.2, `,
		"--scale -1":        "--scale is -1, must be 0 to 62",
		"--repeat 0":        "--repeat must be at least 1",
		"--warm -1s":        "--warm is -1s, must be 0s or more",
		"--figure garuda-8a,garuda-8b --cell SGO1": `no cell contains "SGO1"; there are |R|=2^12, |R|=2^14, |R|=2^16, ` +
			`|R|=2^18, JO1, JO2, JO3, JO4`,
		"--cell SGO4": `no cell contains "SGO4"; there are uniform, ordered, zipf=1, |R|=2^12, |R|=2^14, |R|=2^16, ` +
			`|R|=2^18, JO1, JO2, JO3, JO4, 100% and 29 more`,
		"graphics": `graphics takes no argument "graphics"; name figures by --figure`,
	} {
		require.Contains(t, tested.Require(t, command.ExitUsage,
			append([]string{"graphics", "--device", "host"}, strings.Fields(args)...)...).Stderr, want)
	}
	require.Contains(t, tested.Require(t, command.ExitInputOutput, "graphics", "--device", "host", "--figure", "garuda-8b",
		"--tpch", t.TempDir()).Stderr, "orders.parquet")
	out := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(out, nil, 0o666))
	o := tested.Require(t, command.ExitInputOutput, "graphics", "--device", "host", "--out", out)
	require.Equal(t, "spirjoin-bench: create "+out+": not a directory\n", o.Stderr)
	require.Empty(t, o.Stdout)
}

// What does not fit is skipped, rates too, and the lines say which flag to raise.
func TestGraphicsSkips(t *testing.T) {
	o := tested.Require(t, command.ExitDone, append([]string{"graphics", "--figure", "garuda-8a", "--cell", "2^12",
		"--device-memory", "1KiB"}, benchQuickly...)...)
	require.Regexp(t, `(?m)^keys counted by a kernel with atomics: skipped: .*raise --device-memory\)$`, o.Stdout)
	require.Regexp(t, `(?m)^\|R\|=2\^12  phj-um +skipped: .*raise --device-memory\)$`, o.Stdout)
	require.Empty(t, o.Stderr)
}
