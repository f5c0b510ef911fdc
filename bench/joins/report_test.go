package joins

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/bench/measure"
)

// The widest numbers keep their columns.
func TestTable(t *testing.T) {
	table := newTable([]string{"zipf=1"}, Algorithms()[:1])
	m := &Result{Algorithm: "phj-om", RRows: 1 << 30, SRows: 1 << 31, Rows: 1<<32 - 1, PeakBytes: 1<<20 - 103,
		Sample: measure.Sample{Times: measure.Summary{Median: 999600 * time.Microsecond, Min: 999499 * time.Nanosecond,
			Max: 99 * time.Second}}}
	print := func() string { return table.Line(line{"zipf=1", m}, nil, "") }
	require.Len(t, print(), len(table.Head()))
	require.Contains(t, print(), " 1023.9 KiB ")
	m.PeakBytes = 1 << 60
	require.NotPanics(t, func() { print() })
}
