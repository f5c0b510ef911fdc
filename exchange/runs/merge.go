package runs

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
)

const (
	// checkRows is how many rows are merged between two looks at the context.
	checkRows = 1 << 20
	// pieceRows is the least number of rows that are worth a goroutine.
	pieceRows = 1 << 15
)

// Merge merges sorted runs into one (HMG 3.2), on at most cores goroutines: the output is cut into equal pieces by
// exact selection, and each piece is merged by itself. Rows with equal keys are in the order of their runs, and within
// a run in its order. out has as many rows as all runs together and does not overlap them.
//
// Errors: backend.ErrInvalidInput for an output of another size; backend.ErrCancelled, which leaves out undefined.
func Merge[K, V Word](ctx context.Context, out Block[K, V], in []Run[K, V], cores int) error {
	rows := uint64(0)
	for _, r := range in {
		rows += r.Len()
	}
	if uint64(len(out.Keys)) != rows || uint64(len(out.Rows)) != rows {
		return invalid("merge", "room for %d keys and %d rows, but there are %d", len(out.Keys), len(out.Rows), rows)
	}
	return pieces(ctx, rows, pieceRows, cores, func(ctx context.Context, first, end uint64) error {
		cursors, begins, ends := make([]cursor[K, V], len(in)), selectRank(in, first), selectRank(in, end)
		for i, r := range in {
			cursors[i] = newCursor(r, begins[i], ends[i])
		}
		return mergePiece(ctx, out.slice(int(first), int(end)), cursors)
	})
}

// pieces calls do for equal pieces of a range of rows, on at most cores goroutines. There are several pieces for each,
// so that all end at about the same time on cores that others use, too.
func pieces(ctx context.Context, rows, leastRows uint64, cores int,
	do func(ctx context.Context, first, end uint64) error) error {
	count := max(1, min(uint64(4*max(cores, 1)), rows/leastRows))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(cores, 1))
	for i := range count {
		group.Go(func() error {
			if err := ended(groupCtx); err != nil {
				return err
			}
			return do(groupCtx, share(rows, i, count), share(rows, i+1, count))
		})
	}
	return group.Wait()
}

// ended is the error of a context that has ended.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return backend.ContextError(ctx)
}

// share is where piece i of count equal pieces begins.
func share(rows, i, count uint64) uint64 { return rows/count*i + min(i, rows%count) }

// cursor reads some rows of a run in order. It is the zero-copy iterator over keys and rows (HMG 3.2.2): what is left
// of the current block, and the rows after it.
type cursor[K, V Word] struct {
	Block[K, V]
	run       Run[K, V]
	next, end uint64
}

func newCursor[K, V Word](r Run[K, V], first, end uint64) cursor[K, V] {
	c := cursor[K, V]{run: r, next: first, end: end}
	c.advance(0)
	return c
}

// advance skips rows of the current block, and goes on to the next one after the last of them. It reports whether there
// are more rows.
func (c *cursor[K, V]) advance(rows int) bool {
	c.Block = c.slice(rows, len(c.Keys))
	if len(c.Keys) > 0 || c.next >= c.end {
		return len(c.Keys) > 0
	}
	for b := range c.run.Blocks(c.next, c.end) {
		c.Block = b
		break
	}
	c.next += uint64(len(c.Keys))
	return true
}

// mergePiece merges what cursors read, in their order where keys are equal. Each kernel stops where a block ends, at
// the end of out, or for a look at the context; cursors without rows are dropped, so that the kernels for few runs take
// over.
func mergePiece[K, V Word](ctx context.Context, out Block[K, V], in []cursor[K, V]) error {
	in = dropEnded(in)
	var taken [4]int
	var tree loserTree[K]
	for len(out.Keys) > 0 {
		if err := ended(ctx); err != nil {
			return err
		}
		room := out.slice(0, min(len(out.Keys), checkRows))
		var n int
		switch len(in) {
		case 1:
			n = copy(room.Keys, in[0].Keys)
			copy(room.Rows, in[0].Rows)
			taken[0] = n
		case 2:
			taken[0], taken[1] = merge2(room, in[0].Block, in[1].Block)
		case 3:
			taken[0], taken[1], taken[2] = merge3(room, in[0].Block, in[1].Block, in[2].Block)
		case 4:
			taken[0], taken[1], taken[2], taken[3] = merge4(room, in[0].Block, in[1].Block, in[2].Block, in[3].Block)
		default:
			n = mergeTree(&tree, room, in)
		}
		if len(in) <= len(taken) {
			n = 0
			for i := range in {
				n += taken[i]
				in[i].advance(taken[i])
			}
		}
		out = out.slice(n, len(out.Keys))
		in = dropEnded(in)
	}
	return nil
}

// dropEnded removes cursors without rows.
func dropEnded[K, V Word](in []cursor[K, V]) []cursor[K, V] {
	left := in[:0]
	for _, c := range in {
		if len(c.Keys) > 0 {
			left = append(left, c)
		}
	}
	return left
}
