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
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
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
	require.Equal(t, map[string]time.Duration{operator.Transform: 78 * time.Millisecond,
		operator.Match: 38 * time.Millisecond, operator.Gather: 7 * time.Millisecond}, c.Runs[0].Stages)
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
		require.Equal(t, map[string]time.Duration{operator.Transform: want / 10, operator.Match: want * 9 / 10},
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
		`no column "stages"`:                      strings.Join(fields[:len(fields)-1], ",") + "\n",
		`line 2: strconv.ParseFloat: parsing "x"`: strings.Join(fields, ",") + "\nphj-om,x,1,4,4,4,1,0,1,1,match=1\n",
		"measured joins: EOF":                     "",
	} {
		_, err := Read(false, strings.NewReader(text))
		require.ErrorIs(t, err, backend.ErrInvalidInput)
		require.ErrorContains(t, err, fault)
	}
}

// TestReadKinds: kinds of join and keys of several rows are told by columns that files of inner joins may lack.
func TestReadKinds(t *testing.T) {
	head := strings.Join(fields, ",") + ",how,multiplicity\n"
	read := func(line string) Cell {
		cells, err := Read(false, strings.NewReader(head+line+"\n"))
		require.NoError(t, err)
		require.Len(t, cells, 1)
		return cells[0]
	}
	c := read("phj-om,1048576,1048576,4,4,4,1,0,1073741824,100,match=90,count,1024")
	require.Equal(t, operator.Want{Pairs: true, Count: true}, c.Want)
	require.EqualValues(t, 1<<30, c.Facts.OutputRows)
	require.EqualValues(t, 1024, c.Facts.Distinct)
	require.Equal(t, 10, c.Facts.KeyBits)
	require.False(t, c.Facts.Unique)
	require.InDelta(t, 1, c.Facts.BuildRatio, 1e-6)

	c = read("smj-um,1000,4000,4,4 4,4,0.5,0,3500,100,match=90,left,4..12")
	require.Equal(t, operator.Want{Pairs: true, Keys: true, Rest: [2]bool{operator.Build: true}}, c.Want)
	require.EqualValues(t, 8*2000, c.Facts.OutputRows, "half of the foreign keys have 8 partners")
	require.Equal(t, 0.5, c.Facts.MatchRatio)

	c = read("hj,4000,1000,8,4,4,1,0,900,100,match=90,semi,1") // the right side has fewer rows
	require.Equal(t, operator.Want{Keys: true, Matched: [2]bool{operator.Probe: true}}, c.Want)
	require.Equal(t, [2]uint64{1000, 4000}, c.Facts.Rows)
	require.Equal(t, [2][]int{{4}, {8}}, c.Facts.Payload)
	require.InDelta(t, 0.22, c.Facts.MatchRatio, 0.01, "1,000 rows refer to 885 of 4,000 keys")

	granules := strings.Replace(head, "how", "granule_rows,window_rows,how", 1)
	line := "hj,1000,4000,8,4,4,1,0,4000,100,match=90,1024,512,count-semi,1\n"
	cells, err := Read(false, strings.NewReader(granules+line))
	require.NoError(t, err)
	require.Equal(t, operator.Want{Matched: [2]bool{operator.Build: true}, Count: true}, cells[0].Want)
	require.EqualValues(t, 1024, cells[0].Facts.Granule)
	require.EqualValues(t, 512, cells[0].Facts.Window)
	require.Contains(t, cells[0].Name, ", granules of 1024, windows of 512")

	_, err = Read(false, strings.NewReader(head+"hj,4000,1000,8,4,4,1,0,900,100,match=90,asof,1\n"))
	require.ErrorContains(t, err, `line 2: invalid input: no kind of join "asof"`)
}

// TestCheck: by the decision tree phj-om is taken in the first cell, where smj-um was measured to be faster.
func TestCheck(t *testing.T) {
	tuning, err := primitive.TuningFor(&backend.DeviceInfo{Backend: "host", Type: backend.Host, Subgroups: true})
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
	require.Equal(t, "smj-um", verdicts[1].Choice)
	require.InEpsilon(t, 9*time.Millisecond, verdicts[1].Plan, 0.3, "as fitted rates predict")
	text, err := Errors(cells(t), &fitted, tuning)
	require.NoError(t, err)
	require.Contains(t, text, "smj-um             transform")
}

func hostRates(t *testing.T) *planner.Rates {
	return planner.RatesFor(&backend.DeviceInfo{Backend: "host", Type: backend.Host, Subgroups: true})
}

// TestZipfFacts compares with samples of a generator.
func TestZipfFacts(t *testing.T) {
	const keys = 1 << 16
	for _, factor := range []float64{0, 0.5, 1, 1.5} {
		spec := workload.DefaultPKFK(keys, planner.SampleRows)
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
		require.InDelta(t, 1-float64(len(seen))/planner.SampleRows, repeats, 0.02, "factor %g", factor)
		require.InDelta(t, float64(hottest)/planner.SampleRows, share, 0.01, "factor %g", factor)
	}
}
