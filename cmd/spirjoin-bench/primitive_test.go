package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/command/commandtest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/stretchr/testify/require"
)

func TestPrimitive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results.csv")
	args := append([]string{"primitive", "sort", "iota", "--rows", "1000,2^10..2^11", "--payload", "32",
		"--distribution", "uniform,few",
		"--seed", "9", "--tuning", "workgroup=1", "--csv", path}, benchQuickly...)
	o := tested.Require(t, command.ExitDone, args...)
	require.Empty(t, o.Stderr)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Regexp(t, `^.+, Go kernels go\S+; a copy moves [\d.]+ [MGT]B/s$`, lines[0])
	require.Regexp(t,
		`^PRIMITIVE +KEY +PAYLOAD +ROWS +DISTRIBUTION +MEDIAN +MIN +MAX +SPREAD +ROWS/S +BYTES/S +OF COPY$`, lines[1])
	require.Len(t, lines, 2+3+2*2*3)
	for _, line := range lines[2:] {
		require.Regexp(t,
			`^(sort +(32|64) +32|iota +32 +-) +(1000|2\^10|2\^11)  (uniform|few) +`+
				`([\d.]+ [mu]?s +){4}[\d.]+ [kMG]/s +[\d.]+ [kMG]B/s +\d+%$`, line)
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
	require.Contains(t, column(1, "command"), "spirjoin-bench primitive sort iota")
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
func TestPrimitiveSkips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	o := tested.Require(t, command.ExitDone, append([]string{"primitive", "copy", "--key", "32", "--rows", "1000,1M",
		"--device-memory", "4MiB", "--csv", path}, benchQuickly...)...)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Len(t, lines, 4)
	require.NotContains(t, lines[2], "skipped")
	require.Regexp(t, `^copy +32 +- +1000000  uniform +skipped: .*out of (device|host) memory`, lines[3])
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "out of"))
}

func TestPrimitiveFailures(t *testing.T) {
	dir := t.TempDir()
	require.Contains(t,
		tested.Require(t, command.ExitUsage, append([]string{"primitive", "sort", "copy_engine", "--rows", "10",
			"--tuning", "items=8"}, benchQuickly...)...).Stderr,
		"copy_engine has no setting items; it has none")
	require.Contains(t,
		tested.Require(t, command.ExitUsage, append([]string{"primitive", "sort", "--rows", "10", "--tuning", "items=0"},
			benchQuickly...)...).Stderr, "a tile holds")
	require.Contains(t,
		tested.Require(t, command.ExitUsage, append([]string{"primitive", "sort", "--rows", "10", "--distribution",
			"unifrom"}, benchQuickly...)...).Stderr, `--distribution "unifrom": there are`)
	tested.Require(t, command.ExitInputOutput, append([]string{"primitive", "iota", "--rows", "10", "--csv",
		filepath.Join(dir, "no folder", "x.csv")}, benchQuickly...)...)
	tested.Require(t, command.ExitNoDevice, "primitive", "--device", "abacus")
	commandtest.RequireFiles(t, dir)
}

// Benchmarks run with the rows of the user's tuning file.
func TestPrimitiveIsTuned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tuning.json")
	t.Setenv("SPIRJOIN_TUNING", path)
	system, err := spirjoin.Discover(spirjoin.SystemOptions{})
	require.NoError(t, err)
	defer system.Close()
	info, err := backend.SelectDevice(system.Devices, "host")
	require.NoError(t, err)
	row := primitive.UserRow{Device: info.Name, Driver: info.Driver, DriverVersion: info.DriverVersion,
		Primitive: "gather", Variant: backend.Config{"value_bits": 32},
		Config: backend.Config{"workgroup": 1, "items": 77}, Measured: "planted"}
	require.NoError(t, spirjoin.WriteTuning(path, []primitive.UserRow{row}))
	results := filepath.Join(dir, "results.csv")
	tested.Require(t, command.ExitDone, append([]string{"primitive", "gather", "--key", "32", "--rows", "10", "--csv",
		results}, benchQuickly...)...)
	text, err := os.ReadFile(results)
	require.NoError(t, err)
	require.Contains(t, string(text), ","+row.Config.String()+",")
}
