package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/tableio"
)

// leastStreamedRows is how many rows a table has that is joined part by part, as it is read: enough for several parts.
var leastStreamedRows int64 = 2 << 20

// eitherSide is whichever side turns out to be longer.
const eitherSide = -1

// streamedSide is the side of a join to a file, or of a count under a memory limit, that is joined as it is read,
// instead of being in memory whole: the one with more rows, or which is not to be the build side, if it has no fewer
// rows than the other. An Arrow stream does not say how many rows it has: then either may be the one, unless a build
// side is named.
func streamedSide(o joinOptions, spec *spirjoin.JoinSpec, readers [2]*tableio.Reader) (side int, ok bool) {
	rows := [2]int64{readers[0].Rows(), readers[1].Rows()}
	pays := o.goal == goalFile || o.limited() && (o.goal == goalCount || o.goal == goalExplain)
	switch {
	case !pays:
		return 0, false
	case spec.BuildSide == spirjoin.BuildAuto && min(rows[0], rows[1]) < 0:
		return eitherSide, true
	case spec.BuildSide == spirjoin.BuildLeft || spec.BuildSide == spirjoin.BuildAuto && rows[0] <= rows[1]:
		side = 1
	}
	long := rows[side] >= leastStreamedRows && rows[side] >= rows[1-side]
	return side, rows[side] < 0 || long || o.tempDir != ""
}

// streamJoin starts a join of which one side is joined as it is read. The result is nil where it is better, or only
// possible, to read both first.
func streamJoin(ctx context.Context, open func() (*spirjoin.Engine, error), o joinOptions, layout *spirjoin.JoinLayout,
	in *inputs, report *joinReport) (*spirjoin.JoinResult, error) {
	fixed, sources, release, err := streamed(ctx, o, layout, in, report)
	if fixed == nil || err != nil {
		return nil, err
	}
	defer release() // the result keeps it
	engine, err := open()
	if err != nil {
		return nil, err
	}
	err = in.reserve(engine, sources)
	var result *spirjoin.JoinResult
	if err == nil {
		result, err = engine.JoinStreamLayout(ctx, fixed, sources[0], sources[1])
	}
	if err != nil {
		return nil, in.explainStream(err, o, fixed)
	}
	return result, nil
}

// explainStream says what to do about an error of a join of which a side was to be joined as it is read; nil if both are
// read first. Keys that only both sides together tell how to pack, and large row groups, may do where all is read
// first, again.
func (in *inputs) explainStream(err error, o joinOptions, fixed *spirjoin.JoinLayout) error {
	again := in.readers[0].Rows() >= 0 && in.readers[1].Rows() >= 0
	if again && (errors.Is(err, backend.ErrUnsupported) || errors.Is(err, backend.ErrHostMemory)) {
		if o.tempDir != "" && errors.Is(err, backend.ErrHostMemory) {
			in.refused = err
		}
		return nil
	}
	either := fixed.Spec.BuildSide == spirjoin.BuildAuto
	if either && errors.Is(err, backend.ErrHostMemory) {
		err = fmt.Errorf("%w; --build-side names the table that is to be in memory whole", err)
	}
	return explainKeys(err, o, in.readers)
}

// streamed returns the sources of a join of which one side is joined as it is read, with the layout that names the
// other one as the build side. The layout is nil where both are to be read first. The caller calls release when the
// join has begun.
func streamed(ctx context.Context, o joinOptions, layout *spirjoin.JoinLayout, in *inputs, report *joinReport) (
	fixed *spirjoin.JoinLayout, sources [2]spirjoin.Source, release func(), err error) {
	release = func() {}
	side, ok := streamedSide(o, &layout.Spec, in.readers)
	if !ok {
		return nil, sources, release, nil
	}
	asked := *layout
	fixed = &asked
	able := func(build spirjoin.JoinBuildSide) bool {
		fixed.Spec.BuildSide = build
		return fixed.CheckStream(build) == nil
	}
	sources = [2]spirjoin.Source{in.source(0), in.source(1)}
	switch {
	case side == eitherSide:
		if !able(spirjoin.BuildLeft) && !able(spirjoin.BuildRight) {
			return nil, sources, release, nil
		}
		fixed.Spec.BuildSide = spirjoin.BuildAuto
	default:
		builds := [2]spirjoin.JoinBuildSide{spirjoin.BuildRight, spirjoin.BuildLeft}
		if !able(builds[side]) {
			// Pairs do not come in the order of the build side. The longer side may be it, if it can be divided. If the
			// build side is named, both are divided at once.
			named, able := layout.Spec.BuildSide != spirjoin.BuildAuto, able(builds[1-side])
			if named {
				fixed.Spec.BuildSide = layout.Spec.BuildSide
				able = fixed.CheckDivided(layout.Spec.BuildSide) == nil && o.memoryLimitBytes > 0
			}
			if o.tempDir == "" || !able {
				return nil, sources, release, nil
			}
		}
		if o.tempDir != "" { // it may have to be divided as it is read
			break
		}
		reading := time.Now()
		table, err := in.read(ctx, 1-side)
		if err != nil {
			return nil, sources, release, err
		}
		report.ReadSeconds += time.Since(reading).Seconds()
		sources[1-side], release = spirjoin.FromTable(table), table.Release
	}
	return fixed, sources, release, nil
}

// source is a side that is read batch by batch.
func (in *inputs) source(side int) spirjoin.Source {
	r := in.readers[side]
	return spirjoin.Source{Schema: r.Schema(), Rows: r.Rows(), Again: r.Rows() >= 0,
		Batches: func(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] { return r.Batches(ctx, in.needed[side]) }}
}
