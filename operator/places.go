package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
)

// Places is a sink for a join of some rows of two transformed inputs. The chunks of that join have as payload the
// position of each row in its input; Places turns pairs of positions into output rows. All columns of the inputs must
// have been moved.
type Places struct {
	Lane    *exec.Lane
	Inputs  [2]*Input
	Keys    bool // rows have a key column
	Counted bool // the rows have already been reported to the sink
	Sink    Sink
	// Untransformed says that payload is gathered from the columns of the chunks, by IDs.
	Untransformed bool
	// Unmix converts moved keys back to keys of the chunks; nil if they are the same.
	Unmix func(list *backend.List, keys, to backend.Range, rows uint64) error

	out *Window // for the window of places that is being filled
}

// Count passes the number of rows on, unless they have already been reported.
func (p *Places) Count(ctx context.Context, rows uint64) error {
	if p.Counted {
		return nil
	}
	return p.Sink.Count(ctx, rows)
}

// besideBytes is the memory that a pair takes in addition to its output columns: two positions, two row numbers by
// which [Pairs] gathers, and a mixed key of keyBytes.
func besideBytes(keyBytes int) uint64 { return 4*4 + uint64(keyBytes) }

// PlacesBytes is the memory that [Places] takes per pair while it turns pairs into output rows.
func PlacesBytes(f *Facts, want *Want) uint64 {
	keyBytes := 0
	if want.Keys {
		keyBytes = f.KeyBytes
	}
	return max(4, uint64(keyBytes+sum(f.Payload[Build])+sum(f.Payload[Probe]))) + besideBytes(keyBytes)
}

// Window returns a window for positions. It may have room for fewer rows than the sink has, because positions take
// memory too.
func (p *Places) Window(ctx context.Context, rows uint64) (_ *Window, err error) {
	p.out.Release()
	rowBytes, beside := max(4, p.rowBytes()), besideBytes(0)
	if p.Keys && p.Unmix != nil {
		beside = besideBytes(p.Inputs[Build].Chunk.Keys.Bytes)
	}
	if p.out, err = p.Sink.Window(ctx, rows+(rows*beside+rowBytes-1)/rowBytes); err != nil {
		return nil, err
	}
	return NewWindow(ctx, p.Lane, max(1, min(rows, p.out.Rows*rowBytes/(rowBytes+beside)))), nil
}

// rowBytes is the size of an output row.
func (p *Places) rowBytes() (bytes uint64) {
	if p.Keys {
		bytes = uint64(p.Inputs[Build].Chunk.Keys.Bytes)
	}
	for _, in := range p.Inputs {
		for _, column := range in.Payload {
			bytes += uint64(column.Bytes)
		}
	}
	return bytes
}

// Put gathers all columns of the output rows by their positions, and puts them into the sink.
func (p *Places) Put(ctx context.Context, w *Window) error {
	defer w.Release()
	pairs := Pairs{Lane: p.Lane, Keys: p.Keys, KeyBytes: p.Inputs[Build].Chunk.Keys.Bytes}
	numbered := [2]bool{} // sides whose columns are gathered from the chunk, by row number
	for side, in := range p.Inputs {
		pairs.Chunks[side] = in.Chunk
		if numbered[side] = p.Untransformed && in.IDs.Buffer != nil; numbered[side] {
			continue
		}
		moved := in.Transformed()
		pairs.Chunks[side] = &moved
	}
	if !numbered[pairs.keySide()] {
		pairs.Unmix = p.Unmix
	}
	out := p.out
	p.out = nil
	return pairs.Write(ctx, p.Sink, out, w.Rows, func(list *backend.List, build, probe backend.Range) error {
		for side, to := range [2]backend.Range{build, probe} {
			places := w.Payload[side][0].Range(0, w.Rows*4)
			if !numbered[side] {
				list.Copy(to, places)
			} else if err := p.Lane.Gather(list, 4, p.Inputs[side].IDs, places, to, uint32(w.Rows)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Release releases a window of the sink that was not put.
func (p *Places) Release() { p.out.Release() }
