package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// SegmentedScanPlan is an exclusive prefix sum that restarts from 0 at each row whose bit is set in a bitmap of heads,
// by reduce-then-scan (Sengupta et al., "Scan Primitives for GPU Computing", 2007): every tile computes whether it has
// a head, and the sum since its last one; these pairs are scanned level by level, which gives the sum that enters each
// tile; then the tiles are scanned. It reads values and heads twice and writes the sums once.
//
// Example: values 3 1 4 1 5, heads at rows 0 and 2, result 0 3 0 4 5. The first row need not be a head.
type SegmentedScanPlan struct {
	Rows         uint64
	InBits       int    // width of the values, 32 or 64
	SumBits      int    // width of the sums, at least InBits; sums wrap modulo 2^SumBits
	ScratchBytes uint64 // of what enters and leaves the tiles

	config kernel.SegmentedScanConfig
	levels []segmentLevel // levels[0] are the tiles of the input
}

// segmentLevel is one level of tiles in the scratch buffer.
type segmentLevel struct {
	rows          uint64
	sumsOffset    uint64 // since a tile's last head
	headsOffset   uint64 // whether it has one
	carriesOffset uint64 // that enter the tiles
}

// PlanSegmentedScan plans the scan of rows values.
func PlanSegmentedScan(t Tuning, rows uint64, inBits, sumBits int) (SegmentedScanPlan, error) {
	p := SegmentedScanPlan{Rows: rows, InBits: inBits, SumBits: sumBits,
		config: kernel.SegmentedScan.With(t.Config("segmented_scan",
			backend.Config{"in_bits": uint32(inBits), "sum_bits": uint32(sumBits)}))}
	p.config.SumBits = uint32(sumBits)
	if err := CheckRows("segmented scan", rows); err != nil {
		return p, err
	}
	take := func(sizeBytes uint64) (offset uint64) {
		offset = p.ScratchBytes
		p.ScratchBytes += backend.Aligned(sizeBytes)
		return offset
	}
	for rows > uint64(kernel.TileRows(p.config)) {
		rows = uint64(kernel.Tiles(p.config, rows))
		sumBytes := rows * uint64(sumBits) / 8
		p.levels = append(p.levels, segmentLevel{rows, take(sumBytes), take(rows * 4), take(sumBytes)})
	}
	return p, nil
}

// SegmentedScan records a plan: sums receives Rows values of SumBits. heads is a bitmap, bit i%32 of word i/32 for row
// i. sums may begin where values does, if both have the same width; otherwise it must not overlap any input.
func (o *Ops) SegmentedScan(list *backend.List, p SegmentedScanPlan, values, heads, sums, scratch backend.Range) error {
	// Level 0 is the input, level i+1 the tiles of level i.
	type column struct {
		values, heads, carries, sums backend.Range
		rows                         uint64
		inBits                       int
	}
	columns := []column{{values: values, heads: heads, sums: sums, rows: p.Rows, inBits: p.InBits}}
	for i, level := range p.levels {
		sumBytes := level.rows * uint64(p.SumBits) / 8
		carries := scratch.Part(level.carriesOffset, sumBytes)
		columns[i].carries = carries
		columns = append(columns, column{values: scratch.Part(level.sumsOffset, sumBytes),
			heads: scratch.Part(level.headsOffset, level.rows*4),
			sums:  carries, rows: level.rows, inBits: p.SumBits})
	}
	dispatch := func(level int, carries, sums, tileSums, tileHeads backend.Range) error {
		c := columns[level]
		config := p.config
		config.InBits = uint32(c.inBits)
		k, err := kernel.SegmentedScan.On(o.device, config)
		if err != nil {
			return err
		}
		k.Dispatch(list, kernel.Groups(config, c.rows), kernel.SegmentedScanArgs{
			Values: c.values, Heads: c.heads, TileCarries: carries, Sums: sums, TileSums: tileSums,
			TileHeads: tileHeads,
			Rows:      uint32(c.rows), Tiles: kernel.Tiles(config, c.rows), Carries: flag(level > 0),
		})
		return nil
	}
	for level := range p.levels {
		tiles := columns[level+1]
		if err := dispatch(level, backend.Range{}, backend.Range{}, tiles.values, tiles.heads); err != nil {
			return err
		}
	}
	for level := len(p.levels); level >= 0; level-- {
		if err := dispatch(level, columns[level].carries, columns[level].sums, backend.Range{},
			backend.Range{}); err != nil {
			return err
		}
	}
	return nil
}
