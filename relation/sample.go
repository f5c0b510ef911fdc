package relation

import "math/bits"

// Sample returns the packed codes of about rows rows of a side, in table order; of all rows where it has no more. Rows
// that are left out are not in it. It reads no more than these rows.
//
// The rows come in runs of run neighbours, from 1 to stripRows/2. The table is cut into as many equal shares as there
// are runs, and each run begins at a random row of its share (stratified sampling), so that keys that repeat with a
// period are met as often as any others. The same call gives the same rows.
func (p *KeyPlan) Sample(side Side, rows, run int) (codes []uint64) {
	s, buffers := &p.sides[side], new(scratch)
	runs := max(1, min(rows, s.rows)/run)
	share := func(i int) int { return int(uint64(i) * uint64(s.rows) / uint64(runs)) }
	for i := range runs {
		from, to := share(i), share(i+1)
		if rows < s.rows && to-from > run {
			skip, _ := bits.Mul64(hash(uint64(i)), uint64(to-from-run+1))
			from += int(skip)
			to = from + run
		}
		packed := buffers.packed[:to-from]
		packStrip(p, s, buffers, from, to, packed)
		for row := from; row < to; row++ {
			if s.selected == nil || hasBit(s.selected.words, row) {
				codes = append(codes, packed[row-from])
			}
		}
	}
	return codes
}

// hash is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func hash(x uint64) uint64 {
	x = (x + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
