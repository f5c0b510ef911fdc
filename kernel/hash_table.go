package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// A hash table in device memory holds the rows of a side by open addressing (DIST 3.3): a slot is 1 + a row, or 0. The slots of
// a key begin at its mix with a seed, and its rows, each in a slot of its own, lie fewer than patience slots behind. mask + 1, a power
// of 2, is the number of slots.

// TableBuild puts rows into slots, which are zero before, and adds to lost the number of rows that found none.
var TableBuild = &backend.KernelSpec{
	Name: "table_build",
	Args: []backend.ArgSpec{
		{Name: "keys", Access: backend.Read},
		{Name: "slots", Access: backend.ReadWrite},
		{Name: "lost", Access: backend.Accumulate},
	},
	Params:    []string{"rows", "mask", "seed"},
	Axes:      []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{workgroup, items(4), {Name: "patience", Default: 256}},
	Compare:   backend.Predicate,
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			tableBuild[uint64](call, group)
		} else {
			tableBuild[uint32](call, group)
		}
	},
}

func tableBuild[K word](call *backend.Call, group uint32) {
	rows, mask, seed := call.Params[0], call.Params[1], call.Params[2]
	keys, slots := view[K](call.Args[0]), backend.Words(call.Args[1])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
	next:
		for row := t.first; row < t.end; row++ {
			home := uint32(Mix(keys[row], seed))
			for tries := range call.Config["patience"] {
				if atomic.CompareAndSwapUint32(&slots[(home+tries)&mask], 0, uint32(row)+1) {
					continue next
				}
			}
			atomic.AddUint32(&backend.Words(call.Args[2])[0], 1)
		}
	}
}

// TableProbe looks right rows up in a table that [TableBuild] made of the left ones with the same patience, mask and seed, and makes
// output rows as [PartitionJoin] does, a tile of right rows in place of a unit.
var TableProbe = &backend.KernelSpec{
	Name:   "table_probe",
	Args:   joinArgs("slots"),
	Params: []string{"first_row", "out_rows", "rows", "mask"},
	Axes:   []backend.Axis{bits("key_bits", 32, 64)},
	Constants: []backend.Constant{
		workgroup, items(4), {Name: "patience", Default: 256}, {Name: "placing", Default: AtOffsets}, {Name: "unique", Default: 0}, {Name: "seed", Default: 0},
		leftWords, rightWords, leftWords2, rightWords2, pageRows,
	},
	Compare:     backend.Multiset,
	SharedBytes: func(c backend.Config) uint32 { return 4 * ((c["workgroup"]+3)/4 + 2) },
	Run: func(call *backend.Call, group uint32) {
		if call.Config["key_bits"] == 64 {
			tableProbe[uint64](call, group)
		} else {
			tableProbe[uint32](call, group)
		}
	},
}

func tableProbe[K word](call *backend.Call, group uint32) {
	rows, mask, seed, patience := call.Params[2], call.Params[3], call.Config["seed"], call.Config["patience"]
	slots, left, right := backend.Words(call.Args[0]), view[K](call.Args[1]), view[K](call.Args[2])
	for t := range tiles(call, group, max(1, Tiles(call.Config, uint64(rows))), rows) { // no rows are a tile too, which is counted
		joinOutput(call, group, false, 0, func(do func(key K, left, right uint32)) {
			for row := t.first; row < t.end; row++ {
				key := right[row]
				home := uint32(Mix(key, seed))
				for tries := range patience {
					entry := slots[(home+tries)&mask]
					if entry == 0 {
						break
					}
					if left[entry-1] == key {
						do(key, entry-1, uint32(row))
					}
				}
			}
		})
	}
}
