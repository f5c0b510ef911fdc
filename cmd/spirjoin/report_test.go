package main

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
)

// The line about a run fits the terminal: the folder goes first, then the end of the device's name.
func TestSummaryFitsTheTerminal(t *testing.T) {
	r := joinReport{JoinStats: spirjoin.JoinStats{OutputRows: 1_234_567, Algorithm: "smj-um", MatchSeconds: 1.5},
		Output: "a/rather/long/folder/out.parquet", ReadSeconds: 2, OutputSeconds: 3, WallSeconds: 6.5}
	device := &backend.DeviceInfo{Name: "llvmpipe (LLVM 19.1.7, 256 bits)", Backend: "vulkan"}
	const times = " in 6.50 s (read 2.00, match 1.50, output 3.00) by smj-um on "
	for width, want := range map[int]string{
		200: "1,234,567 rows to a/rather/long/folder/out.parquet" + times + "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		135: "1,234,567 rows to …/out.parquet" + times + "llvmpipe (LLVM 19.1.7, 256 bits) (vulkan)",
		110: "1,234,567 rows to …/out.parquet" + times + "llvmpipe… (vulkan)",
		20:  "1,234,567 rows to …/out.parquet" + times + "llvmpip… (vulkan)", // as much as there is to leave out
	} {
		line := r.line(device, width)
		require.Equal(t, want, line)
		require.True(t, utf8.RuneCountInString(line) <= width || width == 20, line)
	}
	r.Output = ""
	require.Equal(t, "1,234,567 rows in 6.50 s (read 2.00, match 1.50) by smj-um on "+device.Name+" (vulkan)",
		r.line(device, 110))
}
