package parquet

import (
	"iter"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// pageBytes is the memory that the pages of a column take while they are decoded: of the largest chunk.
func (s *Source) pageBytes(column int) int64 {
	sizeBytes, known := s.pageSizes[column]
	if known {
		return sizeBytes
	}
	for leaf := range s.leaves(column) {
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

// leaves yields the Parquet columns of a field.
func (s *Source) leaves(column int) iter.Seq[int] {
	field := &s.columns[column]
	return func(yield func(int) bool) {
		for leaf := field.First; leaf < field.First+field.Leaves && yield(leaf); leaf++ {
		}
	}
}

// storedRowBytes is what a row of a column takes in the pages of a row group, decompressed.
func (s *Source) storedRowBytes(group, column int) (rowBytes float64) {
	rows := s.file.MetaData().RowGroup(group)
	for leaf := range s.leaves(column) {
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
func (s *Source) chunkPageBytes(chunk *metadata.ColumnChunkMetaData, knownBytes int64) (sizeBytes int64) {
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
		page, err := s.pages.readHeader(at, end)
		if err != nil || page.compressedBytes < 0 || page.decompressedBytes < 0 {
			return all
		}
		stored, decompressed := int64(page.compressedBytes), int64(page.decompressedBytes)
		if page.kind == pageTypeDictionary {
			dictionary = 2*decompressed + stored
		} else {
			data = max(data, decompressed+stored)
		}
		at += page.sizeBytes + stored
	}
	return data + dictionary
}
