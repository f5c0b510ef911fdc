package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// ScanPlan is an exclusive prefix sum, by one of two families.
//
// Reduce-then-scan, the default: tiles are summed, the sums are scanned the same way until one tile holds them all, and then every
// tile is scanned from the prefix of its sum, level by level. No workgroup waits for another. It reads the values twice and
// writes the sums once. Example with tiles of 2: values 3 1 4 1 5, tile sums 4 5 5, their scan 0 4 9, result 0 3 4 8 9 and
// total 14.
//
// Look-back, where the setting lookback=1 of the table "scan" asks for it, with serial=0: one pass, in which every tile adds up
// what the tiles before it have published, and what has not come in time from their values ([kernel.ScanLookback]). It reads
// the values once, and so needs them whole: where the sums take the place of the values the plan is recorded by
// reduce-then-scan, whatever the setting. Both families give the same sums on every device.
type ScanPlan struct {
	Rows         uint64
	InBits       int    // width of the values, 32 or 64
	SumBits      int    // width of the sums, at least InBits; sums wrap modulo 2^SumBits
	Total        bool   // append the total: Rows+1 sums
	ScratchBytes uint64 // of tile sums and their prefixes, or of the status of the tiles

	config backend.Config
	levels []scanLevel // levels[0] are the sums of the tiles of the input
	// Bytes of the status of a look-back, at the begin of the scratch buffer; 0: reduce-then-scan.
	statusBytes uint64
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
	if p.config["lookback"] == 1 && p.config["serial"] == 0 && len(p.levels) > 0 {
		p.statusBytes = 4 * kernel.ScanStatusWords(uint32(sumBits), kernel.Tiles(p.config, rows))
		p.ScratchBytes = max(p.ScratchBytes, p.statusBytes)
	}
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

// Scan records a plan: sums receives Rows values (one more with Total) of SumBits. sums may begin where values does, if both
// are equally wide; otherwise they do not overlap.
func (o *Ops) Scan(list *backend.List, p ScanPlan, values, sums, scratch backend.Range) error {
	if p.statusBytes > 0 && !overlap(values, sums) {
		k, err := o.device.Kernel(kernel.ScanLookback, with(p.config, "in_bits", p.InBits, "sum_bits", p.SumBits))
		if err != nil {
			return err
		}
		status := sub(scratch, 0, p.statusBytes)
		list.Fill(status, 0)
		list.Dispatch(k, kernel.Groups(k.Config, p.Rows), []backend.Range{values, sums, status},
			uint32(p.Rows), kernel.Tiles(k.Config, p.Rows), flag(p.Total))
		return nil
	}
	if err := o.reduceTiles(list, p.config, kernel.ReduceSum, p.levels, p.Rows, p.InBits, p.SumBits, values, scratch); err != nil {
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

func sub(r backend.Range, offsetBytes, sizeBytes uint64) backend.Range {
	return backend.Range{Buffer: r.Buffer, OffsetBytes: r.OffsetBytes + offsetBytes, SizeBytes: sizeBytes}
}

func overlap(a, b backend.Range) bool {
	return a.Buffer == b.Buffer && a.OffsetBytes < b.OffsetBytes+b.SizeBytes && b.OffsetBytes < a.OffsetBytes+a.SizeBytes
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
