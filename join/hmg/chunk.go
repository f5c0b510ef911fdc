package hmg

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// chunk is rows of a side on one device: keys, with row numbers as the payload.
type chunk struct {
	relation.Chunk
	release func()
}

// hold gives the chunk other memory, which release frees, and releases the memory it had.
func (c *chunk) hold(release func()) {
	if c.release != nil {
		c.release()
	}
	c.release = release
}

// upload makes the chunk of rows first to end-1 of a side on the device of a lane. Without numbers on the host, the
// device makes them. The caller releases the chunk, also after an error.
func upload[K runs.Word](ctx context.Context, lane *exec.Lane, to *chunk, side runs.Block[K, uint32], numbered bool,
	first, end int) error {
	memory, rows := lane.Scope(ctx), uint64(end-first)
	to.hold(memory.ReleaseAll)
	keys := memory.New(rows*uint64(bytesOf[K]()), "keys of a chunk").All()
	ids := memory.New(rows*4, "row numbers of a chunk").All()
	to.Chunk = relation.Chunk{Rows: rows, Keys: relation.Values{Data: keys, Bytes: bytesOf[K]()},
		Payload: []relation.Values{{Data: ids, Bytes: 4}}}
	if err := memory.Err(); err != nil || rows == 0 {
		return err
	}
	transfers := []backend.Transfer{{Device: keys, Host: backend.AsBytes(side.Keys[first:end])}}
	if !numbered {
		transfers = append(transfers, backend.Transfer{Device: ids, Host: backend.AsBytes(side.Rows[first:end])})
	} else {
		list := lane.List("number rows")
		if err := lane.Iota(list, ids, rows, uint32(first)); err != nil {
			return err
		}
		if err := lane.Submit(ctx, list); err != nil {
			return err
		}
	}
	_, err := lane.Device().UploadAll(ctx, transfers)
	return err
}
