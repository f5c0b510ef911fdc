package kernel

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// GroupIDsArgs are the arguments of [GroupIDs].
type GroupIDsArgs = GroupIDsArgsOf[backend.Range]

// GroupIDsArgsOf are the same with buffers of type B.
type GroupIDsArgsOf[B any] struct {
	Keys    B      `access:"read"`
	Units   B      `access:"read"`
	Table   B      `access:"readwrite"`
	IDs     B      `access:"write"`
	Counts  B      `access:"write"`
	Flushes B      `access:"accumulate"`
	Count   uint32 // units
	Slots   uint32
	Dense   uint32
}

// GroupIDsConfig configures [GroupIDs].
type GroupIDsConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile           // of units
}

// GroupIDs numbers the keys of each of count units of rows by first appearance: rows of a unit with equal keys get the
// same number in ids, from 0 to counts[unit]-1. Unit i is the rows from units[i] to before units[i+1].
//
// Each invocation has a table of slots, a power of 2, pairs of words of key_bits, all 0 before and afterwards. A unit
// of fewer rows uses as many slots as [GroupSlots] says. When three quarters of them are taken, the table is cleared
// and further numbers are given to keys that have one already; flushes[0] counts how often. With dense=1 keys are below
// slots and their own slots, and that never happens.
//
// It is for the host backend: a table of a unit lies in the cache of a core.
var GroupIDs = define[GroupIDsArgs](entry[GroupIDsArgsOf[[]byte], GroupIDsConfig]{
	Name:     "group_ids",
	Defaults: GroupIDsConfig{Tile: Tile{1, 1}},
	HostOnly: true,
	Run: func(args *GroupIDsArgsOf[[]byte], config *GroupIDsConfig, group uint32) {
		if config.KeyBits == 64 {
			groupIDs[uint64](args, config, group)
		} else {
			groupIDs[uint32](args, config, group)
		}
	},
})

// GroupSlots is the number of slots that a unit of rows rows uses of a table of slots slots: a power of 2 beyond
// 2*rows, or all slots if there are fewer.
func GroupSlots(rows, slots uint32) uint32 {
	if rows >= slots/2 {
		return slots
	}
	return 2 << bits.Len32(rows)
}

// groupSlot is a slot: a key, and 1 + its number, 0 if the slot is free.
type groupSlot[K word] struct{ key, id K }

func groupIDs[K word](args *GroupIDsArgsOf[[]byte], config *GroupIDsConfig, group uint32) {
	keys, units, ids := view[K](args.Keys), backend.Words(args.Units), backend.Words(args.IDs)
	counts, words := backend.Words(args.Counts), view[K](args.Table)
	tables := unsafe.Slice((*groupSlot[K])(unsafe.Pointer(unsafe.SliceData(words))), len(words)/2)
	flushes := uint32(0)
	for t := range tiles(config, group, Tiles(config, uint64(args.Count)), args.Count) {
		for unit := t.first; unit < t.end; unit++ {
			first, end := units[unit], units[unit+1]
			slots := args.Slots
			if args.Dense == 0 {
				slots = GroupSlots(end-first, slots)
			}
			owner := int(group*config.Workgroup + uint32(unit-t.first)%config.Workgroup)
			table := tables[owner*int(args.Slots):][:slots]
			var flushed uint32
			if args.Dense == 1 {
				counts[unit] = denseIDs(keys[first:end], ids[first:end], table)
			} else {
				counts[unit], flushed = hashedIDs(keys[first:end], ids[first:end], table)
			}
			clear(table)
			flushes += flushed
		}
	}
	atomic.AddUint32(&backend.Words(args.Flushes)[0], flushes)
}

func denseIDs[K word](keys []K, ids []uint32, table []groupSlot[K]) (count uint32) {
	for i, key := range keys {
		slot := &table[key]
		if slot.id == 0 {
			count++
			slot.id = K(count)
		}
		ids[i] = uint32(slot.id) - 1
	}
	return count
}

func hashedIDs[K word](keys []K, ids []uint32, table []groupSlot[K]) (count, flushes uint32) {
	used, most := uint32(0), uint32(len(table)-len(table)/4)
	shift, mask := 32-uint(bits.Len(uint(len(table))-1)), uint32(len(table)-1)
	for i, key := range keys {
		at := groupHash(key) >> (shift & 31)
		for {
			slot := &table[at&mask]
			if slot.id == 0 {
				if used == most {
					clear(table)
					used, flushes = 0, flushes+1
					at = groupHash(key) >> (shift & 31)
					continue
				}
				used, count = used+1, count+1
				*slot = groupSlot[K]{key, K(count)}
			} else if slot.key != key {
				at++
				continue
			}
			ids[i] = uint32(slot.id) - 1
			break
		}
	}
	return count, flushes
}

// groupHash is a hash of a key whose high bits decide its slot.
func groupHash[K word](key K) uint32 {
	hash := (uint32(key) ^ uint32(uint64(key)>>32)*0x85ebca6b) * 0x9e3779b9
	return (hash ^ hash>>16) * 0x85ebca6b
}
