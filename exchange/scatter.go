package exchange

import (
	"context"
	"runtime"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// scatter knows where the rows of a table go. Each core takes a range of the rows, which are read in their order and
// written to the places of the range in each part: as many streams as there are parts, instead of one far read per
// value.
//
//	rows    0 1 2 | 3 4 5      two cores
//	of      B A B | A A B
//	at      A: 0, B: 0 | A: 1, B: 2      where each core begins in each part
//	parts   A: 1 3 4   B: 0 2 5
type scatter struct {
	of     []uint16  // part of each row; the number of parts for rows that are in none
	at     [][]int64 // by core and part
	starts []int64   // of each part among the rows of all parts, and the end
}

// newScatter counts the rows of each part.
func newScatter(of []uint16, parts int) *scatter {
	s := &scatter{of: of, at: make([][]int64, cores()), starts: make([]int64, parts+1)}
	for core := range s.at {
		s.at[core] = make([]int64, parts+1) // the last counts rows that are in no part
	}
	inRanges(len(s.at), len(of), func(core, from, to int) {
		count(of[from:to], s.at[core])
	})
	for part := range parts {
		sum := int64(0)
		for _, at := range s.at {
			at[part], sum = sum, sum+at[part]
		}
		s.starts[part+1] = s.starts[part] + sum
	}
	return s
}

// count adds up the rows of each part. Rows with even and odd numbers are counted apart, because two
// increments of one counter in a row wait for one another.
func count(of []uint16, counts []int64) {
	odd := make([]int64, len(counts))
	for ; len(of) >= 2; of = of[2:] {
		counts[of[0]]++
		odd[of[1]]++
	}
	for _, part := range of {
		counts[part]++
	}
	for part, n := range odd {
		counts[part] += n
	}
}

// rows is the number of rows of a part.
func (s *scatter) rows(part int) int64 { return s.starts[part+1] - s.starts[part] }

// order sets the row numbers, part by part.
func (s *scatter) order(order []uint32) {
	inRanges(len(s.at), len(s.of), func(core, from, to int) {
		next := slices.Clone(s.at[core][:len(s.starts)-1])
		for part := range next {
			next[part] += s.starts[part]
		}
		for row := from; row < to; row++ {
			part := int(s.of[row])
			if part >= len(next) {
				continue
			}
			order[next[part]] = uint32(row)
			next[part]++
		}
	})
}

// column divides a column of fixed width without NULL into one array for each part, of memory of its own or, together,
// of the same; nil for other columns.
func (s *scatter) column(column *arrow.Chunked, together bool, alloc memory.Allocator) (parts []arrow.Array) {
	rowBytes := plainBytes(column)
	if rowBytes == 0 {
		return nil
	}
	out := s.buffers(rowBytes, together, alloc)
	switch rowBytes {
	case 1:
		scatterAll[uint8](s, column, out)
	case 2:
		scatterAll[uint16](s, column, out)
	case 4:
		scatterAll[uint32](s, column, out)
	case 8:
		scatterAll[uint64](s, column, out)
	case 16:
		scatterAll[[2]uint64](s, column, out)
	}
	for part, buffer := range out {
		data := array.NewData(column.DataType(), int(s.rows(part)), []*memory.Buffer{nil, buffer}, nil, 0, 0)
		buffer.Release()
		parts = append(parts, array.MakeFromData(data))
		data.Release()
	}
	return parts
}

// buffers are one of each part.
func (s *scatter) buffers(rowBytes int, together bool, alloc memory.Allocator) []*memory.Buffer {
	const alignment = 256 // of what a kernel reads
	out, at, all := make([]*memory.Buffer, len(s.starts)-1), 0, (*memory.Buffer)(nil)
	partBytes := func(part int) int { return int(s.rows(part)) * rowBytes }
	if together {
		sum := 0
		for part := range out {
			sum += (partBytes(part) + alignment - 1) &^ (alignment - 1)
		}
		all = memory.NewResizableBuffer(alloc)
		all.Resize(sum)
		defer all.Release()
	}
	for part := range out {
		if together {
			out[part] = memory.SliceBuffer(all, at, partBytes(part))
			at += (partBytes(part) + alignment - 1) &^ (alignment - 1)
			continue
		}
		out[part] = memory.NewResizableBuffer(alloc)
		out[part].Resize(partBytes(part))
	}
	return out
}

// plainBytes is the size of the values of a column that can be copied as they are; 0 if they cannot.
func plainBytes(column *arrow.Chunked) int {
	t, ok := column.DataType().(arrow.FixedWidthDataType)
	if !ok || column.NullN() > 0 || !slices.Contains([]int{8, 16, 32, 64, 128}, t.BitWidth()) {
		return 0
	}
	switch t.(type) {
	case arrow.NestedType, arrow.ExtensionType, *arrow.DictionaryType:
		return 0
	}
	rowBytes := t.BitWidth() / 8
	for _, chunk := range column.Chunks() {
		data := chunk.Data()
		b, sizeBytes := data.Buffers(), (data.Offset()+data.Len())*rowBytes
		if len(b) != 2 || data.Len() > 0 && (b[1] == nil || b[1].Len() < sizeBytes) {
			return 0 // it is corrupt, as a gather will say
		}
	}
	return rowBytes
}

func scatterAll[T any](s *scatter, column *arrow.Chunked, into []*memory.Buffer) {
	inRanges(len(s.at), len(s.of), func(core, from, to int) {
		out, first := make([]cursor, len(into)), 0
		for part, buffer := range into {
			out[part] = cursor{unsafe.Pointer(unsafe.SliceData(buffer.Bytes())), s.at[core][part]}
		}
		for _, chunk := range column.Chunks() {
			begin, end := max(from, first), min(to, first+chunk.Len())
			if begin < end {
				values := valuesOf[T](chunk.Data().Buffers()[1])[chunk.Data().Offset()+begin-first:]
				scatterValues(values[:end-begin], s.of[begin:end], out)
			}
			first += chunk.Len()
		}
	})
}

// cursor is where the next row of a part goes, in values of that.
type cursor struct {
	to unsafe.Pointer
	at int64
}

// scatterValues appends values to their parts, which have room for them: the rows of each were counted. Values of rows
// that are in no part are left out.
func scatterValues[T any](values []T, of []uint16, out []cursor) {
	of = of[:len(values)]
	for i, v := range values {
		part := int(of[i])
		if part >= len(out) {
			continue
		}
		c := &out[part]
		*(*T)(unsafe.Add(c.to, c.at*int64(unsafe.Sizeof(v)))) = v
		c.at++
	}
}

func valuesOf[T any](buffer *memory.Buffer) []T {
	var zero T
	b := buffer.Bytes()
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/unsafe.Sizeof(zero))
}

// scratch returns memory for n values, which is not cleared, and frees it. In Go's heap a collection would follow each
// block of a division.
func scratch[T any](alloc memory.Allocator, n int) (values []T, free func()) {
	buffer := memory.NewResizableBuffer(alloc)
	var zero T
	buffer.Resize(n * int(unsafe.Sizeof(zero)))
	return valuesOf[T](buffer), buffer.Release
}

func cores() int { return runtime.GOMAXPROCS(0) }

// inRanges divides n into cores ranges. Each core calls do with its number and its range.
func inRanges(cores, n int, do func(core, from, to int)) {
	var group errgroup.Group
	for core := range cores {
		group.Go(func() error {
			do(core, n*core/cores, n*(core+1)/cores)
			return nil
		})
	}
	_ = group.Wait() // do has no error
}

// onAllCores is a group of as many goroutines at a time as there are cores.
func onAllCores(ctx context.Context) (*errgroup.Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cores())
	return group, ctx
}
