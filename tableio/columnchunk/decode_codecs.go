package columnchunk

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// The page reader hands a codec a buffer of the size that the page header states, which it has limited. Those of Snappy
// and Zstandard trust the size at the start of the compressed bytes instead and allocate up to 4 and 64 GiB for it,
// which ends the process. They are registered anew with decoders that fail where the buffer does not suffice.
func init() {
	for codec, decode := range map[compress.Compression]func(dst, src []byte) ([]byte, error){
		compress.Codecs.Snappy: decodeSnappy,
		compress.Codecs.Zstd:   decodeZstd,
	} {
		if library, err := compress.GetCodec(codec); err == nil {
			compress.RegisterCodec(codec, &boundedCodec{Codec: library, decode: decode})
		}
	}
}

// boundedCodec is a codec whose decoder stays within the destination, if there is one.
type boundedCodec struct {
	compress.Codec
	decode func(dst, src []byte) ([]byte, error)
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
	if dst == nil {
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
