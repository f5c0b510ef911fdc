package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// ScanPlan is an exclusive prefix sum, by one of two families.
//
// Reduce-then-scan, the default: tiles are summed, the sums are scanned the same way, recursively, until one tile holds
// them all, and then every tile is scanned starting from the prefix of its sum, level by level. No workgroup waits for
// another. It reads the values twice and writes the sums once. Example with tiles of 2: values 3 1 4 1 5, tile sums 4 5
// 5, their scan 0 4 9, result 0 3 4 8 9 and total 14.
//
// Look-back, selected by the setting lookback=1 of the table "scan", with serial=0 and shared=0: one pass, in which
// every tile adds up the sums that preceding tiles have published, and computes those that have not appeared in time
// from the values ([kernel.ScanLookback]). It may therefore need the values of preceding tiles: if the sums overwrite
// the values, the plan is recorded by reduce-then-scan, whatever the setting. Both families give the same sums on every
// device.
type ScanPlan struct {
	Rows         uint64
	InBits       int    // width of the values, 32 or 64
	SumBits      int    // width of the sums, at least InBits; sums wrap modulo 2^SumBits
	Total        bool   // append the total: Rows+1 sums
	ScratchBytes uint64 // for tile sums and their prefixes, or for the status of the tiles

	reduce   kernel.ReduceConfig
	tiles    kernel.ScanTilesConfig
	lookback kernel.ScanLookbackConfig
	levels   []scanLevel // levels[0] are the sums of the tiles of the input
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
	tuned := t.Config("scan", backend.Config{"in_bits": uint32(inBits), "sum_bits": uint32(sumBits)})
	p := ScanPlan{Rows: rows, InBits: inBits, SumBits: sumBits, Total: total,
		reduce: kernel.Reduce.With(tuned), tiles: kernel.ScanTiles.With(tuned),
		lookback: kernel.ScanLookback.With(tuned)}
	p.reduce.Op = kernel.ReduceSum
	p.reduce.InBits, p.reduce.SumBits = uint32(inBits), uint32(sumBits)
	p.tiles.SumBits = uint32(sumBits)
	p.lookback.InBits, p.lookback.SumBits = uint32(inBits), uint32(sumBits)
	if err := CheckRows("scan", rows); err != nil {
		return p, err
	}
	p.levels, p.ScratchBytes = reduceLevels(p.tiles, rows, sumBits, true)
	if tuned["lookback"] == 1 && p.tiles.Serial+p.tiles.Shared == 0 && len(p.levels) > 0 {
		p.statusBytes = 4 * kernel.ScanStatusWords(uint32(sumBits), kernel.Tiles(p.lookback, rows))
		p.ScratchBytes = max(p.ScratchBytes, p.statusBytes)
	}
	return p, nil
}

// reduceLevels lays out the levels of tile sums above rows values, down to one tile for a scan or to one value for a
// reduction.
func reduceLevels(config kernel.Tiled, rows uint64, sumBits int, scan bool) (levels []scanLevel, scratchBytes uint64) {
	tileRows := uint64(kernel.TileRows(config))
	for {
		if scan && rows <= tileRows || !scan && len(levels) > 0 && rows == 1 {
			return levels, scratchBytes
		}
		rows = max(1, (rows+tileRows-1)/tileRows)
		level := scanLevel{rows: rows, sumsOffset: scratchBytes}
		scratchBytes += backend.Aligned(rows * uint64(sumBits) / 8)
		if scan {
			level.scansOffset = scratchBytes
			scratchBytes += backend.Aligned(rows * uint64(sumBits) / 8)
		}
		levels = append(levels, level)
	}
}

// Scan records a plan: sums receives Rows values (one more with Total) of SumBits. sums may begin where values does, if
// both have the same width; otherwise they must not overlap.
func (o *Ops) Scan(list *backend.List, p ScanPlan, values, sums, scratch backend.Range) error {
	if o.scale > 1 && len(p.levels) == 0 {
		if err := o.rehearseScan(p); err != nil {
			return err
		}
	}
	if p.statusBytes > 0 && !overlap(values, sums) {
		k, err := kernel.ScanLookback.On(o.device, p.lookback)
		if err != nil {
			return err
		}
		status := scratch.Part(0, p.statusBytes)
		list.Fill(status, 0)
		k.Dispatch(list, kernel.Groups(p.lookback, p.Rows), kernel.ScanLookbackArgs{
			Values: values, Sums: sums, Status: status,
			Rows: uint32(p.Rows), Tiles: kernel.Tiles(p.lookback, p.Rows), Total: flag(p.Total),
		})
		return nil
	}
	if err := o.reduceTiles(list, p.reduce, p.levels, p.Rows, values, scratch); err != nil {
		return err
	}
	sumBytes := uint64(p.SumBits / 8)
	for i := len(p.levels); i >= 0; i-- {
		var prefix backend.Range
		if i < len(p.levels) {
			prefix = scratch.Part(p.levels[i].scansOffset, p.levels[i].rows*sumBytes)
		}
		config := p.tiles
		config.InBits = uint32(p.InBits)
		from, to, rows, total := values, sums, p.Rows, p.Total
		if i > 0 {
			level := p.levels[i-1]
			rows, total, config.InBits = level.rows, false, config.SumBits
			from, to = scratch.Part(level.sumsOffset, rows*sumBytes), scratch.Part(level.scansOffset, rows*sumBytes)
		}
		k, err := kernel.ScanTiles.On(o.device, config)
		if err != nil {
			return err
		}
		// An empty input still has a total, written by one group.
		k.Dispatch(list, max(1, kernel.Groups(config, rows)), kernel.ScanTilesArgs{
			Values: from, TilePrefix: prefix, Sums: to,
			Rows: uint32(rows), Tiles: max(1, kernel.Tiles(config, rows)), Total: flag(total),
		})
	}
	return nil
}

// rehearseScan requests the kernels of a scan of p.Rows*scale rows, the rows that the rehearsal stands for. It drops
// the commands.
func (o *Ops) rehearseScan(p ScanPlan) error {
	larger, err := PlanScan(o.tuning, min(p.Rows*o.scale, MaxRows), p.InBits, p.SumBits, p.Total)
	if err != nil || len(larger.levels) == 0 {
		return err
	}
	sums := backend.Range{SizeBytes: (larger.Rows + 1) * uint64(p.SumBits) / 8}
	values := backend.Range{OffsetBytes: sums.SizeBytes, SizeBytes: larger.Rows * uint64(p.InBits) / 8}
	return o.Scan(new(backend.List), larger, values, sums, backend.Range{SizeBytes: larger.ScratchBytes})
}

func overlap(a, b backend.Range) bool {
	return a.Buffer == b.Buffer && a.OffsetBytes < b.OffsetBytes+b.SizeBytes &&
		b.OffsetBytes < a.OffsetBytes+a.SizeBytes
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
