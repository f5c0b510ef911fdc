package relation

// Sample returns the packed codes of about rows rows of a side, in runs of run neighbours, from 1 to stripRows/2, that are spread evenly over it; of
// all rows where it has no more. Rows that are left out are not in it. It reads no more than these rows.
func (p *KeyPlan) Sample(side Side, rows, run int) (codes []uint64) {
	s, from := &p.sides[side], 0
	buffers := new(scratch)
	runs := max(1, min(rows, s.rows)/run)
	for i := range runs {
		from = int(uint64(i) * uint64(s.rows) / uint64(runs))
		to := min(from+run, s.rows)
		if rows >= s.rows {
			to = int(uint64(i+1) * uint64(s.rows) / uint64(runs))
		}
		packed := buffers.packed[:to-from]
		packStrip(p, s, buffers, from, to, packed)
		for row := from; row < to; row++ {
			if s.selected == nil || s.selected.words[row/64]>>(row%64)&1 == 1 {
				codes = append(codes, packed[row-from])
			}
		}
	}
	return codes
}
