package relation

import (
	"encoding/binary"
	"slices"
)

// Repeats finds rows of a side with equal keys among rows whose codes are equal, which unequal keys may have too
// ([KeyPlan.Exact]). The work is linear in the number of rows: rows are found by a map whose keys spell out the values of
// all key columns.
type Repeats struct {
	plan *KeyPlan
	side Side
	rows map[string]uint32 // the first row of each key
}

// Repeats returns a search among no rows yet.
func (p *KeyPlan) Repeats(side Side) *Repeats {
	return &Repeats{plan: p, side: side, rows: make(map[string]uint32)}
}

// Rows is the number of rows that were added.
func (r *Repeats) Rows() int { return len(r.rows) }

// Add adds rows, each of which has a code and was not added before. It stops at the first one with the key of a row
// before it, and returns the two.
func (r *Repeats) Add(rows []uint32) (first, second uint32, found bool) {
	s, texts := new(scratch), new(foundTexts)
	values := make([][]byte, fetchRows)
	for some := range slices.Chunk(rows, fetchRows) {
		r.plan.spell(s, texts[0][:len(some)], r.side, some, values)
		for i, row := range some {
			if first, found = r.rows[string(values[i])]; found {
				return first, row, true
			}
			r.rows[string(values[i])] = row
		}
	}
	return 0, 0, false
}

// spell writes the values of the keys of rows, at most fetchRows, to values: equal bytes for equal keys alone.
func (p *KeyPlan) spell(s *scratch, texts []string, side Side, rows []uint32, values [][]byte) {
	for i := range rows {
		values[i] = values[i][:0]
	}
	for k := range p.keys {
		c := p.sides[side].columns[k]
		text, nulls := p.keys[k].isText(), p.keys[k].nullsEqual && c.hasNulls()
		if text {
			c.gatherTexts(texts, rows)
		} else {
			c.gatherCodes(s.codes[:len(rows)], rows)
		}
		for i, row := range rows {
			switch v := values[i]; {
			case nulls && c.isNull(row):
				values[i] = append(v, 0)
			case text:
				values[i] = append(binary.AppendUvarint(append(v, 1), uint64(len(texts[i]))), texts[i]...)
			default:
				values[i] = binary.LittleEndian.AppendUint64(append(v, 1), s.codes[i])
			}
		}
	}
}
