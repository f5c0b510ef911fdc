package columnchunk

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// boolSink collects bits.
type boolSink struct {
	buffer *memory.Buffer
	at     int
}

func (s *boolSink) reserve(mem memory.Allocator, rows int) {
	s.buffer = memory.NewResizableBuffer(mem)
	s.buffer.Resize((rows + 7) / 8)
	clear(s.buffer.Buf())
	s.at = 0
}

var errBoolDictionary = errors.New("booleans have no dictionary")

func (s *boolSink) setDictionary([]byte, int) error { return errBoolDictionary }
func (s *boolSink) appendIndices([]uint32) error    { return errBoolDictionary }

func (s *boolSink) lengths([]uint32, int64) func(int) int64 { return nil }
func (s *boolSink) bytes() int64                            { return 0 }

func (s *boolSink) appendPlain(plain []byte, n int) (int, error) {
	used := (n + 7) / 8
	if used > len(plain) {
		return 0, errShort
	}
	bitutil.CopyBitmap(plain, 0, n, s.buffer.Bytes(), s.at)
	s.at += n
	return used, nil
}

func (s *boolSink) spread(rows, valid int, validity []byte) {
	bits := s.buffer.Bytes()
	first := s.at - valid
	s.at = first + rows
	i, j := s.at, s.at-rows+valid // as spreadWords, over bits
	for i > j && j > first {
		i--
		set := bitutil.BitIsSet(validity, i)
		if set {
			j--
		}
		bitutil.SetBitTo(bits, i, set && bitutil.BitIsSet(bits, j))
	}
	if j == first {
		bitutil.SetBitsTo(bits, int64(first), int64(i-first), false)
	}
}

func (s *boolSink) finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	return array.NewData(dt, s.at, []*memory.Buffer{validity, s.buffer}, nil, nulls, 0), nil
}

func (s *boolSink) release() {
	if s.buffer != nil {
		s.buffer.Release()
		s.buffer = nil
	}
}

func (s *boolSink) close() {}
