package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Scan loads rows of a table onto the device as a chunk: key codes, columns, and row numbers. Rows without a key are
// left out.
type Scan struct {
	Side    relation.Side // side of the table in Keys
	Table   arrow.Table
	Keys    *keys.Plan
	Columns []*arrow.Chunked // the columns that move as words
	Names   []string         // of Columns
	Words   relation.Words   // of Columns; they are the first payload columns
	Numbers bool             // the last payload column is the row number
	Keyless keys.Keyless     // which rows without a key are in the output
	Encodes bool             // the device makes the key codes ([Engine.EncodesKeys])
	// Unpinned says that the keys count as not pinned, because the table stands for other tables whose keys are not, or
	// because the plan was made for such tables.
	Unpinned bool
	InPlace  []bool // by word: the device reads it where the table has it ([Engine.InPlace])
	// Origins are the numbers of the rows in their source, 64-bit integers, for errors that name rows; nil: the row
	// numbers in the table.
	Origins *arrow.Chunked
	// Selection replaces the rows of the table; nil: all of them. Proof replaces them where the query checks that keys
	// are unique; nil: as Selection.
	Selection, Proof *Selection
}

// origin is the number that a row has in its source.
func (s *Scan) origin(row int64) int64 {
	if s.Origins != nil {
		for _, chunk := range s.Origins.Chunks() {
			if row < int64(chunk.Len()) {
				return chunk.(*array.Int64).Value(int(row))
			}
			row -= int64(chunk.Len())
		}
	}
	return row
}

// Rows returns the number of rows that have a key.
func (s *Scan) Rows() uint64 { return s.rowsIn(0, int(s.loads())) }

// Payload returns the bytes per value of the payload columns of a chunk.
func (s *Scan) Payload() []int {
	if s.Numbers {
		return append(slices.Clip(s.Words.Bytes), 4)
	}
	return s.Words.Bytes
}

// granules divides the table into parts with at most rows rows with a key and at most brought rows in all. It returns
// the first row of each part, and the end. If rows is 0, there is one part.
func (s *Scan) granules(rows, brought uint64) (bounds []int) {
	all := int(s.loads())
	bounds = []int{0}
	if rows == 0 {
		return append(bounds, all)
	}
	for from := 0; from < all; {
		to := from
		for step := all - from; step > 0; step /= 2 {
			for to+step <= all && uint64(to+step-from) <= brought && s.rowsIn(from, to+step) <= rows {
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

// Load loads the rows [from, to) of the table, or of the selection, into memory of a scope. The device and the host may
// still be at work when Load returns; commands that are submitted later see the result.
func (s *Scan) Load(ctx context.Context, lane *exec.Lane, memory *exec.Scope, from, to int) (*relation.Chunk, error) {
	return s.load(ctx, lane, memory, from, to, nil)
}

// load is Load. If texts is not nil, the device has their texts and hashes the keys.
func (s *Scan) load(ctx context.Context, lane *exec.Lane, memory *exec.Scope, from, to int, texts *deliver.Texts) (
	*relation.Chunk, error) {
	if s.Selection != nil {
		return s.loadSelected(ctx, lane, memory, from, to)
	}
	keep, err := s.keyed(ctx, lane, from, to)
	defer keep.temporary.ReleaseAll()
	if err != nil {
		return nil, err
	}
	l := load{Scan: s, lane: lane, memory: memory, from: from, to: to, keep: keep, texts: texts}
	l.codes = func() error { return nil }
	defer func() { _ = l.codes() }() // after a panic too, the memory is released only then
	l.chunk.Rows = s.Keys.RowsIn(s.Side, from, to)
	if err = l.keys(ctx); err == nil {
		err = l.words(ctx)
	}
	err = cmp.Or(err, l.codes())
	if err == nil && s.Encodes {
		err = l.encoded(ctx)
	}
	if err == nil && s.Numbers {
		err = l.numbers(ctx)
	}
	return &l.chunk, err
}

// load is the loading of some rows of a table into a chunk.
type load struct {
	*Scan
	lane     *exec.Lane
	memory   *exec.Scope
	from, to int
	keep     keyed
	chunk    relation.Chunk
	encoder  encoder        // used if the device makes the codes
	texts    *deliver.Texts // texts of keys that the device hashes; nil otherwise
	codes    func() error   // waits until the codes that the host makes are loaded
}

// column allocates a column of rows values.
func (l *load) column(rows uint64, bytes int, label string) relation.Values {
	return relation.Values{Data: l.memory.New(rows*uint64(bytes), l.Side.String()+" "+label).All(), Bytes: bytes}
}

func (l *load) rows() uint64 { return uint64(l.to - l.from) }

// put adds a column to the chunk, restricted to the rows that have a key.
func (l *load) put(ctx context.Context, all relation.Values) error {
	kept, err := l.keep.column(ctx, l.lane, l.memory, all, l.chunk.Rows)
	l.chunk.Payload = append(l.chunk.Payload, kept)
	return err
}

// keys hashes keys on the device, or allocates codes that the device or the host will make. The host makes them while
// columns are loaded: one keeps cores busy, the other memory.
func (l *load) keys(ctx context.Context) (err error) {
	if l.texts != nil {
		l.chunk.Keys, err = l.hash(ctx)
		return err
	}
	rows := l.chunk.Rows
	if l.Encodes {
		rows = l.rows()
	}
	codes := l.column(rows, l.Keys.KeyBytes(), "keys")
	if err := l.memory.Err(); err != nil {
		return err
	}
	if l.Encodes {
		l.encoder = encoder{lane: l.lane, from: l.from, to: l.to, keys: l.Keys.Encoded(l.Side), codes: codes}
		return nil
	}
	l.chunk.Keys = codes
	l.codes = l.Keys.LoadRows(ctx, l.lane.Device(), l.Side, l.from, l.to, codes.Data)
	return nil
}

// encoded completes the codes that the device makes.
func (l *load) encoded(ctx context.Context) (err error) {
	if err = l.encoder.rest(ctx); err == nil {
		l.chunk.Keys, err = l.keep.column(ctx, l.lane, l.memory, l.encoder.codes, l.chunk.Rows)
	}
	return err
}

// words loads the columns.
func (l *load) words(ctx context.Context) error {
	words := loader{l.lane, l.Words, l.Columns, "number " + l.Side.String()}
	for _, part := range words.parts() {
		if values, ok := l.borrow(&part); ok {
			l.chunk.Payload = append(l.chunk.Payload, values)
			if err := l.encoder.words(ctx, l.Names[part.column], values.Data); err != nil {
				return err
			}
			continue
		}
		all, into := make([]relation.Values, part.words), make([]backend.Range, part.words)
		for i := range all {
			all[i] = l.column(l.rows(), l.Words.Bytes[part.first+i], l.label(&part))
			into[i] = all[i].Data
		}
		err := l.memory.Err()
		if err == nil {
			err = part.load(ctx, l.from, l.to, into)
		}
		if err == nil && part.column >= 0 {
			err = l.encoder.words(ctx, l.Names[part.column], into[0])
		}
		for i := 0; err == nil && i < len(all); i++ {
			err = l.put(ctx, all[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numbers adds the column of row numbers.
func (l *load) numbers(ctx context.Context) error {
	numbers := l.column(l.rows(), 4, "row numbers")
	if err := l.memory.Err(); err != nil {
		return err
	}
	if l.rows() > 0 {
		list := l.lane.List("number " + l.Side.String())
		if err := l.lane.Iota(list, numbers.Data, l.rows(), uint32(l.from)); err != nil {
			return err
		}
		if err := l.lane.Submit(ctx, list); err != nil {
			return err
		}
	}
	return l.put(ctx, numbers)
}

func (s *Scan) label(part *wordPart) string {
	if part.column < 0 {
		return "shared word"
	}
	return "column " + s.Names[part.column]
}

// keyed removes the rows without a key from columns.
type keyed struct {
	all       bool // every row has a key
	temporary *exec.Scope
	plan      primitive.CompactPlan
	bits      backend.Range
	scratch   backend.Range
}

func (s *Scan) keyed(ctx context.Context, lane *exec.Lane, from, to int) (k keyed, err error) {
	k.temporary = lane.Scope(ctx)
	if k.all = s.Keys.RowsIn(s.Side, from, to) == uint64(to-from) || len(s.Payload()) == 0 && !s.Encodes; k.all {
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

// column returns the rows rows of a column that have a key, and releases the column of all rows.
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

// keyless outputs those rows of the table without a key that are in the output.
func (s *Scan) keyless(ctx context.Context, lane *exec.Lane, side int, sink operator.Sink, count bool) error {
	if s.keylessRows() == 0 {
		return nil
	}
	ids, err := s.Keys.Keyless(ctx, s.Side, s.Keyless, 0, int(s.Table.NumRows()))
	if err != nil {
		return err
	}
	return s.put(ctx, lane, side, false, ids, sink, count)
}

// put outputs or counts rows of the table by number. matched says that they have a partner.
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
		if err := w.Load(ctx, sink, side, matched, uint64(len(part)), s.Payload(), func(columns []backend.Range) error {
			return s.loadAt(ctx, lane, part, columns)
		}); err != nil {
			return err
		}
	}
	return nil
}

// loadAt loads the rows with the given numbers, which are few, into columns.
func (s *Scan) loadAt(ctx context.Context, lane *exec.Lane, numbers []uint32, columns []backend.Range) error {
	taken := make([]*arrow.Chunked, len(s.Columns))
	for i, column := range s.Columns {
		values, err := take.Rows(ctx, column, numbers, memory.NewGoAllocator())
		if err != nil {
			return err
		}
		defer values.Release()
		taken[i] = arrow.NewChunked(values.DataType(), []arrow.Array{values})
		defer taken[i].Release()
	}
	words := loader{lane, s.Words, taken, "number " + s.Side.String()}
	for _, part := range words.parts() {
		if err := part.load(ctx, 0, len(numbers), columns[part.first:][:part.words]); err != nil {
			return err
		}
	}
	if s.Numbers {
		_, err := lane.Device().Upload(ctx, columns[len(columns)-1], backend.AsBytes(numbers))
		return err
	}
	return nil
}

// String describes the scan for an explain text.
func (s *Scan) String() string { return s.describe(text.Plural(int(s.Rows()), "row")) }

// describe is String with another text for the number of rows.
func (s *Scan) describe(rows string) string {
	columns := []string{fmt.Sprintf("keys of %d bytes", s.Keys.KeyBytes())}
	if s.Encodes {
		columns[0] += " made on the device"
	}
	columns = append(columns, s.Names...)
	if n := len(s.Words.Shared); n > 0 {
		columns = append(columns, text.Plural(n, "shared word"))
	}
	if s.Numbers {
		columns = append(columns, "row numbers")
	}
	out := fmt.Sprintf("%s, %s: %s", s.Side, rows, strings.Join(columns, ", "))
	if left := s.keylessRows(); left > 0 {
		out += fmt.Sprintf("; %d without a key are kept apart", left)
	}
	return out
}
