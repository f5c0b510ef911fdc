package endtoend

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
)

// All figures are of one run, the lower one of the two in the middle if their number is even, on the screen as in the
// file.
func TestOneRunIsReported(t *testing.T) {
	var runs []Run
	for _, ms := range []time.Duration{40, 20, 10, 30} {
		runs = append(runs, Run{Wall: ms * time.Millisecond, OutputBytes: 8, First: (50 - ms) * time.Millisecond,
			CPU: ms * time.Microsecond})
	}
	r := resultOf(runs)
	r.rates = &Rates{}
	var report bytes.Buffer
	r.print(output(&report))
	require.Contains(t, report.String(), " in 20.0 ms (min 10.0 ms), first batch after 30.0 ms, ")
	require.Contains(t, report.String(), " of 20.0 ms\n")
	require.NotContains(t, report.String(), "\ndownload ")
	r.Run.OutputBytes, r.Run.DownBytes = 0, 200
	report.Reset()
	r.print(output(&report))
	require.Contains(t, report.String(), "0 rows by  in 20.0 ms (min 10.0 ms), 0 B of device memory\n", "of a count")
	require.NotContains(t, report.String(), "\ndownload ", "without time, in place")
	r.rates.Up = 1
	report.Reset()
	r.print(output(&report))
	require.Contains(t, report.String(), "\ndownload ", "over a link")

	s := small("memory")
	path := filepath.Join(t.TempDir(), "results.csv")
	file, err := measure.Create(path, "command", &backend.DeviceInfo{}, fileColumns)
	require.NoError(t, err)
	defer file.Abort()
	r.addTo(file, &s, s.Ways[0])
	require.NoError(t, file.Commit(t.Context()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	for column, want := range map[string]string{"runs": "4", "median_ns": "20000000", "min_ns": "10000000",
		"first_ns": "30000000", "cpu_ns": "20000"} {
		require.Equal(t, want, rows[1][slices.Index(rows[0], column)], column)
	}
	require.Equal(t, 20*time.Millisecond, resultOf(runs[1:2]).Times.Min)
}
