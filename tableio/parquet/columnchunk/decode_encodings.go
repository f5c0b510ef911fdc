package columnchunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
)

// expandedBytes is how much of a page that shares prefixes is brought into the PLAIN form at once.
const expandedBytes = 64 << 10

// encodedValues reads values in one of the less common encodings, by way of the PLAIN form.
func (c *chunkDecoder) encodedValues(encoding parquet.Encoding, data []byte, n int) (valueReader, error) {
	width := c.physical.width
	var err error
	switch {
	case encoding == parquet.Encodings.RLE && width < 0:
		err = c.expandBits(data, n)
	case encoding == parquet.Encodings.DeltaBinaryPacked && c.physical.kind == parquet.Types.Int32:
		c.plain = grown(c.plain, 4*n)
		_, err = unpackDeltas(data, view[int32](c.plain))
	case encoding == parquet.Encodings.DeltaBinaryPacked && c.physical.kind == parquet.Types.Int64:
		c.plain = grown(c.plain, 8*n)
		_, err = unpackDeltas(data, view[int64](c.plain))
	case encoding == parquet.Encodings.ByteStreamSplit && width > 0 && c.physical.kind != parquet.Types.Int96:
		err = c.joinStreams(data, n, width)
	case encoding == parquet.Encodings.DeltaLengthByteArray && width == 0:
		return c.lengthValues(data, n)
	case encoding == parquet.Encodings.DeltaByteArray &&
		(width == 0 || c.physical.kind == parquet.Types.FixedLenByteArray):
		return c.prefixedValues(data, n)
	default:
		return nil, errors.New("the encoding is not supported for this column")
	}
	if err != nil {
		return nil, err
	}
	return c.plainValues(c.plain, n), nil
}

// expandBits brings booleans in runs into the PLAIN form.
func (c *chunkDecoder) expandBits(data []byte, n int) error {
	runs, _, err := cutPrefixed(data)
	if err != nil {
		return err
	}
	c.plain = grown(c.plain, (n+7)/8)
	clear(c.plain)
	return bitRuns(runs, n, func(run bitRun) { run.write(c.plain) })
}

// joinStreams brings values of which first all first bytes stand, then all second ones, into the PLAIN form.
func (c *chunkDecoder) joinStreams(data []byte, n, width int) error {
	if len(data)%width != 0 || len(data)/width != n {
		return fmt.Errorf("%d bytes for %d values of %d bytes", len(data), n, width)
	}
	c.plain = grown(c.plain, len(data))
	for stream := range width {
		for i, b := range data[stream*n : (stream+1)*n] {
			c.plain[i*width+stream] = b
		}
	}
	return nil
}

// unpackDeltas fills out with integers of the DELTA_BINARY_PACKED encoding: a first value, then blocks of differences
// less the smallest of the block, packed in miniblocks of a bit width each. It gives the bytes behind them.
func unpackDeltas[T int32 | int64](in []byte, out []T) (rest []byte, err error) {
	var head [3]uint64 // values of a block, miniblocks of a block, values
	for i := range head {
		if head[i], in, err = uvarint(in); err != nil {
			return nil, err
		}
	}
	value, in, err := varint(in)
	if err != nil {
		return nil, err
	}
	blockValues, miniblocks := head[0], head[1]
	if head[2] != uint64(len(out)) {
		return nil, fmt.Errorf("%d differences for %d values", head[2], len(out))
	}
	if len(out) == 0 {
		return in, nil
	}
	if miniblocks == 0 || blockValues > 1<<30 || blockValues%miniblocks != 0 || blockValues/miniblocks%8 != 0 ||
		blockValues == 0 {
		return nil, fmt.Errorf("blocks of %d values in %d parts", blockValues, miniblocks)
	}
	perMiniblock := int(blockValues / miniblocks)
	out[0] = T(value)
	out = out[1:]
	for len(out) > 0 {
		var least int64
		if least, in, err = varint(in); err != nil {
			return nil, err
		}
		var widths []byte
		if widths, in, err = cut(in, int(miniblocks)); err != nil {
			return nil, err
		}
		for _, width := range widths {
			if len(out) == 0 {
				break // what is not needed may not be there
			}
			if int(width) > bits.UintSize {
				return nil, fmt.Errorf("differences of %d bits", width)
			}
			var packed []byte
			if packed, in, err = cut(in, perMiniblock/8*int(width)); err != nil {
				return nil, err
			}
			n := min(perMiniblock, len(out))
			for i := range n {
				value += least + int64(packedBits(packed, i*int(width), int(width)))
				out[i] = T(value)
			}
			out = out[n:]
		}
	}
	return in, nil
}

// packedBits reads up to 64 bits from a bit on.
func packedBits(in []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	var word [16]byte
	copy(word[:], in[bit>>3:])
	shift := bit & 7
	low := binary.LittleEndian.Uint64(word[:]) >> shift
	high := binary.LittleEndian.Uint64(word[8:]) << 1 << (63 - shift)
	return (low | high) & (1<<width - 1)
}

func uvarint(in []byte) (uint64, []byte, error) {
	v, k := binary.Uvarint(in)
	if k <= 0 {
		return 0, nil, errShort
	}
	return v, in[k:], nil
}

func varint(in []byte) (int64, []byte, error) {
	v, k := binary.Varint(in)
	if k <= 0 {
		return 0, nil, errShort
	}
	return v, in[k:], nil
}

// lengthValues reads n values of the DELTA_LENGTH_BYTE_ARRAY encoding: all lengths, then all bytes.
func (c *chunkDecoder) lengthValues(data []byte, n int) (valueReader, error) {
	c.lengths = grown(c.lengths, n)
	data, err := unpackDeltas(data, c.lengths)
	if err != nil {
		return nil, err
	}
	at := 0
	return func(n int) (taken int, err error) {
		if int64(len(data)) > c.room() {
			n = c.fit(n, func(i int) int64 { return int64(c.lengths[at+i]) })
		}
		c.plain = c.plain[:0]
		batch := 0
		for i, length := range c.lengths[at : at+n] {
			var value []byte
			if value, data, err = cut(data, int(length)); err != nil {
				return 0, err
			}
			c.plain = append(binary.LittleEndian.AppendUint32(c.plain, uint32(length)), value...)
			if batch++; len(c.plain) >= expandedBytes || i == n-1 {
				if _, err := c.values.appendPlain(c.plain, batch); err != nil {
					return 0, err
				}
				c.plain, batch = c.plain[:0], 0
			}
		}
		at += n
		return n, nil
	}, nil
}

// prefixedValues reads n values of the DELTA_BYTE_ARRAY encoding: how many bytes each shares with the one before, then
// the others as in lengthValues.
func (c *chunkDecoder) prefixedValues(data []byte, n int) (valueReader, error) {
	c.prefixes, c.lengths = grown(c.prefixes, n), grown(c.lengths, n)
	data, err := unpackDeltas(data, c.prefixes)
	if err != nil {
		return nil, fmt.Errorf("prefixes: %w", err)
	}
	if data, err = unpackDeltas(data, c.lengths); err != nil {
		return nil, fmt.Errorf("suffixes: %w", err)
	}
	c.plain = c.plain[:0]
	at, before := 0, 0 // before: length of the value before, which ends c.plain
	return func(n int) (taken int, err error) {
		if c.physical.width == 0 {
			n = c.fit(n, func(i int) int64 { return int64(c.prefixes[at+i]) + int64(c.lengths[at+i]) })
		}
		start, batch := before, 0 // of the values in c.plain that have not been appended
		for i, length := range c.lengths[at : at+n] {
			prefix := int(c.prefixes[at+i])
			if prefix < 0 || prefix > before {
				return 0, fmt.Errorf("a value shares %d bytes with one of %d bytes", prefix, before)
			}
			var suffix []byte
			if suffix, data, err = cut(data, int(length)); err != nil {
				return 0, err
			}
			shared := len(c.plain) - before
			before = prefix + len(suffix)
			if c.physical.width == 0 {
				c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(before))
			} else if before != c.physical.width {
				return 0, fmt.Errorf("a value of %d bytes in a column of %d", before, c.physical.width)
			}
			c.plain = append(append(c.plain, c.plain[shared:shared+prefix]...), suffix...)
			if batch++; len(c.plain) >= expandedBytes || i == n-1 {
				if _, err := c.values.appendPlain(c.plain[start:], batch); err != nil {
					return 0, err
				}
				last := c.plain[len(c.plain)-before:]
				c.plain = c.plain[:copy(c.plain, last)]
				start, batch = before, 0
			}
		}
		at += n
		return n, nil
	}, nil
}
