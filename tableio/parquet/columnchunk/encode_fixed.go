package columnchunk

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
)

// integer are the types in which values of 4 and 8 bytes are held. Floating-point numbers are held as their bits.
type integer interface {
	int32 | int64 | uint32 | uint64
}

// encodeFixed encodes a column of values of 4 or 8 bytes.
func encodeFixed[T integer](
	e *Encoder, dt arrow.DataType, from *source, bounds func([]T) (low, high T, ok bool),
) error {
	values, err := fixedValues[T](e, dt, from)
	if err != nil {
		return err
	}
	low, high, ok := bounds(values)
	dictionary, indexed := indexFixed(e, values, low, high)
	if e.isDictionary() {
		if indexed {
			values = dictionary
		} else {
			values = pick(cast[T](grow(&e.raw, len(e.positions))), values, e.positions)
		}
		low, high, ok = bounds(values)
	}
	if ok {
		e.chunk.setBounds(bytesOf([]T{low}), bytesOf([]T{high}))
	}
	if indexed {
		if err := e.dictionaryPage(len(dictionary), bytesOf(dictionary)); err != nil {
			return err
		}
		return e.indexPages(e.indices, len(dictionary))
	}
	fit := func(int) int { return pageBytes / int(unsafe.Sizeof(low)) }
	return e.dataPages(parquet.Encodings.Plain, fit, func(page []byte, from, n int) ([]byte, error) {
		return append(page, bytesOf(values[from:from+n])...), nil
	})
}

// indexFixed sets the indices and returns the dictionary, and true if that pays off. low and high are bounds of
// integers only.
func indexFixed[T integer](e *Encoder, values []T, low, high T) (dictionary []T, ok bool) {
	count := len(values)
	switch {
	case e.isDictionary():
		count = len(e.positions)
		dictionary, ok = indexFixedPositions(e, values)
	case len(values) == 0:
		return nil, false
	case !e.isFloat() && uint64(high)-uint64(low) < maxEntries:
		dictionary, ok = indexRange(e, values, low, int(uint64(high)-uint64(low))+1), true
	default:
		dictionary, ok = indexHashed(e, values)
	}
	size := int(unsafe.Sizeof(low))
	return dictionary, ok && paysOff(count, count*size, len(dictionary), len(dictionary)*size)
}

func (e *Encoder) isFloat() bool {
	physical := e.column.Leaf.PhysicalType()
	return physical == parquet.Types.Float || physical == parquet.Types.Double
}

// indexRange numbers values that lie close together by a table of all that there could be.
func indexRange[T integer](e *Encoder, values []T, low T, span int) []T {
	codes := grow(&e.codes, maxEntries) // number plus 1
	clear(codes[:span])
	indices := grow(&e.indices, len(values))
	dictionary := cast[T](grow(&e.dictionary, maxEntries))
	n := uint32(0)
	for i, v := range values {
		code := &codes[uint16(v-low)]
		if *code == 0 {
			dictionary[n&(maxEntries-1)] = v
			n++
			*code = n
		}
		indices[i] = uint16(*code - 1)
	}
	return dictionary[:n]
}

// indexHashed numbers values unless there are too many distinct ones, which a sample is asked first.
func indexHashed[T integer](e *Encoder, values []T) (dictionary []T, ok bool) {
	all := cast[T](grow(&e.dictionary, maxEntries))[:maxEntries]
	if !repeats(&e.table, values, func(v T) { e.table.number(uint64(v)) }) {
		return nil, false
	}
	indices := grow(&e.indices, len(values))
	for i, v := range values {
		code := e.table.number(uint64(v))
		if int(code) == e.table.used-1 {
			if code == maxEntries {
				return nil, false
			}
			all[code] = v
		}
		indices[i] = uint16(code)
	}
	return all[:e.table.used], true
}

func indexFixedPositions[T integer](e *Encoder, values []T) (dictionary []T, ok bool) {
	all := cast[T](grow(&e.dictionary, maxEntries))[:maxEntries]
	e.table.reset()
	ok = e.indexPositions(len(values), func(entry uint32) (uint32, bool) {
		code := e.table.number(uint64(values[entry]))
		if code == maxEntries {
			return 0, false
		}
		all[code] = values[entry]
		return code, true
	})
	return all[:min(e.table.used, maxEntries)], ok
}
