package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// mostRanges is the number of oversized partitions beyond which all rows are sorted instead of theirs.
const mostRanges = 256

// span is the rows from first to end-1 of a partitioned side.
type span struct{ first, end uint64 }

// peel finds the matches of the oversized partitions, all together, by sorting their rows: a hot key fills a partition however
// many there are, and keys that differ may have been made to collide. Sorting minds neither, and pairs are expanded with the work
// divided by output, so that one hot key occupies the whole device.
func (j *join) peel(ctx context.Context) error {
	spans, err := j.oversizedSpans(ctx)
	if err != nil {
		return err
	}
	problem := sortmerge.Problem{HasIDs: [2]bool{true, true}, KeyBytes: j.sides[build].Keys.Bytes, KeyBits: 8 * j.sides[build].Keys.Bytes, CountOnly: j.counting}
	for s, list := range spans {
		for _, span := range list {
			problem.Rows[s] += span.end - span.first
		}
	}
	p, err := sortmerge.NewPlan(j.ops.Tuning(), problem)
	if err != nil {
		return err
	}
	load := func(ctx context.Context, s int, keys, ids backend.Range) error {
		return j.loadSpans(ctx, &j.sides[s].Side, spans[s], keys, ids)
	}
	approve := func(total uint64) error {
		if total > primitive.MaxRows && !j.counting {
			return resident.TooManyRows(total)
		}
		return nil
	}
	j.peeled, err = sortmerge.Match(ctx, j.ops, p, load, approve, j.profile)
	return err
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
		if err := j.ops.Device().Download(ctx, backend.AsBytes(starts[s]), j.sides[s].starts); err != nil {
			return spans, err
		}
	}
	for p := range 1 << j.bits {
		if starts[build][p+1]-starts[build][p] > mostTables*j.config["table"] && starts[probe][p+1] > starts[probe][p] {
			for s := range spans {
				spans[s] = append(spans[s], span{uint64(starts[s][p]), uint64(starts[s][p+1])})
			}
		}
	}
	return spans, nil
}

// loadSpans copies the keys of spans, and makes the numbers of their rows.
func (j *join) loadSpans(ctx context.Context, s *resident.Side, spans []span, keys, ids backend.Range) error {
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	numbers := temporary.New(s.Rows*4, "row numbers")
	if temporary.Err != nil {
		return temporary.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("peel")
	if err := j.ops.Iota(&list, numbers.All(), s.Rows, 0); err != nil {
		return err
	}
	width, at := uint64(s.Keys.Bytes), uint64(0)
	for _, span := range spans {
		rows := span.end - span.first
		if err := j.ops.Copy(&list, part(keys, at*width, rows*width), part(s.Ordered, span.first*width, rows*width)); err != nil {
			return err
		}
		if j.counting {
			at += rows
			continue // there are no row numbers
		}
		if err := j.ops.Copy(&list, part(ids, at*4, rows*4), numbers.Range(span.first*4, rows*4)); err != nil {
			return err
		}
		at += rows
	}
	_, err := j.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}

func part(r backend.Range, offsetBytes, sizeBytes uint64) backend.Range {
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes + offsetBytes, SizeBytes: sizeBytes}
}

// expandPeeled writes the first rows of the output, those of oversized partitions: what the kernel writes of the others.
func (j *join) expandPeeled(ctx context.Context) error {
	rows := j.peeled.Total
	if rows == 0 {
		return nil
	}
	temporary := resident.Memory{Device: j.ops.Device()}
	defer temporary.ReleaseAll()
	var numbers [2]backend.Range
	for s := range numbers {
		numbers[s] = temporary.New(rows*4, "peeled row numbers").All()
	}
	if temporary.Err != nil {
		return temporary.Err
	}
	list := backend.List{Profile: j.profile}
	list.Stage("expand")
	if err := j.peeled.RecordPairs(&list, 0, uint32(rows), numbers[build], numbers[probe]); err != nil {
		return err
	}
	gather := func(bytes int, from backend.Range, s int, to *backend.Buffer) error {
		return j.ops.Gather(&list, bytes, from, numbers[s], to.Range(0, rows*uint64(bytes)), uint32(rows))
	}
	keyBytes := j.sides[build].Keys.Bytes
	if err := gather(keyBytes, j.sides[build].Ordered, build, j.out.Keys); err != nil {
		return err
	}
	if j.bits > 0 {
		k, err := j.ops.Device().Kernel(kernel.UnmixKeys, backend.Config{"key_bits": uint32(keyBytes * 8)})
		if err != nil {
			return err
		}
		list.Dispatch(k, kernel.Groups(k.Config, rows), []backend.Range{j.out.Keys.Range(0, rows*uint64(keyBytes))}, uint32(rows), seed)
	}
	for s := range j.sides {
		for _, c := range j.sides[s].Columns() {
			var err error
			if c.From.Buffer != nil {
				err = gather(c.Bytes, c.From, s, c.Out)
			} else {
				err = j.ops.Copy(&list, c.Out.Range(0, rows*4), numbers[s])
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := j.ops.Device().Submit(ctx, backend.Compute, &list)
	return err
}
