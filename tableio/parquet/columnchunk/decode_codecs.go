package columnchunk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The page reader hands a codec a buffer of the size that the page header states, which it has limited. The codecs of
// arrow-go 18.8 are registered anew:
//
//   - Those of Snappy and Zstandard trust the size at the start of the compressed bytes instead and allocate up to 4 and
//     64 GiB for it, which ends the process. Here they fail where the buffer does not suffice.
//   - None of them takes an empty page for one without bytes. Spark writes such pages where all values are NULL.
//   - LZ4, the deprecated name of three formats, is missing.
func init() {
	for codec, decode := range map[compress.Compression]func(dst, src []byte) ([]byte, error){
		compress.Codecs.Snappy: decodeSnappy,
		compress.Codecs.Zstd:   decodeZstd,
		compress.Codecs.Gzip:   nil,
		compress.Codecs.Brotli: nil,
		compress.Codecs.Lz4Raw: nil,
	} {
		if library, err := compress.GetCodec(codec); err == nil {
			compress.RegisterCodec(codec, &boundedCodec{Codec: library, decode: decode})
		}
	}
	if library, err := compress.GetCodec(compress.Codecs.Lz4Raw); err == nil {
		compress.RegisterCodec(compress.Codecs.Lz4, &boundedCodec{Codec: library, decode: decodeLZ4})
	}
}

// boundedCodec is a codec whose decoder stays within the destination, if there is one.
type boundedCodec struct {
	compress.Codec
	decode func(dst, src []byte) ([]byte, error) // nil: that of the codec
}

// Decode panics where the bytes are malformed, as its interface has it.
func (c *boundedCodec) Decode(dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		panic(err)
	}
	return out
}

func (c *boundedCodec) DecodeWithError(dst, src []byte) ([]byte, error) {
	switch {
	case len(dst) == 0 && len(src) == 0:
		return dst, nil
	case dst == nil || c.decode == nil:
		return compress.Decode(c.Codec, dst, src)
	}
	return c.decode(dst[:len(dst):len(dst)], src)
}

func decodeSnappy(dst, src []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > len(dst) {
		return nil, fmt.Errorf("snappy: %d bytes do not fit in the %d that were announced", n, len(dst))
	}
	return snappy.Decode(dst, src)
}

// zstdDecoder is used by all goroutines, as many at once as there are cores.
var zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))

func decodeZstd(dst, src []byte) ([]byte, error) { return zstdDecoder.DecodeAll(src, dst[:0]) }

// lz4FrameMagic begins the LZ4 frame format.
var lz4FrameMagic = []byte{0x04, 0x22, 0x4d, 0x18}

// decodeLZ4 reads what programs wrote by the name of LZ4: blocks as Hadoop frames them (Hive, Impala, parquet-mr), the LZ4
// frame format, or a bare block (parquet-cpp).
func decodeLZ4(dst, src []byte) ([]byte, error) {
	if bytes.HasPrefix(src, lz4FrameMagic) {
		frame := lz4.NewReader(bytes.NewReader(src))
		if n, err := io.ReadFull(frame, dst); err == nil {
			if _, err = frame.Read(make([]byte, 1)); err == io.EOF {
				return dst[:n], nil
			}
		}
	}
	if n, ok := decodeHadoopLZ4(dst, src); ok {
		return dst[:n], nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, fmt.Errorf("LZ4: neither Hadoop's format nor a frame nor a block: %w", err)
	}
	return dst[:n], nil
}

// decodeHadoopLZ4 reads frames of a decompressed size and compressed blocks behind their own sizes. All numbers are
// big-endian. ok is false where the bytes are something else.
func decodeHadoopLZ4(dst, src []byte) (n int, ok bool) {
	size := func() (int, bool) {
		if len(src) < 4 {
			return 0, false
		}
		v := binary.BigEndian.Uint32(src)
		src = src[4:]
		return int(v), v <= math.MaxInt32
	}
	for len(src) > 0 {
		frame, ok := size()
		if !ok || frame > len(dst)-n {
			return 0, false
		}
		for end := n + frame; n < end; {
			block, ok := size()
			if !ok || block > len(src) {
				return 0, false
			}
			m, err := lz4.UncompressBlock(src[:block], dst[n:end])
			if err != nil || m == 0 {
				return 0, false
			}
			n, src = n+m, src[block:]
		}
	}
	return n, true
}
