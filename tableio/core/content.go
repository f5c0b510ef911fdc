package core

import (
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// contentBlockBytes is the size of a block of a pipe's content, whose size is unknown before its end.
const contentBlockBytes = 256 << 10

// content is what came through a pipe, in blocks that are never moved: it takes no more memory than its size and one
// block.
type content struct {
	mem       memory.Allocator
	blocks    [][]byte
	sizeBytes int64
}

// readContent reads a stream to its end. On an error, the allocator has to free what was allocated.
func readContent(stream io.Reader, mem memory.Allocator) (*content, error) {
	c := &content{mem: mem}
	for {
		block := mem.Allocate(contentBlockBytes)
		c.blocks = append(c.blocks, block)
		for n := 0; n < len(block); {
			more, err := stream.Read(block[n:])
			n += more
			c.sizeBytes += int64(more)
			if err == io.EOF {
				return c, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// ReadAt reads as io.ReaderAt says. Safe for concurrent use.
func (c *content) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, errors.New("a negative offset")
	}
	for n < len(p) {
		at := offset + int64(n)
		if at >= c.sizeBytes {
			return n, io.EOF
		}
		start := at % contentBlockBytes
		n += copy(p[n:], c.blocks[at/contentBlockBytes][start:min(contentBlockBytes, start+c.sizeBytes-at)])
	}
	return n, nil
}

func (c *content) memoryBytes() int64 { return int64(len(c.blocks)) * contentBlockBytes }

// free frees the memory. It may be called again.
func (c *content) free() {
	for _, block := range c.blocks {
		c.mem.Free(block)
	}
	c.blocks, c.sizeBytes = nil, 0
}
