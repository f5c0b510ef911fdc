package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Gather records gathered[i] = values[ids[i]] for rows values of valueBytes (4 or 8); ids are 32-bit.
func (o *Ops) Gather(list *backend.List, valueBytes int, values, ids, gathered backend.Range, rows uint32) error {
	config := o.gather[valueBytes/8]
	k, err := kernel.Gather.On(o.device, config)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(config, uint64(rows)),
		kernel.GatherArgs{Values: values, IDs: ids, Gathered: gathered, Rows: rows})
	return nil
}

// MarkCounts records the setting of bit ids[i] of the bitmap marks, or bit i if ids is absent, for each i < rows whose
// 32-bit count is not 0. Bits that are already set stay set.
func (o *Ops) MarkCounts(list *backend.List, counts, ids, marks backend.Range, rows uint32) error {
	k, err := kernel.MarkCounts.On(o.device, o.markCounts)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.markCounts, uint64(rows)),
		kernel.MarkCountsArgs{Counts: counts, IDs: ids, Marks: marks, Rows: rows})
	return nil
}

// Iota records values[i] = first + i for rows 32-bit values.
func (o *Ops) Iota(list *backend.List, values backend.Range, rows uint64, first uint32) error {
	k, err := kernel.Iota.On(o.device, o.iota)
	if err != nil {
		return err
	}
	k.Dispatch(list, kernel.Groups(o.iota, rows), kernel.IotaArgs{Values: values, Rows: uint32(rows), First: first})
	return nil
}
