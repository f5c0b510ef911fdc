package hmg

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// chunk is rows of a side on one device.
type chunk struct {
	relation.Chunk // keys; row numbers, if they are there, are the payload
	release        func()
}

// hold gives the chunk other memory, which release frees, and releases the memory it had.
func (c *chunk) hold(release func()) {
	if c.release != nil {
		c.release()
	}
	c.release = release
}

// sort sorts the chunk on its device.
func (c *chunk) sort(ctx context.Context, lane *exec.Lane) error {
	lane = lane.Nested(ctx)
	numbers := ranges.Numbers{None: true}
	if len(c.Payload) > 0 {
		numbers = ranges.Numbers{Given: c.Payload[0].Data}
	}
	sorted, err := ranges.Sort(ctx, lane, &c.Chunk, "chunk", numbers)
	if err != nil || sorted.Keys == c.Keys.Data { // they were in order
		lane.Memory.ReleaseAll()
		return err
	}
	c.Keys.Data = sorted.Keys
	if !numbers.None {
		c.Payload[0].Data = sorted.IDs
	}
	c.hold(lane.Memory.ReleaseAll)
	return nil
}

// numbers says which row numbers are on a device beside the keys.
type numbers uint8

const (
	noNumbers numbers = iota
	givenNumbers
	countedNumbers // 0, 1, 2, ... of the side, which the device makes
)

// load is rows of a side that become a chunk.
type load[K runs.Word] struct {
	to      *chunk
	side    runs.Block[K, uint32]
	rows    runs.Span
	numbers numbers
}

// upload makes chunks on the device of a lane. The caller releases them, also after an error. The host memory must not
// change before the point has passed.
func upload[K runs.Word](ctx context.Context, lane *exec.Lane, loads ...load[K]) (uploaded backend.Point, err error) {
	var transfers []backend.Transfer
	for _, l := range loads {
		memory, rows := lane.Scope(ctx), l.rows.Rows()
		l.to.hold(memory.ReleaseAll)
		keys, ids := memory.New(rows*uint64(bytesOf[K]()), "keys of a chunk").All(), backend.Range{}
		l.to.Chunk = relation.Chunk{Rows: rows, Keys: relation.Values{Data: keys, Bytes: bytesOf[K]()}}
		if l.numbers != noNumbers {
			ids = memory.New(rows*4, "row numbers of a chunk").All()
			l.to.Payload = []relation.Values{{Data: ids, Bytes: 4}}
		}
		if err := memory.Err(); err != nil {
			return uploaded, err
		}
		if rows == 0 {
			continue
		}
		first, end := l.rows.First, l.rows.End
		transfers = append(transfers, backend.Transfer{Device: keys, Host: backend.AsBytes(l.side.Keys[first:end])})
		switch l.numbers {
		case givenNumbers:
			transfers = append(transfers, backend.Transfer{Device: ids, Host: backend.AsBytes(l.side.Rows[first:end])})
		case countedNumbers:
			list := lane.List("number rows")
			if err := lane.Iota(list, ids, rows, uint32(first)); err != nil {
				return uploaded, err
			}
			if err := lane.Submit(ctx, list); err != nil {
				return uploaded, err
			}
		}
	}
	return lane.Device().UploadAll(ctx, transfers)
}
