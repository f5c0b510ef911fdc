package exec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// timed is a progress with a clock of its own, and all that it reported.
type timed struct {
	*Progress
	at     time.Time
	states []Status
}

func newTimed() *timed {
	t := &timed{}
	t.Progress = NewProgress(func(s Status) { t.states = append(t.states, s) })
	t.at = t.began
	t.now = func() time.Time { return t.at }
	return t
}

func (t *timed) last() Status { return t.states[len(t.states)-1] }

// A join that takes three times what the plan says: the time that is left begins with the plan's, follows what was
// measured, falls to nothing, and the time elapsed goes on through all phases.
func TestProgress(t *testing.T) {
	p := newTimed()
	p.Start("plan")
	require.Equal(t, Status{Phase: "plan", Left: -1}, p.last())
	p.Expect(Work{ProbeRows: 1000, OutputRows: 400, Build: time.Second, Probe: 5 * time.Second, Deliver: 4 * time.Second})
	require.Equal(t, 10*time.Second, p.last().Left, "as planned")
	p.Start("load left")
	p.at = p.at.Add(3 * time.Second)
	p.Join()
	before := p.last()
	require.Equal(t, Status{Phase: "join", Total: 1000, Output: 400, Share: 0.1, Elapsed: 3 * time.Second,
		Left: 18 * time.Second}, before)
	for step := range 10 {
		p.at = p.at.Add(2700 * time.Millisecond)
		p.Joined(100, uint64(step+1)*40)
		p.Drawn(40, 0)
		s := p.last()
		require.EqualValues(t, (step+1)*100, s.Rows)
		require.EqualValues(t, 1000, s.Total)
		require.Greater(t, s.Share, before.Share)
		require.Greater(t, s.Elapsed, before.Elapsed, "it does not begin anew")
		if step > 0 {
			require.Less(t, s.Left, before.Left)
		}
		before = s
	}
	p.AllJoined(400)
	require.Equal(t, Status{Phase: "output", Rows: 400, Total: 400, Drawn: 400, Output: 400, Share: 1,
		Elapsed: 30 * time.Second}, p.last())
}

// A join of one granule with ten times the output that was predicted: rows of the probe side move with the output, the
// number of output rows follows what was counted, and there is time left until all is joined.
func TestProgressInAGranule(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 1000, OutputRows: 400, Probe: time.Second, Deliver: time.Second})
	p.Join()
	require.EqualValues(t, 400, p.last().Output, "as planned")
	for step := range uint64(10) {
		p.at = p.at.Add(time.Second)
		p.Joining(Granule{Rows: 1000, Joined: (step + 1) * 90, Output: 4000})
		p.Drawn(360, time.Second/2)
		s := p.last()
		require.Equal(t, [4]uint64{(step + 1) * 90, 1000, (step + 1) * 360, 4000},
			[4]uint64{s.Rows, s.Total, s.Drawn, s.Output})
		require.Less(t, s.Share, 1.0)
		require.Positive(t, s.Left)
	}
	require.InDelta(t, 1, p.last().Left.Seconds(), 0.3, "a tenth of what took 10 s")
	p.Drawn(400, time.Second/2)
	p.Joined(1000, 4000)
	require.Equal(t, Status{Phase: "join", Rows: 1000, Total: 1000, Drawn: 4000, Output: 4000, Share: 1,
		Elapsed: 10 * time.Second, Left: -1}, p.last(), "rows without a partner may follow")
	p.Drawn(50, 0)
	require.EqualValues(t, 4050, p.last().Output)
	p.AllJoined(4100)
	s := p.last()
	require.Equal(t, [4]uint64{4050, 4100, 4050, 4100}, [4]uint64{s.Rows, s.Total, s.Drawn, s.Output})
	require.Positive(t, s.Left)
}

// The number of output rows is what was made of the granules that are joined, and for the others between that and what
// the plan says.
func TestProgressOfOutputThatWasNotPredicted(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 1000, OutputRows: 1000})
	p.Join()
	output := func() uint64 { return p.last().Output }
	require.EqualValues(t, 1000, output())
	p.Joining(Granule{Rows: 500, Joined: 100})
	require.EqualValues(t, 1000, output(), "nothing was counted")
	p.Joining(Granule{Rows: 500, Joined: 100, Output: 3000})
	require.EqualValues(t, 3000+500, output())
	p.Joined(500, 3000)
	require.EqualValues(t, 3000+(3000+100)*500/(500+100), output())
	p.Joined(500, 3000)
	require.EqualValues(t, 3000, output())
}

// If drawing takes ten times as long as delivery was planned to take, the time left is at least the drawing time of all
// remaining rows, however much is joined. The share follows.
func TestProgressOfSlowOutput(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 1000, OutputRows: 1000, Probe: 9 * time.Second, Deliver: time.Second})
	p.Join()
	p.at = p.at.Add(8100 * time.Millisecond)
	p.Joined(900, 900)
	require.Equal(t, 1900*time.Millisecond, p.last().Left.Round(time.Millisecond), "as planned")
	p.at = p.at.Add(time.Second)
	p.Drawn(100, time.Second)
	require.GreaterOrEqual(t, p.last().Left, 9*time.Second, "900 rows at 100 a second")
	require.Less(t, p.last().Share, 0.7)
	p.AllJoined(1000)
	require.GreaterOrEqual(t, p.last().Left, 9*time.Second)
	p.at = p.at.Add(9 * time.Second)
	p.Drawn(900, 9*time.Second)
	require.Zero(t, p.last().Left)
	require.EqualValues(t, 1, p.last().Share)
}

// Phases before the join may have rows of their own, which are none of the work that the plan predicts; and how long a
// query waits for others is not known. Neither counts as time that the work took.
func TestProgressBeforeTheJoin(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 1000, OutputRows: 400, Build: time.Second, Probe: time.Second})
	p.Start(Waiting)
	require.Equal(t, Status{Phase: "wait", Left: -1}, p.last())
	p.StartOf("validate left", 300)
	require.Equal(t, Status{Phase: "validate left", Total: 300, Left: -1}, p.last())
	p.at = p.at.Add(time.Minute)
	p.Done(200)
	require.Equal(t, Status{Phase: "validate left", Rows: 200, Total: 300, Elapsed: time.Minute, Left: -1}, p.last())
	p.Start("load left")
	require.Equal(t, Status{Phase: "load left", Elapsed: time.Minute, Left: 2 * time.Second}, p.last())
	p.at = p.at.Add(time.Second)
	p.Join()
	require.Equal(t, time.Second, p.last().Left)
}

// Rows alone tell how far a join has come where no times are predicted, and nothing does where their number is unknown.
func TestProgressWithoutTimes(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 100, OutputRows: 300})
	p.Join()
	require.Equal(t, Status{Phase: "join", Total: 100, Output: 300, Left: -1}, p.last())
	p.at = p.at.Add(time.Second)
	p.Joined(100, 300)
	require.Equal(t, Status{Phase: "join", Rows: 100, Total: 100, Output: 300, Share: 0.25, Elapsed: time.Second,
		Left: 3 * time.Second}, p.last())
	p.AllJoined(0)
	require.Equal(t, Status{Phase: "output", Share: 1, Elapsed: time.Second}, p.last(), "no rows are nothing left to do")

	p = newTimed()
	p.Expect(Work{Probe: time.Second})
	p.Join()
	p.Joined(10, 0)
	require.Equal(t, Status{Phase: "join", Rows: 10, Left: -1}, p.last(), "of an unknown number")
	p.AllJoined(20)
	p.Drawn(5, 0)
	require.Equal(t, Status{Phase: "output", Rows: 5, Total: 20, Drawn: 5, Output: 20, Share: 1}, p.last())

	p = newTimed()
	p.Expect(Work{ProbeRows: 100, Counts: true})
	p.Join()
	p.Joined(100, 20)
	p.AllJoined(20)
	require.Equal(t, Status{Phase: "output", Total: 20, Share: 1}, p.last(), "counted rows are not drawn")
	NewProgress(nil).Start("nobody")
}
