package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// mostRanges is the number of oversized partitions beyond which all rows are joined anew instead of theirs.
const mostRanges = 256

// span is the rows from first to end-1 of a partitioned side.
type span struct{ first, end uint64 }

// peel joins the rows of the oversized partitions, all together, and returns how many rows of output they make. Keys
// that collide are told apart by a partition with a fresh seed. What is too much for units then too, because a key is
// hot or because keys were made to collide again, is sorted: that minds neither, and pairs are expanded with the work
// divided by output, so that one hot key occupies the whole device.
func (j *join) peel(ctx context.Context) (rows uint64, err error) {
	spans, err := j.oversizedSpans(ctx)
	if err != nil {
		return 0, err
	}
	if j.round+1 == len(seeds) {
		return j.peelBySorting(ctx, spans)
	}
	o := Options{Unique: j.Unique, CountFirst: j.CountFirst, force: j.force}
	sub := &join{lane: j.lane.Nested(ctx), Options: o, round: j.round + 1, counting: j.counting}
	defer sub.lane.Memory.ReleaseAll()
	for i := range sub.sides {
		s := &j.sides[i]
		r := resident.Relation{Rows: rowsOf(spans[i])}
		keys := j.lane.Memory.New(r.Rows*uint64(s.MovedKeyBytes()), "oversized "+s.Name+" keys")
		var ids *backend.Buffer
		if !j.counting {
			ids = j.lane.Memory.New(r.Rows*4, "oversized "+s.Name+" rows")
		}
		defer j.lane.Memory.Release(keys, ids)
		if err := j.lane.Memory.Err(); err != nil {
			return 0, err
		}
		if err := j.loadSpans(ctx, &s.Input, spans[i], keys.All(), ids.All()); err != nil {
			return 0, err
		}
		r.Keys = resident.Column{Data: keys.All(), Bytes: s.MovedKeyBytes()}
		if !j.counting {
			r.Payload = []resident.Column{{Data: ids.All(), Bytes: 4}}
		}
		sub.sides[i].Input = resident.NewInput(r, "oversized "+s.Name)
	}
	if err := sub.begin(); err != nil {
		return 0, err
	}
	if j.counting {
		return sub.count(ctx)
	}
	sub.out.NoKeys = true
	if rows, err = sub.match(ctx); err != nil {
		return 0, err
	}
	pairs, err := sub.result(ctx, rows)
	if err != nil {
		return 0, err
	}
	pairs.Move(j.lane.Memory)
	for i := range j.peeled {
		j.peeled[i] = pairs.Payload[i][0]
	}
	return rows, nil
}

// peelBySorting is the last way to peel.
func (j *join) peelBySorting(ctx context.Context, spans [2][]span) (rows uint64, err error) {
	problem := ranges.Problem{Rows: [2]uint64{rowsOf(spans[0]), rowsOf(spans[1])}, HasIDs: [2]bool{true, true},
		KeyBytes: j.sides[build].MovedKeyBytes(), KeyBits: 8 * j.sides[build].MovedKeyBytes(), CountOnly: j.counting}
	p, err := ranges.NewPlan(j.lane.Tuning(), problem)
	if err != nil {
		return 0, err
	}
	load := func(ctx context.Context, s relation.Side, keys, ids backend.Range) error {
		return j.loadSpans(ctx, &j.sides[s].Input, spans[s], keys, ids)
	}
	approve := func(total uint64) error {
		if j.counting {
			return nil
		}
		return resident.CheckRows(total)
	}
	m, err := ranges.Match(ctx, j.lane, p, load, approve)
	if err != nil {
		return 0, err
	}
	defer m.Release()
	if m.Total == 0 || j.counting {
		return m.Total, nil
	}
	for i := range j.peeled {
		j.peeled[i] = j.lane.Memory.New(m.Total*4, "peeled row numbers")
	}
	if err := j.lane.Memory.Err(); err != nil {
		return 0, err
	}
	list := j.lane.List("expand")
	if err := m.RecordPairs(list, 0, uint32(m.Total), j.peeled[build].All(), j.peeled[probe].All()); err != nil {
		return 0, err
	}
	return m.Total, j.lane.Submit(ctx, list)
}

func rowsOf(spans []span) (rows uint64) {
	for _, s := range spans {
		rows += s.end - s.first
	}
	return rows
}

// oversizedSpans reads where partitions begin and lists those that have no units on both sides.
func (j *join) oversizedSpans(ctx context.Context) (spans [2][]span, err error) {
	most := uint32(mostRanges)
	if j.force.ranges > 0 {
		most = j.force.ranges
	}
	if j.oversized > most {
		j.out.Units = 0
		return [2][]span{{{0, j.sides[0].Rows}}, {{0, j.sides[1].Rows}}}, nil
	}
	var starts [2][]uint32
	for s := range starts {
		starts[s] = make([]uint32, 1<<j.bits+1)
		if err := j.lane.Download(ctx, backend.AsBytes(starts[s]), j.sides[s].starts); err != nil {
			return spans, err
		}
	}
	for p := range 1 << j.bits {
		if starts[build][p+1]-starts[build][p] > mostTables*j.config.Table && starts[probe][p+1] > starts[probe][p] {
			for s := range spans {
				spans[s] = append(spans[s], span{uint64(starts[s][p]), uint64(starts[s][p+1])})
			}
		}
	}
	return spans, nil
}

// loadSpans copies the keys of spans, and makes the numbers of their rows.
func (j *join) loadSpans(ctx context.Context, s *resident.Input, spans []span, keys, ids backend.Range) error {
	temporary := j.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	numbers := temporary.New(s.Rows*4, "row numbers")
	if err := temporary.Err(); err != nil {
		return err
	}
	list := j.lane.List("peel")
	if err := j.lane.Iota(list, numbers.All(), s.Rows, 0); err != nil {
		return err
	}
	width, at := uint64(s.MovedKeyBytes()), uint64(0)
	for _, span := range spans {
		rows := span.end - span.first
		if err := j.lane.Copy(list, part(keys, at*width, rows*width),
			part(s.Ordered, span.first*width, rows*width)); err != nil {
			return err
		}
		if j.counting {
			at += rows
			continue // there are no row numbers
		}
		if err := j.lane.Copy(list, part(ids, at*4, rows*4), numbers.Range(span.first*4, rows*4)); err != nil {
			return err
		}
		at += rows
	}
	return j.lane.Submit(ctx, list)
}

func part(r backend.Range, offsetBytes, sizeBytes uint64) backend.Range {
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes + offsetBytes, SizeBytes: sizeBytes}
}

// expandPeeled writes the first rows of the output, those of oversized partitions: what the kernel writes of the
// others.
func (j *join) expandPeeled(ctx context.Context) error {
	rows := j.out.Peeled
	if rows == 0 {
		return nil
	}
	temporary := j.lane.Scope(ctx)
	defer temporary.ReleaseAll()
	list := j.lane.List("gather peeled")
	gather := func(bytes int, from backend.Range, s int, to *backend.Buffer) error {
		return j.lane.Gather(list, bytes, from, j.peeled[s].Range(0, rows*4), to.Range(0, rows*uint64(bytes)),
			uint32(rows))
	}
	if !j.out.NoKeys {
		width, keys := j.sides[build].MovedKeyBytes(), j.out.Keys
		if j.bits > 0 {
			keys = temporary.New(rows*uint64(width), "peeled keys")
			if err := temporary.Err(); err != nil {
				return err
			}
		}
		if err := gather(width, j.sides[build].Ordered, build, keys); err != nil {
			return err
		}
		if j.bits > 0 {
			config := kernel.UnmixKeys.With(nil)
			config.KeyBits, config.Widened = uint32(width*8), j.widened()
			k, err := kernel.UnmixKeys.On(j.lane.Device(), config)
			if err != nil {
				return err
			}
			k.Dispatch(list, kernel.Groups(config, rows), kernel.UnmixKeysArgs{
				Keys: keys.All(), Unmixed: j.out.Keys.Range(0, rows*uint64(j.sides[build].Keys.Bytes)),
				Rows: uint32(rows), Seed: seeds[j.round], High: j.high,
			})
		}
	}
	for s := range j.sides {
		for _, c := range j.sides[s].Columns() {
			var err error
			if c.From.Buffer != nil {
				err = gather(c.Bytes, c.From, s, c.Out)
			} else {
				err = j.lane.Copy(list, c.Out.Range(0, rows*4), j.peeled[s].Range(0, rows*4))
			}
			if err != nil {
				return err
			}
		}
	}
	return j.lane.Submit(ctx, list)
}
