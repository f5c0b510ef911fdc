package columnchunk

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// converter writes n values, given in the PLAIN form, to dst in Arrow's form, and says how many bytes they took. The
// length of dst is exactly theirs.
type converter func(dst, plain []byte, n int) (usedBytes int, err error)

// fixedSink collects values that have a fixed width in Arrow's form.
type fixedSink struct {
	width   int
	convert converter
	*scratch

	buffer     *memory.Buffer
	out        []byte // of buffer
	at         int    // rows of the slice so far
	dictionary int    // number of entries in scratch
}

func (s *fixedSink) reserve(mem memory.Allocator, rows int) {
	s.buffer = memory.NewResizableBuffer(mem)
	s.buffer.Resize(rows * s.width)
	s.out = s.buffer.Bytes()
	s.at = 0
}

func (s *fixedSink) appendPlain(plain []byte, n int) (int, error) {
	used, err := s.convert(s.out[s.at*s.width:(s.at+n)*s.width], plain, n)
	s.at += n
	return used, err
}

// widestNumber is the width of decimal256. Wider values have the same width in a page; that of numbers may be 1.
const widestNumber = 32

func (s *fixedSink) setDictionary(plain []byte, n int) error {
	if n > len(plain) || s.width > widestNumber && n > len(plain)/s.width { // before memory is taken for them
		return errShort
	}
	s.entries = grown(s.entries, n*s.width)
	s.dictionary = n
	_, err := s.convert(s.entries, plain, n)
	return err
}

func (s *fixedSink) lengths([]uint32, int64) func(int) int64 { return nil }
func (s *fixedSink) bytes() int64                            { return 0 }

func errIndex(index uint32, values int) error {
	return fmt.Errorf("the index %d into a dictionary of %d values", index, values)
}

func (s *fixedSink) appendIndices(indices []uint32) error {
	dictionary := s.entries[:s.dictionary*s.width]
	out := s.out[s.at*s.width : (s.at+len(indices))*s.width]
	s.at += len(indices)
	switch s.width {
	case 1:
		return gather(out, dictionary, indices)
	case 2:
		return gather(view[uint16](out), view[uint16](dictionary), indices)
	case 4:
		return gather(view[uint32](out), view[uint32](dictionary), indices)
	case 8:
		return gather(view[uint64](out), view[uint64](dictionary), indices)
	case 16:
		return gather(view[[2]uint64](out), view[[2]uint64](dictionary), indices)
	case 32:
		return gather(view[[4]uint64](out), view[[4]uint64](dictionary), indices)
	}
	for i, index := range indices {
		if uint(index) >= uint(s.dictionary) {
			return errIndex(index, s.dictionary)
		}
		copy(out[i*s.width:(i+1)*s.width], dictionary[int(index)*s.width:])
	}
	return nil
}

func gather[T any](out, dictionary []T, indices []uint32) error {
	out = out[:len(indices)]
	for i, index := range indices {
		if uint(index) >= uint(len(dictionary)) {
			return errIndex(index, len(dictionary))
		}
		out[i] = dictionary[index]
	}
	return nil
}

func (s *fixedSink) spread(rows, valid int, validity []byte) {
	first := s.at - valid
	s.at = first + rows
	out := s.out[first*s.width : s.at*s.width]
	switch s.width {
	case 1:
		spreadWords(out, valid, validity, first)
	case 2:
		spreadWords(view[uint16](out), valid, validity, first)
	case 4:
		spreadWords(view[uint32](out), valid, validity, first)
	case 8:
		spreadWords(view[uint64](out), valid, validity, first)
	case 16:
		spreadValues(view[[2]uint64](out), valid, validity, first)
	case 32:
		spreadValues(view[[4]uint64](out), valid, validity, first)
	default:
		spreadBytes(out, s.width, valid, validity, first)
	}
}

// spreadWords moves the first values of out, as many as are valid, to the rows whose bits are set, and clears the
// others. The bits of the rows begin at bit first. It goes from the end to the beginning, so that no value is
// overwritten before it has moved, and ends where all remaining values are in place.
func spreadWords[T uint8 | uint16 | uint32 | uint64](out []T, valid int, bits []byte, first int) {
	i, j := len(out), valid
	for i > j && j > 0 {
		i--
		bit := bits[(first+i)>>3] >> ((first + i) & 7) & 1
		j -= int(bit)
		out[i] = out[j] & -T(bit) // no branch: nulls are hard to predict
	}
	if j == 0 {
		clear(out[:i])
	}
}

// spreadValues is spreadWords for wide values.
func spreadValues[T any](out []T, valid int, bits []byte, first int) {
	var null T
	i, j := len(out), valid
	for i > j && j > 0 {
		i--
		if bits[(first+i)>>3]>>((first+i)&7)&1 == 1 {
			j--
			out[i] = out[j]
		} else {
			out[i] = null
		}
	}
	if j == 0 {
		clear(out[:i])
	}
}

// spreadBytes is spreadWords for values of any width.
func spreadBytes(out []byte, width, valid int, bits []byte, first int) {
	i, j := len(out)/width, valid
	for i > j && j > 0 {
		i--
		if bits[(first+i)>>3]>>((first+i)&7)&1 == 1 {
			j--
			copy(out[i*width:(i+1)*width], out[j*width:(j+1)*width])
		} else {
			clear(out[i*width : (i+1)*width])
		}
	}
	if j == 0 {
		clear(out[:i*width])
	}
}

func (s *fixedSink) finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	return array.NewData(dt, s.at, []*memory.Buffer{validity, s.buffer}, nil, nulls, 0), nil
}

func (s *fixedSink) release() {
	if s.buffer != nil {
		s.buffer.Release()
		s.buffer = nil
	}
}

func (s *fixedSink) close() {}

// view looks at bytes as values of a width that divides their number.
func view[T any](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
