package primitive

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// PartitionPlan is a stable radix partition (RT 3.2.1; DIST 3.1): it groups rows by digit, in the order of the digits,
// and keeps their order within a digit. It takes one pass over the rows, by the reduce-then-scan family of
// [radixPasses], or for more than 8 bits two passes, by either family.
type PartitionPlan struct {
	Partition    Partition
	ScratchBytes uint64

	radix radixPasses
}

// Partition says what a partition moves, and by which digit: bits Shift to Shift+Bits-1 of the key. If Mixed, the first
// pass replaces each key by [kernel.Mix] of it and Seed, and the output has mixed keys; every bit of a mixed key
// depends on the whole key, different seeds give independent digits, and [kernel.Unmix] is the inverse. Bits is 1 to
// 16. A digit of a 64-bit key must lie within one of its words.
type Partition struct {
	Layout
	Shift, Bits int
	Mixed       bool
	Seed        uint32
}

// PlanPartition plans a partition.
func PlanPartition(t Tuning, s Partition) (PartitionPlan, error) {
	err := s.complete("partition")
	p := PartitionPlan{Partition: s}
	if err != nil {
		return p, err
	}
	if s.Shift < 0 || s.Bits < 1 || s.Bits > 2*maxDigitBits || s.Shift+s.Bits > s.KeyBytes*8 || s.Shift%32+s.Bits > 32 {
		return p, &backend.OpError{Op: "partition", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf(
			"a digit of %d bits at bit %d of keys of %d bytes", s.Bits, s.Shift, s.KeyBytes)}
	}
	p.radix, err = planRadix(t, s.Layout, func(most int) []digit {
		if s.Bits <= most {
			return []digit{{uint32(s.Shift), uint32(s.Bits), s.Mixed, s.Seed}}
		}
		low := uint32(s.Bits / 2)
		return []digit{{uint32(s.Shift), low, s.Mixed, s.Seed},
			{shift: uint32(s.Shift) + low, bits: uint32(s.Bits) - low}}
	})
	p.ScratchBytes = p.radix.scratchBytes
	return p, err
}

// Result is the index of the buffer that receives the partitioned rows: 1 after one pass, 0 after two.
func (p *PartitionPlan) Result() int { return len(p.radix.digits) % 2 }

// Partition records a plan. The rows move from source to buffers[1] and, with two passes, on to buffers[0], which may
// be source; otherwise source is unchanged. One pass needs no buffers[0]. RowNumbers are generated, not read. starts,
// if present, receives 2^Bits + 1 32-bit values: the first row of each partition (of the next one, if it is empty) and
// Rows.
func (o *Ops) Partition(list *backend.List, p PartitionPlan, starts, scratch backend.Range, source Columns,
	buffers [2]Columns) error {
	if err := p.radix.record(o, list, "partition", source, buffers, scratch); err != nil || starts.SizeBytes == 0 {
		return err
	}
	if p.Partition.Rows == 0 {
		list.Fill(starts, 0)
		return nil
	}
	s, digits := &p.Partition, uint32(1)<<p.Partition.Bits
	if len(p.radix.digits) > 1 {
		config := kernel.PartitionStarts.With(backend.Config{"key_bits": uint32(s.KeyBytes * 8)})
		k, err := kernel.PartitionStarts.On(o.device, config)
		if err != nil {
			return err
		}
		k.Dispatch(list, kernel.Groups(config, uint64(digits)+1), kernel.PartitionStartsArgs{
			Keys: buffers[p.Result()].Keys, Starts: starts,
			Digits: digits + 1, Rows: uint32(s.Rows), Shift: uint32(s.Shift), Bits: uint32(s.Bits),
		})
		return nil
	}
	config := kernel.RadixStarts.With(nil)
	k, err := kernel.RadixStarts.On(o.device, config)
	if err != nil {
		return err
	}
	tileCount := kernel.Tiles(p.radix.scatter, s.Rows)
	offsets := scratch.Part(p.radix.offsetsOffset, uint64(tileCount)*uint64(digits)*4)
	k.Dispatch(list, kernel.Groups(config, uint64(digits)+1),
		kernel.RadixStartsArgs{Offsets: offsets, Starts: starts, Digits: digits, Tiles: tileCount, End: uint32(s.Rows)})
	return nil
}

// Unmixing says how keys are turned back that a partition has mixed.
type Unmixing struct {
	Rows     uint64
	KeyBytes int    // of mixed keys
	Seed     uint32 // of the mix
	// Widened makes keys of 8 bytes of mixed low words; their high word is High.
	Widened bool
	High    uint32
}

// Unmix records the inverse of a mix of keys.
func (o *Ops) Unmix(list *backend.List, u Unmixing, mixed, keys backend.Range) error {
	config := kernel.UnmixKeys.With(nil)
	if config.KeyBits = uint32(u.KeyBytes * 8); u.Widened {
		config.Widened = 1
	}
	return kernel.UnmixKeys.Record(list, o.device, config, kernel.Groups(config, u.Rows),
		kernel.UnmixKeysArgs{Keys: mixed, Unmixed: keys, Rows: uint32(u.Rows), Seed: u.Seed, High: u.High})
}
