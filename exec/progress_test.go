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
	require.Equal(t, Status{Phase: "join", Total: 1000, Share: 0.1, Elapsed: 3 * time.Second, Left: 18 * time.Second},
		before)
	for step := range 10 {
		p.at = p.at.Add(2700 * time.Millisecond)
		p.Joined(100)
		p.Drawn(40)
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
	require.Equal(t, Status{Phase: "output", Rows: 400, Total: 400, Share: 1, Elapsed: 30 * time.Second}, p.last())
}

// Rows alone tell how far a join has come where no times are predicted, and nothing does where their number is unknown.
func TestProgressWithoutTimes(t *testing.T) {
	p := newTimed()
	p.Expect(Work{ProbeRows: 100, OutputRows: 300})
	p.Join()
	require.Equal(t, Status{Phase: "join", Total: 100, Left: -1}, p.last())
	p.at = p.at.Add(time.Second)
	p.Joined(100)
	require.Equal(t, Status{Phase: "join", Rows: 100, Total: 100, Share: 0.25, Elapsed: time.Second, Left: 3 * time.Second},
		p.last())
	p.AllJoined(0)
	require.Equal(t, Status{Phase: "output", Share: 1, Elapsed: time.Second}, p.last(), "no rows are nothing left to do")

	p = newTimed()
	p.Expect(Work{Probe: time.Second})
	p.Join()
	p.Joined(10)
	require.Equal(t, Status{Phase: "join", Rows: 10, Left: -1}, p.last(), "of an unknown number")
	p.AllJoined(20)
	p.Drawn(5)
	require.Equal(t, Status{Phase: "output", Rows: 5, Total: 20, Share: 1}, p.last())
	NewProgress(nil).Start("nobody")
}
