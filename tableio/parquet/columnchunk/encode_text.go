package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
)

var errView = errors.New("a view of bytes that are not there")

// encodeTexts encodes a column of byte sequences, of any length or of one: strings, binary, wide decimals. They stay
// where they are; strings refer to them.
func (e *Encoder) encodeTexts(dt arrow.DataType, from *source) error {
	texts, err := e.textValues(dt, from)
	if err != nil {
		return err
	}
	dictionary, indexed := e.indexTexts(texts)
	if !indexed && e.isDictionary() {
		texts = pick(grow(&e.textDictionary, len(e.positions)), texts, e.positions)
	}
	if indexed {
		texts = dictionary
	}
	if low, high, ok := textBounds(e.column.Leaf, texts); ok {
		e.chunk.setBounds([]byte(low), []byte(high))
	}
	if indexed {
		if e.page, err = e.appendTexts(e.page[:0], dictionary); err != nil {
			return err
		}
		if err := e.dictionaryPage(len(dictionary), e.page); err != nil {
			return err
		}
		return e.indexPages(e.indices, len(dictionary))
	}
	fit := func(from int) int {
		sizeBytes, n := 0, 0
		for _, text := range texts[from:] {
			sizeBytes += len(text) + 4
			if sizeBytes > pageBytes && n > 0 {
				break
			}
			n++
		}
		return n
	}
	return e.dataPages(parquet.Encodings.Plain, fit, func(page []byte, from, n int) ([]byte, error) {
		return e.appendTexts(page, texts[from:from+n])
	})
}

// appendTexts appends texts plainly encoded.
func (e *Encoder) appendTexts(page []byte, texts []string) ([]byte, error) {
	prefixed := e.column.Leaf.PhysicalType() == parquet.Types.ByteArray
	sizeBytes := 0
	for _, text := range texts {
		sizeBytes += len(text) + 4
	}
	if sizeBytes > maxPageBytes-len(page) {
		return page, errLargePage
	}
	page = reserve(page, sizeBytes)
	for _, text := range texts {
		if prefixed {
			page = binary.LittleEndian.AppendUint32(page, uint32(len(text)))
		}
		page = append(page, text...)
	}
	return page, nil
}

// indexTexts sets the indices and returns the dictionary, and true if that pays off.
func (e *Encoder) indexTexts(texts []string) (dictionary []string, ok bool) {
	e.table.reset()
	e.textDictionary = e.textDictionary[:0]
	prefix := 4
	if e.column.Leaf.PhysicalType() != parquet.Types.ByteArray {
		prefix = 0
	}
	count, plainBytes, dictionaryBytes := len(texts), 0, 0
	number := func(text string) (code uint32, ok bool) {
		if len(text) > maxDictionaryBytes {
			return 0, false
		}
		code, isNew := e.numberText(text)
		if isNew {
			dictionaryBytes += prefix + len(text)
		}
		return code, code < maxEntries && dictionaryBytes <= maxDictionaryBytes
	}
	if e.isDictionary() {
		count = len(e.positions)
		if !e.indexPositions(len(texts), func(entry uint32) (uint32, bool) { return number(texts[entry]) }) {
			return nil, false
		}
		for _, position := range e.positions {
			plainBytes += prefix + len(texts[position])
		}
	} else {
		if !repeats(&e.table, texts, func(text string) { e.numberText(text) }) {
			return nil, false
		}
		clear(e.textDictionary)
		e.textDictionary = e.textDictionary[:0]
		indices := grow(&e.indices, len(texts))
		last, lastCode := "", uint32(math.MaxUint32)
		for i, text := range texts {
			if text != last || lastCode == math.MaxUint32 {
				if lastCode, ok = number(text); !ok {
					return nil, false
				}
				last = text
			}
			plainBytes += prefix + len(text)
			indices[i] = uint16(lastCode)
		}
	}
	return e.textDictionary, paysOff(count, plainBytes, len(e.textDictionary), dictionaryBytes)
}

// numberText returns the number of a text of the dictionary, to which a new one is added.
func (e *Encoder) numberText(text string) (code uint32, isNew bool) {
	t := &e.table
	key := t.hash(text)
	at := int(key >> t.shift)
	for t.slots[at].code != 0 {
		if s := &t.slots[at]; s.key == key && e.textDictionary[s.code-1] == text {
			return s.code - 1, false
		}
		at = (at + 1) & t.mask
	}
	t.insert(at, key)
	e.textDictionary = append(e.textDictionary, text)
	return uint32(t.used - 1), true
}

// hash is quick for short texts, whose ends are read in two words that may overlap.
func (t *table) hash(text string) uint64 {
	var first, last uint64
	switch n := len(text); {
	case n > 16:
		return maphash.String(t.textSeed, text)
	case n >= 8:
		begin := unsafe.Pointer(unsafe.StringData(text))
		first, last = *(*uint64)(begin), *(*uint64)(unsafe.Add(begin, n-8))
	case n >= 4:
		begin := unsafe.Pointer(unsafe.StringData(text))
		first, last = uint64(*(*uint32)(begin)), uint64(*(*uint32)(unsafe.Add(begin, n-4)))
	case n > 0:
		first = uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16
	}
	high, low := bits.Mul64(first^t.seed, last^t.seed>>32^uint64(len(text))<<56)
	return high ^ low
}

// textValues makes strings of the values that are not null, side by side.
func (e *Encoder) textValues(dt arrow.DataType, from *source) ([]string, error) {
	texts := grow(&e.texts, from.rows)
	switch dt := dt.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return gatherTexts(texts, from, offsetTexts[int32]), nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return gatherTexts(texts, from, offsetTexts[int64]), nil
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return viewTexts(texts, from)
	case *arrow.FixedSizeBinaryType:
		return gatherTexts(texts, from, fixedTexts(dt.ByteWidth)), nil
	case *arrow.Float16Type:
		return gatherTexts(texts, from, fixedTexts(2)), nil
	case *arrow.Decimal128Type:
		return decimalTexts[[16]byte](e, from)
	case *arrow.Decimal256Type:
		return decimalTexts[[32]byte](e, from)
	}
	return nil, fmt.Errorf("type %s as %s of Parquet", dt, e.column.Leaf.PhysicalType())
}

// gatherTexts calls of with each part for the texts of all its rows.
func gatherTexts(texts []string, from *source, of func(to []string, part arrow.ArrayData)) []string {
	row, n := 0, 0
	for _, part := range from.parts {
		to := texts[n : n+part.Len()]
		if part.Len() > 0 {
			of(to, part)
		}
		n += part.Len()
		if from.nulls > 0 {
			n += compact(to, to, from.valid, row) - part.Len()
		}
		row += part.Len()
	}
	return texts[:n]
}

func offsetTexts[O int32 | int64](to []string, part arrow.ArrayData) {
	offsets := cast[O](part.Buffers()[1].Bytes())[part.Offset():][:part.Len()+1]
	var data []byte
	if b := part.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	begin := offsets[0]
	for i, end := range offsets[1:] {
		to[i] = text(data[begin:end])
		begin = end
	}
}

func fixedTexts(width int) func(to []string, part arrow.ArrayData) {
	return func(to []string, part arrow.ArrayData) {
		data := part.Buffers()[1].Bytes()[part.Offset()*width:]
		for i := range to {
			to[i] = text(data[i*width : (i+1)*width])
		}
	}
}

// viewTexts reads views of 16 bytes: the length, then up to 12 bytes, or 4 bytes, a buffer and an offset.
func viewTexts(texts []string, from *source) ([]string, error) {
	row, n := 0, 0
	for _, part := range from.parts {
		buffers := part.Buffers()
		for i, view := range slots[[16]byte](part) {
			if !from.isValid(row + i) {
				continue
			}
			length := int(int32(binary.LittleEndian.Uint32(view[:])))
			data, begin := slots[[16]byte](part)[i][4:], 0
			if length > 12 {
				buffer := int(binary.LittleEndian.Uint32(view[8:])) + 2
				if buffer >= len(buffers) {
					return nil, errView
				}
				data, begin = buffers[buffer].Bytes(), int(int32(binary.LittleEndian.Uint32(view[12:])))
			}
			if length < 0 || begin < 0 || length > len(data)-begin {
				return nil, errView
			}
			texts[n] = text(data[begin : begin+length])
			n++
		}
		row += part.Len()
	}
	return texts[:n], nil
}

// decimalTexts turns numbers around, so that their most significant byte comes first, and shortens them.
func decimalTexts[N [16]byte | [32]byte](e *Encoder, from *source) ([]string, error) {
	numbers, err := convert[N, N](e, from, nil)
	if err != nil {
		return nil, err
	}
	var zero N
	size, length := len(zero), e.column.Leaf.TypeLength()
	if length > size {
		return nil, fmt.Errorf("decimals of %d bytes", length)
	}
	data := grow(&e.bytes, len(numbers)*length)
	texts := grow(&e.texts, len(numbers))
	for i := range numbers {
		number := bytesOf(numbers[i : i+1])
		for _, b := range number[length:] {
			if b != byte(int8(number[length-1])>>7) {
				return nil, errPrecision
			}
		}
		to := data[i*length : (i+1)*length]
		for k := range to {
			to[k] = number[length-1-k]
		}
		texts[i] = text(to)
	}
	return texts, nil
}

func text(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }
