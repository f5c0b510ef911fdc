package measure

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/text"
)

func TestTable(t *testing.T) {
	type result struct {
		name string
		Summary
	}
	columns := append([]Column[result]{
		Column[result]{Head: "NAME", Known: true, Cell: func(r result) string { return r.name }}.Fitting("a name"),
		{Head: "RUNS", Align: text.Right, Known: true, Cell: func(result) string { return "3" }}},
		TimeColumns(func(r result) Summary { return r.Summary })...)
	table := NewTable(columns...)
	r := result{"x", Summary{Median: 999600 * time.Microsecond, Min: time.Microsecond, Max: 99 * time.Second}}
	require.Equal(t, "NAME    RUNS     MEDIAN        MIN        MAX", table.Head())
	require.Equal(t, "x          3    1000 ms    1.00 us    99.00 s", table.Line(r, nil, ""))
	require.Equal(t, table.Line(r, nil, "")+"\n   sort 1 s", table.Line(r, nil, "sort 1 s"))
	long := strings.Repeat("stage 1 s, ", 20)
	for _, line := range strings.Split(table.Line(r, nil, long), "\n") {
		require.LessOrEqual(t, len(line), text.ReportColumns)
	}
	require.Equal(t, "x          3  skipped: too; large", table.Line(r, errors.New("too\nlarge"), "sort 1 s"))
}
