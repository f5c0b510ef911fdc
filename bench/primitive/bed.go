package primitive

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

const (
	blockRows = 1 << 14 // made or checked by one core at a time
	// marker fills outputs before a run, so that what is not written shows.
	marker = 0xdeadbeef
)

// pieceRows are made, moved and checked at a time: a multiple of blockRows. Tests take fewer.
var pieceRows uint64 = 1 << 22

// bed is what a case lies in: the device and the buffers of its columns. After the first error its methods do nothing.
type bed struct {
	Case
	ctx  context.Context
	ops  *primitive.Ops
	seed uint64
	// The bits of the keys that decide the order of a sort; 0: all.
	orderBits uint64
	err       error
	buffers   []*backend.Buffer
}

func (b *bed) device() *backend.Device { return b.ops.Device() }

func (b *bed) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// plan passes a plan on and keeps its error.
func plan[P any](b *bed) func(P, error) P {
	return func(p P, err error) P {
		b.fail(err)
		return p
	}
}

func (b *bed) release() {
	for _, buffer := range b.buffers {
		buffer.Release()
	}
	b.buffers = nil
}

// scratch allocates a buffer.
func (b *bed) scratch(sizeBytes uint64) backend.Range {
	if b.err != nil {
		return backend.Range{}
	}
	buffer, err := b.device().Allocate(b.ctx, backend.DeviceLocal, sizeBytes, b.Primitive)
	if err != nil {
		b.fail(err)
		return backend.Range{}
	}
	b.buffers = append(b.buffers, buffer)
	return buffer.All()
}

// empty allocates a column of values of 32 or 64 bits.
func (b *bed) empty(bits int, rows uint64) backend.Range { return b.scratch(rows * uint64(bits/8)) }

// column allocates a column of values of 32 or 64 bits and fills it with value(row).
func (b *bed) column(bits int, rows uint64, value func(row uint64) uint64) backend.Range {
	width := uint64(bits / 8)
	r := b.scratch(rows * width)
	if b.err != nil || rows == 0 {
		return r
	}
	piece := make([]byte, min(rows, pieceRows)*width)
	for first := uint64(0); first < rows && b.err == nil; first += pieceRows {
		n := min(pieceRows, rows-first)
		v := viewOf(piece[:n*width], bits)
		b.fail(inBlocks(b.ctx, n, func(from, to uint64) error {
			for i := from; i < to; i++ {
				v.set(i, value(first+i))
			}
			return nil
		}))
		if b.err == nil {
			_, err := b.device().Upload(b.ctx, r.Part(first*width, n*width), piece[:n*width])
			b.fail(err)
		}
	}
	return r
}

// view is a piece of a column in host memory.
type view struct {
	words []uint32
	longs []uint64
}

func viewOf(piece []byte, bits int) view {
	if bits == 64 {
		return view{longs: backend.Longs(piece)}
	}
	return view{words: backend.Words(piece)}
}

func (v *view) at(i uint64) uint64 {
	if v.longs != nil {
		return v.longs[i]
	}
	return uint64(v.words[i])
}

func (v *view) set(i, value uint64) {
	if v.longs != nil {
		v.longs[i] = value
	} else {
		v.words[i] = uint32(value)
	}
}

// result is a column on the device that is to be checked.
type result struct {
	column backend.Range
	bits   int
}

// block is some consecutive rows of results that one core checks.
type block struct {
	first, rows uint64
	offset      uint64 // of first in the pieces
	pieces      []view
	before      []uint64 // the row before the pieces
}

// at is the value of a result in row first+i; i may be -1 where that row exists.
func (k *block) at(column int, i int64) uint64 {
	if at := int64(k.offset) + i; at >= 0 {
		return k.pieces[column].at(uint64(at))
	}
	return k.before[column]
}

// check downloads results of equal numbers of rows piece by piece and calls verify for blocks of them, on all cores.
func (b *bed) check(rows uint64, verify func(k *block) error, results ...result) error {
	if b.err != nil {
		return b.err
	}
	memory := make([][]byte, len(results))
	for c, r := range results {
		memory[c] = make([]byte, min(rows, pieceRows)*uint64(r.bits/8))
	}
	before := make([]uint64, len(results))
	for first := uint64(0); first < rows; first += pieceRows {
		n := min(pieceRows, rows-first)
		pieces := make([]view, len(results))
		for c, r := range results {
			width := uint64(r.bits / 8)
			if err := b.device().Download(b.ctx, memory[c][:n*width],
				r.column.Part(first*width, n*width)); err != nil {
				return err
			}
			pieces[c] = viewOf(memory[c][:n*width], r.bits)
		}
		if err := inBlocks(b.ctx, n, func(from, to uint64) error {
			return verify(&block{first: first + from, rows: to - from, offset: from, pieces: pieces, before: before})
		}); err != nil {
			return err
		}
		for c := range before {
			before[c] = pieces[c].at(n - 1)
		}
	}
	return nil
}

// word downloads one value.
func (b *bed) word(r backend.Range, offsetBytes uint64, bits int) (uint64, error) {
	text := make([]byte, bits/8)
	err := b.device().Download(b.ctx, text, r.Part(offsetBytes, uint64(bits/8)))
	v := viewOf(text, bits)
	return v.at(0), err
}

// inBlocks calls work for ranges that cover [0, rows), on all cores, until one fails.
func inBlocks(ctx context.Context, rows uint64, work func(from, to uint64) error) error {
	var tasks errgroup.Group
	var next atomic.Uint64
	var failed atomic.Bool
	for range min(uint64(runtime.GOMAXPROCS(0)), (rows+blockRows-1)/blockRows) {
		tasks.Go(func() error {
			for {
				to := next.Add(blockRows)
				from := to - blockRows
				if from >= rows || failed.Load() {
					return nil
				}
				err := ctx.Err()
				if err != nil {
					err = backend.ContextError(ctx)
				} else {
					err = work(from, min(to, rows))
				}
				if err != nil {
					failed.Store(true)
					return err
				}
			}
		})
	}
	return tasks.Wait()
}
