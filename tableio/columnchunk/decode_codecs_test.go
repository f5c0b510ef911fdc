package columnchunk

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"
)

func TestCodecsStayWithinThePage(t *testing.T) {
	text := bytes.Repeat([]byte("deliver in person "), 1000)
	for _, name := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Lz4Raw} {
		codec, err := compress.GetCodec(name)
		require.NoError(t, err)
		packed := codec.Encode(make([]byte, codec.CompressBound(int64(len(text)))), text)
		page := make([]byte, len(text)+100)
		got, err := compress.Decode(codec, page[:len(text)], packed)
		require.NoError(t, err, name)
		require.Equal(t, text, got)
		require.Same(t, &page[0], &got[0], "%s: the page reader looks at its own buffer", name)
		_, err = compress.Decode(codec, page[:len(text)-1], packed)
		require.Error(t, err, name)
	}
}

func TestCodecsDoNotTrustSizes(t *testing.T) {
	zstd := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, binary.LittleEndian.AppendUint64(nil, 1<<35)...)
	for name, packed := range map[compress.Compression][]byte{
		compress.Codecs.Snappy: append(binary.AppendUvarint(nil, 1<<32-1), 0),
		compress.Codecs.Zstd:   append(zstd, 1, 0, 0),
	} {
		codec, err := compress.GetCodec(name)
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = compress.Decode(codec, make([]byte, 100), packed)
		runtime.ReadMemStats(&after)
		require.Error(t, err, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), name)
	}
}
