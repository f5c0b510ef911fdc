package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// Batches yields the output as record batches of at most BatchRows rows. The receiver releases each batch. Nothing
// follows an error.
func (r *HMGResult) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if r.Layout.Spec.Output != join.Rows {
			yield(nil, fmt.Errorf("%w: the join was not asked for rows", backend.ErrInvalidInput))
			return
		}
		columns := r.columns()
		for numbers, err := range r.pieces(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			p := deliver.NewPairs(numbers, columns)
			more := p.Batches(ctx, r.Layout.Schema, r.allocator, yield)
			p.Release()
			if !more {
				return
			}
		}
	}
}

// Pairs yields the pairs of row numbers, piece by piece, for a join that was asked for them. The receiver may keep a
// piece. Nothing follows an error.
func (r *HMGResult) Pairs(ctx context.Context) iter.Seq2[query.Pairs, error] {
	return func(yield func(query.Pairs, error) bool) {
		if r.Layout.Spec.Output != join.Pairs {
			yield(query.Pairs{}, fmt.Errorf("%w: the join was not asked for pairs", backend.ErrInvalidInput))
			return
		}
		for numbers, err := range r.pieces(ctx) {
			if !yield(query.Pairs{Left: numbers[relation.Left], Right: numbers[relation.Right]}, err) || err != nil {
				return
			}
		}
	}
}

// columns are the columns of the output, all fetched by the host.
func (r *HMGResult) columns() (columns []deliver.Column) {
	for i, c := range r.Layout.Columns {
		field := r.Layout.Schema.Field(i)
		out := deliver.Column{Name: field.Name, Type: field.Type, First: int(c.Side)}
		if c.Role == join.IndicatorColumn {
			out.Role = deliver.Indicator
		} else if name, ok := c.In(c.Side); ok {
			out.Of[c.Side] = &deliver.Value{Column: relation.ColumnOf(r.tables[c.Side], name)}
		}
		columns = append(columns, out)
	}
	return columns
}

// fewPairs is the least room for pairs, unless a batch has fewer.
const fewPairs = 1 << 16

// pieces yields row numbers of both sides, at most BatchRows pairs at a time. The join ends with the iteration.
func (r *HMGResult) pieces(ctx context.Context) iter.Seq2[[2][]uint32, error] {
	return func(yield func([2][]uint32, error) bool) {
		if r.drawn {
			yield([2][]uint32{}, fmt.Errorf("%w: the output of the join was drawn already", backend.ErrInvalidInput))
			return
		}
		r.drawn = true
		defer r.flow.Stop()
		defer context.AfterFunc(ctx, r.found.Abandon)()
		var numbers [2][]uint32
		at, most := 0, r.engine.BatchRows(r.Layout.Spec.BatchRows, r.Layout.Schema)
		flush := func() (more bool) {
			piece, err := r.verify(ctx, [2][]uint32{numbers[0][:at], numbers[1][:at]})
			numbers, at = [2][]uint32{}, 0
			return (err == nil && len(piece[0]) == 0) || yield(piece, err) && err == nil
		}
		for f := r.next(); f != nil; f = r.next() {
			for first := uint64(0); first < f.Rows; {
				if numbers[0] == nil {
					room := min(most, max(f.Rows-first, fewPairs))
					numbers = [2][]uint32{make([]uint32, room), make([]uint32, room)}
				}
				end := at + int(min(f.Rows-first, uint64(len(numbers[0])-at)))
				if err := r.expand(ctx, f, first, [2][]uint32{numbers[0][at:end], numbers[1][at:end]}); err != nil {
					f.Release()
					yield([2][]uint32{}, err)
					return
				}
				first += uint64(end - at)
				if at = end; at == len(numbers[0]) && !flush() {
					f.Release()
					return
				}
			}
			f.Release()
		}
		switch {
		case ctx.Err() != nil:
			yield([2][]uint32{}, backend.ContextError(ctx))
		case at > 0 && !flush():
		default:
			err := r.flow.Wait()
			if r.all.Store(err == nil); err != nil {
				yield([2][]uint32{}, err)
			}
		}
	}
}

// next returns what the next task found; nil if there is none.
func (r *HMGResult) next() (f *hmg.Found) {
	if f, r.first = r.first, nil; f == nil {
		f, _, _ = r.found.Take(r.flow.Context())
	}
	return f
}

// expand writes pairs by side. If the join has ended, it returns the join's error.
func (r *HMGResult) expand(ctx context.Context, f *hmg.Found, first uint64, to [2][]uint32) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.freed {
		return cmp.Or(r.flow.Wait(), error(backend.ErrCancelled))
	}
	return f.Pairs.Write(ctx, first, to[f.Probe], to[1-f.Probe], r.cores)
}

// verify keeps the pairs whose keys are equal, if codes are hashes.
func (r *HMGResult) verify(ctx context.Context, numbers [2][]uint32) ([2][]uint32, error) {
	if r.keys.Exact() {
		return numbers, nil
	}
	keep := make([]uint64, (len(numbers[0])+63)/64)
	for i := range keep {
		keep[i] = ^uint64(0)
	}
	if err := r.keys.Equal(ctx, numbers, keep); err != nil {
		return numbers, err
	}
	kept := 0
	for i := range numbers[0] {
		if keep[i/64]>>(i%64)&1 == 1 {
			numbers[0][kept], numbers[1][kept] = numbers[0][i], numbers[1][i]
			kept++
		}
	}
	return [2][]uint32{numbers[0][:kept], numbers[1][:kept]}, r.add(uint64(kept))
}
