package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/golden"
)

var benchQuickly = []string{"--device", "host", "--warm", "0s", "--repeat", "2"}

func TestBenchPrimitive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	args := append([]string{"bench", "primitive", "sort", "iota", "--rows", "1000,2^10..2^11", "--payload", "32",
		"--distribution", "uniform,few",
		"--seed", "9", "--tuning", "workgroup=1", "--csv", path}, benchQuickly...)
	o := runProgram(t, exitDone, args...)
	require.Empty(t, o.stderr)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Regexp(t, `^.+, Go kernels go\S+; a copy moves [\d.]+ [MGT]B/s$`, lines[0])
	require.Regexp(t,
		`^PRIMITIVE +KEY +PAYLOAD +ROWS +DISTRIBUTION +MEDIAN +MIN +MAX +SPREAD +ROWS/S +BYTES/S +OF COPY$`, lines[1])
	require.Len(t, lines, 2+3+2*2*3)
	for _, line := range lines[2:] {
		require.Regexp(t,
			`^(sort +(32|64) +32|iota +32 +-) +(1000|2\^10|2\^11)  (uniform|few) +([\d.]+ [mu]?s +){4}[\d.]+ [kMG]/s +[\d.]+ [kMG]B/s +\d+%$`, line)
		require.Len(t, line, len(lines[1]), "columns stand below their heads")
	}

	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(lines)-2)
	column := func(row int, name string) string {
		for i, head := range rows[0] {
			if head == name {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s", name)
		return ""
	}
	require.Equal(t, "iota", column(1, "primitive"))
	require.Equal(t, "items=65536 workgroup=1", column(1, "tuning"))
	require.Equal(t, "9", column(1, "seed"))
	require.Equal(t, "device", column(1, "clock"))
	require.Contains(t, column(1, "command"), "spirjoin bench primitive sort iota")
	require.Contains(t, column(1, "command"), "--rows 1000,2^10..2^11")
	median, err := strconv.ParseFloat(column(4, "median_seconds"), 64)
	require.NoError(t, err)
	rate, err := strconv.ParseFloat(column(4, "rows_per_second"), 64)
	require.NoError(t, err)
	require.InEpsilon(t, 1000/median, rate, 1e-9)
	require.Equal(t, "1000", column(4, "rows"))
	require.Equal(t, "few", column(7, "distribution"))
}

// A case that does not fit is said to be skipped, in the table and in the file.
func TestBenchPrimitiveSkips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	o := runProgram(t, exitDone, append([]string{"bench", "primitive", "copy", "--key", "32", "--rows", "1000,1M",
		"--device-memory", "4MiB", "--csv", path}, benchQuickly...)...)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Len(t, lines, 4)
	require.NotContains(t, lines[2], "skipped")
	require.Regexp(t, `^copy +32 +- +1000000  uniform +skipped: .*out of (device|host) memory`, lines[3])
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "out of"))
}

func TestBenchPrimitiveFailures(t *testing.T) {
	dir := t.TempDir()
	require.Contains(t,
		runProgram(t, exitUsage, append([]string{"bench", "primitive", "sort", "copy_engine", "--rows", "10",
			"--tuning", "items=8"}, benchQuickly...)...).stderr,
		"copy_engine has no setting items; it has none")
	require.Contains(t,
		runProgram(t, exitUsage, append([]string{"bench", "primitive", "sort", "--rows", "10", "--tuning", "items=0"},
			benchQuickly...)...).stderr, "a tile holds")
	require.Contains(t,
		runProgram(t, exitUsage, append([]string{"bench", "primitive", "sort", "--rows", "10", "--distribution",
			"unifrom"}, benchQuickly...)...).stderr, `--distribution "unifrom": there are`)
	runProgram(t, exitInputOutput, append([]string{"bench", "primitive", "iota", "--rows", "10", "--csv",
		filepath.Join(dir, "no folder", "x.csv")}, benchQuickly...)...)
	runProgram(t, exitNoDevice, "bench", "primitive", "--device", "abacus")
	requireFiles(t, dir)
	wrong := fmt.Errorf("primitive=sort: %w: row 7", measure.ErrWrong)
	require.Equal(t, exitDeviceFailed, exitCode(wrong))
	require.Equal(t, "spirjoin: primitive=sort: wrong result: row 7", message(wrong))
}

func TestBenchJoins(t *testing.T) {
	args := append([]string{"bench", "joins", "phj-om", "smj-um", "-r", "2^12", "--payloads", "2", "--payload-bytes",
		"4,8", "--zipf", "0.5"}, benchQuickly...)
	o := runProgram(t, exitDone, args...)
	require.Empty(t, o.stderr)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Contains(t, lines[1],
		"pkfk r=4096 s=8192 key-bytes=4 r-payload-bytes=4+8 s-payload-bytes=4+8 match-ratio=1 zipf=0.5 multiplicity=1 seed=1")
	require.Regexp(t, `^ALGORITHM +MEDIAN +MIN +MAX +TUPLES/S +MEMORY +OUTPUT ROWS$`, lines[2])
	require.Regexp(t, `^phj-om( +[\d.]+ [mu]?s){3} +[\d.]+ [kMG]/s +[\d.]+ [KM]iB +2\^13$`, lines[3])
	require.Regexp(t, `^   .*\bmatch [\d.]+ [mu]s`, lines[4])
	require.Contains(t, o.stdout, "\nsmj-um ")

	path := filepath.Join(t.TempDir(), "results.csv")
	runProgram(t, exitDone, append([]string{"bench", "joins", "phj-om", "hj", "smj-om", "smj-um", "-r", "2^11",
		"-s", "2^12", "--how", "count", "--distinct", "2^6", "--csv", path}, benchQuickly...)...)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), ",131072,"), "each of 2^12 rows has 2^5 partners")
	o = runProgram(t, exitDone, append([]string{"bench", "joins", "smj-um", "-r", "2^11", "--how", "right", "--match-ratio",
		"0.5", "--granule", "2^10", "--window", "2^10"}, benchQuickly...)...)
	require.Regexp(t, `(?m)^smj-um .* +2\^12$`, o.stdout)
	require.Contains(t, o.stdout, " how=right granule=1024 window=1024\n")
}

// Cells of figures: each is measured or has the reason why not, in the table as in the file. A cell that two figures
// share is measured once.
func TestBenchJoinsFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	run := func(args ...string) outcome {
		return runProgram(t, exitDone, append(append([]string{"bench", "joins"}, args...),
			append([]string{"--scale", "15"}, benchQuickly...)...)...)
	}
	o := run("--figure", "gftr-12,gftr-16,gftr-17,rt-12", "--cell", "=4", "--csv", path)
	require.Empty(t, o.stderr)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Equal(t, "", lines[1])
	require.Equal(t, "gftr-12: joins by payload columns of each side; rows divided by 2^15", lines[2])
	require.Regexp(t, `^CELL +ALGORITHM +MEDIAN +MIN +MAX +TUPLES/S +MEMORY +OUTPUT ROWS$`, lines[3])
	require.Regexp(t, `^payloads=4  phj-om( +[\d.]+ [mu]?s){3} +[\d.]+ [kMG]/s +[\d.]+ [KM]iB +2\^12$`, lines[4])
	require.Regexp(t, `^   .*\bmatch [\d.]+ [mu]s`, lines[5])
	require.Regexp(t, `(?m)^J1 made key=4  phj-om +[\d.]+ [mu]s `, o.stdout)

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
	golden.Require(t, "bench-joins.csv", decided.String())

	skipped := run("phj-om", "phj-om-unique", "--figure", "gftr-17", "--cell", "J5", "--csv", path)
	require.Regexp(t, `(?m)^J5 made key=8  phj-om-unique  skipped: takes unique keys only`, skipped.stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), `,no,"takes unique keys only, on the side with fewer rows",`))
	require.Contains(t, runProgram(t, exitInputOutput, "bench", "joins", "--device", "host", "--figure", "gftr-17",
		"--tpch", t.TempDir()).stderr, "orders.parquet")

	again := strings.Split(run("phj-om", "--figure", "gftr-8,gftr-9", "--cell", "2^12").stdout, "\n")
	require.Len(t, again, 12)
	again = strings.Split(run("phj-om", "--figure", "gftr-8,gftr-12", "--cell", "2^12").stdout, "\n")
	require.Len(t, again, 7, "figures without the cell are left out")
}

func TestBenchJoinsUsage(t *testing.T) {
	o := runProgram(t, exitDone, "bench", "joins", "--figure", "list")
	golden.Require(t, "bench-joins-figures.txt", o.stdout)
	for args, want := range map[string]string{
		"--figure gftr-99":               `no figure "gftr-99"; there are gftr-8, `,
		"--figure gftr-8 phj":            `no join "phj"; there are phj-om, `,
		"--figure gftr-8 --scale -1":     "--scale is -1, must be 0 to 62",
		"--figure gftr-8 --cell zipf":    `no cell contains "zipf"; there are |R|=2^14, |R|=2^15, `,
		"--warm -1s":                     "--warm is -1s, must be 0s or more",
		"--payloads -1":                  "--payloads is -1, must be 0 to 1000",
		"--payload-bytes 5 -r 10":        "payloads have 5 bytes, must be 4 or 8",
		"--repeat 0":                     "--repeat must be at least 1",
		"--figure gftr-8 -r 10 --zipf 1": "--r-rows does not apply to figures, which define their own workloads; --zipf does not apply",
		"--scale 3 -r 10":                "--scale needs --figure",
		"--how outer -r 10":              `no kind of join "outer"; there are inner, left, `,
		"--granule 100 -r 10":            "granules of 100 rows, must be multiples of 64",
		"-r 0":                           "--r-rows must be at least 1; leave it out for the default",
	} {
		require.Contains(t, runProgram(t, exitUsage,
			append([]string{"bench", "joins", "--device", "host"}, strings.Fields(args)...)...).stderr, want)
	}
}

// The host draws nothing: the lines of drawing methods say so, and all else is measured.
func TestBenchGraphics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := runProgram(t, exitDone, append([]string{"bench", "graphics", "--figure", "garuda-6.2,garuda-11,garuda-12a", "--scale",
		"15", "--out", dir}, benchQuickly...)...)
	require.Empty(t, o.stderr)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Regexp(t, `^points into an image: none, .*does not draw`, lines[1])
	require.Regexp(t, `^keys counted by a kernel with atomics: [\d.]+ [kMG]/s$`, lines[2])
	require.Equal(t, "garuda-6.2: histogram of 2^10 keys, 512 bins", lines[4])
	require.Regexp(t, `^CELL +METHOD +MEDIAN +MIN +MAX +ROWS/S +OUTPUT ROWS +TIME$`, lines[5])
	require.Regexp(t, `^uniform  graphics  skipped: .*does not draw`, lines[6])
	require.Regexp(t, `(?m)^uniform  compute( +[\d.]+ [mun]?s){3} +[\d.]+ [kMG]/s +\d+ +-$`, o.stdout)
	require.Regexp(t, `(?m)^JO5   phj-um  `, o.stdout)
	require.Regexp(t, `(?m)^SGO3  compute  `, o.stdout)
	for _, figure := range []string{"garuda-6.2", "garuda-11", "garuda-12a"} {
		for _, extension := range []string{".csv", ".svg"} {
			require.FileExists(t, filepath.Join(dir, figure+extension))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "garuda-11.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "bench graphics --figure garuda-6.2,garuda-11,garuda-12a --scale 15")
	require.NotContains(t, string(text), dir)
}

func TestBenchGraphicsUsage(t *testing.T) {
	golden.Require(t, "bench-graphics-figures.txt",
		runProgram(t, exitDone, "bench", "graphics", "--figure", "list").stdout)
	for args, want := range map[string]string{
		"--figure garuda-7": `no figure "garuda-7"; there are garuda-6.2, `,
		"--scale -1":        "--scale is -1, must be 0 to 62",
		"--repeat 0":        "--repeat must be at least 1",
		"--warm -1s":        "--warm is -1s, must be 0s or more",
		"--figure garuda-8a,garuda-8b --cell SGO1": `no cell contains "SGO1"; there are |R|=2^12, |R|=2^14, |R|=2^16, ` +
			`|R|=2^18, JO1, JO2, JO3, JO4`,
		"--cell SGO4": `no cell contains "SGO4"; there are uniform, ordered, zipf=1, |R|=2^12, |R|=2^14, |R|=2^16, ` +
			`|R|=2^18, JO1, JO2, JO3, JO4, 100% and 29 more`,
		"graphics": `bench graphics takes no argument "graphics"; name figures by --figure`,
	} {
		require.Contains(t, runProgram(t, exitUsage,
			append([]string{"bench", "graphics", "--device", "host"}, strings.Fields(args)...)...).stderr, want)
	}
	require.Contains(t, runProgram(t, exitInputOutput, "bench", "graphics", "--device", "host", "--figure", "garuda-8b",
		"--tpch", t.TempDir()).stderr, "orders.parquet")
	out := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(out, nil, 0o666))
	o := runProgram(t, exitInputOutput, "bench", "graphics", "--device", "host", "--out", out)
	require.Equal(t, "spirjoin: create "+out+": not a directory\n", o.stderr)
	require.Empty(t, o.stdout)
}

// What does not fit is skipped, rates too, and the lines say which flag to raise.
func TestBenchGraphicsSkips(t *testing.T) {
	o := runProgram(t, exitDone, append([]string{"bench", "graphics", "--figure", "garuda-8a", "--cell", "2^12",
		"--device-memory", "1KiB"}, benchQuickly...)...)
	require.Regexp(t, `(?m)^keys counted by a kernel with atomics: skipped: .*raise --device-memory\)$`, o.stdout)
	require.Regexp(t, `(?m)^\|R\|=2\^12  phj-um +skipped: .*raise --device-memory\)$`, o.stdout)
	require.Empty(t, o.stderr)
}

func TestBenchEndToEnd(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	o := runProgram(t, exitDone, append([]string{"bench", "end-to-end", "memory", "csv", "-r", "2^10", "--zipf", "0.5",
		"--payloads", "2", "--payload-bytes", "4,8", "--how", "left", "--match-ratio", "0.5", "--algorithm", "smj-om",
		"--memory-limit", "1GiB", "--dir", dir, "--csv", path}, benchQuickly...)...)
	require.Empty(t, o.stderr)
	requireFiles(t, dir, "results.csv")
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	require.Contains(t, lines[1], "pkfk r=1024 s=4096 key-bytes=8 r-payload-bytes=4+8 s-payload-bytes=4+8 "+
		"match-ratio=0.5 zipf=0.5 multiplicity=1 seed=1 how=left")
	require.Regexp(t, `(?m)^copy by one core, read and written +[\d.]+ [MG]B/s$`, o.stdout)
	require.Regexp(t, `(?m)^2,\d{3} rows \([\d.]+ KiB\) by smj-om in [\d.]+ [mu]?s \(min .*\), first batch after `, o.stdout)
	require.Regexp(t, `(?m)^PHASE +BUSY +OF WALL +BYTES +WHILE BUSY$`, o.stdout)
	require.Regexp(t, `(?m)^RESOURCE +BYTES +RATE +BOUND +FULL$`, o.stdout)
	require.Regexp(t, `^fullest: .+, \d+% of [\d.]+ [mu]?s$`, lines[len(lines)-1])
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(text), "\n"))
	require.Contains(t, string(text), "spirjoin bench end-to-end memory csv --r-rows 1024 --payloads 2 "+
		"--payload-bytes 4,8 --match-ratio 0.5 --zipf 0.5 --how left --device host --memory-limit 1073741824 "+
		"--algorithm smj-om --dir "+dir+" --repeat 2 --warm 0s\"", "each flag once")

	for args, want := range map[string]string{
		"orc":                `no way "orc"; there are memory, pinned, parquet, arrow, csv`,
		"--how outer":        `no kind of join "outer"; there are inner, left, `,
		"--algorithm best":   `"best"`,
		"--payloads -1":      "--payloads is -1, must be 0 to 1000",
		"--repeat 0":         "--repeat must be at least 1",
		"--warm -1s":         "--warm is -1s, must be 0s or more",
		"--key-bytes 5 -r 9": "keys have 5 bytes, must be 4 or 8",
		"-r 0 --s-rows 0": "--r-rows must be at least 1; leave it out for the default; --s-rows must be at least 1; " +
			"leave it out for the default",
	} {
		require.Contains(t, runProgram(t, exitUsage,
			append([]string{"bench", "end-to-end", "--device", "host"}, strings.Fields(args)...)...).stderr, want)
	}
	runProgram(t, exitInputOutput, append([]string{"bench", "end-to-end", "csv", "-r", "9", "--dir",
		filepath.Join(dir, "missing")}, benchQuickly...)...)
}

// An interrupt ends the measurement of the machine at once, and a second one leaves no folder either.
func TestBenchEndToEndInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := terminalSession(new(bytes.Buffer), new(bytes.Buffer))
	s.stderrColumns = columns(0)
	var phases []string
	s.onPhase = func(phase string) {
		if phases = append(phases, phase); len(phases) == 1 {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
	}
	args := []string{"spirjoin", "bench", "end-to-end", "memory", "-r", "9", "--device", "host", "--dir", dir}
	require.Equal(t, exitInterrupted, s.run(ctx, args))
	require.Equal(t, []string{"measure the machine"}, phases)
	requireFiles(t, dir)

	program, err := os.Executable()
	require.NoError(t, err)
	for range 3 {
		command := exec.Command(program, args[1:]...)
		command.Env = append(os.Environ(), asProgram+"=1")
		require.NoError(t, command.Start())
		rate := func() bool { found, _ := filepath.Glob(filepath.Join(dir, "*", "rate")); return found != nil }
		require.Eventually(t, rate, time.Minute, time.Millisecond)
		require.NoError(t, command.Process.Signal(os.Interrupt))
		_ = command.Process.Signal(syscall.SIGTERM) // unless it has ended
		var exit *exec.ExitError
		require.ErrorAs(t, command.Wait(), &exit)
		require.Equal(t, exitInterrupted, exit.ExitCode())
		requireFiles(t, dir)
	}
}

// TestClosedPipeLeavesNothing: a process whose output nobody reads any more ends by SIGPIPE, and leaves no folder.
func TestClosedPipeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	command, _ := processOf(t, "bench", "outofcore", "--figure", "memory-limit", "--device", "host", "--dir", dir)
	pipe, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	folder := func() bool { found, _ := filepath.Glob(filepath.Join(dir, "*")); return found != nil }
	require.Eventually(t, folder, time.Minute, time.Millisecond)
	require.NoError(t, pipe.Close())
	var exit *exec.ExitError
	require.ErrorAs(t, command.Wait(), &exit)
	require.Equal(t, syscall.SIGPIPE, exit.Sys().(syscall.WaitStatus).Signal())
	requireFiles(t, dir)
}
