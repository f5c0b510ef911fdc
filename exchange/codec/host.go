package codec

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Column is a column in host memory: words of ValueBytes, 4 or 8, aligned to them.
type Column struct {
	Values     []byte
	ValueBytes int
}

// unitBlocks is the number of blocks that a core encodes at a time.
const unitBlocks = relation.BlockRows / kernel.CascadeBlock

// Encoded is a column whose blocks are encoded, before they are messages. Its memory is of Go's heap, and as large as
// the payload of all messages.
type Encoded struct {
	column Column
	parts  []uint32   // see [kernel.CascadeParts]
	ends   []uint64   // for each block the word behind it, of all blocks
	units  [][]uint32 // blocks of unitBlocks each
}

// Encode encodes the rows of each destination on all cores. Destination i has rows starts[i] to starts[i+1]-1; starts
// is ascending and ends with the number of rows. Errors: backend.ErrLimit for a destination whose message is too large,
// backend.ErrCancelled.
func Encode(ctx context.Context, column Column, starts []uint32, scheme kernel.CascadeScheme) (*Encoded, error) {
	parts := kernel.CascadeParts(starts)
	blocks := int(kernel.CascadeBlocks(parts))
	e := &Encoded{column: column, parts: parts, ends: make([]uint64, blocks),
		units: make([][]uint32, (blocks+unitBlocks-1)/unitBlocks)}
	err := relation.ForBlocks(ctx, blocks*kernel.CascadeBlock, func(from, to int) error {
		e.encodeUnit(from/kernel.CascadeBlock, to/kernel.CascadeBlock, scheme)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := 1; i < blocks; i++ {
		e.ends[i] += e.ends[i-1]
	}
	for i := range len(starts) - 1 {
		if words := e.payloadWords(i); words > math.MaxUint32 {
			return nil, tooLarge(words)
		}
	}
	return e, nil
}

// encodeUnit encodes the blocks from first to end-1, and leaves their sizes in ends.
func (e *Encoded) encodeUnit(first, end int, scheme kernel.CascadeScheme) {
	var slot [kernel.CascadeBlock*2 + 1]uint32
	var unit []uint32
	for block := first; block < end; block++ {
		row, rows := kernel.CascadeRows(e.parts, uint32(block))
		values := e.column.Values[int(row)*e.column.ValueBytes:][:int(rows)*e.column.ValueBytes]
		size := 0
		if e.column.ValueBytes == 8 {
			size = kernel.EncodeCascade(slot[:], backend.Longs(values), scheme)
		} else {
			size = kernel.EncodeCascade(slot[:], backend.Words(values), scheme)
		}
		if block == first { // others will be alike
			unit = make([]uint32, 0, size*(end-first)*9/8)
		}
		unit = append(unit, slot[:size]...)
		e.ends[block] = uint64(size)
	}
	e.units[first/unitBlocks] = unit
}

// blocks returns the blocks of a destination, and before the first of them the word at which they begin.
func (e *Encoded) blocks(destination int) (first, end int, begin uint64) {
	first, end = int(e.parts[2*destination+1]), int(e.parts[2*destination+3])
	return first, end, e.begin(first)
}

// begin is the word at which a block begins.
func (e *Encoded) begin(block int) uint64 {
	if block == 0 {
		return 0
	}
	return e.ends[block-1]
}

func (e *Encoded) payloadWords(destination int) uint64 {
	_, end, begin := e.blocks(destination)
	return e.begin(end) - begin
}

func (e *Encoded) rows(destination int) uint32 {
	return e.parts[2*destination+2] - e.parts[2*destination]
}

// MessageBytes is the size of the message of a destination.
func (e *Encoded) MessageBytes(destination int) uint64 {
	return MessageBytes(e.rows(destination), uint32(e.payloadWords(destination)))
}

// Put writes the message of a destination, of [Encoded.MessageBytes], to memory that is aligned to 4 bytes. Messages
// may be written at the same time.
func (e *Encoded) Put(message []byte, destination int) {
	first, end, begin := e.blocks(destination)
	directory := DirectoryOf(message, e.rows(destination))
	for block := first; block < end; block++ {
		directory[block-first] = uint32(e.ends[block] - begin)
	}
	payload := backend.Words(PayloadOf(message, e.rows(destination)))
	for block := first; block < end; {
		unit := block / unitBlocks
		next := min(end, (unit+1)*unitBlocks)
		offset := e.begin(block) - e.begin(unit*unitBlocks)
		payload = payload[copy(payload, e.units[unit][offset:][:e.begin(next)-e.begin(block)]):]
		block = next
	}
	Seal(message, e.column.ValueBytes, e.rows(destination))
}

// Decode decodes messages, whose rows follow one another in the column, on all cores. A message of other values, too
// many or too few rows, and a block that does not follow the format are backend.ErrInvalidInput; rows of such a block
// keep their values.
func Decode(ctx context.Context, column Column, messages []Message) error {
	starts, rows := make([]uint32, 1, len(messages)+1), uint64(0)
	var begins []int // of the blocks of messages among all blocks
	blocks := 0
	for i, m := range messages {
		if m.ValueBytes != column.ValueBytes {
			return corrupt("message %d has values of %d bytes instead of %d", i, m.ValueBytes, column.ValueBytes)
		}
		rows += uint64(m.Rows)
		begins = append(begins, blocks)
		blocks += len(m.Directory)
		starts = append(starts, uint32(rows))
	}
	if want := uint64(len(column.Values) / column.ValueBytes); rows != want || rows > math.MaxUint32 {
		return corrupt("messages have %d rows instead of %d", rows, want)
	}
	parts := kernel.CascadeParts(starts)
	var wrong atomic.Int64
	err := relation.ForBlocks(ctx, blocks*kernel.CascadeBlock, func(from, to int) error {
		for block := from / kernel.CascadeBlock; block < to/kernel.CascadeBlock; block++ {
			at := sort.Search(len(begins), func(i int) bool { return begins[i] > block }) - 1
			row, rows := kernel.CascadeRows(parts, uint32(block))
			values := column.Values[int(row)*column.ValueBytes:][:int(rows)*column.ValueBytes]
			if !messages[at].decodeBlock(values, block-begins[at]) {
				wrong.CompareAndSwap(0, int64(block)+1)
			}
		}
		return nil
	})
	if block := wrong.Load(); err == nil && block > 0 {
		return WrongBlock(uint64(block - 1))
	}
	return err
}

// decodeBlock decodes a block to the values of its rows.
func (m *Message) decodeBlock(values []byte, block int) bool {
	words := m.Payload[m.begin(block):m.Directory[block]]
	if m.ValueBytes == 8 {
		return kernel.DecodeCascade(backend.Longs(values), words)
	}
	return kernel.DecodeCascade(backend.Words(values), words)
}

// WrongBlock is the error of a block that does not follow the format.
func WrongBlock(block uint64) error {
	return &backend.OpError{Op: "decompress a column", Err: backend.ErrInvalidInput,
		Detail: fmt.Sprintf("block %d does not follow the format of docs/codec.md", block)}
}
