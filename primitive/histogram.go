package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// HistogramPlan counts the digits (key >> Shift) & (1<<Bits - 1) of a key column in one pass. A workgroup counts a
// large tile in shared memory, in several copies of the counters if there are few digits, and adds the nonzero counts
// to the result: at most 2^Bits atomic operations per tile.
type HistogramPlan struct {
	Rows        uint64
	KeyBytes    int
	Shift, Bits int
	CountsBytes uint64 // of the result

	config kernel.HistogramConfig
}

// PlanHistogram plans the histogram of rows keys of keyBytes (4 or 8); bits is 1 to kernel.MaxHistogramBits.
func PlanHistogram(t Tuning, rows uint64, keyBytes, shift, bits int) (HistogramPlan, error) {
	p := HistogramPlan{Rows: rows, KeyBytes: keyBytes, Shift: shift, Bits: bits,
		config: kernel.Histogram.With(t.Config("histogram", backend.Config{"key_bits": uint32(keyBytes * 8)}))}
	p.config.KeyBits = uint32(keyBytes * 8)
	if err := CheckRows("histogram", rows); err != nil {
		return p, err
	}
	if keyBytes != 4 && keyBytes != 8 || shift < 0 || shift >= keyBytes*8 || bits < 1 ||
		bits > kernel.MaxHistogramBits {
		return p, &backend.OpError{Op: "histogram", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%d bits above %d of keys of %d bytes", bits, shift, keyBytes)}
	}
	p.CountsBytes = 8 << bits
	return p, nil
}

// Histogram records a plan: counts receives the number of rows for each of 2^Bits digits, in 64 bits.
func (o *Ops) Histogram(list *backend.List, p HistogramPlan, keys, counts backend.Range) error {
	k, err := kernel.Histogram.On(o.device, p.config)
	if err != nil {
		return err
	}
	counts = counts.Part(0, p.CountsBytes)
	list.Fill(counts, 0)
	k.Dispatch(list, kernel.Groups(p.config, p.Rows),
		kernel.HistogramArgs{Keys: keys, Counts: counts, Rows: uint32(p.Rows), Shift: uint32(p.Shift),
			Bits: uint32(p.Bits)})
	return nil
}
