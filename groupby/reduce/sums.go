package reduce

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// addition is one dispatch of [kernel.GroupSums]. It sums a column of values and counts its rows, and reads the codes
// once.
type addition struct {
	in         *input
	count, sum int // numbers of reductions; -1: none
	mark       bool
}

// additions returns the additions of a batch whose inputs are all sums. If exists is set, one of them marks the codes
// that exist.
func additions(b *batch, exists bool) (all []addition) {
	for i := range b.inputs {
		in := &b.inputs[i]
		ones := in.value[0].Buffer == nil
		with := slices.IndexFunc(all, func(a addition) bool {
			return a.in.valid == in.valid && a.in.validBit == in.validBit && (ones && a.count < 0 || !ones && a.sum < 0)
		})
		if with < 0 {
			with = len(all)
			all = append(all, addition{in: in, count: -1, sum: -1})
		}
		if a := &all[with]; ones {
			a.count = i
		} else {
			a.in, a.sum = in, i
		}
	}
	if !exists {
		return all
	}
	of := slices.IndexFunc(all, func(a addition) bool { return a.in.valid.Buffer == nil })
	if of < 0 {
		of = len(all)
		all = append(all, addition{in: new(input), count: -1, sum: -1})
	}
	all[of].mark = true
	return all
}

// config is the configuration of the kernel, but for its tile and table.
func (a *addition) config() kernel.GroupSumsConfig {
	config := kernel.GroupSums.With(nil)
	config.Counted, config.Carried = 0, 1
	if a.count >= 0 || a.mark {
		config.Counted = 1
	}
	if a.sum >= 0 {
		config.ValueBits = max(32, a.in.bits)
		if a.in.bits == 64 && a.in.columns == 1 {
			config.Carried = 0
		}
	}
	return config
}

// shared says how a batch is added up in the shared memory of workgroups.
type shared struct {
	additions []addition
	hashed    bool   // keys are hashed to slots; else codes are slots
	bits      int    // of the digit by which rows are partitioned; 0: rows stay where they are
	slots     uint32 // of a workgroup
	ranges    uint32 // of slots for each unit of rows, which that many workgroups read
	unitRows  uint64 // of a part of a partition, at most
}

const (
	tableBytes    = 32 << 10 // of shared memory, so that several workgroups are resident
	mostRanges    = 4
	mostDigit     = 16
	onePass       = 8 // a partition by fewer bits takes the same time
	partRows      = 1 << 17
	residentUnits = 528 // enough workgroups to fill a GPU
	leastHashed   = 1 << 14
)

// isSums tells whether all states of a batch are sums of integers.
func (b *batch) isSums() bool {
	return !slices.ContainsFunc(b.inputs, func(in input) bool { return in.op != kernel.GroupSum })
}

// denseFor returns how a batch with codes as slots is added up; false if there are too many codes for its rows.
func (o *Operator) denseFor(lane *exec.Lane, b *batch) (shared, bool) {
	f := &o.plan.Facts
	s := o.sharedFor(lane, additions(b, true))
	most := max(uint64(s.slots), 2*b.rows)
	if f.KeyBytes != 4 || f.KeyBits >= 32 || uint64(1)<<f.KeyBits > most {
		return s, false
	}
	codes := uint64(1) << f.KeyBits
	s.slots = uint32(min(uint64(s.slots), codes))
	for uint64(s.slots)*uint64(s.ranges) < codes && s.ranges < mostRanges {
		s.ranges *= 2
	}
	if s.bits = max(0, f.KeyBits-bits.Len32(s.slots*s.ranges)+1); s.bits > 0 {
		for s.bits != onePass && s.bits < mostDigit && s.ranges > 1 { // of two passes, too
			s.bits, s.ranges = s.bits+1, s.ranges/2
		}
	}
	return s, s.bits <= mostDigit
}

// hashedFor returns how to sum a batch with keys in hash tables, of which the groups fill half the slots; false if
// there are too many groups. If two passes are needed anyway, rows are partitioned for groups.most.
func (o *Operator) hashedFor(lane *exec.Lane, b *batch, groups groupCount) (shared, bool) {
	s := o.sharedFor(lane, additions(b, false))
	s.hashed = true
	digit := func(groups uint64) int { return bits.Len64(groups / (uint64(s.slots)/2 + 1)) }
	if s.bits = digit(groups.likely); s.bits > onePass {
		s.bits = max(s.bits, min(mostDigit, digit(groups.most)))
	} else if s.bits > 0 {
		s.bits = onePass
	}
	return s, s.bits <= mostDigit
}

func (o *Operator) sharedFor(lane *exec.Lane, additions []addition) shared {
	s := shared{additions: additions, ranges: 1, slots: 1, unitRows: partRows}
	words := uint32(2)
	for i := range additions {
		config := additions[i].config()
		words = max(words, config.Words())
	}
	table := min(tableBytes, lane.Device().Info().Limits.MaxSharedBytes) / 4
	if most := o.plan.force.slots; most > 0 {
		table = most * words
		s.unitRows = 100
	}
	for 2*s.slots*words <= table && s.slots < kernel.MaxGroupSlots {
		s.slots *= 2
	}
	return s
}

// tile is the tile of kernels that sum rows rows.
func (s *shared) tile(lane *exec.Lane, rows uint64) kernel.Tile {
	t := kernel.Tile{Workgroup: 256, Items: 4}
	if info := lane.Device().Info(); !info.CPULike() {
		t.Workgroup = min(1024, info.Limits.MaxInvocations)
	}
	for t.Items < 1024 && (rows > residentUnits*uint64(t.Workgroup*t.Items) ||
		rows <= leastHashed && rows > uint64(t.Workgroup*t.Items)) { // few rows are one tile
		t.Items *= 2
	}
	return t
}

// units are rows that a workgroup sums, or several of which each has a range of slots.
type units struct {
	list  backend.Range // [kernel.GroupUnit]; absent: one tile each
	count uint32
	whole bool // no partition has several
}

// record records all additions of a batch. marks, and states of counts and sums, are where they go.
func (s *shared) record(list *backend.List, lane *exec.Lane, b *batch, codes backend.Range, of units, places,
	marks backend.Range, states [][]backend.Range) error {
	for _, a := range s.additions {
		config := a.config()
		config.Tile = s.tile(lane, b.rows)
		config.Table = tableWords(s.slots, config.Words())
		args := kernel.GroupSumsArgs{Codes: codes, Units: of.list, Places: places, Valid: a.in.valid,
			Rows: uint32(b.rows), Slots: s.slots, Ranges: s.ranges, Bits: a.in.bits, Shift: a.in.shift,
			Kind: a.in.kind, ValidBit: a.in.validBit}
		if a.mark {
			args.Marks = marks
		}
		if a.count >= 0 {
			args.Counts = states[a.count][0]
		}
		if a.sum >= 0 {
			args.Value, args.Value2, args.State = a.in.value[0], a.in.value[1], states[a.sum][0]
			if a.in.columns == 2 {
				args.State2 = states[a.sum][1]
			}
		}
		if err := kernel.GroupSums.Record(list, lane.Device(), config, of.count*s.ranges, args); err != nil {
			return err
		}
	}
	return nil
}

// tableWords is the shared memory for some slots: with few of them, room for copies.
func tableWords(slots, words uint32) uint32 {
	return max(slots, min(32*slots, 512)) * words
}

// partition partitions a batch by its keys or, with hashed ones, by their mix. It cuts the partitions into units of at
// most s.unitRows rows, so that frequent keys occupy many workgroups, and uploads these to memory of the lane.
func (o *Operator) partition(ctx context.Context, lane *exec.Lane, b *batch, s *shared) (_ *batch, of units, err error) {
	starts := lane.Memory.New((1<<s.bits+1)*4, "starts").All()
	if err := lane.Memory.Err(); err != nil {
		return nil, of, err
	}
	by, size := primitive.Partition{Shift: o.plan.Facts.KeyBits - s.bits, Bits: s.bits}, s.slots*s.ranges
	if s.hashed {
		by, size = primitive.Partition{Bits: s.bits, Mixed: true, Seed: groupSeed}, 1
	}
	if b, err = o.divide(ctx, lane, b, by, starts); err != nil {
		return nil, of, err
	}
	s.additions = additions(b, !s.hashed)
	begins := make([]uint32, 1<<s.bits+1)
	if err := lane.Download(ctx, backend.AsBytes(begins), starts); err != nil {
		return nil, of, err
	}
	var list []kernel.GroupUnit
	of.whole = true
	for p := range uint32(1) << s.bits {
		first, end := uint64(begins[p]), uint64(begins[p+1])
		pieces := (end - first + s.unitRows - 1) / s.unitRows
		of.whole = of.whole && pieces <= 1
		for i := range pieces {
			u := kernel.GroupUnit{First: uint32(first + (end-first)*i/pieces),
				End: uint32(first + (end-first)*(i+1)/pieces), Base: p * size}
			if pieces == 1 {
				u.Whole = 1
			}
			list = append(list, u)
		}
	}
	of.list, of.count = lane.Memory.New(uint64(len(list))*16, "units").All(), uint32(len(list))
	if err := lane.Memory.Err(); err != nil {
		return nil, of, err
	}
	_, err = lane.Device().Upload(ctx, of.list, backend.AsBytes(list))
	return b, of, err
}

// hashedSums reduces a batch to a partial by hash tables in shared memory. Its keys are unique if each has one table.
// It returns nil if a table was full.
func (o *Operator) hashedSums(ctx context.Context, lane *exec.Lane, b *batch, s shared) (*partial, error) {
	lane = lane.Nested(ctx)
	defer lane.Memory.ReleaseAll()
	keyBytes, config := uint64(o.plan.Facts.KeyBytes), kernel.GroupTable.With(nil)
	config.Tile, config.KeyBits, config.Slots = s.tile(lane, b.rows), uint32(keyBytes*8), s.slots
	of, err := units{count: kernel.Groups(config, b.rows)}, error(nil)
	if s.bits > 0 {
		if b, of, err = o.partition(ctx, lane, b, &s); err != nil {
			return nil, err
		}
	}
	slots := uint64(of.count) * uint64(s.slots)
	room := min(b.rows, slots)
	ids := lane.Memory.New(b.rows*4, "slots of rows").All()
	places := lane.Memory.New(slots*4, "places of slots").All()
	keys, found := lane.Memory.New(room*keyBytes, "keys").All(), lane.Memory.New(8, "found").All()
	if err := lane.Memory.Err(); err != nil {
		return nil, err
	}
	list := lane.List("group, hash")
	list.Fill(found, 0)
	args := kernel.GroupTableArgs{Keys: b.keys, Units: of.list, IDs: ids, Places: places, KeysOut: keys, Found: found,
		Rows: uint32(b.rows), Digit: uint32(s.bits), Room: uint32(room), Seed: groupSeed}
	if err := kernel.GroupTable.Record(list, lane.Device(), config, of.count, args); err != nil {
		return nil, err
	}
	var counts [8]byte
	if err := lane.Fetch(ctx, list, backend.Transfer{Device: found, Host: counts[:]}); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(counts[4:]) > 0 {
		return nil, nil
	}
	to := o.newPartial(ctx, uint64(binary.LittleEndian.Uint32(counts[:])))
	to.unique = of.whole || of.count == 1
	return to.fill(ctx, lane, "group, sum", func(list *backend.List) error {
		return cmp.Or(lane.Copy(list, to.keys, keys.Part(0, to.rows*keyBytes)),
			s.record(list, lane, b, ids, of, places, backend.Range{}, to.states))
	})
}
