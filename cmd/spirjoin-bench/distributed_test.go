package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
)

func TestDistributedFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	o := tested.Require(t, command.ExitDone, "distributed", "--figure", "dist-7,dist-table-1", "--message", "6us",
		"--csv", path)
	require.Empty(t, o.Stderr)
	require.Contains(t, o.Stdout, "both take equally long with 27.4 M rows a table and GPU, at 6.00 us a message")
	require.Regexp(t, `(?m)^l_orderkey +1024 `, o.Stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 1+8*2+3*3*6)
	require.Contains(t, lines[1], ",dist-7,rows=1M,one level,none,512,2000000,31500000,2016,")
}

// Real joins send what was forecast, on ranks of this process.
func TestDistributedRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.csv")
	o := tested.Require(t, command.ExitDone, "distributed", "--ranks", "3", "--rows", "20000", "--device", "host",
		"--csv", path)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Len(t, lines, 2+4)
	require.Regexp(t, `; 3 ranks, 20000 rows on the left$`, lines[0])
	for _, line := range lines[2:] {
		cells := strings.Fields(line)
		sent := cells[len(cells)-4:]
		require.Equal(t, sent[:2], sent[2:], line)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1+2*4, strings.Count(string(text), "\n"))
}

func TestDistributedUsage(t *testing.T) {
	for line, want := range map[string]string{
		"distributed x":                         `distributed takes no argument "x"; name figures by --figure`,
		"distributed --figure dist-5":           `no figure "dist-5"; there are dist-6, dist-7`,
		"distributed --ranks 1":                 "--ranks is 1, must be 2 to 64",
		"distributed --ranks 2 --figure dist-6": "--ranks joins tables; leave out --figure",
		"distributed --rows 5":                  "--rows is for joins; give --ranks, too",
		"distributed --message 2ms":             "--message is 2ms, must be 0s to 1ms",
	} {
		require.Contains(t, tested.Require(t, command.ExitUsage, strings.Fields(line)...).Stderr, want, line)
	}
	list := tested.Require(t, command.ExitDone, "distributed", "--figure", "list").Stdout
	require.Regexp(t, `(?m)^dist-9 +phases of`, list)
}
