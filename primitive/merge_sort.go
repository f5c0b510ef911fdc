package primitive

import (
	"fmt"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// MergeSortPlan is a stable merge sort of 32- or 64-bit keys with a payload (RT 3.3.1): every tile is sorted in shared
// memory, then runs are merged in pairs, all pairs of a pass at once, until one is left. A pass reads and writes each
// row once. There are log2(rows/tile) passes; a radix sort, whose number of passes depends on the bits of the keys
// instead, is faster for short keys. The time does not depend on the keys: sorted, equal or skewed keys take as long as
// any others.
type MergeSortPlan struct {
	Layout       Layout
	ScratchBytes uint64 // of the splits

	block kernel.BlockSortConfig
	merge kernel.MergeTilesConfig
	runs  []uint64 // rows of a run before each pass of merges
}

// PlanMergeSort plans a sort by whole keys, with at most one payload column. Blocks use the tiles of the tuning table
// merge_sort, merges the tiles of the table merge. If merge tiles do not fit runs of whole blocks, merges use the tiles
// of blocks too.
func PlanMergeSort(t Tuning, layout Layout) (MergeSortPlan, error) {
	err := layout.complete("merge sort")
	p := MergeSortPlan{Layout: layout}
	if err != nil {
		return p, err
	}
	if layout.Columns > 1 {
		return p, &backend.OpError{Op: "merge sort", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%d payload columns", layout.Columns)}
	}
	rows, keyBits, payloadBits := layout.Rows, layout.KeyBytes*8, layout.payloadBits()
	widths := backend.Config{"key_bits": uint32(keyBits), "payload_bits": uint32(payloadBits)}
	p.block, p.merge = kernel.BlockSort.With(t.Config("merge_sort", widths)), mergeConfig(t, keyBits, payloadBits)
	p.block.KeyBits, p.block.PayloadBits = uint32(keyBits), uint32(payloadBits)
	blockRows := kernel.TileRows(p.block)
	if !fits(p.merge, blockRows) {
		p.merge.ShapedTile = p.block.ShapedTile
	}
	for run := uint64(blockRows); run < rows; run *= 2 {
		p.runs = append(p.runs, run)
	}
	if len(p.runs) > 0 {
		p.ScratchBytes = uint64(kernel.Tiles(p.merge, rows)) * 4
	}
	return p, nil
}

// fits says whether every tile of a merge of runs of blockRows, of twice as many, and so on, belongs to one merge, or,
// in the serial shape, to several whole ones.
func fits(merge kernel.MergeTilesConfig, blockRows uint32) bool {
	tileRows := kernel.TileRows(merge)
	if merge.Serial == 1 && tileRows%blockRows == 0 {
		return bits.OnesCount32(tileRows/blockRows) == 1
	}
	return 2*uint64(blockRows)%uint64(tileRows) == 0
}

// Result is the index of the buffer that receives the sorted rows.
func (p *MergeSortPlan) Result() int { return p.Passes() % 2 }

// Passes is the number of passes over the rows.
func (p *MergeSortPlan) Passes() int {
	if p.Layout.Rows < 2 {
		return 0
	}
	return 1 + len(p.runs)
}

// MergeSort records a plan, with source and buffers as in [Ops.Sort].
func (o *Ops) MergeSort(list *backend.List, p MergeSortPlan, scratch backend.Range, source Columns,
	buffers [2]Columns) error {
	rows := p.Layout.Rows
	if p.Passes() == 0 {
		if p.Layout.Payload == RowNumbers {
			return o.Iota(list, source.Payload[0], rows, 0)
		}
		return nil
	}
	block, err := kernel.BlockSort.On(o.device, p.block)
	if err != nil {
		return err
	}
	keyed := func(c Columns) KeyedColumns {
		if p.Layout.Payload == NoPayload || len(c.Payload) == 0 {
			return KeyedColumns{Keys: c.Keys}
		}
		return KeyedColumns{c.Keys, c.Payload[0]}
	}
	in, from, to := keyed(source), keyed(buffers[1]), keyed(buffers[0])
	if p.Layout.Payload == RowNumbers {
		in.Payload = backend.Range{}
	}
	block.Dispatch(list, kernel.Groups(p.block, rows), kernel.BlockSortArgs{
		KeysIn: in.Keys, PayloadIn: in.Payload, KeysOut: from.Keys, PayloadOut: from.Payload,
		Rows: uint32(rows), Tiles: kernel.Tiles(p.block, rows),
	})
	for _, run := range p.runs {
		if err := o.mergeRuns(list, p.merge, rows, 0, run, from, from, to, scratch); err != nil {
			return err
		}
		from, to = to, from
	}
	return nil
}
