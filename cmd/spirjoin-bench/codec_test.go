package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/command"
)

func TestCodec(t *testing.T) {
	o := tested.Require(t, command.ExitDone, append([]string{"codec", "--mib", "1", "--destinations", "4"},
		benchQuickly...)...)
	lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
	require.Len(t, lines, 2+7)
	require.Regexp(t, `; 1\.0 MiB of each column$`, lines[0])
	require.Regexp(t, `^COLUMN +BITS +SCHEME +RATIO +ENCODE +DECODE +NVCOMP: RATIO +ENCODE +DECODE$`, lines[1])
	schemes := map[string]string{"o_orderkey": "delta+pack", "o_orderpriority": "pack", "l_orderkey": "rle+delta+pack",
		"o_custkey": "pack", "random20": "pack", "random40": "pack", "random62": "pack"}
	for _, line := range lines[2:] {
		cells := strings.Fields(line)
		require.Equal(t, schemes[cells[0]], cells[2], line) // table 1, but for a second layer of runs
		require.Regexp(t, `^\w+ +(32|64) +\S+ +\d+\.\d\d +([\d.]+ [kMGT]B/s +){2}`, line)
	}
	for _, args := range [][]string{{"linenumber"}, {"--destinations", "0"}, {"--mib", "9000"}, {"--repeat", "0"}} {
		tested.Require(t, command.ExitUsage, append([]string{"codec"}, args...)...)
	}
}
