package columnchunk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	pageBytes = 1 << 20 // of values in a page, a single larger value aside
	pageRows  = 1 << 17
)

// Encoder encodes column chunks, one at a time. Its scratch memory is kept between chunks. The zero value is ready for
// use.
//
// Encoding takes these steps:
//
//  1. Find the rows that are null, in the parts and in their dictionaries.
//  2. Collect the values that are not null, in the physical type of the column. A dictionary array also provides the
//     position of each row's value in the dictionary.
//  3. Try to number the distinct values. If few, write them as a dictionary page, and indices.
//  4. Otherwise write the values themselves.
//
// Pages have version 1 and up to 1 MiB of values or 131072 rows. Statistics cover the chunk, not its pages.
type Encoder struct {
	ctx    context.Context
	column Column
	chunk  *Chunk

	rows    source // all rows, with nulls
	entries source // the entries of the dictionaries of dictionary arrays

	positions []uint32 // by value: which of the entries; dictionary arrays only
	rank      []uint32 // by entry: how many entries before it are not null

	words, raw, dictionary []uint64 // values, values before conversion, dictionary of fixed-width values
	texts, textDictionary  []string
	bytes                  []byte // of texts that had to be converted
	codes                  []uint32
	indices                []uint16

	table table

	page, compressed []byte
	zstd             *zstd.Encoder
	lz4              lz4.Compressor
}

// Chunk is an encoded column chunk. Its memory is reused when another chunk is encoded into it. The zero value is ready
// for use.
type Chunk struct {
	bytes      []byte
	codec      compress.Compression
	rows       int
	plainBytes int // before compression, with headers

	dictionaryBytes int // of the dictionary page with its header; 0: no dictionary
	dataPages       int32

	nulls    int
	bounded  bool // min and max are known
	min, max []byte
}

// Bytes returns the pages, as they go into the file. They are valid until another chunk is encoded into c.
func (c *Chunk) Bytes() []byte { return c.bytes }

// Describe completes the metadata of the chunk, which begins at this offset in the file. The builder must have been
// created with properties that have the codec of the chunk; see [WriteSchema].
func (c *Chunk) Describe(meta *metadata.ColumnChunkMetaDataBuilder, offset int64) error {
	if got := compress.Compression(meta.Contents().MetaData.Codec); got != c.codec {
		return fmt.Errorf("column %s is compressed with %s, its metadata says %s", meta.Descr().Path(), c.codec, got)
	}
	info := metadata.ChunkMetaInfo{
		NumValues: int64(c.rows), IndexPageOffset: -1, DataPageOffset: offset + int64(c.dictionaryBytes),
		CompressedSize: int64(len(c.bytes)), UncompressedSize: int64(c.plainBytes),
	}
	pages := metadata.EncodingStats{DataEncodingStats: map[parquet.Encoding]int32{parquet.Encodings.Plain: c.dataPages}}
	if c.dictionaryBytes > 0 {
		info.DictPageOffset = offset
		pages.DictEncodingStats = map[parquet.Encoding]int32{parquet.Encodings.Plain: 1}
		pages.DataEncodingStats = map[parquet.Encoding]int32{parquet.Encodings.RLEDict: c.dataPages}
	}
	var stats metadata.EncodedStatistics
	stats.SetNullCount(int64(c.nulls))
	if c.bounded {
		stats.SetMin(slices.Clone(c.min)).SetMax(slices.Clone(c.max))
		stats.Signed = isSigned(meta.Descr())
	}
	meta.SetStats(stats)
	return meta.Finish(info, c.dictionaryBytes > 0, false, pages)
}

// Encode encodes the rows of all parts, which have the type of the column, as one chunk. The parts may be slices. After
// an error, the chunk can only be reused for another Encode.
func (e *Encoder) Encode(
	ctx context.Context, column Column, codec compress.Compression, parts []arrow.Array, into *Chunk,
) error {
	*into = Chunk{bytes: into.bytes[:0], min: into.min[:0], max: into.max[:0], codec: codec}
	e.ctx, e.column, e.chunk = ctx, column, into
	defer e.forget()
	if err := e.encode(parts); err != nil {
		return fmt.Errorf("column %q: %w", column.Field.Name, err)
	}
	return nil
}

// forget drops what refers to the memory of others.
func (e *Encoder) forget() {
	clear(e.texts)
	clear(e.textDictionary)
	clear(e.rows.parts)
	clear(e.entries.parts)
	e.texts, e.textDictionary = e.texts[:0], e.textDictionary[:0]
	e.rows.parts, e.entries.parts = e.rows.parts[:0], e.entries.parts[:0]
	e.ctx, e.column, e.chunk = nil, Column{}, nil
}

func (e *Encoder) encode(parts []arrow.Array) error {
	e.rows.parts = e.rows.parts[:0]
	for _, part := range parts {
		if !arrow.TypeEqual(part.DataType(), e.column.Field.Type) {
			return fmt.Errorf("rows of type %s instead of %s", part.DataType(), e.column.Field.Type)
		}
		e.rows.parts = append(e.rows.parts, part.Data())
	}
	e.rows.findNulls()
	dt, values := storage(e.column.Field.Type), &e.rows
	e.positions = e.positions[:0]
	if d, ok := dt.(*arrow.DictionaryType); ok {
		if err := e.lookUp(d.IndexType); err != nil {
			return err
		}
		dt, values = storage(d.ValueType), &e.entries
	}
	e.chunk.rows, e.chunk.nulls = e.rows.rows, e.rows.nulls
	if e.rows.nulls > 0 && !e.nullable() {
		return errors.New("a null, where the schema allows none")
	}
	leaf := e.column.Leaf
	switch physical := leaf.PhysicalType(); physical {
	case parquet.Types.Boolean:
		return e.encodeBooleans(values)
	case parquet.Types.Int32:
		if isSigned(leaf) {
			return encodeFixed(e, dt, values, integerBounds[int32])
		}
		return encodeFixed(e, dt, values, integerBounds[uint32])
	case parquet.Types.Int64:
		if isSigned(leaf) {
			return encodeFixed(e, dt, values, integerBounds[int64])
		}
		return encodeFixed(e, dt, values, integerBounds[uint64])
	case parquet.Types.Float:
		return encodeFixed(e, dt, values, float32Bounds)
	case parquet.Types.Double:
		return encodeFixed(e, dt, values, float64Bounds)
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return e.encodeTexts(dt, values)
	default:
		return fmt.Errorf("physical type %s cannot be written", physical)
	}
}

func (e *Encoder) nullable() bool { return e.column.Leaf.MaxDefinitionLevel() > 0 }

// isDictionary tells whether the rows are positions in a dictionary.
func (e *Encoder) isDictionary() bool { return storage(e.column.Field.Type).ID() == arrow.DICTIONARY }

// storage is the type in which values of a type lie in memory.
func storage(dt arrow.DataType) arrow.DataType {
	for {
		extension, ok := dt.(arrow.ExtensionType)
		if !ok {
			return dt
		}
		dt = extension.StorageType()
	}
}

// grow returns n elements of any content, in the memory of the scratch if there is enough.
func grow[T any](scratch *[]T, n int) []T {
	if cap(*scratch) < n {
		*scratch = make([]T, n)
	}
	*scratch = (*scratch)[:n]
	return *scratch
}
