package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/golden"
)

func TestJoins(t *testing.T) {
	args := append([]string{"joins", "phj-om", "smj-um", "-r", "2^12", "--payloads", "2", "--payload-bytes",
		"4,8", "--zipf", "0.5"}, benchQuickly...)
	o := tested.Require(t, command.ExitDone, args...)
	require.Empty(t, o.Stderr)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Contains(t, lines[1],
		"pkfk r=4096 s=8192 key-bytes=4 r-payload-bytes=4+8 s-payload-bytes=4+8 match-ratio=1 zipf=0.5 multiplicity=1 seed=1")
	require.Regexp(t, `^ALGORITHM +MEDIAN +MIN +MAX +TUPLES/S +MEMORY +OUTPUT ROWS$`, lines[2])
	require.Regexp(t, `^phj-om( +[\d.]+ [mu]?s){3} +[\d.]+ [kMG]/s +[\d.]+ [KM]iB +2\^13$`, lines[3])
	require.Regexp(t, `^   .*\bmatch [\d.]+ [mu]s`, lines[4])
	require.Contains(t, o.Stdout, "\nsmj-um ")

	path := filepath.Join(t.TempDir(), "results.csv")
	tested.Require(t, command.ExitDone, append([]string{"joins", "phj-om", "hj", "smj-om", "smj-um", "-r", "2^11",
		"-s", "2^12", "--how", "count", "--distinct", "2^6", "--csv", path}, benchQuickly...)...)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), ",131072,"), "each of 2^12 rows has 2^5 partners")
	o = tested.Require(t, command.ExitDone, append([]string{"joins", "smj-um", "-r", "2^11", "--how", "right",
		"--match-ratio", "0.5", "--granule", "2^10", "--window", "2^10"}, benchQuickly...)...)
	require.Regexp(t, `(?m)^smj-um .* +2\^12$`, o.Stdout)
	require.Contains(t, o.Stdout, " how=right granule=1024 window=1024\n")
}

// Cells of figures: each is measured or has the reason why not, in the table as in the file. A cell that two figures
// share is measured once.
func TestJoinsFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	run := func(args ...string) commandtest.Outcome {
		return tested.Require(t, command.ExitDone, append(append([]string{"joins"}, args...),
			append([]string{"--scale", "15"}, benchQuickly...)...)...)
	}
	o := run("--figure", "gftr-12,gftr-16,gftr-17,rt-12", "--cell", "=4", "--csv", path)
	require.Empty(t, o.Stderr)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Equal(t, "", lines[1])
	require.Equal(t, "gftr-12: joins by payload columns of each side; rows divided by 2^15", lines[2])
	require.Regexp(t, `^CELL +ALGORITHM +MEDIAN +MIN +MAX +TUPLES/S +MEMORY +OUTPUT ROWS$`, lines[3])
	require.Regexp(t, `^payloads=4  phj-om( +[\d.]+ [mu]?s){3} +[\d.]+ [kMG]/s +[\d.]+ [KM]iB +2\^12$`, lines[4])
	require.Regexp(t, `^   .*\bmatch [\d.]+ [mu]s`, lines[5])
	require.Regexp(t, `(?m)^J1 made key=4  phj-om +[\d.]+ [mu]s `, o.Stdout)

	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var decided strings.Builder
	open := map[string]bool{}
	for i, name := range rows[0] { // what a run decides is left out
		_, common := slices.BinarySearch([]string{"backend", "command", "commit", "device", "driver", "driver_version",
			"machine", "started"}, name)
		open[name] = common || name == "peak_bytes" || name == "stages" || strings.HasSuffix(name, "_ns") ||
			name == "tuples_per_second"
		for _, row := range rows[1:] {
			if open[name] && !common {
				require.Equal(t, row[slices.Index(rows[0], "verified")] == "yes", row[i] != "", "%s: %v", name, row)
			}
		}
	}
	for _, row := range rows {
		var kept []string
		for i, value := range row {
			if !open[rows[0][i]] {
				kept = append(kept, value)
			}
		}
		fmt.Fprintln(&decided, strings.Join(kept, ","))
	}
	golden.Require(t, "joins.csv", decided.String())

	skipped := run("phj-om", "phj-om-unique", "--figure", "gftr-17", "--cell", "J5", "--csv", path)
	require.Regexp(t, `(?m)^J5 made key=8  phj-om-unique  skipped: takes unique keys only`, skipped.Stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), `,no,"takes unique keys only, on the side with fewer rows",`))
	require.Contains(t, tested.Require(t, command.ExitInputOutput, "joins", "--device", "host", "--figure", "gftr-17",
		"--tpch", t.TempDir()).Stderr, "orders.parquet")

	again := strings.Split(run("phj-om", "--figure", "gftr-8,gftr-9", "--cell", "2^12").Stdout, "\n")
	require.Len(t, again, 12)
	again = strings.Split(run("phj-om", "--figure", "gftr-8,gftr-12", "--cell", "2^12").Stdout, "\n")
	require.Len(t, again, 7, "figures without the cell are left out")
}

func TestJoinsUsage(t *testing.T) {
	o := tested.Require(t, command.ExitDone, "joins", "--figure", "list")
	golden.Require(t, "joins-figures.txt", o.Stdout)
	for args, want := range map[string]string{
		"--figure gftr-99":            `no figure "gftr-99"; there are gftr-8, `,
		"--figure gftr-8 phj":         `no join "phj"; there are phj-om, `,
		"--figure gftr-8 --scale -1":  "--scale is -1, must be 0 to 62",
		"--figure gftr-8 --cell zipf": `no cell contains "zipf"; there are |R|=2^14, |R|=2^15, `,
		"--warm -1s":                  "--warm is -1s, must be 0s or more",
		"--payloads -1":               "--payloads is -1, must be 0 to 1000",
		"--payload-bytes 5 -r 10":     "payloads have 5 bytes, must be 4 or 8",
		"--repeat 0":                  "--repeat must be at least 1",
		"--figure gftr-8 -r 10 --zipf 1": "--r-rows does not apply to figures, which define their own workloads; " +
			"--zipf does not apply",
		"--scale 3 -r 10":     "--scale needs --figure",
		"--how outer -r 10":   `no kind of join "outer"; there are inner, left, `,
		"--granule 100 -r 10": "granules of 100 rows, must be multiples of 64",
		"-r 0":                "--r-rows must be at least 1; leave it out for the default",
	} {
		require.Contains(t, tested.Require(t, command.ExitUsage,
			append([]string{"joins", "--device", "host"}, strings.Fields(args)...)...).Stderr, want)
	}
}
