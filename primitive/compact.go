package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// CompactPlan keeps the rows of columns whose bit is set in a bitmap, in their order. The bits of every tile are
// counted and the counts are scanned once, by CompactOffsets; then each column is one pass, which reads of it only what
// is kept.
type CompactPlan struct {
	Rows         uint64
	Inverted     bool // keep the rows whose bit is not set; set before recording
	ScratchBytes uint64
	CountOffset  uint64 // of the 64-bit number of rows kept in the scratch buffer

	count         kernel.CompactCountConfig
	compact       kernel.CompactConfig
	scan          ScanPlan
	offsetsOffset uint64 // of the scanned counts in the scratch buffer; the counts are at 0
	scanOffset    uint64 // of the scan's scratch
}

// PlanCompact plans for columns of rows values.
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

// CompactOffsets records where the kept rows of each tile go, and their number at CountOffset of scratch. bits is a
// bitmap, bit i%32 of word i/32 for row i. scratch keeps what it holds until the last column is compacted.
func (o *Ops) CompactOffsets(list *backend.List, p CompactPlan, bits, scratch backend.Range) error {
	k, err := kernel.CompactCount.On(o.device, p.count)
	if err != nil {
		return err
	}
	counts := sub(scratch, 0, p.scan.Rows*4)
	k.Dispatch(list, kernel.Groups(p.count, p.Rows),
		kernel.CompactCountArgs{Bits: bits, Counts: counts, Rows: uint32(p.Rows), Tiles: kernel.Tiles(p.count, p.Rows)})
	return o.Scan(list, p.scan, counts, sub(scratch, p.offsetsOffset, (p.scan.Rows+1)*8),
		sub(scratch, p.scanOffset, p.scan.ScratchBytes))
}

// Compact records one column of valueBytes (4 or 8): kept receives the values of the rows whose bit is set, as many as
// CompactOffsets counts. Absent values are the 32-bit row numbers. kept overlaps neither values nor bits.
func (o *Ops) Compact(list *backend.List, p CompactPlan, valueBytes int, bits, values, kept,
	scratch backend.Range) error {
	config := p.compact
	config.ValueBits = uint32(valueBytes * 8)
	k, err := kernel.Compact.On(o.device, config)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(config, p.Rows), kernel.CompactArgs{
		Bits: bits, Offsets: sub(scratch, p.offsetsOffset, p.scan.Rows*8), Values: values, Kept: kept,
		Rows: uint32(p.Rows), Tiles: kernel.Tiles(config, p.Rows),
	})
	return nil
}
