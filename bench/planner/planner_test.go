package planner

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
)

func cells(t *testing.T) []Cell {
	file, err := os.Open("testdata/cells.csv")
	require.NoError(t, err)
	defer file.Close()
	cells, err := Read(false, file)
	require.NoError(t, err)
	return cells
}

func TestRead(t *testing.T) {
	all := cells(t)
	require.Len(t, all, 4)
	c := all[0]
	require.Equal(t, [2]uint64{1 << 20, 1 << 21}, c.Facts.Rows)
	require.Equal(t, [2][]int{{4}, {4, 8}}, c.Facts.Payload)
	require.Equal(t, 1.0, c.Facts.MatchRatio)
	require.Len(t, c.Runs, 5, "one that the planner does not know is left out")
	require.Equal(t, 123*time.Millisecond, c.Runs[0].Time)
	require.Equal(t, map[string]time.Duration{plan.Transform: 78 * time.Millisecond, plan.Match: 38 * time.Millisecond,
		plan.Gather: 7 * time.Millisecond}, c.Runs[0].Stages)
	require.Len(t, all[1].Runs, 2, "one that was skipped is left out")
	require.Equal(t, 0.5, all[1].Facts.MatchRatio)
	require.Positive(t, all[2].Facts.Repeats)

	var second strings.Builder // the second file has the same joins, and is faster in one of them
	second.WriteString(strings.Join(fields, ",") + ",min_ns\n")
	second.WriteString("phj-om,1048576,2097152,4,4 8,4,1,0,2097152,100,match=90;partition left=10,50\n")
	second.WriteString("phj-om,1048576,2097152,4,4 8,4,1,0,2097152,120,match=90;partition left=30,60\n")
	for least, want := range map[bool]time.Duration{false: 100, true: 50} {
		faster, err := Read(least, strings.NewReader(second.String()))
		require.NoError(t, err)
		require.Len(t, faster, 1)
		require.Equal(t, want, faster[0].Runs[0].Time)
		require.Equal(t, map[string]time.Duration{plan.Transform: want / 10, plan.Match: want * 9 / 10},
			faster[0].Runs[0].Stages)
	}
	file, err := os.Open("testdata/cells.csv")
	require.NoError(t, err)
	defer file.Close()
	both, err := Read(false, file, strings.NewReader(second.String()))
	require.NoError(t, err)
	require.Len(t, both, 4)
	require.Len(t, both[0].Runs, 5)
	require.EqualValues(t, 100, both[0].Runs[1].Time)
	_, err = Read(true, strings.NewReader(strings.Join(fields, ",")))
	require.ErrorContains(t, err, `no column "min_ns"`)

	for fault, text := range map[string]string{
		`no column "stages"`:                      "algorithm,r_rows,s_rows,r_payload,s_payload,key_bytes,match_ratio,zipf,output_rows,median_ns\n",
		`line 2: strconv.ParseFloat: parsing "x"`: strings.Join(fields, ",") + "\nphj-om,x,1,4,4,4,1,0,1,1,match=1\n",
		"measured joins: EOF":                     "",
	} {
		_, err := Read(false, strings.NewReader(text))
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, fault)
	}
}

// TestCheck: by the decision tree phj-om is taken in the first cell, where smj-um was measured to be faster.
func TestCheck(t *testing.T) {
	tuning, err := primitive.TuningFor(&backend.DeviceInfo{Backend: "host", Type: backend.Host})
	require.NoError(t, err)
	verdicts, err := Check(cells(t), nil, tuning)
	require.NoError(t, err)
	require.Len(t, verdicts, 4)
	require.Equal(t, "phj-om", verdicts[0].Choice)
	require.Equal(t, "smj-um", verdicts[0].Best)
	require.InDelta(t, 401.0/123, verdicts[0].Ratio(), 1e-9)
	require.InDelta(t, 0.5, Share(verdicts), 1e-9)
	fitted, err := Fit(cells(t), *hostRates(t), tuning)
	require.NoError(t, err)
	require.Contains(t, fitted.Measured, "of 4 cells")
	verdicts, err = Check(cells(t), &fitted, tuning)
	require.NoError(t, err)
	require.Equal(t, "smj-um", verdicts[0].Choice, "as fitted rates predict")
	text, err := Errors(cells(t), &fitted, tuning)
	require.NoError(t, err)
	require.Contains(t, text, "smj-um             transform")
}

func hostRates(t *testing.T) *plan.Rates {
	rates, err := plan.RatesFor(&backend.DeviceInfo{Backend: "host", Type: backend.Host})
	require.NoError(t, err)
	return rates
}

// TestZipfFacts compares with samples of a generator.
func TestZipfFacts(t *testing.T) {
	const keys = 1 << 16
	for _, factor := range []float64{0, 0.5, 1, 1.5} {
		spec := workload.DefaultPKFK(keys, plan.SampleRows)
		spec.Zipf = factor
		r, s, err := workload.PKFK(context.Background(), spec)
		require.NoError(t, err)
		seen, hottest := make(map[int32]int), 0
		for _, key := range s.Column(0).Data().Chunk(0).(*array.Int32).Int32Values() {
			seen[key]++
			hottest = max(hottest, seen[key])
		}
		r.Release()
		s.Release()
		repeats, share := zipfFacts(keys, factor)
		require.InDelta(t, 1-float64(len(seen))/plan.SampleRows, repeats, 0.02, "factor %g", factor)
		require.InDelta(t, float64(hottest)/plan.SampleRows, share, 0.01, "factor %g", factor)
	}
}
