package shuffle

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// mostBodyBytes is the largest body that a message may claim.
const mostBodyBytes = 64 << 30

// arriving is a message whose body is being received.
type arriving struct {
	head      []byte // what was not read yet
	rows      int
	columns   []arrivingColumn
	nested    *memory.Buffer
	buffers   []*memory.Buffer // all that the message has
	bodyBytes uint64
	alloc     memory.Allocator
}

type arrivingColumn struct {
	arrivingArray
	dictionary *arrivingArray // nil: the last one that came
}

type arrivingArray struct {
	n, nulls int
	buffers  [3]*memory.Buffer // validity, values or offsets, bytes
}

// Release releases the memory of the message.
func (a *arriving) Release() {
	relation.ReleaseAll(a.buffers)
	a.buffers = nil
}

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: a message from another rank is malformed: %s", backend.ErrInvalidInput,
		fmt.Sprintf(format, a...))
}

// number reads a number of the head, which is at most most.
func (a *arriving) number(what string, most int) (int, error) {
	n, length := binary.Uvarint(a.head)
	if length <= 0 || n > uint64(most) {
		return 0, malformed("%s", what)
	}
	a.head = a.head[length:]
	return int(n), nil
}

// take returns a buffer of the body, for n values of that many bits.
func (a *arriving) take(n, bitWidth int) (*memory.Buffer, error) {
	high, low := bits.Mul64(uint64(n), uint64(bitWidth))
	sizeBytes := low/8 + (low%8+7)/8
	if a.bodyBytes += sizeBytes; high > 0 || sizeBytes > mostBodyBytes || a.bodyBytes > mostBodyBytes {
		return nil, malformed("%d values of %d bits", n, bitWidth)
	}
	b := memory.NewResizableBuffer(a.alloc)
	b.Resize(int(sizeBytes))
	a.buffers = append(a.buffers, b)
	return b, nil
}

// array reads the head of an array of n values.
func (a *arriving) array(p *plainArray, n int, into *arrivingArray) (err error) {
	if into.n = n; p.shape == shapeNone {
		into.nulls = n
		return nil
	}
	if into.nulls, err = a.number("NULLs", n); err != nil {
		return err
	}
	if into.nulls > 0 {
		if into.buffers[0], err = a.take(n, 1); err != nil {
			return err
		}
	}
	switch p.shape {
	case shapeBits:
		into.buffers[1], err = a.take(n, 1)
	case shapeFixed, shapeIndex:
		into.buffers[1], err = a.take(n, 8*p.sizeBytes)
	case shapeOffsets:
		sizeBytes, err := a.number("bytes of values", mostBodyBytes)
		if err != nil {
			return err
		}
		if n == 0 && sizeBytes > 0 {
			return malformed("%d bytes of no values", sizeBytes)
		}
		if n > 0 {
			n++
		}
		if into.buffers[1], err = a.take(n, 8*p.sizeBytes); err == nil {
			into.buffers[2], err = a.take(sizeBytes, 8)
		}
		return err
	}
	return err
}

// body returns the memory in which the body is to be received.
func (a *arriving) body() (body [][]byte) {
	for _, b := range a.buffers {
		if b.Len() > 0 {
			body = append(body, b.Bytes())
		}
	}
	return body
}
