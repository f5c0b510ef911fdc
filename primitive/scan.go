package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// ScanPlan is an exclusive prefix sum by reduce-then-scan: tiles are summed, the sums are scanned the same way until one
// tile holds them all, and then every tile is scanned from the prefix of its sum, level by level. No workgroup waits for
// another, so it is right on every device. It reads the values twice and writes the sums once.
//
// Example with tiles of 2: values 3 1 4 1 5, tile sums 4 5 5, their scan 0 4 9, result 0 3 4 8 9 and total 14.
type ScanPlan struct {
	Rows         uint64
	InBits       int    // width of the values, 32 or 64
	SumBits      int    // width of the sums, at least InBits; sums wrap modulo 2^SumBits
	Total        bool   // append the total: Rows+1 sums
	ScratchBytes uint64 // of tile sums and their prefixes

	config backend.Config
	levels []scanLevel // levels[0] are the sums of the tiles of the input
}

// scanLevel is one level of tile sums in the scratch buffer.
type scanLevel struct {
	rows        uint64
	sumsOffset  uint64
	scansOffset uint64
}

// PlanScan plans the scan of rows values.
func PlanScan(t Tuning, rows uint64, inBits, sumBits int, total bool) (ScanPlan, error) {
	p := ScanPlan{Rows: rows, InBits: inBits, SumBits: sumBits, Total: total, config: t.Config("scan", variant("in_bits", inBits, "sum_bits", sumBits))}
	if err := checkRows("scan", rows); err != nil {
		return p, err
	}
	p.levels, p.ScratchBytes = reduceLevels(p.config, rows, sumBits, true)
	return p, nil
}

// reduceLevels lays out the levels of tile sums above rows values, down to one tile for a scan or to one value for a reduction.
func reduceLevels(config backend.Config, rows uint64, sumBits int, scan bool) (levels []scanLevel, scratchBytes uint64) {
	tileRows := uint64(kernel.TileRows(config))
	for {
		if scan && rows <= tileRows || !scan && len(levels) > 0 && rows == 1 {
			return levels, scratchBytes
		}
		rows = max(1, (rows+tileRows-1)/tileRows)
		level := scanLevel{rows: rows, sumsOffset: scratchBytes}
		scratchBytes += align(rows * uint64(sumBits) / 8)
		if scan {
			level.scansOffset = scratchBytes
			scratchBytes += align(rows * uint64(sumBits) / 8)
		}
		levels = append(levels, level)
	}
}

// Scan records a plan: sums receives Rows values (one more with Total) of SumBits.
func (o *Ops) Scan(list *backend.List, p ScanPlan, values, sums, scratch backend.Range) error {
	if err := o.tileSums(list, p.config, p.levels, p.Rows, p.InBits, p.SumBits, values, scratch); err != nil {
		return err
	}
	sumBytes := uint64(p.SumBits / 8)
	for i := len(p.levels); i >= 0; i-- {
		var prefix backend.Range
		if i < len(p.levels) {
			prefix = sub(scratch, p.levels[i].scansOffset, p.levels[i].rows*sumBytes)
		}
		from, to, rows, inBits, total := values, sums, p.Rows, p.InBits, p.Total
		if i > 0 {
			level := p.levels[i-1]
			rows, inBits, total = level.rows, p.SumBits, false
			from, to = sub(scratch, level.sumsOffset, rows*sumBytes), sub(scratch, level.scansOffset, rows*sumBytes)
		}
		k, err := o.device.Kernel(kernel.ScanTiles, with(p.config, "in_bits", inBits, "sum_bits", p.SumBits))
		if err != nil {
			return err
		}
		// An empty input still has a total, written by one group.
		list.Dispatch(k, max(1, kernel.Groups(k.Config, rows)), []backend.Range{from, prefix, to},
			uint32(rows), max(1, kernel.Tiles(k.Config, rows)), flag(total))
	}
	return nil
}

// tileSums records the sums of tiles for each level.
func (o *Ops) tileSums(list *backend.List, config backend.Config, levels []scanLevel, rows uint64, inBits, sumBits int, values, scratch backend.Range) error {
	for _, level := range levels {
		k, err := o.device.Kernel(kernel.ScanReduce, with(config, "in_bits", inBits, "sum_bits", sumBits))
		if err != nil {
			return err
		}
		sums := sub(scratch, level.sumsOffset, level.rows*uint64(sumBits)/8)
		list.Dispatch(k, max(1, kernel.Groups(k.Config, rows)), []backend.Range{values, sums}, uint32(rows), uint32(level.rows))
		values, rows, inBits = sums, level.rows, sumBits
	}
	return nil
}

// ReducePlan is the sum of a column, by sums of tiles level over level.
type ReducePlan struct {
	Rows         uint64
	InBits       int
	SumBits      int
	ScratchBytes uint64
	ResultOffset uint64 // of the sum in the scratch buffer

	config backend.Config
	levels []scanLevel
}

// PlanReduce plans the sum of rows values; of none it is 0.
func PlanReduce(t Tuning, rows uint64, inBits, sumBits int) (ReducePlan, error) {
	p := ReducePlan{Rows: rows, InBits: inBits, SumBits: sumBits, config: t.Config("scan", variant("in_bits", inBits, "sum_bits", sumBits))}
	if err := checkRows("reduce", rows); err != nil {
		return p, err
	}
	p.levels, p.ScratchBytes = reduceLevels(p.config, rows, sumBits, false)
	p.ResultOffset = p.levels[len(p.levels)-1].sumsOffset
	return p, nil
}

// Reduce records a plan; the sum, of SumBits, is in scratch at ResultOffset.
func (o *Ops) Reduce(list *backend.List, p ReducePlan, values, scratch backend.Range) error {
	return o.tileSums(list, p.config, p.levels, p.Rows, p.InBits, p.SumBits, values, scratch)
}

func sub(r backend.Range, offsetBytes, sizeBytes uint64) backend.Range {
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes + offsetBytes, SizeBytes: sizeBytes}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
