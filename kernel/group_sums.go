package kernel

import (
	"math/bits"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// GroupSumsArgs are the arguments of [GroupSums].
type GroupSumsArgs = GroupSumsArgsOf[backend.Range]

// GroupSumsArgsOf are the same with buffers of type B.
type GroupSumsArgsOf[B any] struct {
	Codes          B `access:"read"`
	Units          B `access:"read"`
	Places         B `access:"read"`
	Value, Value2  B `access:"read"`
	Valid          B `access:"read"`
	Counts         B `access:"accumulate"`
	State, State2  B `access:"accumulate"`
	Marks          B `access:"accumulate"`
	Rows           uint32
	Slots          uint32
	Ranges         uint32
	Bits, Shift    uint32
	Kind, ValidBit uint32
}

// GroupSumsConfig configures [GroupSums].
type GroupSumsConfig struct {
	ValueBits uint32 `axis:"0,32,64,128"` // 0: no values, only counts; 32: values of at most 32 bits
	Tile
	Table   uint32 // words of shared memory
	Counted uint32
	Carried uint32
}

// MaxGroupSlots is the most slots of [GroupSums] and [GroupTable].
const MaxGroupSlots = 1 << 12

// GroupUnit is an element of Units of [GroupSums] and [GroupTable]: the rows [First, End), whose codes are at least
// Base. Whole is 1 if no other unit has these codes.
type GroupUnit struct{ First, End, Base, Whole uint32 }

// GroupSums counts rows and adds up integers by codes. Workgroup i does so for the rows of unit i / ranges whose codes
// are among the slots ones from base + i%ranges*slots on; others are skipped. slots is a power of 2. Without units,
// those are tiles of rows, and base is 0. counts, state and state2 are 64-bit words for each code: counts is increased
// by the number of rows that take part, state and state2, the low and the high half of a number, by their values, as
// [GroupReduce] reads them. marks, if present, gets the bits of codes whose count is not 0.
//
// With places, codes are slots, and ranges is 1. Slot s of unit i belongs to element places[i*slots+s] of the outputs,
// unless that is all ones, and is stored there.
//
// A workgroup adds up in shared memory, in as many copies of the sums as there is room for, so that few codes do not
// make invocations wait for each other. Constants: counted 0: counts and marks are absent; carried 0: values have 64
// bits, and state2 is absent.
var GroupSums = define[GroupSumsArgs](entry[GroupSumsArgsOf[[]byte], GroupSumsConfig]{
	Name:        "group_sums",
	Defaults:    GroupSumsConfig{Tile: Tile{256, 16}, Table: 4096, Counted: 1, Carried: 1},
	SharedBytes: func(config *GroupSumsConfig) uint32 { return 4 * config.Table },
	Run:         groupSums,
})

// Words are the words of shared memory that a slot takes.
func (c *GroupSumsConfig) Words() uint32 {
	words := c.ValueBits / 32
	if words > 0 && words < 4 {
		words += c.Carried
	}
	return words + c.Counted
}

// groupUnit returns the rows of a unit.
func groupUnit(units []uint32, config Tiled, unit, rows uint32) GroupUnit {
	if units == nil {
		size := TileRows(config)
		first := min(unit*size, rows)
		return GroupUnit{First: first, End: first + min(size, rows-first)}
	}
	u := units[4*unit:][:4]
	return GroupUnit{u[0], u[1], u[2], u[3]}
}

func groupSums(args *GroupSumsArgsOf[[]byte], config *GroupSumsConfig, group uint32) {
	var sums [MaxGroupSlots][3]uint64 // count, low and high half
	unit := groupUnit(backend.Words(args.Units), config, group/args.Ranges, args.Rows)
	base := unit.Base + group%args.Ranges*args.Slots
	codes, places := backend.Words(args.Codes), backend.Words(args.Places)
	if places != nil {
		base = 0
	}
	column := groupColumn{narrow: backend.Words(args.Value), valid: backend.Words(args.Valid),
		value: backend.Longs(args.Value), value2: backend.Longs(args.Value2), bits: args.Bits, shift: args.Shift,
		kind: args.Kind, validBit: args.ValidBit}
	for i := int(unit.First); i < int(unit.End); i++ {
		row, valid := column.row(i)
		if slot := codes[i] - base; slot < args.Slots && valid {
			low, high := uint64(0), uint64(0)
			if config.ValueBits > 0 {
				low, high = column.integer(row)
			}
			sum := &sums[slot]
			var carry uint64
			sum[0]++
			sum[1], carry = bits.Add64(sum[1], low, 0)
			sum[2] += high + carry
		}
	}
	counts, marks := backend.Longs(args.Counts), backend.Words(args.Marks)
	state, state2 := backend.Longs(args.State), backend.Longs(args.State2)
	for slot := range args.Slots {
		place, sum := base+slot, sums[slot]
		if places != nil {
			place = places[group*args.Slots+slot]
		}
		if place == ^uint32(0) {
			continue
		}
		whole := unit.Whole == 1 || places != nil
		addTo(counts, place, sum[0], whole)
		if sum[0] > 0 && marks != nil {
			atomic.OrUint32(&marks[place/32], 1<<(place%32))
		}
		if state != nil && addTo(state, place, sum[1], whole) {
			sum[2]++
		}
		addTo(state2, place, sum[2], whole)
	}
}

// addTo adds to an element of a column, if there is one, or stores it. It returns the carry.
func addTo(column []uint64, place uint32, value uint64, store bool) bool {
	switch {
	case column == nil:
	case store:
		column[place] = value
	case value > 0:
		return atomic.AddUint64(&column[place], value) < value
	}
	return false
}
