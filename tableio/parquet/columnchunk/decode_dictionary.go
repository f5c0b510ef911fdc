package columnchunk

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dictionarySink keeps a dictionary as it is: its page becomes the values, indices stay indices. Values of pages that
// are not indices are looked up in a hash table and, if they are new, added to the dictionary.
type dictionarySink struct {
	indices  fixedSink // a PLAIN form is never appended to it
	mem      memory.Allocator
	values   sink
	physical physical
	most     int // values that the index type can count

	plain  []byte // values of the dictionary in the PLAIN form; booleans as bytes
	inPage int    // values of the dictionary page
	count  int    // and of the whole dictionary
	lookup map[string]uint32

	made      arrow.ArrayData // the dictionary of the slice before; nil: none
	madeCount int             // values of it
}

func newDictionarySink(dt *arrow.DictionaryType, values sink, physical physical) *dictionarySink {
	width := dt.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	bits := 8 * width
	if arrow.IsSignedInteger(dt.IndexType.ID()) {
		bits--
	}
	return &dictionarySink{
		indices: fixedSink{width: width}, values: values, physical: physical, most: 1 << min(bits, 30),
	}
}

func (s *dictionarySink) reserve(mem memory.Allocator, rows int) {
	s.mem = mem
	s.indices.reserve(mem, rows)
}

func (s *dictionarySink) setDictionary(plain []byte, n int) error {
	if s.physical.width < 0 {
		return errBoolDictionary
	}
	end := 0
	for range n {
		_, next, err := s.value(plain, end)
		if err != nil {
			return err
		}
		end = next
	}
	s.plain = append(s.plain, plain[:end]...)
	s.inPage, s.count = n, n
	return nil
}

// value gives the value at a position, without its length, and the position of the next.
func (s *dictionarySink) value(plain []byte, at int) (value []byte, next int, err error) {
	length := s.physical.width
	switch {
	case length < 0:
		length = 1
	case length == 0:
		if len(plain)-at < 4 {
			return nil, 0, errShort
		}
		length = int(load32(plain[at:]))
		at += 4
	}
	if length > len(plain)-at {
		return nil, 0, errShort
	}
	return plain[at : at+length], at + length, nil
}

func (s *dictionarySink) lengths([]uint32, int64) func(int) int64 { return nil }
func (s *dictionarySink) bytes() int64                            { return 0 }

func (s *dictionarySink) appendIndices(indices []uint32) error {
	limit := uint32(min(s.inPage, s.most))
	for _, index := range indices {
		if index >= limit {
			if uint(index) < uint(s.inPage) {
				return s.errMost()
			}
			return errIndex(index, s.inPage)
		}
	}
	at := s.indices.at
	s.indices.at += len(indices)
	out := s.indices.out[at*s.indices.width : s.indices.at*s.indices.width]
	switch s.indices.width {
	case 1:
		narrowIndices(out, indices)
	case 2:
		narrowIndices(view[uint16](out), indices)
	case 4:
		copy(view[uint32](out), indices)
	case 8:
		narrowIndices(view[uint64](out), indices)
	}
	return nil
}

func narrowIndices[T uint8 | uint16 | uint64](out []T, indices []uint32) {
	out = out[:len(indices)]
	for i, index := range indices {
		out[i] = T(index)
	}
}

func (s *dictionarySink) errMost() error {
	return fmt.Errorf("more than %d distinct values: the index type of the dictionary cannot count them", s.most)
}

func (s *dictionarySink) appendPlain(plain []byte, n int) (int, error) {
	if s.lookup == nil {
		s.lookup = map[string]uint32{}
		at := 0
		for i := range s.count {
			value, next, err := s.value(s.plain, at)
			if err != nil {
				return 0, err
			}
			if _, twice := s.lookup[string(value)]; !twice {
				s.lookup[string(value)] = uint32(i)
			}
			at = next
		}
	}
	if s.physical.width < 0 {
		if (n+7)/8 > len(plain) {
			return 0, errShort
		}
		for i := range n {
			bit := []byte{plain[i>>3] >> (i & 7) & 1}
			if err := s.appendValue(bit, bit); err != nil {
				return 0, err
			}
		}
		return (n + 7) / 8, nil
	}
	at := 0
	for range n {
		value, next, err := s.value(plain, at)
		if err != nil {
			return 0, err
		}
		if err := s.appendValue(value, plain[at:next]); err != nil {
			return 0, err
		}
		at = next
	}
	return at, nil
}

// appendValue appends a value, given with its length too.
func (s *dictionarySink) appendValue(value, plain []byte) error {
	index, ok := s.lookup[string(value)]
	if !ok {
		if s.count == s.most {
			return s.errMost()
		}
		index = uint32(s.count)
		s.count++
		s.lookup[string(value)] = index
		s.plain = append(s.plain, plain...)
	}
	if int(index) >= s.most {
		return s.errMost()
	}
	width := s.indices.width
	for i := range width {
		s.indices.out[s.indices.at*width+i] = byte(uint64(index) >> (8 * i))
	}
	s.indices.at++
	return nil
}

func (s *dictionarySink) spread(rows, valid int, validity []byte) {
	s.indices.spread(rows, valid, validity)
}

// finish hands over the dictionary of the slice before, if no value was added to it.
func (s *dictionarySink) finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	if s.made == nil || s.madeCount < s.count {
		s.close()
		made, err := s.makeValues(dt.(*arrow.DictionaryType).ValueType)
		if err != nil {
			return nil, err
		}
		s.made, s.madeCount = made, s.count
	}
	buffers := []*memory.Buffer{validity, s.indices.buffer}
	return array.NewDataWithDictionary(dt, s.indices.at, buffers, nulls, 0, s.made.(*array.Data)), nil
}

func (s *dictionarySink) makeValues(dt arrow.DataType) (arrow.ArrayData, error) {
	plain := s.plain
	if s.physical.width < 0 {
		plain = make([]byte, (s.count+7)/8)
		for i, value := range s.plain {
			bitutil.SetBitTo(plain, i, value != 0)
		}
	}
	s.values.reserve(s.mem, s.count)
	if s.count > 0 {
		if _, err := s.values.appendPlain(plain, s.count); err != nil {
			return nil, err
		}
	}
	return s.values.finish(dt, nil, 0)
}

func (s *dictionarySink) release() {
	s.indices.release()
	s.values.release()
}

func (s *dictionarySink) close() {
	if s.made != nil {
		s.made.Release()
		s.made = nil
	}
}
