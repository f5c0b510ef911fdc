package ranges

import (
	"cmp"
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Matches are the pairs of rows with equal keys of two sorted sides, as ranges: for each row of the side with fewer
// rows, the range of matching rows of the other. The owner releases them. They are used by one goroutine at a time,
// while the row numbers of both sides are alive.
type Matches struct {
	Total uint64 // number of pairs

	lane    *exec.Lane // its memory is the matches'
	sides   [2]Sorted  // build and probe
	few     int        // the side whose rows are searched for in the other
	begins  *backend.Buffer
	counts  *backend.Buffer
	offsets *backend.Buffer // where the pairs of a row begin among all
}

// Search finds the matches of two sides, whose keys must have the same width, by searching the rows of the side with
// fewer rows in the other (HMG 3.3.3). With countOnly it only finds their number.
//
// Errors: device errors.
func Search(ctx context.Context, lane *exec.Lane, build, probe *Sorted, countOnly bool) (*Matches, error) {
	m := &Matches{lane: lane.Nested(ctx), sides: [2]Sorted{*build, *probe}}
	if build.Rows == 0 || probe.Rows == 0 {
		return m, nil
	}
	if probe.Rows < build.Rows {
		m.few = operator.Probe
	}
	err := m.search(ctx, countOnly)
	if err == nil && !countOnly && m.Total > 0 {
		err = m.scan(ctx)
	}
	if err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// Count returns the number of pairs of rows with equal keys in two sorted columns with keyBytes bytes per key, neither
// of which may be empty, modulo 2^64.
func Count(ctx context.Context, lane *exec.Lane, keyBytes int, first, second backend.Range) (pairs uint64, err error) {
	m := &Matches{lane: lane}
	for side, keys := range []backend.Range{first, second} {
		m.sides[side] = Sorted{Rows: keys.SizeBytes / uint64(keyBytes), KeyBytes: keyBytes, Keys: keys}
	}
	err = m.search(ctx, true)
	return m.Total, err
}

// search finds the range of every row of the side with fewer, and the total.
func (m *Matches) search(ctx context.Context, countOnly bool) error {
	few, many := &m.sides[m.few], &m.sides[1-m.few]
	p, err := primitive.PlanRangeSearch(m.lane.Tuning(), few.Rows, many.Rows, few.KeyBytes)
	if err != nil {
		return err
	}
	temporary := m.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	if !countOnly {
		m.begins = m.lane.Memory.New(few.Rows*4, "range begins")
		m.counts = m.lane.Memory.New(few.Rows*4, "range counts")
	}
	scratch := temporary.New(p.ScratchBytes, "search scratch")
	if err := cmp.Or(m.lane.Memory.Err(), temporary.Err()); err != nil {
		return err
	}
	list := m.lane.List("range search")
	if err := m.lane.RangeSearch(list, p, few.Keys, many.Keys, m.begins.All(), m.counts.All(),
		scratch.All()); err != nil {
		return err
	}
	m.Total, err = m.lane.FetchNumber(ctx, list, scratch.Range(p.TotalOffset, 8))
	return err
}

// scan turns the counts into the place of each row's first pair in the output.
func (m *Matches) scan(ctx context.Context) error {
	rows := m.sides[m.few].Rows
	temporary := m.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	m.offsets = m.lane.Memory.New((rows+1)*8, "output offsets")
	if err := m.lane.Memory.Err(); err != nil {
		return err
	}
	return m.lane.Run(ctx, "scan", func(list *backend.List) error {
		return m.lane.SumCounts(list, temporary, rows, 64, m.counts.All(), m.offsets.All())
	})
}

// RecordPairs records the expansion of pairs first to first+rows-1, which must be below Total: build and probe receive
// rows 32-bit row numbers each.
func (m *Matches) RecordPairs(list *backend.List, first uint64, rows uint32, build, probe backend.Range) error {
	out := [2]backend.Range{build, probe}
	few, many := &m.sides[m.few], &m.sides[1-m.few]
	return m.lane.Expand(list, primitive.Ranges{
		LeftRows: few.Rows, Offsets: m.offsets.All(), Begins: m.begins.All(), LeftIDs: few.IDs, RightIDs: many.IDs,
	}, first, rows, out[m.few], out[1-m.few])
}

// Release releases the device memory. A second Release does nothing.
func (m *Matches) Release() { m.lane.Memory.ReleaseAll() }
