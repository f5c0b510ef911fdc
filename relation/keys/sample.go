package keys

import (
	"runtime"
	"sync"

	"github.com/spirjoin/spirjoin/relation"
)

// Sample returns the packed codes of about rows rows of a side, or of all, in [relation.Blocks] of block adjacent rows,
// at most StripRows. It skips rows that are left out, and reads no other rows. All cores read, because most rows are
// cache misses.
func (p *Plan) Sample(side relation.Side, rows, block int) [][]uint64 {
	s := &p.sides[side]
	var starts []int
	all := 0
	for from, to := range relation.Blocks(uint64(s.rows), uint64(rows), uint64(block)) {
		starts = append(starts, int(from))
		all += int(to - from)
	}
	codes, sample := make([]uint64, all), make([][]uint64, len(starts))
	var group sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(starts)/workerBlocks+1)
	for worker := range workers {
		group.Go(func() {
			buffers := scratches.Get().(*scratch)
			defer scratches.Put(buffers)
			for i := len(starts) * worker / workers; i < len(starts)*(worker+1)/workers; i++ {
				from, to := starts[i], min(starts[i]+block, s.rows)
				into := codes[i*block:][:to-from] // only the last block of a table is shorter
				packed := buffers.packed[:to-from]
				packStrip(p, s, buffers, from, to, packed)
				n := 0
				for j, code := range packed {
					if s.selected == nil || hasBit(s.selected.words, from+j) {
						into[n] = code
						n++
					}
				}
				sample[i] = into[:n:n]
			}
		})
	}
	group.Wait()
	return sample
}

// workerBlocks is how many sampled blocks are worth a goroutine.
const workerBlocks = 1 << 8
