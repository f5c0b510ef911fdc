package shuffle

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// mostBodyBytes is the largest body that a message may claim.
const mostBodyBytes = 64 << 30

// arriving is a message whose body is being received.
type arriving struct {
	from      int    // rank
	head      []byte // what was not read yet
	rows      int
	columns   []arrivingColumn
	nested    *memory.Buffer
	buffers   []*memory.Buffer // of the body
	bodyBytes uint64           // with what is decoded
	alloc     memory.Allocator

	decoded      []*memory.Buffer
	decodedBytes uint64
}

type arrivingColumn struct {
	arrivingArray
	dictionary *arrivingArray // nil: the last one that came
}

type arrivingArray struct {
	n, nulls int
	buffers  [3]*memory.Buffer // validity, values or offsets, bytes
	coded    *memory.Buffer    // message of values or offsets; nil: they are not encoded
	words    int               // of this message
}

// Release releases the memory of the message.
func (a *arriving) Release() {
	relation.ReleaseAll(a.buffers)
	relation.ReleaseAll(a.decoded)
	a.buffers, a.decoded = nil, nil
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

// count adds n values of that many bits to the body.
func (a *arriving) count(n, bitWidth int) (sizeBytes uint64, err error) {
	high, low := bits.Mul64(uint64(n), uint64(bitWidth))
	sizeBytes = low/8 + (low%8+7)/8
	if a.bodyBytes += sizeBytes; high > 0 || sizeBytes > mostBodyBytes || a.bodyBytes > mostBodyBytes {
		return 0, malformed("%d values of %d bits", n, bitWidth)
	}
	return sizeBytes, nil
}

// take returns a buffer of the body, for n values of that many bits.
func (a *arriving) take(n, bitWidth int) (*memory.Buffer, error) {
	sizeBytes, err := a.count(n, bitWidth)
	if err != nil {
		return nil, err
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
	codedBytes := 0
	if p.words {
		if codedBytes, err = a.number("bytes of encoded words", mostBodyBytes); err != nil {
			return err
		}
	}
	switch p.shape {
	case shapeBits:
		into.buffers[1], err = a.take(n, 1)
	case shapeFixed, shapeIndex:
		err = a.takeWords(into, n, p.sizeBytes, codedBytes)
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
		if err = a.takeWords(into, n, p.sizeBytes, codedBytes); err == nil {
			into.buffers[2], err = a.take(sizeBytes, 8)
		}
		return err
	}
	return err
}

// takeWords takes a buffer of the body for n words, or for the message that has them. Memory for words that are encoded
// is taken when the message has been checked; a message has a place for each of its blocks, so it is not much more.
func (a *arriving) takeWords(into *arrivingArray, n, sizeBytes, codedBytes int) (err error) {
	if codedBytes == 0 {
		into.buffers[1], err = a.take(n, 8*sizeBytes)
		return err
	}
	if n == 0 || n > primitive.MaxRows || uint64(codedBytes) < codec.MessageBytes(uint32(n), 0) ||
		uint64(codedBytes) > codec.MostMessageBytes(uint32(n), sizeBytes) || codedBytes%4 != 0 {
		return malformed("%d bytes of %d encoded words", codedBytes, n)
	}
	if _, err = a.count(n, 8*sizeBytes); err == nil {
		into.words = n
		into.coded, err = a.take(codedBytes, 8)
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
