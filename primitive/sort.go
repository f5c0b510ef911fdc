package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
)

// SortPlan is a stable least-significant-digit radix sort (RT 3.3.1; GFTR 2.3): one pass for each digit of at most 8
// bits, from low to high, which moves all rows to where their digit belongs. See [radixPasses] for the two families of
// passes.
type SortPlan struct {
	Sort         Sort
	ScratchBytes uint64
	// MostScratchBytes bounds the scratch of sorts of as many rows by any of these bits, such as those in which the keys
	// turn out to differ.
	MostScratchBytes uint64

	radix radixPasses
}

// Sort describes a sort: rows are sorted by bits FirstBit to EndBit-1 of their keys. Only the bits in Varying differ
// among rows (see [PlanVaryingBits]); the others cost nothing. Varying 0 means that all may differ.
type Sort struct {
	Layout
	FirstBit, EndBit int
	Varying          uint64
}

// PlanSort plans a sort. A sort of fewer than two rows, or of bits that do not vary, needs no pass.
func PlanSort(t Tuning, s Sort) (SortPlan, error) {
	if s.Varying == 0 {
		s.Varying = ^uint64(0)
	}
	err := s.complete("sort")
	p := SortPlan{Sort: s}
	if err != nil {
		return p, err
	}
	if s.FirstBit < 0 || s.FirstBit > s.EndBit || s.EndBit > s.KeyBytes*8 {
		return p, &backend.OpError{Op: "sort", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
			"bits %d to %d of keys of %d bytes", s.FirstBit, s.EndBit, s.KeyBytes)}
	}
	p.radix, err = planRadix(t, s.Layout, func(most int) []digit {
		if s.Rows < 2 {
			return nil
		}
		return digitsOf(s.FirstBit, s.EndBit, s.Varying, most)
	})
	p.ScratchBytes, p.MostScratchBytes = p.radix.scratchBytes, p.radix.mostScratchBytes
	return p, err
}

// Result is the index of the buffer that receives the sorted rows.
func (p *SortPlan) Result() int { return len(p.radix.digits) % 2 }

// Passes is the number of passes.
func (p *SortPlan) Passes() int { return len(p.radix.digits) }

// Sort records a plan. The first pass reads source, which may be buffers[0] and otherwise is unchanged. The passes
// alternate between the buffers, and the sorted rows are in the one of index Result. RowNumbers are generated, not
// read. If no pass is needed, the rows stay in source, and buffers may be absent.
func (o *Ops) Sort(list *backend.List, p SortPlan, scratch backend.Range, source Columns, buffers [2]Columns) error {
	if err := p.radix.record(o, list, "sort", source, buffers, scratch); err != nil {
		return err
	}
	if p.Passes() == 0 && p.Sort.Payload == RowNumbers {
		return o.Iota(list, source.Payload[0], p.Sort.Rows, 0)
	}
	return nil
}
