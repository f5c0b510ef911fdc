package relation

import (
	"context"
	"math/bits"
)

// VerifyBytes is the maximum host memory that [KeyPlan.VerifyGroups] takes per group: up to four slots of a table.
const VerifyBytes = 4 * 4

// VerifyGroups reports whether groups of rows with equal codes are groups of equal keys, where codes are hashes. codes
// has the code of each group and first its first row. The groups are put into a table by their code, and each row is
// compared with the first row of the group that has its code.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *KeyPlan) VerifyGroups(ctx context.Context, codes []uint64, first []uint32) (equal bool, err error) {
	t := standing{plan: p, side: Left, codes: codes, rows: first}
	t.slots = make([]uint32, 1<<bits.Len64(max(1, 2*uint64(len(codes)))-1))
	if err := forBlocks(ctx, len(codes), func(_ *scratch, from, to int) error {
		for i, code := range codes[from:to] {
			t.place(code, uint32(from+i))
		}
		return nil
	}); err != nil {
		return false, err
	}
	side := &p.sides[Left]
	err = forBlocks(ctx, side.rows, func(s *scratch, from, to int) error {
		c := comparison{standing: &t, s: s, sides: [2]Side{Left, Left}}
		packed := make([]uint64, stripRows)
		for strip := from; strip < to && !t.differ.Load(); strip += stripRows {
			end := min(strip+stripRows, to)
			packStrip(p, side, s, strip, end, packed[:end-strip])
			for i, code := range packed[:end-strip] {
				group, found := t.find(code)
				if !found {
					t.differ.Store(true)
				} else if row := t.row(group); row != uint32(strip+i) {
					c.add(row, uint32(strip+i))
				}
			}
		}
		c.flush()
		return nil
	})
	return !t.differ.Load(), err
}

// NumberKeys returns for each row the number of its key, in the order of their first rows, by a map of the values of
// all key columns. It runs on one core, and takes host memory for all different keys: for tables with different keys of
// equal hashes.
//
// Errors wrap backend.ErrCancelled or backend.ErrTimedOut.
func (p *KeyPlan) NumberKeys(ctx context.Context) ([]uint32, error) {
	numbers, known := make([]uint32, p.sides[Left].rows), make(map[string]uint32)
	s, texts := new(scratch), new(foundTexts)
	values, rows := make([][]byte, fetchRows), make([]uint32, fetchRows)
	for from := 0; from < len(numbers); from += fetchRows {
		if from%blockRows == 0 && ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		n := min(fetchRows, len(numbers)-from)
		for i := range n {
			rows[i] = uint32(from + i)
		}
		p.spell(s, texts[0][:n], Left, rows[:n], values)
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
