package parquet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
)

// mendedPages is a file whose data pages of version 2 say that they are compressed wherever their sizes show it.
// parquet-cpp before 3.0 said of all pages that they were not, and arrow-go (18.8) takes its word, and compressed bytes
// for values. The flag is one byte of a page's header.
type mendedPages struct {
	at io.ReaderAt

	mu    sync.RWMutex
	flags []int64 // offsets of bytes that say "not compressed" and are wrong, in order
}

const (
	thriftTrue  = 1 // a field of a structure, as its type in Thrift's compact protocol
	thriftFalse = 2
)

// ReadAt implements [io.ReaderAt].
func (m *mendedPages) ReadAt(p []byte, offset int64) (int, error) {
	n, err := m.at.ReadAt(p, offset)
	m.mu.RLock()
	defer m.mu.RUnlock()
	first, _ := slices.BinarySearch(m.flags, offset)
	for _, flag := range m.flags[first:] {
		if flag >= offset+int64(n) {
			break
		}
		p[flag-offset] ^= thriftTrue ^ thriftFalse
	}
	return n, err
}

// mend looks for wrong flags in a column chunk, by reading the headers of its pages. A chunk whose first data page has
// version 1 has no others. Malformed headers are left to the page reader.
func (m *mendedPages) mend(chunk *metadata.ColumnChunkMetaData) {
	if chunk.Compression() == compress.Codecs.Uncompressed {
		return
	}
	at := chunk.DataPageOffset()
	if dictionary := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && dictionary > 0 {
		at = min(at, dictionary)
	}
	end := at + chunk.TotalCompressedSize()
	for at < end {
		header, err := m.readHeader(at, end)
		if err != nil || header.kind == pageTypeV1 || header.compressedBytes < 0 {
			return
		}
		if header.flag > 0 && header.compressedBytes != header.decompressedBytes {
			m.mu.Lock()
			if place, found := slices.BinarySearch(m.flags, at+header.flag); !found {
				m.flags = slices.Insert(m.flags, place, at+header.flag)
			}
			m.mu.Unlock()
		}
		at += header.sizeBytes + int64(header.compressedBytes)
	}
}

// pageHeader is what mend needs of the header of a page.
type pageHeader struct {
	kind                               int32
	decompressedBytes, compressedBytes int32
	flag                               int64 // where the header says "not compressed"; 0: nowhere
	sizeBytes                          int64
}

// Types of pages: data pages of version 1, and dictionaries.
const (
	pageTypeV1         = int32(file.PageTypeDataPage)
	pageTypeDictionary = int32(file.PageTypeDictionaryPage)
)

// readHeader reads the header of the page at an offset.
func (m *mendedPages) readHeader(at, end int64) (h pageHeader, err error) {
	for _, sizeBytes := range []int64{512, 4 << 20} { // the largest that the library reads
		content := make([]byte, min(sizeBytes, end-at))
		n, readErr := m.at.ReadAt(content, at)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return h, readErr
		}
		if h, err = parsePageHeader(content[:n]); err == nil {
			break
		}
	}
	return h, err
}

// Fields of the headers of pages, as parquet.thrift numbers them.
const (
	headerType         = 1
	headerDecompressed = 2
	headerCompressed   = 3
	headerDataPageV2   = 8
	v2IsCompressed     = 7
)

func parsePageHeader(content []byte) (h pageHeader, err error) {
	ctx := context.Background()
	left := bytes.NewBuffer(content)
	p := thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: left}, nil)
	each := func(number func(id int16, kind thrift.TType) (taken bool, err error)) error {
		if _, err := p.ReadStructBegin(ctx); err != nil {
			return err
		}
		for {
			_, kind, id, err := p.ReadFieldBegin(ctx)
			if err != nil {
				return err
			}
			if kind == thrift.STOP {
				return p.ReadStructEnd(ctx)
			}
			taken, err := number(id, kind)
			if err == nil && !taken {
				err = p.Skip(ctx, kind)
			}
			if err != nil {
				return err
			}
		}
	}
	numbers := map[int16]*int32{headerType: &h.kind, headerDecompressed: &h.decompressedBytes,
		headerCompressed: &h.compressedBytes}
	err = each(func(id int16, kind thrift.TType) (taken bool, err error) {
		switch number := numbers[id]; {
		case number != nil && kind == thrift.I32:
			*number, err = p.ReadI32(ctx)
			return true, err
		case id == headerDataPageV2 && kind == thrift.STRUCT:
			return true, each(func(id int16, kind thrift.TType) (bool, error) {
				if at := len(content) - left.Len() - 1; id == v2IsCompressed && content[at]&0x0f == thriftFalse {
					h.flag = int64(at)
				}
				return false, nil
			})
		}
		return false, nil
	})
	h.sizeBytes = int64(len(content) - left.Len())
	return h, err
}
