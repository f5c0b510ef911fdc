package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// bytesSink collects text and binary values with offsets.
type bytesSink[O int32 | int64] struct {
	text     bool // must be UTF-8
	maxBytes int64
	*scratch

	offsetBuffer, data *memory.Buffer
	offsets            []O   // rows + 1
	rows               int   // of the slice
	at                 int   // of these, so far
	values             int   // entries of the dictionary
	longest            int   // bytes of one
	most               int64 // bytes of all values of the slice
}

// copyBytes is what short values are copied with at once; as many may be written and read behind them.
const copyBytes = 32

// leastDataBytes is what the buffer of the values begins with.
const leastDataBytes = 4 << 10

func (s *bytesSink[O]) reserve(mem memory.Allocator, rows int) {
	s.rows, s.at = rows, 0
	s.offsetBuffer = memory.NewResizableBuffer(mem)
	s.offsetBuffer.Resize((rows + 1) * int(unsafe.Sizeof(O(0))))
	s.offsets = view[O](s.offsetBuffer.Bytes())
	s.offsets[0] = 0
	s.data = memory.NewResizableBuffer(mem)
}

// grow makes room for n more bytes and copyBytes behind them. How much more is likely to come is judged by the rows so
// far.
func (s *bytesSink[O]) grow(n, rows int) error {
	used := int(s.offsets[s.at])
	need := used + n
	if need < 0 || unsafe.Sizeof(O(0)) == 4 && need > math.MaxInt32 {
		return errors.New("the text or binary values have more than 2 GiB, too much for one array: " +
			"write the file with fewer rows in a row group, or the column as a large type")
	}
	if err := checkMaxBytes(int64(need), s.maxBytes); err != nil {
		return err
	}
	if need+copyBytes <= s.data.Cap() {
		return nil
	}
	rows = max(1, min(rows, s.rows-s.at))
	expected := min(float64(need)*float64(s.rows)/float64(s.at+rows)*1.02, float64(max(s.most, int64(need))))
	s.data.Reserve(max(need+need/4, int(min(expected, 8*float64(need))), leastDataBytes-copyBytes) + copyBytes)
	return nil
}

func checkMaxBytes(bytes, most int64) error {
	if most > 0 && bytes > most {
		return fmt.Errorf("the text or binary values have more than the %d bytes allowed", most)
	}
	return nil
}

func (s *bytesSink[O]) appendPlain(plain []byte, n int) (int, error) {
	room := len(plain) - 4*n // for the values, without their lengths
	if room < 0 {
		return 0, errShort
	}
	if err := s.grow(room, n); err != nil {
		return 0, err
	}
	start := int(s.offsets[s.at])
	out := s.data.Buf()
	offsets := s.offsets[s.at+1 : s.at+1+n]
	end, from := start, 0
	for i := range offsets {
		length := int(load32(plain[from:]))
		if length > room {
			return 0, errShort
		}
		room -= length
		from += 4
		if length <= copyBytes && from+copyBytes <= len(plain) {
			copyShort(out[end:], plain[from:])
		} else {
			copy(out[end:], plain[from:from+length])
		}
		end += length
		from += length
		offsets[i] = O(end)
	}
	if s.text && !validText(out[start:end], s.offsets[s.at:s.at+n], O(start)) {
		return 0, errText
	}
	s.at += n
	return from, nil
}

// copyShort copies copyBytes bytes.
func copyShort(dst, src []byte) {
	*(*[copyBytes]byte)(dst[:copyBytes]) = *(*[copyBytes]byte)(src[:copyBytes])
}

func (s *bytesSink[O]) setDictionary(plain []byte, n int) error {
	if len(plain)/4 < n {
		return errShort
	}
	room := len(plain) - 4*n
	s.values, s.longest = n, 0
	s.scratch.offsets = grown(s.scratch.offsets, n+1)
	s.entries = grown(s.entries, room+copyBytes)
	s.scratch.offsets[0] = 0
	offsets := s.scratch.offsets[1:]
	end := 0
	for i := range offsets {
		length := int(load32(plain))
		if length > room {
			return errShort
		}
		room -= length
		copy(s.entries[end:], plain[4:4+length])
		plain = plain[4+length:]
		end += length
		s.longest = max(s.longest, length)
		offsets[i] = uint32(end)
	}
	s.entries = s.entries[:end+copyBytes]
	if s.text && !validText(s.entries[:end], s.scratch.offsets[:n], 0) {
		return errText
	}
	return nil
}

func (s *bytesSink[O]) bytes() int64 { return int64(s.offsets[s.at]) }

func (s *bytesSink[O]) lengths(indices []uint32, roomBytes int64) func(int) int64 {
	if int64(len(indices))*int64(s.longest) <= roomBytes {
		return nil
	}
	dictionary := s.scratch.offsets[:s.values+1]
	return func(i int) int64 {
		if index := indices[i]; uint(index) < uint(s.values) {
			return int64(dictionary[index+1] - dictionary[index])
		}
		return 0
	}
}

func (s *bytesSink[O]) appendIndices(indices []uint32) error {
	dictionary := s.scratch.offsets[:s.values+1]
	total := 0
	for _, index := range indices {
		if uint(index) >= uint(len(dictionary)-1) {
			return errIndex(index, s.values)
		}
		total += int(dictionary[index+1] - dictionary[index])
	}
	if err := s.grow(total, len(indices)); err != nil {
		return err
	}
	end := int(s.offsets[s.at])
	offsets := s.offsets[s.at+1 : s.at+1+len(indices)]
	// The values end total bytes behind end, and copyBytes more may be written; indices were checked; so the buffers
	// are not left.
	out, values := unsafe.Pointer(unsafe.SliceData(s.data.Buf())), unsafe.Pointer(unsafe.SliceData(s.entries))
	for i, index := range indices {
		from := dictionary[index]
		length := int(dictionary[index+1] - from)
		if length <= copyBytes {
			*(*[copyBytes]byte)(unsafe.Add(out, end)) = *(*[copyBytes]byte)(unsafe.Add(values, from))
		} else {
			copy(unsafe.Slice((*byte)(unsafe.Add(out, end)), length), unsafe.Slice((*byte)(unsafe.Add(values, from)), length))
		}
		end += length
		offsets[i] = O(end)
	}
	s.at += len(indices)
	return nil
}

func (s *bytesSink[O]) spread(rows, valid int, validity []byte) {
	first := s.at - valid
	s.at = first + rows
	offsets := s.offsets[first : s.at+1]
	i, j := rows, valid
	for i > j {
		offsets[i] = offsets[j]
		i--
		j -= int(validity[(first+i)>>3] >> ((first + i) & 7) & 1)
	}
}

func (s *bytesSink[O]) finish(dt arrow.DataType, validity *memory.Buffer, nulls int) (arrow.ArrayData, error) {
	bytes := int(s.offsets[s.at])
	if s.data.Cap() > bytes+bytes/8+leastDataBytes {
		s.data.ResizeNoShrink(bytes + 64) // so that the next line shrinks
		s.data.Resize(bytes)
	}
	s.data.ResizeNoShrink(bytes)
	if s.at < s.rows { // the slice ended early
		s.offsetBuffer.Resize((s.at + 1) * int(unsafe.Sizeof(O(0))))
	}
	return array.NewData(dt, s.at, []*memory.Buffer{validity, s.offsetBuffer, s.data}, nil, nulls, 0), nil
}

func (s *bytesSink[O]) release() {
	if s.data != nil {
		s.offsetBuffer.Release()
		s.data.Release()
		s.offsetBuffer, s.data = nil, nil
	}
}

func (s *bytesSink[O]) close() {}

var errText = errors.New("text that is not valid UTF-8")

// validText says whether all values are UTF-8 that lie without gaps in data, each from its start, less base, on: the
// whole is, and no value begins inside a character.
func validText[O int32 | int64 | uint32](data []byte, starts []O, base O) bool {
	if isASCII(data) {
		return true
	}
	if !utf8.Valid(data) {
		return false
	}
	for _, start := range starts {
		if at := int(start - base); at < len(data) && !utf8.RuneStart(data[at]) {
			return false
		}
	}
	return true
}

func isASCII(data []byte) bool {
	for ; len(data) >= 32; data = data[32:] {
		x := binary.LittleEndian.Uint64(data) | binary.LittleEndian.Uint64(data[8:]) |
			binary.LittleEndian.Uint64(data[16:]) | binary.LittleEndian.Uint64(data[24:])
		if x&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, b := range data {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
