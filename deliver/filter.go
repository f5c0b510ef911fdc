package deliver

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Predicate tells which pairs of rows are partners: it clears bit i%64 of word i/64 of keep if row rows[0][i] of the
// left table and row rows[1][i] of the right table are not. It may use all cores.
type Predicate func(ctx context.Context, rows [2][]uint32, keep []uint64) error

// Filter is the sink of an operator whose pairs are only candidates. It tests which of them are partners, passes these
// on and marks their rows. After the last window, the marks decide which rows without a partner, or of one table alone,
// the kind of join outputs.
//
//	window        marks     keep     put
//	(2,7) (2,5)   2, 7, 5   11       (2,7) (2,5)   the window itself
//	(4,5) (6,1)   6, 1      01       (6,1)         compacted
type Filter struct {
	operator.Sink // takes the output rows
	Room
	// Keep and the fields below may change between windows.
	Keep    Predicate
	Sides   [2]relation.Side // of the build side and of the probe side
	Numbers [2]int           // index of the payload column of each side that holds row numbers
	Payload [2][]int         // bytes per value of all payload columns
	Want    operator.Want    // which rows the output has
	Time    *atomic.Int64    // nanoseconds that downloads and the predicate have taken
	// Texts are the keys of both sides on the device. If both are present, the device compares the texts, and the
	// predicate is not called.
	Texts [2]*Texts

	marks       [2][]uint64 // bitmaps of the rows of each side that have a partner, if needed
	deviceMarks [2]*backend.Buffer
	rows        [2]uint64
	numbers     [2][]uint32
}

const (
	testRows = 1 << 20 // pairs tested at a time on the host
	keepRows = 1 << 16 // minimum number of rows of a window that are compacted at a time
	// compareRows is the number of pairs compared at a time on the device.
	compareRows = 1 << 24
)

// CompareBytes is the device memory to compare pairs on the device, in addition to texts and marks.
const CompareBytes = compareRows / 8

// Texts are the key columns of some rows of a table, on the device.
type Texts struct {
	Columns []primitive.Texts
	First   uint32 // number of the first row
}

// FilterBytes is the device memory that a filter takes for pairs with rowBytes of payload.
func FilterBytes(t primitive.Tuning, rowBytes uint64) (sizeBytes uint64, err error) {
	sizeBytes, err = operator.KeepBytes(t, keepRows, rowBytes)
	return sizeBytes + sizeBytes/8, err
}

// FilterHostBytes is the host memory that a filter takes for windows of rows rows: a bit per row, and the row numbers
// that are tested at a time.
func FilterHostBytes(rows uint64) uint64 { return rows/8 + 2*4*min(rows, testRows) }

// Open begins a table with this number of rows on a side, or the next part of one. No row is marked yet.
func (f *Filter) Open(side int, rows uint64) {
	f.Lane.Memory.Release(f.deviceMarks[side])
	f.rows[side], f.marks[side], f.deviceMarks[side] = rows, nil, nil
	if f.Want.Marks(side) {
		f.marks[side] = make([]uint64, (rows+63)/64)
	}
}

// Count does nothing, because candidates are not output rows.
func (f *Filter) Count(context.Context, uint64) error { return nil }

// passes reports whether pairs are output rows.
func (f *Filter) passes() bool { return f.Want.Pairs && !f.Want.Count }

// Window returns an empty window: one of the sink if pairs are output rows.
func (f *Filter) Window(ctx context.Context, rows uint64) (*operator.Window, error) {
	if f.passes() {
		return f.Sink.Window(ctx, rows)
	}
	return f.Room.Window(ctx, rows), nil
}

// Put tests the pairs of a window, marks the rows of those that are partners, and passes these pairs on.
func (f *Filter) Put(ctx context.Context, w *operator.Window) (err error) {
	passed := false
	defer func() {
		if !passed {
			w.Release()
		}
	}()
	keep, kept, err := f.test(ctx, w)
	if err != nil || kept == 0 || !f.Want.Pairs {
		return err
	}
	if err := f.Sink.Count(ctx, kept); err != nil || f.Want.Count {
		return err
	}
	if kept == w.Rows {
		passed = true
		return f.Sink.Put(ctx, w)
	}
	return f.Room.Keep(ctx, f.Sink, w, f.Payload, keep)
}

// test returns a bitmap of the pairs of a window that are partners, and their number, and marks their rows.
func (f *Filter) test(ctx context.Context, w *operator.Window) (keep []uint64, kept uint64, err error) {
	start := time.Now()
	defer func() { f.Time.Add(int64(time.Since(start))) }()
	if f.Texts[operator.Build] != nil && f.Texts[operator.Probe] != nil {
		return f.compare(ctx, w)
	}
	keep = make([]uint64, (w.Rows+63)/64)
	for first := uint64(0); first < w.Rows; first += testRows {
		rows := min(testRows, w.Rows-first)
		var tables [2][]uint32
		for side, table := range f.Sides {
			if uint64(len(f.numbers[side])) < rows {
				f.numbers[side] = make([]uint32, rows)
			}
			numbers := f.numbers[side][:rows]
			from := w.Payload[side][f.Numbers[side]].Range(first*4, rows*4)
			if err := f.Lane.Download(ctx, backend.AsBytes(numbers), from); err != nil {
				return nil, 0, err
			}
			tables[table] = numbers
		}
		words := keep[first/64:][:(rows+63)/64]
		for i := range words {
			words[i] = ^uint64(0)
		}
		words[len(words)-1] >>= -rows & 63
		if err := f.Keep(ctx, tables, words); err != nil {
			return nil, 0, err
		}
		kept += countBits(words)
		for side, table := range f.Sides {
			mark(f.marks[side], tables[table], words)
		}
	}
	return keep, kept, nil
}

// compare is test on the device, which sends one bit per pair to the host.
func (f *Filter) compare(ctx context.Context, w *operator.Window) (keep []uint64, kept uint64, err error) {
	keep = make([]uint64, (w.Rows+63)/64)
	temporary := f.Lane.Scope(ctx)
	defer temporary.ReleaseAll()
	buffer := temporary.New(min(uint64(len(keep))*8, CompareBytes), "pairs that stay")
	if err := temporary.Err(); err != nil {
		return nil, 0, err
	}
	if err := f.openMarks(ctx); err != nil {
		return nil, 0, err
	}
	for first := uint64(0); first < w.Rows; first += compareRows {
		rows := min(compareRows, w.Rows-first)
		words := keep[first/64:][:(rows+63)/64]
		all := buffer.Range(0, uint64(len(words))*8)
		list := f.Lane.List("compare")
		list.Fill(all, ^uint32(0))
		var of [2]primitive.TextRows
		for side, texts := range f.Texts {
			of[side] = primitive.TextRows{First: texts.First,
				IDs: w.Payload[side][f.Numbers[side]].Range(first*4, rows*4)}
		}
		for k := range f.Texts[operator.Build].Columns {
			for side, texts := range f.Texts {
				of[side].Texts = &texts.Columns[k]
			}
			if err := f.Lane.CompareTexts(list, of[operator.Build], of[operator.Probe], all, rows); err != nil {
				return nil, 0, err
			}
		}
		for side, marks := range f.deviceMarks {
			if marks != nil {
				if err := f.Lane.MarkKept(list, all, of[side].IDs, marks.All(), rows); err != nil {
					return nil, 0, err
				}
			}
		}
		if err := f.Lane.Submit(ctx, list); err != nil {
			return nil, 0, err
		}
		if err := f.Lane.Download(ctx, backend.AsBytes(words), all); err != nil {
			return nil, 0, err
		}
		words[len(words)-1] &= ^uint64(0) >> (-rows & 63)
		kept += countBits(words)
	}
	return keep, kept, nil
}

func countBits(words []uint64) (set uint64) {
	for _, word := range words {
		set += uint64(bits.OnesCount64(word))
	}
	return set
}

// openMarks allocates the bitmaps of marks on the device, if they are needed and not there yet.
func (f *Filter) openMarks(ctx context.Context) error {
	list := f.Lane.List("compare")
	for side, marks := range f.marks {
		if len(marks) == 0 || f.deviceMarks[side] != nil {
			continue
		}
		f.deviceMarks[side] = f.Lane.Memory.New(uint64(len(marks))*8, "rows with a partner")
		if err := f.Lane.Memory.Err(); err != nil {
			return err
		}
		list.Fill(f.deviceMarks[side].All(), 0)
	}
	if len(list.Commands) == 0 {
		return nil
	}
	return f.Lane.Submit(ctx, list)
}

// mark sets the bits of the rows whose pairs stay, on all cores. It does nothing if marks is empty.
func mark(marks []uint64, rows []uint32, keep []uint64) {
	if len(marks) == 0 {
		return
	}
	var wait sync.WaitGroup
	part := (len(keep) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for from := 0; from < len(keep); from += part {
		wait.Go(func() {
			for w, word := range keep[from:min(from+part, len(keep))] {
				for ; word != 0; word &= word - 1 {
					row := rows[(from+w)*64+bits.TrailingZeros64(word)]
					if bit := uint64(1) << (row & 63); atomic.LoadUint64(&marks[row>>6])&bit == 0 {
						atomic.OrUint64(&marks[row>>6], bit)
					}
				}
			}
		})
	}
	wait.Wait()
}

// Rows lists the rows of a side that have a partner or, with matched false, those that have none, in ascending order.
func (f *Filter) Rows(ctx context.Context, side int, matched bool) (rows []uint32, err error) {
	marks, err := f.allMarks(ctx, side)
	if err != nil {
		return nil, err
	}
	for w, word := range marks {
		if !matched {
			word = ^word
		}
		if rest := f.rows[side] - uint64(w)*64; rest < 64 {
			word &= 1<<rest - 1
		}
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(w*64+bits.TrailingZeros64(word)))
		}
	}
	return rows, nil
}

// Among filters row numbers of a side in place. It keeps the rows that have a partner or, if matched is false, the rows
// that have none.
func (f *Filter) Among(ctx context.Context, side int, rows []uint32, matched bool) (kept []uint32, err error) {
	marks, err := f.allMarks(ctx, side)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(row uint32) bool { return (marks[row>>6]>>(row&63)&1 == 1) != matched }), nil
}

// allMarks are the marks of a side, those on the device too.
func (f *Filter) allMarks(ctx context.Context, side int) (marks []uint64, err error) {
	there := f.deviceMarks[side]
	if there == nil {
		return f.marks[side], nil
	}
	marks = make([]uint64, len(f.marks[side]))
	if err := f.Lane.Download(ctx, backend.AsBytes(marks), there.All()); err != nil {
		return nil, err
	}
	for w, word := range f.marks[side] {
		marks[w] |= word
	}
	return marks, nil
}

// Merge adds the marks of a side of another filter, which has tested other pairs with rows of the same table.
func (f *Filter) Merge(ctx context.Context, side int, other *Filter) error {
	marks, err := other.allMarks(ctx, side)
	for w, word := range marks {
		f.marks[side][w] |= word
	}
	return err
}

// Close releases the marks on the device.
func (f *Filter) Close() {
	for side := range f.deviceMarks {
		f.Lane.Memory.Release(f.deviceMarks[side])
		f.deviceMarks[side] = nil
	}
}
