package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// A hash table in device memory holds the rows of a side by open addressing (DIST 3.3). mask + 1, a power of 2, is the number of slots. The
// mix of a key with a seed is its hash, whose low bits, those of mask, are where the slots of the key begin; its rows, each in a slot of
// its own, lie fewer than patience slots behind. A slot is 0, or 1 + a row in the bits of mask and the hash in the others: what the
// table has no use for tells most other keys apart.

// TableBuild puts rows, at most mask of them, into slots, which are zero before, and adds to lost the number of rows that found none.
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
	rows, mask, seed, patience := call.Params[0], call.Params[1], call.Params[2], call.Config["patience"]
	keys, slots := view[K](call.Args[0]), backend.Words(call.Args[1])
	for t := range tiles(call, group, Tiles(call.Config, uint64(rows)), rows) {
		for first := t.first; first < t.end; first += pairRows {
			var buffer [pairRows]K
			homes := source(keys[first:min(first+pairRows, t.end)], buffer[:], digit{mixed: true, seed: seed})
			for _, home := range homes { // into the caches, many at a time; exchanges wait for each other
				atomic.LoadUint32(&slots[uint32(home)&mask])
			}
		next:
			for i, home := range homes {
				for tries := range patience {
					if atomic.CompareAndSwapUint32(&slots[(uint32(home)+tries)&mask], 0, uint32(home)&^mask|uint32(first+i)+1) {
						continue next
					}
				}
				atomic.AddUint32(&backend.Words(call.Args[2])[0], 1)
			}
		}
	}
}

// TableProbe looks right rows up in a table that [TableBuild] made of the left ones with the same patience, mask and seed, and makes
// output rows as [PartitionJoin] does, a tile of right rows in place of a unit, in any order.
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
	right := view[K](call.Args[2])
	p := prober[K]{slots: backend.Words(call.Args[0])[:mask+1], left: view[K](call.Args[1]), patience: patience, unique: oneIf(call.Config["unique"] == 1)}
	for t := range tiles(call, group, max(1, Tiles(call.Config, uint64(rows))), rows) { // no rows are a tile too, which is counted
		out := newJoinOutput[K](call, group, 0, false, 0)
		for first := t.first; first < t.end && len(p.left) > 0; first += pairRows {
			out.rightFirst = uint32(first)
			p.probe(right[first:min(first+pairRows, t.end)], seed, out)
		}
		out.end()
	}
}

// prober looks a batch of rows up in a table. In a round, each row that still looks for matches looks at one slot; short loops load
// what slots hold and then what keys these rows have, so that as many loads as possible are under way.
type prober[K word] struct {
	slots    []uint32
	left     []K
	patience uint32
	unique   uint // 1: a row with a match looks no further

	rows, at, entries [pairRows]uint32 // of the rows that look: number in the batch, slot, and what it holds
	found             [pairRows]K      // the key of the left row there
}

func (p *prober[K]) probe(keys []K, seed uint32, out *joinOutput[K]) {
	mask := uint32(len(p.slots) - 1)
	mixAll(p.found[:], keys, seed)
	for i, home := range p.found[:len(keys)] {
		p.rows[i], p.at[i] = uint32(i), uint32(home)&mask
	}
	looking := uint(len(keys))
	for tries := uint32(0); looking > 0 && tries < p.patience; tries++ {
		for k, at := range p.at[:looking] {
			p.entries[k] = p.slots[at]
		}
		for k, entry := range p.entries[:looking] {
			p.found[k] = p.left[max(entry&mask, 1)-1]
		}
		matches, next := uint(0), uint(0)
		for k, entry := range p.entries[:looking] {
			row, occupied := p.rows[k], oneIf(entry > 0)
			match := occupied & oneIf(p.found[k] == keys[row])
			out.left[matches%pairRows], out.right[matches%pairRows] = entry&mask-1, row
			matches += match
			p.rows[next%pairRows], p.at[next%pairRows] = row, (p.at[k]+1)&mask
			next += occupied &^ (match & p.unique)
		}
		out.write(matches)
		looking = next
	}
}
