package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// ReducePlan reduces a column to one value, level by level: each level has one value per tile of the level below. It
// reads the column once.
type ReducePlan struct {
	Rows         uint64
	Op           kernel.ReduceOp
	InBits       int // width of the values, 32 or 64
	SumBits      int // width of the result, at least InBits
	ScratchBytes uint64
	ResultOffset uint64 // in bytes, of the result in the scratch buffer

	config kernel.ReduceConfig
	levels []scanLevel
}

// PlanReduce plans the reduction of rows values; kernel.ReduceOp says what the result is for no values.
func PlanReduce(t Tuning, op kernel.ReduceOp, rows uint64, inBits, sumBits int) (ReducePlan, error) {
	p := ReducePlan{Rows: rows, Op: op, InBits: inBits, SumBits: sumBits,
		config: kernel.Reduce.With(t.Config("reduce",
			backend.Config{"in_bits": uint32(inBits), "sum_bits": uint32(sumBits)}))}
	if op > kernel.ReduceOr {
		return p, &backend.OpError{Op: "reduce", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("operation %d", op)}
	}
	if err := CheckRows("reduce", rows); err != nil {
		return p, err
	}
	p.levels, p.ScratchBytes = reduceLevels(p.config, rows, sumBits, false)
	p.ResultOffset = p.levels[len(p.levels)-1].sumsOffset
	return p, nil
}

// Reduce records a plan; the result, of SumBits bits, is written to scratch at ResultOffset.
func (o *Ops) Reduce(list *backend.List, p ReducePlan, values, scratch backend.Range) error {
	config := p.config
	config.Op, config.InBits, config.SumBits = p.Op, uint32(p.InBits), uint32(p.SumBits)
	return o.reduceTiles(list, config, p.levels, p.Rows, values, scratch)
}

// reduceTiles records the results of tiles for each level.
func (o *Ops) reduceTiles(list *backend.List, config kernel.ReduceConfig, levels []scanLevel, rows uint64, values,
	scratch backend.Range) error {
	for _, level := range levels {
		k, err := kernel.Reduce.On(o.device, config)
		if err != nil {
			return err
		}
		results := scratch.Part(level.sumsOffset, level.rows*uint64(config.SumBits)/8)
		k.Dispatch(list, max(1, kernel.Groups(config, rows)),
			kernel.ReduceArgs{Values: values, TileResults: results, Rows: uint32(rows), Tiles: uint32(level.rows)})
		values, rows, config.InBits = results, level.rows, config.SumBits
	}
	return nil
}

// VaryingBitsPlan finds which bits of a key column vary, and whether it is sorted, in one pass over the keys: a sort
// can skip the other bits, or the whole sort. [VaryingBitsPlan.Found] reads the result from the scratch buffer.
type VaryingBitsPlan struct {
	Rows         uint64
	KeyBytes     int
	ScratchBytes uint64

	config kernel.VaryingBitsConfig
}

// PlanVaryingBits plans the search for the varying bits of rows keys of keyBytes (4 or 8).
func PlanVaryingBits(t Tuning, rows uint64, keyBytes int) (VaryingBitsPlan, error) {
	p := VaryingBitsPlan{Rows: rows, KeyBytes: keyBytes, ScratchBytes: uint64(3 * keyBytes),
		config: kernel.VaryingBits.With(t.Config("reduce", backend.Config{"key_bits": uint32(keyBytes * 8)}))}
	p.config.KeyBits = uint32(keyBytes * 8)
	return p, CheckRows("find varying bits", rows)
}

// Found returns, from the content of the scratch buffer, which bits vary (none if there are no rows) and how many keys
// are less than their predecessor: 0 for a sorted column.
func (p *VaryingBitsPlan) Found(scratch []byte) (varying uint64, descents uint32) {
	if p.KeyBytes == 8 {
		words := backend.Longs(scratch)
		return words[1] &^ words[0], uint32(words[2])
	}
	words := backend.Words(scratch)
	return uint64(words[1] &^ words[0]), words[2]
}

// VaryingBits records a plan.
func (o *Ops) VaryingBits(list *backend.List, p VaryingBitsPlan, keys, scratch backend.Range) error {
	k, err := kernel.VaryingBits.On(o.device, p.config)
	if err != nil {
		return err
	}
	keyBytes := uint64(p.KeyBytes)
	list.Fill(scratch.Part(0, keyBytes), ^uint32(0))
	list.Fill(scratch.Part(keyBytes, 2*keyBytes), 0)
	k.Dispatch(list, kernel.Groups(p.config, p.Rows), kernel.VaryingBitsArgs{
		Keys: keys, Bits: scratch.Part(0, p.ScratchBytes), Rows: uint32(p.Rows), Tiles: kernel.Tiles(p.config, p.Rows),
	})
	return nil
}
