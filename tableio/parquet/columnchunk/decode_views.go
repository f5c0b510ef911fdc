package columnchunk

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// viewSink collects text and binary views: values of a fixed width that hold up to twelve bytes, or point into a
// buffer. What is appended of a page of values adds a buffer of exactly their bytes; a dictionary page adds one, the first
// of all slices, for all that its indices stand for.
type viewSink struct {
	fixedSink
	text     bool // must be UTF-8
	maxBytes int64

	mem         memory.Allocator
	dataBytes   int64
	data        []*memory.Buffer
	dictionary  int   // of data, the buffers of the dictionary: at most one
	sharedBytes int64 // of these
}

const inlineBytes = 12 // of a view

func (s *viewSink) reserve(mem memory.Allocator, rows int) {
	s.mem = mem
	s.fixedSink.reserve(mem, rows)
}

func (s *viewSink) setDictionary(plain []byte, n int) error {
	err := s.fixedSink.setDictionary(plain, n)
	s.dictionary, s.sharedBytes = len(s.data), s.dataBytes
	return err
}

func (s *viewSink) bytes() int64 { return s.dataBytes - s.sharedBytes }

// views is the converter.
func (s *viewSink) views(dst, plain []byte, n int) (usedBytes int, err error) {
	room := len(plain) - 4*n
	if room < 0 {
		return 0, errShort
	}
	from, long := 0, 0
	for range n {
		length := int(load32(plain[from:]))
		if length > room {
			return 0, errShort
		}
		room -= length
		if s.text && !utf8.Valid(plain[from+4:from+4+length]) {
			return 0, errText
		}
		if length > inlineBytes {
			long += length
		}
		from += 4 + length
	}
	var out []byte
	if long > 0 {
		s.dataBytes += int64(long)
		if err := checkMaxBytes(s.dataBytes, s.maxBytes); err != nil {
			return 0, err
		}
		if long > math.MaxInt32 || len(s.data) == math.MaxInt32 {
			return 0, errors.New("more than 2 GiB of text or binary values in one page")
		}
		buffer := memory.NewResizableBuffer(s.mem)
		s.data = append(s.data, buffer)
		buffer.Resize(long)
		out = buffer.Bytes()
	}
	at := 0
	for rest := plain; n > 0; n-- {
		length := int(load32(rest))
		value := rest[4 : 4+length]
		rest = rest[4+length:]
		view := dst[:arrow.ViewHeaderSizeBytes]
		dst = dst[arrow.ViewHeaderSizeBytes:]
		binary.LittleEndian.PutUint32(view, uint32(length))
		if length <= inlineBytes {
			clear(view[4+copy(view[4:], value):])
			continue
		}
		copy(view[4:8], value)
		binary.LittleEndian.PutUint32(view[8:], uint32(len(s.data)-1))
		binary.LittleEndian.PutUint32(view[12:], uint32(at))
		at += copy(out[at:], value)
	}
	return from, nil
}

func (s *viewSink) finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	buffers := append([]*memory.Buffer{validity, s.buffer}, s.data...)
	return array.NewData(dt, s.at, buffers, nil, nulls, 0), nil
}

func (s *viewSink) release() {
	s.fixedSink.release()
	s.keep(s.dictionary)
}

func (s *viewSink) close() { s.keep(0) }

// keep releases all but the first buffers of data.
func (s *viewSink) keep(buffers int) {
	for _, buffer := range s.data[buffers:] {
		s.dataBytes -= int64(buffer.Len())
		buffer.Release()
	}
	s.data = s.data[:buffers]
}
