package relation

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Words describes how columns move through a join on a device: as payload columns of 4- and 8-byte words. The passes of
// a sort or a partition cannot move bits and narrow values, so columns share 4-byte words for them:
//
//	a  int32                 word 0
//	b  int64 with NULLs      word 1, of 8 bytes                      its validity is bit 24 of word 4
//	c  decimal128            words 2 and 3, of 8 bytes, lowest first
//	d  int16                 bits 0 to 15 of word 4
//	e  int8 with NULLs       bits 16 to 23 of word 4                 its validity is bit 25
//
// The words of single columns come first, in the order of the columns, then shared ones.
type Words struct {
	Bytes   []int // bytes of each word
	Columns []WordColumn
	Shared  []SharedWord // the last of the words
}

// WordColumn says where a column is in the words.
type WordColumn struct {
	Type         arrow.DataType
	First, Count int          // its own words; if there are none, Value is a field of a shared word
	Value, Valid *SharedField // Valid is nil if no value is NULL
}

// SharedField identifies a field by the index of its shared word and its index in that word.
type SharedField struct{ Word, Field int }

// SharedWord describes the fields of a 4-byte word.
type SharedWord struct {
	kernel.Fields
	sources []source // by field
}

// source says what a field holds: the values of a column, or its validity.
type source struct {
	column   int
	validity bool
}

// WordBits returns the bits per value of a type that moves as words: 1, 8, 16, 32, 64, 128 or 256. It is 0 for other
// types: variable width, nested, dictionaries, extensions.
func WordBits(t arrow.DataType) int {
	fixed, ok := t.(arrow.FixedWidthDataType)
	if !ok || t.ID() == arrow.DICTIONARY || t.ID() == arrow.EXTENSION ||
		!slices.Contains([]int{1, 8, 16, 32, 64, 128, 256}, fixed.BitWidth()) {
		return 0
	}
	return fixed.BitWidth()
}

// PlanWords lays out columns, all of whose types have [WordBits]. Nullable says that values of a field are NULL: a
// column without NULLs needs no validity bit, whatever its schema allows.
func PlanWords(columns []arrow.Field) (w Words) {
	var shared []source
	for i, column := range columns {
		c := WordColumn{Type: column.Type, First: len(w.Bytes)}
		switch bits := WordBits(column.Type); {
		case bits < 32:
			shared = append(shared, source{i, false})
		case bits == 32:
			c.Count = 1
			w.Bytes = append(w.Bytes, 4)
		default:
			c.Count = bits / 64
			w.Bytes = append(w.Bytes, slices.Repeat([]int{8}, c.Count)...)
		}
		w.Columns = append(w.Columns, c)
		if column.Nullable {
			shared = append(shared, source{i, true})
		}
	}
	// The widest come first, so that every word is full before the next one begins.
	slices.SortStableFunc(shared, func(a, b source) int { return cmp.Compare(w.bits(b), w.bits(a)) })
	for _, s := range shared {
		w.share(s)
	}
	return w
}

func (w *Words) bits(s source) int {
	if s.validity {
		return 1
	}
	return WordBits(w.Columns[s.column].Type)
}

// share gives a source a field of the last word, or of a new one.
func (w *Words) share(s source) {
	bits := w.bits(s)
	if n := len(w.Shared); n == 0 || int(w.Shared[n-1].Width())+bits > 32 {
		w.Shared, w.Bytes = append(w.Shared, SharedWord{}), append(w.Bytes, 4)
	}
	word := len(w.Shared) - 1
	to := &w.Shared[word]
	*map[int]*uint32{16: &to.Shorts, 8: &to.Bytes, 1: &to.Bits}[bits]++
	field, c := &SharedField{word, len(to.sources)}, &w.Columns[s.column]
	if to.sources = append(to.sources, s); s.validity {
		c.Valid = field
	} else {
		c.Value = field
	}
}

// SharedFrom returns the index of the first shared word.
func (w *Words) SharedFrom() int { return len(w.Bytes) - len(w.Shared) }

// ArrowBits returns the bits per row in Arrow's buffers.
func (w *Words) ArrowBits() (bits int) {
	for i := range w.Columns {
		bits += WordBits(w.Columns[i].Type)
		if w.Columns[i].Valid != nil {
			bits++
		}
	}
	return bits
}

// RepackedBits returns the bits per row that kernels read and write to convert Arrow's buffers to words, or back.
func (w *Words) RepackedBits() (bits int) {
	for i := range w.Columns {
		if c := &w.Columns[i]; c.Count > 1 {
			bits += 2 * 64 * c.Count
		}
	}
	for i := range w.Shared {
		bits += 32 + int(w.Shared[i].Width())
	}
	return bits
}

// Values returns the buffer that has all values of a column of 4 or 8 bytes per value, in order, and where in it they
// begin, in bytes; nil if they are in several chunks, or the type is another one.
func (c *WordColumn) Values(column *arrow.Chunked) (buffer []byte, offsetBytes uint64) {
	if c.Count != 1 {
		return nil, 0
	}
	for part := range rowsOf(column, 0, column.Len()) {
		if part.rows < column.Len() || part.check() != nil {
			return nil, 0
		}
		return BufferBytes(part.data, 1), uint64(part.first) * c.ValueBytes(1)
	}
	return nil, 0
}

// StageRows is the number of rows that are converted to words at a time. It keeps the parts of columns aligned.
const StageRows = 16 * BlockRows

// StageBytes returns the device memory for this conversion, for columns of rows rows.
func (w *Words) StageBytes(rows uint64) (sizeBytes uint64) {
	rows = min(rows, StageRows)
	for i := range w.Shared {
		sizeBytes = max(sizeBytes, w.Shared[i].SourceBytes(rows))
	}
	for i := range w.Columns {
		if c := &w.Columns[i]; c.Count > 1 {
			sizeBytes = max(sizeBytes, c.ValueBytes(rows))
		}
	}
	return sizeBytes
}

// HostStageBytes returns the host memory for this conversion: the sources of a shared word.
func (w *Words) HostStageBytes(rows uint64) (sizeBytes uint64) {
	for i := range w.Shared {
		sizeBytes = max(sizeBytes, w.Shared[i].SourceBytes(min(rows, StageRows)))
	}
	return sizeBytes
}

// OriginBytes is the size of the origins of [primitive.Ops.PackWords], with which the sources of a word begin.
const OriginBytes = 8 * kernel.MaxFields

// SourceBytes returns the number of bytes that Stage writes for rows rows.
func (s *SharedWord) SourceBytes(rows uint64) uint64 {
	sizeBytes := uint64(OriginBytes)
	for _, field := range s.Of() {
		sizeBytes += sourceBytes(field, rows)
	}
	return sizeBytes
}

// sourceBytes includes room for a bitmap that begins within a byte.
func sourceBytes(field kernel.Field, rows uint64) uint64 {
	return (rows*uint64(field.Bits)/8 + 2 + 63) &^ 63
}

// Stage writes what the rows [from, to) of the columns contribute to the word, SourceBytes bytes: the origins of the
// fields, then their sources. A bitmap is copied from the byte of its first bit on, unless the rows span several
// chunks. Errors wrap backend.ErrInvalidInput (corrupt buffers).
func (s *SharedWord) Stage(columns []*arrow.Chunked, from, to int, into []byte) error {
	origins, at := backend.Words(into[:OriginBytes]), uint64(OriginBytes)
	for i, field := range s.Of() {
		source, sizeBytes := s.sources[i], sourceBytes(field, uint64(to-from))
		values := into[at:][:sizeBytes]
		origins[2*i], origins[2*i+1] = uint32((at-OriginBytes)/4), 0
		for part := range rowsOf(columns[source.column], from, to) {
			if err := part.check(); err != nil {
				return err
			}
			switch {
			case field.Bits > 1:
				bytes := int(field.Bits / 8)
				copy(values[part.at*bytes:], BufferBytes(part.data, 1)[part.first*bytes:][:part.rows*bytes])
			case source.validity && !MayHaveNulls(part.data):
				bitutil.SetBitsTo(values, int64(part.at), int64(part.rows), true)
			case part.rows == to-from:
				origins[2*i+1] = uint32(part.first % 8)
				copy(values, source.bitmap(part.data)[part.first/8:(part.first+part.rows+7)/8])
			default:
				bitutil.CopyBitmap(source.bitmap(part.data), part.first, part.rows, values, part.at)
			}
		}
		at += sizeBytes
	}
	return nil
}

func (s source) bitmap(data arrow.ArrayData) []byte {
	if s.validity {
		return BufferBytes(data, 0)
	}
	return BufferBytes(data, 1)
}

// chunkRows are rows of a chunk: the first of them in its buffers, their number, and how many requested rows come
// before them.
type chunkRows struct {
	data            arrow.ArrayData
	first, rows, at int
}

// check returns backend.ErrInvalidInput if a buffer is too short.
func (r *chunkRows) check() error {
	if err := CheckBuffers(r.data, WordBits(r.data.DataType())); err != nil {
		return fmt.Errorf("%w: a column of type %s: %w", backend.ErrInvalidInput, r.data.DataType(), err)
	}
	return nil
}

// rowsOf yields the rows [from, to) of a column, chunk by chunk.
func rowsOf(column *arrow.Chunked, from, to int) iter.Seq[chunkRows] {
	return func(yield func(chunkRows) bool) {
		start := 0
		for _, chunk := range column.Chunks() {
			first, end := max(from-start, 0), min(to-start, chunk.Len())
			part := chunkRows{chunk.Data(), chunk.Data().Offset() + first, end - first, start + first - from}
			if first < end && !yield(part) {
				return
			}
			start += chunk.Len()
		}
	}
}

// UnpackedOffset returns where the column of a field begins in the output of [primitive.Ops.UnpackWords] for rows rows.
// For the number of all fields, it is the size of that output.
func (s *SharedWord) UnpackedOffset(field int, rows uint32) (offsetBytes uint64) {
	for i, f := range s.Of() {
		if i < field {
			offsetBytes += 4 * f.ColumnWords(rows)
		}
	}
	return offsetBytes
}

// BitOf returns the index of a field among the single bits.
func (s *SharedWord) BitOf(field int) int { return field - int(s.Shorts+s.Bytes) }

// ValueBytes returns the size of the value buffer of an array of rows rows.
func (c *WordColumn) ValueBytes(rows uint64) uint64 { return (rows*uint64(WordBits(c.Type)) + 7) / 8 }

// Array returns an array of the given buffers, which it retains. validity is nil if there are no nulls. The caller
// releases the array.
func (c *WordColumn) Array(rows int, values, validity *memory.Buffer, nulls int) arrow.Array {
	data := array.NewData(c.Type, rows, []*memory.Buffer{validity, values}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// Transfers returns the copies that bring the values of the rows [from, to) of a column with at least 4 bytes per value
// to the start of a range that holds as many. The values of nulls are arbitrary. Errors wrap backend.ErrUnsupported
// (another type) and backend.ErrInvalidInput (rows that the column does not have, a range that is too small).
func Transfers(column *arrow.Chunked, from, to int, into backend.Range) (transfers []backend.Transfer, err error) {
	width := WordBits(column.DataType()) / 8
	switch {
	case width < 4:
		return nil, fmt.Errorf("%w: a column of type %s has no words of its own", backend.ErrUnsupported,
			column.DataType())
	case from < 0 || to < from || to > column.Len():
		return nil, fmt.Errorf("%w: rows [%d, %d) of a column of %d rows", backend.ErrInvalidInput, from, to,
			column.Len())
	case to > from && uint64(to-from)*uint64(width) > into.SizeBytes:
		return nil, fmt.Errorf("%w: %d values of %d bytes do not fit %d bytes", backend.ErrInvalidInput, to-from, width,
			into.SizeBytes)
	}
	for part := range rowsOf(column, from, to) {
		if err := part.check(); err != nil {
			return nil, err
		}
		values := BufferBytes(part.data, 1)[part.first*width:][:part.rows*width]
		at := into.OffsetBytes + uint64(part.at)*uint64(width)
		transfers = append(transfers, backend.Transfer{Device: into.Buffer.Range(at, uint64(len(values))), Host: values})
	}
	return transfers, nil
}
