package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Scan brings rows of a table to the device as a chunk: the codes of its keys, columns, and row numbers. Rows without a
// key are left out.
type Scan struct {
	Side    relation.Side // that Keys know the table by
	Table   arrow.Table
	Keys    *relation.KeyPlan
	Columns []*arrow.Chunked // of 4 or 8 bytes a value and without nulls
	Names   []string         // of these
	Numbers bool             // the last payload column is the number of the row
	Keyless bool             // rows without a key are rows of the output
}

// Rows is the number of rows that have a key.
func (s *Scan) Rows() uint64 { return s.Keys.Rows(s.Side) }

// Payload are the bytes of the payload columns of a chunk.
func (s *Scan) Payload() (bytes []int) {
	for _, c := range s.Columns {
		bytes = append(bytes, relation.DeviceValueBytes(c.DataType()))
	}
	if s.Numbers {
		bytes = append(bytes, 4)
	}
	return bytes
}

// granules cuts the table into parts of at most rows rows with a key, and brought in all; one part for rows 0.
func (s *Scan) granules(rows, brought uint64) (bounds []int) {
	all := int(s.Table.NumRows())
	bounds = []int{0}
	if rows == 0 {
		return append(bounds, all)
	}
	for from := 0; from < all; {
		to := from
		for step := all - from; step > 0; step /= 2 {
			for to+step <= all && uint64(to+step-from) <= brought && s.Keys.RowsIn(s.Side, from, to+step) <= rows {
				to += step
			}
		}
		from = max(to, from+1)
		bounds = append(bounds, from)
	}
	if all == 0 {
		bounds = append(bounds, 0)
	}
	return bounds
}

// load brings the rows from from to to-1 of the table to memory of a scope. Device and host may be at work on them when
// it returns; commands that are submitted later see them.
func (s *Scan) load(ctx context.Context, lane *exec.Lane, memory *exec.Scope, from, to int) (*relation.Chunk, error) {
	c := &relation.Chunk{Rows: s.Keys.RowsIn(s.Side, from, to)}
	column := func(rows uint64, bytes int, label string) relation.Values {
		return relation.Values{Data: memory.New(rows*uint64(bytes), s.Side.String()+" "+label).All(), Bytes: bytes}
	}
	c.Keys = column(c.Rows, s.Keys.KeyBytes(), "keys")
	if err := memory.Err(); err != nil {
		return nil, err
	}
	if _, err := s.Keys.LoadRows(ctx, lane.Device(), s.Side, from, to, c.Keys.Data, backend.Range{}); err != nil {
		return nil, err
	}
	keep, err := s.keyed(ctx, lane, from, to)
	defer keep.temporary.ReleaseAll()
	if err != nil {
		return nil, err
	}
	rows := uint64(to - from)
	for i, values := range s.Columns {
		bytes := relation.DeviceValueBytes(values.DataType())
		all := column(rows, bytes, "column "+s.Names[i])
		if err := memory.Err(); err != nil {
			return nil, err
		}
		if err := relation.UploadRows(ctx, lane.Device(), values, from, to, all.Data); err != nil {
			return nil, err
		}
		kept, err := keep.column(ctx, lane, memory, all, c.Rows)
		if err != nil {
			return nil, err
		}
		c.Payload = append(c.Payload, kept)
	}
	if !s.Numbers {
		return c, nil
	}
	numbers := column(rows, 4, "row numbers")
	if err := memory.Err(); err != nil || rows == 0 {
		c.Payload = append(c.Payload, numbers)
		return c, err
	}
	list := lane.List("number " + s.Side.String())
	if err := lane.Iota(list, numbers.Data, rows, uint32(from)); err != nil {
		return nil, err
	}
	if err := lane.Submit(ctx, list); err != nil {
		return nil, err
	}
	kept, err := keep.column(ctx, lane, memory, numbers, c.Rows)
	c.Payload = append(c.Payload, kept)
	return c, err
}

// keyed keeps the rows of columns that have a key.
type keyed struct {
	all       bool // every row has one
	temporary *exec.Scope
	plan      primitive.CompactPlan
	bits      backend.Range
	scratch   backend.Range
}

func (s *Scan) keyed(ctx context.Context, lane *exec.Lane, from, to int) (k keyed, err error) {
	k.temporary = lane.Scope(ctx)
	if k.all = s.Keys.RowsIn(s.Side, from, to) == uint64(to-from) || len(s.Payload()) == 0; k.all {
		return k, nil
	}
	if k.plan, err = primitive.PlanCompact(lane.Tuning(), uint64(to-from)); err != nil {
		return k, err
	}
	selected := s.Keys.Selected(s.Side, from, to)
	bits, scratch := k.temporary.New(uint64(len(selected))*4, "rows with a key"),
		k.temporary.New(k.plan.ScratchBytes, "scratch")
	if err := k.temporary.Err(); err != nil {
		return k, err
	}
	k.bits, k.scratch = bits.All(), scratch.All()
	point, err := lane.Device().Upload(ctx, k.bits, backend.AsBytes(selected))
	if err == nil {
		err = point.Wait(ctx)
	}
	if err != nil {
		return k, err
	}
	list := lane.List("number " + s.Side.String())
	if err := lane.CompactOffsets(list, k.plan, k.bits, k.scratch); err != nil {
		return k, err
	}
	return k, lane.Submit(ctx, list)
}

// column returns a column with rows rows instead of all, which it releases.
func (k *keyed) column(ctx context.Context, lane *exec.Lane, memory *exec.Scope, all relation.Values,
	rows uint64) (kept relation.Values, err error) {
	if k.all {
		return all, nil
	}
	kept = relation.Values{Data: memory.New(rows*uint64(all.Bytes), all.Data.Buffer.Label()).All(), Bytes: all.Bytes}
	if err := memory.Err(); err != nil {
		return kept, err
	}
	if rows > 0 {
		list := lane.List("number columns")
		if err := lane.Compact(list, k.plan, all.Bytes, k.bits, all.Data, kept.Data, k.scratch); err != nil {
			return kept, err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return kept, err
		}
	}
	memory.Release(all.Data.Buffer)
	return kept, nil
}

// keyless puts the rows of the table that have no key.
func (s *Scan) keyless(ctx context.Context, lane *exec.Lane, side int, sink operator.Sink, count bool) error {
	ids, err := s.Keys.Keyless(ctx, s.Side, 0, int(s.Table.NumRows()))
	if err != nil {
		return err
	}
	return s.put(ctx, lane, side, false, ids, sink, count)
}

// put puts rows of the table by their numbers, or counts them. matched says that they have a partner.
func (s *Scan) put(ctx context.Context, lane *exec.Lane, side int, matched bool, ids []uint32, sink operator.Sink,
	count bool) error {
	if len(ids) == 0 {
		return nil
	}
	if err := sink.Count(ctx, uint64(len(ids))); err != nil || count {
		return err
	}
	for len(ids) > 0 {
		w, err := sink.Window(ctx, uint64(len(ids)))
		if err != nil {
			return err
		}
		part := ids[:min(uint64(len(ids)), w.Rows)]
		ids = ids[len(part):]
		upload := func(column int, to backend.Range) error {
			if column == len(s.Columns) {
				_, err := lane.Device().Upload(ctx, to, backend.AsBytes(part))
				return err
			}
			return relation.UploadAt(ctx, lane.Device(), s.Columns[column], part, to)
		}
		if err := w.Load(ctx, sink, side, matched, uint64(len(part)), s.Payload(), upload); err != nil {
			return err
		}
	}
	return nil
}

// String describes the scan for an explain text.
func (s *Scan) String() string {
	columns := []string{fmt.Sprintf("keys of %d bytes", s.Keys.KeyBytes())}
	columns = append(columns, s.Names...)
	if s.Numbers {
		columns = append(columns, "row numbers")
	}
	out := fmt.Sprintf("%s, %s: %s", s.Side, text.Plural(int(s.Rows()), "row"), strings.Join(columns, ", "))
	if left := uint64(s.Table.NumRows()) - s.Rows(); s.Keyless && left > 0 {
		out += fmt.Sprintf("; %d without a key are kept apart", left)
	}
	return out
}
