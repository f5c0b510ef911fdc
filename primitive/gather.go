package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Gather records gathered[i] = values[ids[i]] for rows values of valueBytes (4 or 8); ids are 32-bit.
func (o *Ops) Gather(list *backend.List, valueBytes int, values, ids, gathered backend.Range, rows uint32) error {
	width := variant("value_bits", valueBytes*8)
	k, err := o.device.Kernel(kernel.Gather, merge(o.tuning.Config("gather", width), width))
	if err != nil {
		return err
	}
	list.Dispatch(k, kernel.Groups(k.Config, uint64(rows)), []backend.Range{values, ids, gathered}, rows)
	return nil
}

// Scatter records scattered[ids[i]] = values[i] for rows values of valueBytes (4 or 8); ids are 32-bit, and none occurs twice.
// What no id names keeps its value.
func (o *Ops) Scatter(list *backend.List, valueBytes int, values, ids, scattered backend.Range, rows uint32) error {
	width := variant("value_bits", valueBytes*8)
	k, err := o.device.Kernel(kernel.Scatter, merge(o.tuning.Config("scatter", width), width))
	if err != nil {
		return err
	}
	list.Dispatch(k, kernel.Groups(k.Config, uint64(rows)), []backend.Range{values, ids, scattered}, rows)
	return nil
}

// GatherBits records the same for a bitmap whose first row is bit firstBit: gathered receives rows bits in 32-bit words.
func (o *Ops) GatherBits(list *backend.List, bits, ids, gathered backend.Range, rows, firstBit uint32) error {
	k, err := o.device.Kernel(kernel.GatherBits, o.tuning.Config("gather", nil))
	if err != nil {
		return err
	}
	list.Dispatch(k, kernel.Groups(k.Config, uint64(rows)), []backend.Range{bits, ids, gathered}, rows, firstBit)
	return nil
}

// Iota records values[i] = first + i for rows 32-bit values.
func (o *Ops) Iota(list *backend.List, values backend.Range, rows uint64, first uint32) error {
	k, err := o.device.Kernel(kernel.Iota, o.tuning.Config("gather", nil))
	if err != nil {
		return err
	}
	list.Dispatch(k, kernel.Groups(k.Config, rows), []backend.Range{values}, uint32(rows), first)
	return nil
}
