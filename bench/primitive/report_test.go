package primitive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/golden"
)

func TestTable(t *testing.T) {
	cases := []Case{
		{Primitive: "sort", Key: 64, Payload: 32, Rows: 1 << 27, Distribution: workload.Uniform},
		{Primitive: "range_search", Key: 32, Rows: 1000, Distribution: workload.Sorted},
		{Primitive: "copy", Key: 32, Rows: 1 << 33, Distribution: workload.Uniform},
	}
	var b strings.Builder
	table := newTable(cases)
	fmt.Fprintln(&b, table.Head())
	for i, r := range []Result{
		{Sample: measure.Sample{Times: measure.Summary{Runs: 15, Median: 12480 * time.Microsecond,
			Min: 12400 * time.Microsecond, Max: 2 * time.Second, Spread: 80 * time.Microsecond}},
			LeastBytes: 24 << 27, CopyRate: 3.9e12},
		{Sample: measure.Sample{Times: measure.Summary{Runs: 1, Median: 1234, Min: 999, Max: 123456}}, LeastBytes: 16000,
			CopyRate: 3.9e12},
	} {
		r.Case = cases[i]
		fmt.Fprintln(&b, table.Line(&r, nil, ""))
	}
	fmt.Fprintln(&b,
		table.Line(&Result{Case: cases[2]}, errors.Join(backend.ErrDeviceMemory, errors.New("32 GiB\nmore")), ""))
	golden.Require(t, "table.txt", b.String())
}

func TestWriteChoice(t *testing.T) {
	trial := func(items uint32, median time.Duration, fault error) Trial {
		return Trial{Fault: fault,
			Result: Result{Case: Case{Primitive: "sort", Key: 32, Rows: 1 << 20, Distribution: workload.Uniform},
				Config:     backend.Config{"workgroup": 256, "items": items},
				Sample:     measure.Sample{Times: measure.Summary{Runs: 5, Median: median, Spread: time.Microsecond}},
				LeastBytes: 8 << 20,
				CopyRate:   1e12}}
	}
	present, best := trial(8, 100*time.Microsecond, nil), trial(13, 80*time.Microsecond, nil)
	c := Choice{Present: present, Best: best, Better: true,
		Problem: Problem{Case: present.Case, Table: "radix_sort",
			Variant: backend.Config{"key_bits": 32, "payload_bits": 0}},
		Trials: []Trial{best, present, trial(9, 120*time.Microsecond, nil),
			trial(16, 0, errors.Join(measure.ErrWrong, errors.New("row 7")))}}
	var b bytes.Buffer
	writeChoice(&b, &c)
	c.Better = false
	writeChoice(&b, &c)
	c.Best, c.Trials = c.Present, c.Trials[1:]
	writeChoice(&b, &c)
	golden.Require(t, "choices.txt", b.String())
	require.Equal(t, 1, strings.Count(b.String(), "chosen"))
}
