package tableio

import (
	"context"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
)

// pageBytes is the memory that the pages of a column take while they are decoded: of the largest chunk.
func (s *parquetSource) pageBytes(column int) int64 {
	sizeBytes, known := s.pageSizes[column]
	if known {
		return sizeBytes
	}
	for _, leaf := range s.leaves(column) {
		most := int64(0)
		for _, group := range s.groups() {
			if chunk, err := s.file.MetaData().RowGroup(group).ColumnChunk(leaf); err == nil {
				most = max(most, s.chunkPageBytes(chunk, most))
			}
		}
		sizeBytes += most
	}
	s.pageSizes[column] = sizeBytes
	return sizeBytes
}

// leaves are the leaf columns of a field.
func (s *parquetSource) leaves(column int) (leaves []int) {
	if leaf := s.columns[column].Leaf; leaf >= 0 {
		return []int{leaf}
	}
	schema, root := s.file.MetaData().Schema, s.file.MetaData().Schema.Root().Field(column)
	for leaf := range schema.NumColumns() {
		if schema.ColumnRoot(leaf) == root {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// storedRowBytes is what a row of a column takes in the pages of a row group, decompressed.
func (s *parquetSource) storedRowBytes(group, column int) (rowBytes float64) {
	rows := s.file.MetaData().RowGroup(group)
	for _, leaf := range s.leaves(column) {
		if chunk, err := rows.ColumnChunk(leaf); err == nil {
			rowBytes += float64(max(0, chunk.TotalUncompressedSize())) / float64(max(1, rows.NumRows()))
		}
	}
	return rowBytes
}

// smallPageBytes is the size of a page that is usual: chunks with less are not looked into.
const smallPageBytes = 1 << 20

// chunkPageBytes is what the pages of a chunk take that are open at a time: the largest one, compressed and not, and
// the dictionary, compressed once and decompressed twice, as a page and as values. Headers are read only where the
// chunk has more bytes than are known to be needed.
func (s *parquetSource) chunkPageBytes(chunk *metadata.ColumnChunkMetaData, knownBytes int64) (sizeBytes int64) {
	all := max(0, chunk.TotalUncompressedSize()) + max(0, chunk.TotalCompressedSize())
	if all <= max(knownBytes, smallPageBytes) {
		return all
	}
	at := chunk.DataPageOffset()
	if first := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && first > 0 {
		at = min(at, first)
	}
	data, dictionary := int64(0), int64(0)
	for end := at + chunk.TotalCompressedSize(); at < end; {
		page, ok := s.pageHeader(at, end)
		if !ok {
			return all
		}
		if page.dictionary {
			dictionary = 2*page.bytes + page.compressedBytes
		} else {
			data = max(data, page.bytes+page.compressedBytes)
		}
		at += page.headerBytes + page.compressedBytes
	}
	return data + dictionary
}

// pageHeader is what the header of a page says of its size.
type pageHeader struct {
	headerBytes, bytes, compressedBytes int64
	dictionary                          bool
}

// pageHeader reads the header at an offset; ok is false where there is none.
func (s *parquetSource) pageHeader(at, end int64) (page pageHeader, ok bool) {
	for size := int64(512); ; size *= 8 {
		buffer := make([]byte, min(size, end-at))
		n, _ := s.in.at.ReadAt(buffer, at)
		if page, ok = parsePageHeader(buffer[:n]); ok || size > 1<<20 || int64(n) < size {
			return page, ok && page.bytes >= 0 && page.compressedBytes >= 0
		}
	}
}

func parsePageHeader(from []byte) (page pageHeader, ok bool) {
	ctx, buffer := context.Background(), thrift.NewTMemoryBufferLen(len(from))
	_, _ = buffer.Write(from)
	in := thrift.NewTCompactProtocolConf(buffer, nil)
	if _, err := in.ReadStructBegin(ctx); err != nil {
		return page, false
	}
	for {
		_, kind, id, err := in.ReadFieldBegin(ctx)
		if err != nil {
			return page, false
		}
		if kind == thrift.STOP {
			page.headerBytes = int64(len(from) - buffer.Len())
			return page, true
		}
		if kind != thrift.I32 || id > 3 {
			if err := in.Skip(ctx, kind); err != nil {
				return page, false
			}
			continue
		}
		value, err := in.ReadI32(ctx)
		if err != nil {
			return page, false
		}
		switch id {
		case 1: // the type of the page
			page.dictionary = value == 2
		case 2:
			page.bytes = int64(value)
		case 3:
			page.compressedBytes = int64(value)
		}
	}
}
