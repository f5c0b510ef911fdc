package keys

import (
	"encoding/binary"
	"slices"

	"github.com/spirjoin/spirjoin/relation"
)

// Repeats finds rows of a side with equal keys among rows with equal codes. Unequal keys may have equal codes too, if
// codes are hashes ([Plan.Exact]). The work is linear in the number of rows: a map finds rows by the values of all
// key columns. Used by one goroutine at a time.
type Repeats struct {
	plan *Plan
	side relation.Side
	rows map[string]uint32 // first row with each key
}

// Repeats returns a search without rows.
func (p *Plan) Repeats(side relation.Side) *Repeats {
	return &Repeats{plan: p, side: side, rows: make(map[string]uint32)}
}

// Rows returns the number of rows added so far.
func (r *Repeats) Rows() int { return len(r.rows) }

// Add adds rows, which have codes and were not added before. It stops at the first row with the same key as an earlier
// one, and returns both.
func (r *Repeats) Add(rows []uint32) (first, second uint32, found bool) {
	s, texts := new(scratch), new(foundTexts)
	values := make([][]byte, relation.FetchRows)
	for some := range slices.Chunk(rows, relation.FetchRows) {
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

// spell encodes the keys of rows, at most FetchRows, as bytes in values. Bytes are equal if and only if keys are.
func (p *Plan) spell(s *scratch, texts []string, side relation.Side, rows []uint32, values [][]byte) {
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
