package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// GroupTableArgs are the arguments of [GroupTable].
type GroupTableArgs = GroupTableArgsOf[backend.Range]

// GroupTableArgsOf are the same with buffers of type B.
type GroupTableArgsOf[B any] struct {
	Keys    B `access:"read"`
	Units   B `access:"read"`
	IDs     B `access:"write"`
	Places  B `access:"write"`
	KeysOut B `access:"accumulate"`
	Found   B `access:"accumulate"`
	Rows    uint32
	Digit   uint32
	Room    uint32
	Seed    uint32
}

// GroupTableConfig configures [GroupTable].
type GroupTableConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Slots    uint32 // slots, a power of 2
	Patience uint32
}

// GroupTable finds the keys of each unit of rows, a workgroup a unit, by a hash table in shared memory: ids[row] is the
// slot of its key in the table of its unit, and places[unit*slots+slot] where the key is in keys_out, or all ones for a
// free slot. Units are as in [GroupSums]; if they are absent, each tile of rows is a unit. Within a unit equal keys
// have one slot, and different keys different slots. keys_out has the keys of all units, in any order, and found[0]
// their number.
//
// Without digit, keys are arbitrary. Otherwise they are the output of a partition by the digit low bits, at least 2,
// of keys mixed with seed, and the base of each unit is the digit of its keys; keys_out has the original keys.
//
// found[1] counts keys that find no free slot in patience slots, or no room in keys_out; if it is not 0, the results
// are invalid. Without digit it also counts, rarely, keys whose mix has a word 0, the mark of a free slot.
var GroupTable = define[GroupTableArgs](entry[GroupTableArgsOf[[]byte], GroupTableConfig]{
	Name:     "group_table",
	Defaults: GroupTableConfig{Tile: Tile{256, 16}, Slots: 1024, Patience: 64},
	Compare:  backend.Predicate,
	SharedBytes: func(config *GroupTableConfig) uint32 {
		return 4 * (config.Slots*config.KeyBits/32 + 3)
	},
	Run: func(args *GroupTableArgsOf[[]byte], config *GroupTableConfig, group uint32) {
		if config.KeyBits == 64 {
			groupTable[uint64](args, config, group)
		} else {
			groupTable[uint32](args, config, group)
		}
	},
})

func groupTable[K word](args *GroupTableArgsOf[[]byte], config *GroupTableConfig, group uint32) {
	keys, keysOut := view[K](args.Keys), view[K](args.KeysOut)
	ids, found := backend.Words(args.IDs), backend.Words(args.Found)
	unit := groupUnit(backend.Words(args.Units), config, group, args.Rows)
	var taken [MaxGroupSlots]bool
	var table [MaxGroupSlots]K
	mask := config.Slots - 1
	for i := unit.First; i < unit.End; i++ {
		mixed := keys[i]
		if args.Digit == 0 {
			mixed = Mix(mixed, args.Seed)
		}
		at := groupPlace(mixed, args.Digit) & mask
		tries := uint32(0)
		for ; tries < config.Patience && taken[at] && table[at] != mixed; tries++ {
			at = (at + 1) & mask
		}
		if low, high := uint32(mixed), uint32(uint64(mixed)>>32); tries == config.Patience ||
			args.Digit == 0 && (low == 0 || config.KeyBits == 64 && high == 0) {
			atomic.AddUint32(&found[1], 1)
			at = 0
		} else {
			taken[at], table[at] = true, mixed
		}
		ids[i] = at
	}
	count := uint32(0)
	for _, t := range taken[:config.Slots] {
		if t {
			count++
		}
	}
	next := atomic.AddUint32(&found[0], count) - count
	full := next+count > args.Room
	if full {
		atomic.AddUint32(&found[1], 1)
	}
	for slot, places := 0, backend.Words(args.Places)[group*config.Slots:]; slot < int(config.Slots); slot++ {
		places[slot] = ^uint32(0)
		if taken[slot] && !full {
			places[slot] = next
			keysOut[next] = Unmix(table[slot], args.Seed)
			next++
		}
	}
}

// groupPlace is a word whose low bits say where a mixed key is looked for first: bits of it that are not the digit.
func groupPlace[K word](mixed K, digit uint32) uint32 {
	if high := uint32(uint64(mixed) >> 32); high != 0 {
		return high
	}
	return uint32(mixed) >> digit
}
