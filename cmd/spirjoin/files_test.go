package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/internal/devicetest"
)

// manyToMany has as many rows of output as keys times the square of repeats.
func manyToMany(t *testing.T, path string, keys, repeats int) string {
	values, names := make([]int64, keys*repeats), make([]string, keys*repeats)
	for i := range values {
		values[i], names[i] = int64(i%keys), fmt.Sprintf("a name that is long enough to take some time %d", i)
	}
	return tableFile(t, path, ints("k", values...), texts("name", names...))
}

// However a large output is interrupted, nothing of it is left.
func TestInterruptedOutputsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	alike := 600 // 7.2 M rows
	if devicetest.RaceDetector {
		alike = 250
	}
	table := manyToMany(t, filepath.Join(dir, "t.parquet"), 20, alike)
	for _, extension := range []string{".arrow", ".parquet", ".csv"} {
		for interrupts := 1; interrupts <= 2; interrupts++ {
			process, stderr := commandtest.Process(t, "join", table, table, "--on", "k", "--device", "host", "--batch-rows",
				"10M", "-q",
				"-o", filepath.Join(dir, "out"+extension))
			require.NoError(t, process.Start())
			deadline := time.Now().Add(time.Minute)
			for temporaryBytes(t, process.Process, dir) < 1<<16 {
				require.Less(t, time.Now(), deadline, "no output appears: %s", stderr)
				time.Sleep(time.Millisecond)
			}
			interrupted := time.Now()
			for range interrupts {
				require.NoError(t, process.Process.Signal(os.Interrupt))
				time.Sleep(2 * time.Millisecond)
			}
			var exit *exec.ExitError
			require.ErrorAs(t, process.Wait(), &exit)
			require.Equal(t, command.ExitInterrupted, exit.ExitCode(), stderr.String())
			commandtest.RequireFiles(t, dir, "t.parquet")
			require.Less(t, time.Since(interrupted), 20*time.Second)
		}
	}
}

// temporaryBytes is the size of the output of a process that is not whole: a hidden file in dir, or one without a name.
func temporaryBytes(t *testing.T, process *os.Process, dir string) (sizeBytes int64) {
	files, err := filepath.Glob(filepath.Join(dir, ".out*"))
	require.NoError(t, err)
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process.Pid))
	require.NoError(t, err)
	for _, name := range open {
		if target, err := os.Readlink(name); err == nil && strings.HasPrefix(target, dir+"/#") {
			files = append(files, name)
		}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			sizeBytes += info.Size()
		}
	}
	return sizeBytes
}

// The limit of memory holds as the operating system sees it, files included, with the 5% and 128 MiB that are promised.
func TestMemoryLimitAsSeenFromOutside(t *testing.T) {
	if devicetest.RaceDetector || runtime.GOOS != "linux" {
		t.Skip("the race detector takes memory of its own, and only Linux says how much a process takes")
	}
	dir := t.TempDir()
	const rows = 300_000
	keys, columns := make([]int64, rows), []column{}
	for i := range keys {
		keys[i] = int64(i)
	}
	columns = append(columns, ints("k", keys...))
	for c := range 6 {
		values := make([]string, rows)
		for i := range values {
			values[i] = fmt.Sprintf("%d: a text about as long as the comment of an order, for column %d of the row %x",
				i*7919, c, i*104729)
		}
		columns = append(columns, texts(fmt.Sprint("c", c), values...))
	}
	wide := tableFile(t, filepath.Join(dir, "wide.parquet"), columns...) // 140 MB in memory
	narrow := tableFile(t, filepath.Join(dir, "narrow.parquet"), ints("k", keys...))
	columnsAsText := tableFile(t, filepath.Join(dir, "wide.csv"), columns...)
	wideStream := tableFile(t, filepath.Join(dir, "wide.arrows"), columns...)
	fewKeys := make([]int64, 20_000)
	for i := range fewKeys {
		fewKeys[i] = int64(i % 100)
	}
	hot := tableFile(t, filepath.Join(dir, "hot.parquet"), ints("k", fewKeys...)) // with itself 4 M rows
	inputs := []struct {
		stdin string
		args  []string
		least int64 // MiB that are enough for it
	}{
		{"", []string{narrow, wide}, 220},
		{wide, []string{narrow, "-"}, 400},
		{columnsAsText, []string{narrow, "-", "--right-format", "csv"}, 400}, // read twice: for types and for values
		{wideStream, []string{"-", narrow}, 800},                             // of unknown length: both are read at once; it is one batch
		{"", []string{hot, hot}, 64},
		{"", []string{wide, wide, "--temp-dir", dir}, 64}, // in parts on disk
	}
	devices := []string{spirjoin.HostDevice, "host:cpu"} // the second one with all drivers loaded
	if strings.Contains(tested.Require(t, command.ExitDone, "devices").Stdout, "llvmpipe") {
		devices = append(devices, "llvmpipe")
	}
	outputs, limitsMiB := []string{"out.parquet", "out.csv", "out.arrow", "count"}, []int64{64, 220, 400, 800}
	cases := devicetest.Combinations(t, len(devices), len(outputs), len(inputs), len(limitsMiB))
	if testing.Short() { // one for each device
		cases = cases[:len(devices)]
	}
	for i, input := range inputs { // with limits on the host, which alone tells what is enough
		for l, limitMiB := range limitsMiB {
			if testing.Short() && limitMiB != input.least && (l+1 == len(limitsMiB) || limitsMiB[l+1] != input.least) {
				continue // the least one that is enough, and the one below it
			}
			cases = append(cases, []int{0, (i + l) % 3, i, l})
		}
	}
	for _, c := range cases {
		device, to, input, limitMiB := devices[c[0]], outputs[c[1]], inputs[c[2]], limitsMiB[c[3]]
		args := append(append([]string{"join"}, input.args...), "--on", "k", "--device", device, "-q",
			"--memory-limit", fmt.Sprint(limitMiB, "MiB"))
		if to == "count" {
			args = append(args, "--count")
		} else {
			args = append(args, "-o", filepath.Join(dir, to))
		}
		peak, stderr := runMeasured(t, input.stdin, args...)
		require.LessOrEqual(t, peak>>10, limitMiB*105/100+128, "%v: %s", args, stderr)
		if device == spirjoin.HostDevice && to != "count" { // drivers take memory, too, and counts take less
			require.Equal(t, limitMiB < input.least, strings.Contains(stderr, "--memory-limit"), "%v: %s", args, stderr)
		}
	}
	groups := [][]string{{"--by", "c0", "--agg", "count,max:c1"}, {"--agg", "count_distinct:c0"},
		{"--by", "c0", "--agg", "count,max:c1", "--temp-dir", dir}} // 300,000 groups of long texts
	for _, c := range devicetest.Combinations(t, len(devices), len(groups), 3) {
		limitMiB := limitsMiB[c[2]]
		args := slices.Concat([]string{"groupby", wide, "--device", devices[c[0]], "-q", "--memory-limit",
			fmt.Sprint(limitMiB, "MiB"), "-o", filepath.Join(dir, "groups.parquet")}, groups[c[1]])
		peak, stderr := runMeasured(t, "", args...)
		require.LessOrEqual(t, peak>>10, limitMiB*105/100+128, "%v: %s", args, stderr)
	}
}

// runMeasured runs a command line as a process, which may be refused for want of memory, and measures its memory.
func runMeasured(t *testing.T, stdin string, args ...string) (peakKiB int64, stderr string) {
	process, output := commandtest.Process(t, args...)
	if stdin != "" {
		file, err := os.Open(stdin)
		require.NoError(t, err)
		defer file.Close()
		process.Stdin = file
	}
	require.NoError(t, process.Start())
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	for { // what the process counted of itself so far; the usage that Wait returns counts this process too
		select {
		case err := <-ended:
			require.Positive(t, peakKiB)
			if err != nil {
				require.Equal(t, command.ExitLimit, process.ProcessState.ExitCode(), output.String())
			}
			return peakKiB, output.String()
		case <-time.After(time.Millisecond):
			peakKiB = max(peakKiB, peakOf(process.Process.Pid))
		}
	}
}

// The limit holds for texts of 1 kB and of 8 MiB, too, of which a row group has 30 MB, and is enough. They repeat: files
// are small.
func TestMemoryLimitWithLongTexts(t *testing.T) {
	if devicetest.RaceDetector || runtime.GOOS != "linux" {
		t.Skip("the race detector takes memory of its own, and only Linux says how much a process takes")
	}
	dir := t.TempDir()
	narrow := tableFile(t, filepath.Join(dir, "narrow.parquet"), ints("k", 1, 2, 3, 4, 5, 6, 7, 8, 9))
	long := repeatedTexts(t, filepath.Join(dir, "long.parquet"), 60_000, 1100)
	huge := repeatedTexts(t, filepath.Join(dir, "huge.parquet"), 9, 8<<20)
	for _, c := range []struct {
		limitMiB int64
		args     []string
	}{
		{48, []string{"groupby", long, "--by", "name", "--agg", "count"}},
		{48, []string{"groupby", long, "--agg", "count_distinct:name,max:name"}},
		{48, []string{"join", long, long, "--on", "name=name,k=k", "--how", "semi", "--temp-dir", dir}},
		{48, []string{"join", long, long, "--on", "k", "--columns", "name", "--temp-dir", dir}},
		{220, []string{"join", huge, narrow, "--on", "k", "--temp-dir", dir}},
	} {
		args := append(c.args, "--device", "host", "-q", "-o", filepath.Join(dir, "out.parquet"), "--memory-limit",
			fmt.Sprint(c.limitMiB, "MiB"))
		peak, stderr := runMeasured(t, "", args...)
		require.Empty(t, stderr, args)
		require.LessOrEqual(t, peak>>10, c.limitMiB*105/100+128, args)
	}
}

// repeatedTexts has texts of a length, few of which differ, in a few row groups.
func repeatedTexts(t *testing.T, path string, rows, length int) string {
	keys, names := make([]int64, rows), make([]string, rows)
	for i := range keys {
		keys[i] = int64(i)
		if few := 16; i < few {
			names[i] = strings.Repeat(string(rune('a'+i)), length)
		} else {
			names[i] = names[i%few]
		}
	}
	return tableFile(t, path, ints("k", keys...), texts("name", names...))
}

// A refusal while a table is read says how much the table takes, more or less.
func TestMemoryLimitNamesTheNeed(t *testing.T) {
	dir := t.TempDir()
	keys := make([]int64, 1_000_000) // 8 MB, eight row groups
	for i := range keys {
		keys[i] = int64(i)
	}
	table := tableFile(t, filepath.Join(dir, "t.parquet"), ints("k", keys...))
	limit := 5<<20 + coreBytes*runtime.GOMAXPROCS(0)
	o := tested.Require(t, command.ExitLimit, "join", table, table, "--on", "k", "--device", "host", "--memory-limit",
		fmt.Sprint(limit), "--count")
	require.Regexp(t, `the tables take more than \d+ bytes, .*; raise --memory-limit .*; `+
		`the left table takes about \d+MiB, so the limit must be above \d+MiB; with --temp-dir DIR, less memory may do\n$`,
		o.Stderr)
	var takes, above int
	_, err := fmt.Sscanf(o.Stderr[strings.Index(o.Stderr, "takes about"):],
		"takes about %dMiB, so the limit must be above %dMiB", &takes, &above)
	require.NoError(t, err)
	require.GreaterOrEqual(t, above, takes+coreBytes*runtime.GOMAXPROCS(0)>>20, "with what is reserved")
}

// peakOf is the most resident memory of a process so far, in KiB; 0 where the system does not tell.
func peakOf(pid int) (peakKiB int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, after, found := strings.Cut(string(status), "VmHWM:"); err == nil && found {
		_, _ = fmt.Sscan(after, &peakKiB)
	}
	return peakKiB
}

// Row groups whose keys lie outside the other side's are not read, and the join is the same.
func TestRowGroupsAreSkipped(t *testing.T) {
	dir := t.TempDir()
	keys := make([]int64, 600_000) // five row groups
	for i := range keys {
		keys[i] = int64(i)
	}
	many := tableFile(t, filepath.Join(dir, "many.parquet"), ints("k", keys...))
	few := tableFile(t, filepath.Join(dir, "few.parquet"), ints("k", 300_000, 300_001, 300_001, 999_999_999))
	apart := tableFile(t, filepath.Join(dir, "apart.parquet"), ints("k", -5, -7))
	for _, c := range []struct {
		left, right                 string
		leftRows, rightRows, output uint64
	}{
		{few, many, 4, 600_000 - 2*131_072, 3},
		{many, few, 600_000 - 2*131_072, 4, 3},
		{many, apart, 0, 0, 0},
		{many, many, 600_000, 600_000, 600_000},
	} {
		o := tested.Require(t, command.ExitDone, "join", c.left, c.right, "--on", "k", "--device", "host", "--count",
			"--stats", "json",
			"-q")
		var stats struct {
			LeftRows   uint64 `json:"left_rows"`
			RightRows  uint64 `json:"right_rows"`
			OutputRows uint64 `json:"output_rows"`
		}
		require.NoError(t, json.Unmarshal([]byte(o.Stdout), &stats))
		require.Equal(t, c.output, stats.OutputRows, "%s, %s", c.left, c.right)
		require.Equal(t, c.leftRows, stats.LeftRows, "%s, %s", c.left, c.right)
		require.Equal(t, c.rightRows, stats.RightRows, "%s, %s", c.left, c.right)
	}
}

// A row group whose statistics lack the number of NULLs is not skipped where NULLs match. Its keys lie outside the keys
// of the other side, but two of them are NULL.
func TestRowGroupsWithUncountedNulls(t *testing.T) {
	folder := "../../tableio/testdata/foreign/"
	o := tested.Require(t, command.ExitDone, "join", folder+"01_no_null_count.parquet", folder+"01_right.parquet", "--on",
		"k", "--how", "semi", "--nulls-equal", "--count", "--device", "host", "-q")
	require.Equal(t, "3\n", o.Stdout)
}
