package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// CompactPlan keeps the rows of columns whose bit in a bitmap is set, or is not set, in their order. CompactOffsets
// counts the bits of every tile and scans the counts once; then each column takes one pass, which reads only the kept
// values.
type CompactPlan struct {
	Rows         uint64
	ScratchBytes uint64
	CountOffset  uint64 // in bytes, in the scratch buffer, of the 64-bit number of rows kept
	Inverted     bool   // keep the rows whose bit is not set; the caller sets it before anything is recorded

	count         kernel.CompactCountConfig
	compact       kernel.CompactConfig
	scan          ScanPlan
	offsetsOffset uint64 // of the scanned counts in the scratch buffer; the counts are at 0
	scanOffset    uint64 // of the scan's scratch
}

// PlanCompact plans the compaction of columns with rows values.
func PlanCompact(t Tuning, rows uint64) (CompactPlan, error) {
	tuned := t.Config("compact", nil)
	p := CompactPlan{Rows: rows, count: kernel.CompactCount.With(tuned), compact: kernel.Compact.With(tuned)}
	if err := CheckRows("compact", rows); err != nil {
		return p, err
	}
	tileCount := uint64(kernel.Tiles(p.count, rows))
	var err error
	if p.scan, err = PlanScan(t, tileCount, 32, 64, true); err != nil {
		return p, err
	}
	p.offsetsOffset = backend.Aligned(tileCount * 4)
	p.CountOffset = p.offsetsOffset + tileCount*8
	p.scanOffset = backend.Aligned(p.CountOffset + 8)
	p.ScratchBytes = p.scanOffset + p.scan.ScratchBytes
	return p, nil
}

// CompactOffsets records the computation of where the kept rows of each tile go, and of their number, at CountOffset of
// scratch. bits is a bitmap, bit i%32 of word i/32 for row i; bits after the last row may have any value. The content
// of scratch must be preserved until the last column is compacted.
func (o *Ops) CompactOffsets(list *backend.List, p CompactPlan, bits, scratch backend.Range) error {
	counts := scratch.Part(0, p.scan.Rows*4)
	if err := o.countTiles(list, p.count, p.Rows, p.Inverted, bits, counts); err != nil {
		return err
	}
	return o.Scan(list, p.scan, counts, scratch.Part(p.offsetsOffset, (p.scan.Rows+1)*8),
		scratch.Part(p.scanOffset, p.scan.ScratchBytes))
}

// Compact records the compaction of one column of valueBytes (4 or 8): kept receives the values of the kept rows, as
// many as CompactOffsets counts. If values is absent, these are the 32-bit row numbers. kept must not overlap values or
// bits.
func (o *Ops) Compact(list *backend.List, p CompactPlan, valueBytes int, bits, values, kept,
	scratch backend.Range) error {
	config := p.compact
	config.ValueBits = uint32(valueBytes * 8)
	return o.compactColumn(list, p, config, 0, bits, values, kept, scratch)
}

// CompactMixed does the same for a column of keys that were mixed with seed ([kernel.Mix]): kept receives the keys.
func (o *Ops) CompactMixed(list *backend.List, p CompactPlan, keyBytes int, seed uint32, bits, keys, kept,
	scratch backend.Range) error {
	config := p.compact
	config.ValueBits, config.Mixed = uint32(keyBytes*8), 1
	return o.compactColumn(list, p, config, seed, bits, keys, kept, scratch)
}

func (o *Ops) compactColumn(list *backend.List, p CompactPlan, config kernel.CompactConfig, seed uint32, bits, values,
	kept, scratch backend.Range) error {
	config.Inverted = flag(p.Inverted)
	k, err := kernel.Compact.On(o.device, config)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(config, p.Rows), kernel.CompactArgs{
		Bits: bits, Offsets: scratch.Part(p.offsetsOffset, p.scan.Rows*8), Values: values, Kept: kept,
		Rows: uint32(p.Rows), Tiles: kernel.Tiles(config, p.Rows), Seed: seed,
	})
	return nil
}

// countTiles records the number of rows of each tile whose bit is set, or is not.
func (o *Ops) countTiles(list *backend.List, config kernel.CompactCountConfig, rows uint64, inverted bool, bits,
	counts backend.Range) error {
	config.Inverted = flag(inverted)
	k, err := kernel.CompactCount.On(o.device, config)
	if err != nil {
		return err
	}
	tiles := kernel.Tiles(config, rows)
	k.Dispatch(list, kernel.Groups(config, rows),
		kernel.CompactCountArgs{Bits: bits, Counts: counts, Rows: uint32(rows), Tiles: tiles})
	return nil
}

// CountBitsPlan counts the bits of a bitmap that are set, or are not set: first per tile, then in total.
type CountBitsPlan struct {
	Rows         uint64
	ScratchBytes uint64
	CountOffset  uint64 // in bytes, in the scratch buffer, of the 64-bit number of bits
	Inverted     bool   // count the bits that are not set; the caller sets it before anything is recorded

	count        kernel.CompactCountConfig
	reduce       ReducePlan
	reduceOffset uint64 // of the reduction's scratch in the scratch buffer; the counts are at 0
}

// PlanCountBits plans the count for a bitmap of rows bits.
func PlanCountBits(t Tuning, rows uint64) (CountBitsPlan, error) {
	p := CountBitsPlan{Rows: rows, count: kernel.CompactCount.With(t.Config("compact", nil))}
	if err := CheckRows("count bits", rows); err != nil {
		return p, err
	}
	tiles := uint64(kernel.Tiles(p.count, rows))
	var err error
	if p.reduce, err = PlanReduce(t, kernel.ReduceSum, tiles, 32, 64); err != nil {
		return p, err
	}
	p.reduceOffset = backend.Aligned(tiles * 4)
	p.CountOffset = p.reduceOffset + p.reduce.ResultOffset
	p.ScratchBytes = p.reduceOffset + p.reduce.ScratchBytes
	return p, nil
}

// CountBits records a plan: the number of bits is written to scratch at CountOffset. Bits after the last row may have
// any value.
func (o *Ops) CountBits(list *backend.List, p CountBitsPlan, bits, scratch backend.Range) error {
	counts := scratch.Part(0, p.reduce.Rows*4)
	if err := o.countTiles(list, p.count, p.Rows, p.Inverted, bits, counts); err != nil {
		return err
	}
	return o.Reduce(list, p.reduce, counts, scratch.Part(p.reduceOffset, p.reduce.ScratchBytes))
}
