package columnchunk

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"
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
		got, err = compress.Decode(codec, page[:0], nil)
		require.NoError(t, err, "%s: an empty page", name)
		require.Empty(t, got)
	}
}

// TestDecodeLZ4 reads the formats that were called LZ4.
func TestDecodeLZ4(t *testing.T) {
	text := bytes.Repeat([]byte("deliver in person "), 1000)
	block := func(text []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(text)))
		n, err := lz4.CompressBlock(text, out, nil)
		require.NoError(t, err)
		return out[:n]
	}
	sized := func(decompressed int, blocks ...[]byte) []byte {
		out := binary.BigEndian.AppendUint32(nil, uint32(decompressed))
		for _, block := range blocks {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(block))), block...)
		}
		return out
	}
	var frame bytes.Buffer
	w := lz4.NewWriter(&frame)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	n := len(text)
	codec, err := compress.GetCodec(compress.Codecs.Lz4)
	require.NoError(t, err)
	for name, packed := range map[string][]byte{
		"bare block":           block(text),
		"frame format":         frame.Bytes(),
		"Hadoop":               sized(n, block(text)),
		"Hadoop, two frames":   append(sized(500, block(text[:500])), sized(n-500, block(text[500:]))...),
		"Hadoop, three blocks": sized(n, block(text[:500]), block(text[500:700]), block(text[700:])),
	} {
		got, err := compress.Decode(codec, make([]byte, n), packed)
		require.NoError(t, err, name)
		require.Equal(t, text, got, name)
		_, err = compress.Decode(codec, make([]byte, n), packed[:len(packed)-5])
		require.Error(t, err, "%s, cut", name)
		_, err = compress.Decode(codec, make([]byte, n-1), packed)
		require.Error(t, err, "%s, too long", name)
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
