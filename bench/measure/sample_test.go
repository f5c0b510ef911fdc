package measure

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestSampleOf(t *testing.T) {
	require.Zero(t, SampleOf(nil))
	run := func(wall, sort, match time.Duration) Timed {
		return Timed{Wall: wall, Stages: []backend.StageTime{{Stage: "sort", Time: sort}, {Stage: "match", Time: match}}}
	}
	runs := []Timed{run(90, 1, 2), run(10, 7, 8), run(20, 3, 3), run(30, 4, 5)}
	s := SampleOf(runs)
	require.True(t, s.DeviceTime)
	require.Equal(t, "device", s.Clock())
	require.Equal(t, Summary{4, 7, 3, 15, 5}, s.Times)
	require.Equal(t, time.Duration(90), s.Wall.Max)
	require.Equal(t, runs[2].Stages, s.Stages, "of the lower one of two in the middle")
	require.Equal(t, []uint64{7, 3, 15, 5}, s.Times.Nanoseconds())

	s = SampleOf([]Timed{{Wall: 5}, {Wall: 7}, {Wall: 6}})
	require.False(t, s.DeviceTime)
	require.Equal(t, "host", s.Clock())
	require.Equal(t, Summary{3, 6, 5, 7, 1}, s.Times)
	require.Equal(t, s.Wall, s.Times)
}

func TestStages(t *testing.T) {
	stages := StagesOf(map[string]float64{"sort": 0.0000123, "match": 2})
	require.Equal(t, []backend.StageTime{{Stage: "match", Time: 2 * time.Second}, {Stage: "sort", Time: 12300}}, stages)
	require.Equal(t, "match 2.00 s, sort 12.3 us", StagesText(stages))
	require.Equal(t, "match=2000000000;sort=12300", StagesField(stages))
	require.Empty(t, StagesField(nil))
}

func TestRounds(t *testing.T) {
	var steps, entered []string
	fits, wrong := errors.New("does not fit"), errors.New("wrong")
	contender := func(name string, failures map[int]error) Contender[int] {
		runs := 0
		step := func(what string) error {
			steps = append(steps, what+name)
			runs++
			return failures[runs]
		}
		return Contender[int]{Name: name, Verify: func() error { return step("v") },
			Run: func() (int, error) { err := step("r"); return runs, err }}
	}
	measure := func(contenders ...Contender[int]) ([][]int, []error, error) {
		steps, entered = nil, nil
		return Rounds(contenders, 2, 0, func(what string) { entered = append(entered, what) },
			func(err error) bool { return errors.Is(err, fits) })
	}
	runs, skipped, err := measure(contender("a", nil), contender("b", map[int]error{1: fits}),
		contender("c", map[int]error{3: fits}))
	require.NoError(t, err)
	require.Equal(t, [][]int{{2, 3}, nil, nil}, runs)
	require.Equal(t, []error{nil, fits, fits}, skipped)
	require.Equal(t, []string{"va", "vb", "vc", "ra", "rc", "ra", "rc"}, steps)
	require.Equal(t, []string{"verify a", "verify b", "verify c", "time"}, entered)

	_, _, err = measure(contender("a", nil), contender("b", map[int]error{2: wrong}))
	require.ErrorIs(t, err, wrong)
	require.EqualError(t, err, "b: wrong")
}

func TestVerified(t *testing.T) {
	verified, reason := Verified(nil)
	require.Equal(t, [2]string{"yes", ""}, [2]string{verified, reason})
	verified, reason = Verified(errors.New("it is\nlarge"))
	require.Equal(t, [2]string{"no", "it is; large"}, [2]string{verified, reason})
}
