package keys

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation"
)

// VerifyGroups reports whether groups of rows with equal codes are groups of equal keys, where codes are hashes. codes
// has the code of each group and first its first row. The groups are put into a table by their code, and each row is
// compared with the first row of the group that has its code.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) VerifyGroups(ctx context.Context, codes []uint64, first []uint32) (equal bool, err error) {
	t := standing{plan: p, side: relation.Left, codes: codes, rows: first}
	t.slots = make([]uint32, 1<<bits.Len64(max(1, 2*uint64(len(codes)))-1))
	if err := relation.ForBlocks(ctx, len(codes), func(from, to int) error {
		for i, code := range codes[from:to] {
			t.place(code, uint32(from+i))
		}
		return nil
	}); err != nil {
		return false, err
	}
	side := &p.sides[relation.Left]
	err = forBlocks(ctx, side.rows, func(s *scratch, from, to int) error {
		c := comparison{standing: &t, s: s, sides: [2]relation.Side{relation.Left, relation.Left}}
		packed, rows := make([]uint64, StripRows), new(standingRows)
		for strip := from; strip < to && !t.differ.Load(); strip += StripRows {
			end := min(strip+StripRows, to)
			packStrip(p, side, s, strip, end, packed[:end-strip])
			for at := strip; at < end; at += relation.FetchRows {
				some := packed[at-strip : min(at+relation.FetchRows, end)-strip]
				for i, row := range rows.find(&t, some) {
					if row != uint32(at+i) {
						c.add(row, uint32(at+i))
					}
				}
			}
		}
		c.flush()
		return nil
	})
	return !t.differ.Load(), err
}

// standingRows is the working memory of find.
type standingRows struct {
	places  [relation.FetchRows]*uint32
	codesAt [relation.FetchRows]*uint64
	numbers [relation.FetchRows]uint32
	codes   [relation.FetchRows]uint64
	rows    [relation.FetchRows]uint32
}

// find returns the row of each code, at most FetchRows. The table differs if it has not all of them. No step depends on
// the one before, so that cache misses overlap.
func (r *standingRows) find(t *standing, codes []uint64) []uint32 {
	for i, code := range codes {
		r.places[i] = &t.slots[t.slot(code)]
	}
	relation.Fetch(r.numbers[:len(codes)], r.places[:len(codes)])
	for i, number := range r.numbers[:len(codes)] {
		r.numbers[i] = max(number, 1) - 1
		r.codesAt[i] = &t.codes[r.numbers[i]]
	}
	relation.Fetch(r.codes[:len(codes)], r.codesAt[:len(codes)])
	for i, code := range codes {
		if r.codes[i] != code { // of another code, which came first
			number, found := t.find(code)
			if !found {
				t.differ.Store(true)
			}
			r.numbers[i] = number
		}
		r.places[i] = &t.rows[r.numbers[i]]
	}
	relation.Fetch(r.rows[:len(codes)], r.places[:len(codes)])
	return r.rows[:len(codes)]
}

// NumberKeys returns for each row the number of its key, in the order of their first rows, by a map of the values of
// all key columns. It runs on one core, and takes host memory for all different keys: for tables with different keys of
// equal hashes.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *Plan) NumberKeys(ctx context.Context) ([]uint32, error) {
	numbers, known := make([]uint32, p.sides[relation.Left].rows), make(map[string]uint32)
	s, texts := new(scratch), new(foundTexts)
	values, rows := make([][]byte, relation.FetchRows), make([]uint32, relation.FetchRows)
	for from := 0; from < len(numbers); from += relation.FetchRows {
		if from%relation.BlockRows == 0 && ctx.Err() != nil {
			return nil, backend.ContextError(ctx)
		}
		n := min(relation.FetchRows, len(numbers)-from)
		for i := range n {
			rows[i] = uint32(from + i)
		}
		p.spell(s, texts[0][:n], relation.Left, rows[:n], values)
		for i, value := range values[:n] {
			number, found := known[string(value)]
			if !found {
				number = uint32(len(known))
				known[string(value)] = number
			}
			numbers[from+i] = number
		}
	}
	return numbers, nil
}
