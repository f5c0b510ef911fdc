package scaling

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/endtoend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/golden"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
)

// What is printed of given measurements.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	out := output(&b)
	links := &endtoend.Rates{Host: 80e9, Device: 3e12, Up: 48e9, Down: 50e9, Both: 75e9}
	rates := map[int]*endtoend.Rates{1: links, 2: {Host: 80e9, Device: 3e12, Up: 90e9, Down: 95e9, Both: 140e9},
		3: {Host: 80e9, Device: 80e9}}
	printRates(out, []int{1, 2, 3}, rates)

	result := func(way Way, median time.Duration, stats query.Stats) *Result {
		stats.OutputRows, stats.Algorithm = 1_500_000_000, "smj-om"
		stats.StageSeconds = map[string]float64{"sort left": 0.2, "match": 0.1, "gather": 0.05, "encode keys": 0.5,
			"unpack": 0.25}
		stats.EncodeSeconds, stats.GatherSeconds = 0.01, 0.02
		return &Result{Way: way, Times: measure.Summary{Runs: 3, Median: median, Spread: median / 100},
			Run: endtoend.Run{Wall: median, CPU: 3 * time.Second, Stats: stats, UpBytes: 48e9, DownBytes: 36e9}}
	}
	figure := figures(t, MultiGPUFigures(), "hmg-16")[0]
	cell := figure.Cells[0]
	table := newDeviceTable(figure, figure.Cells)
	out.Println(table.Head())
	way := Way{Strategy: "broadcast", Output: join.Rows, Devices: 1}
	base := newLine(figure, cell, result(way, 2*time.Second, query.Stats{}), links)
	base.base = base
	way.Devices = 2
	both := query.Stats{Devices: []query.DeviceStats{{ProbeRows: 300}, {ProbeRows: 700}}}
	second := newLine(figure, cell, result(way, 1250*time.Millisecond, both), rates[2])
	second.base = base
	alone := newLine(figure, cell, result(way, 2*time.Second, query.Stats{}), rates[2])
	skipped := newLine(figure, cell, &Result{Way: way, Skipped: errors.New("it is\ntoo large")}, rates[2])
	for _, l := range []*line{base, second, alone, skipped} {
		out.Println(l.row(table))
	}

	figure = figures(t, OutOfCoreFigures(), "memory-limit")[0]
	cell = figure.Cells[0]
	table = newMemoryTable(figure, figure.Cells)
	out.Println(table.Head())
	way = Way{Output: join.Count, Devices: 1, Share: noLimit}
	base = newLine(figure, cell, result(way, 2*time.Second, query.Stats{}), links)
	base.base = base
	way.Share, way.MemoryLimitBytes = "1/16", 1<<30-1
	divided := newLine(figure, cell, result(way, 3*time.Second, query.Stats{}), links)
	divided.base, divided.Parts, divided.DiskBytes = base, 32, 3<<30
	skipped = newLine(figure, cell, &Result{Way: way, Skipped: errors.New("it is too large")}, links)
	for _, l := range []*line{base, divided, skipped} {
		out.Println(l.row(table))
	}
	golden.Require(t, "report.txt", b.String())
	for _, l := range strings.Split(b.String(), "\n") {
		if !strings.Contains(l, "skipped: ") {
			require.LessOrEqual(t, len(l), text.ReportColumns, l)
		}
	}
}
