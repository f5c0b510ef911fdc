package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
)

// Use says what a join is for, which decides what is worth reading as the join goes on.
type Use uint8

const (
	ToWrite   Use = iota // all rows are drawn, once
	ToCount              // only the number of rows is wanted
	ToShow               // the first rows are drawn
	ToExplain            // only the plan is wanted
)

// leastStreamedRows is the default of Knobs.StreamedRows.
const leastStreamedRows = 2 << 20

func (k *Knobs) streamedRows() int64 { return cmp.Or(k.StreamedRows, leastStreamedRows) }

// eitherSide is whichever side turns out to be longer.
const eitherSide = -1

// streamedSide returns the side that is joined as it is read, instead of being in memory whole, if the join is written,
// or is not shown under a memory limit. It is the side with more rows, or the one that is not to be the build side, if
// it has no fewer rows than the other. An Arrow stream does not say how many rows it has: then either may be the one,
// unless a build side is named.
func (p *Pair) streamedSide(spec *spirjoin.JoinSpec, use Use) (side int, ok bool) {
	rows := [2]int64{p.tables[0].Rows(), p.tables[1].Rows()}
	pays := use == ToWrite || p.options.limited() && use != ToShow
	switch {
	case !pays:
		return 0, false
	case spec.BuildSide == spirjoin.BuildAuto && min(rows[0], rows[1]) < 0:
		return eitherSide, true
	case spec.BuildSide == spirjoin.BuildLeft || spec.BuildSide == spirjoin.BuildAuto && rows[0] <= rows[1]:
		side = 1
	}
	long := rows[side] >= p.options.streamedRows() && rows[side] >= rows[1-side]
	return side, rows[side] < 0 || long || p.options.TempDir
}

// streamable reports whether a join can be run with this side read as it goes; if not, the engine may still exchange
// the sides or divide both, with a folder for temporary files.
func (p *Pair) streamable(layout *spirjoin.JoinLayout, side int) bool {
	able := func(build spirjoin.JoinBuildSide) bool { return layout.CheckStream(build) == nil }
	if side == eitherSide {
		return able(spirjoin.BuildLeft) || able(spirjoin.BuildRight)
	}
	builds := [2]spirjoin.JoinBuildSide{spirjoin.BuildRight, spirjoin.BuildLeft}
	switch named := layout.Spec.BuildSide; {
	case able(builds[side]):
		return true
	case !p.options.TempDir:
		return false
	case named == spirjoin.BuildAuto: // pairs do not come in the order of the build side; the longer side may be it
		return able(builds[1-side])
	default:
		return p.options.Limit != nil && layout.CheckDivided(named) == nil
	}
}

// sources are the sides of a join. A table that was read whole is released when the join has begun, which keeps it.
type sources struct {
	of    [2]spirjoin.Source
	table arrow.Table // nil if no side was read whole
}

func (s *sources) release() {
	if s != nil && s.table != nil {
		s.table.Release()
	}
}

// streamed returns the sources of a join of which one side is joined as it is read; nil if both are to be read first.
// The engine chooses the same build side. The caller releases the sources.
func (p *Pair) streamed(ctx context.Context, layout *spirjoin.JoinLayout, use Use) (*sources, error) {
	side, ok := p.streamedSide(&layout.Spec, use)
	if !ok || !p.streamable(layout, side) {
		return nil, nil
	}
	s := &sources{of: [2]spirjoin.Source{p.tables[0].source(), p.tables[1].source()}}
	if side == eitherSide || p.options.TempDir { // it may have to be divided as it is read
		return s, nil
	}
	table, err := p.load(ctx, 1-side)
	if err != nil {
		return nil, err
	}
	s.of[1-side], s.table = spirjoin.FromTable(table), table
	return s, nil
}

// reserve sets memory of the engine aside for reading sources that are not tables.
func (p *Pair) reserve(engine *spirjoin.Engine, sources [2]spirjoin.Source) error {
	for side, t := range p.tables {
		if sources[side].Table() != nil {
			continue
		}
		if err := t.reserve(engine); err != nil {
			return err
		}
	}
	return nil
}

// explainStream says what to do about an error of a join of which a side was to be joined as it is read; nil if both
// are to be read first. That may help where only both sides together tell how to pack keys, or where row groups are
// large.
func (p *Pair) explainStream(err error, layout *spirjoin.JoinLayout) error {
	again := p.tables[0].Rows() >= 0 && p.tables[1].Rows() >= 0
	if again && (errors.Is(err, backend.ErrUnsupported) || errors.Is(err, backend.ErrHostMemory)) {
		if p.options.TempDir && errors.Is(err, backend.ErrHostMemory) {
			p.refused = err
		}
		return nil
	}
	if !again && layout.Spec.BuildSide == spirjoin.BuildAuto && errors.Is(err, backend.ErrHostMemory) {
		err = fmt.Errorf("%w; build_side names the table that is to be in memory whole", err)
	}
	return p.explainKeys(err, &layout.Spec)
}
