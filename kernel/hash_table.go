package kernel

import (
	"iter"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// A hash table in device memory holds the rows of a side by open addressing (DIST 3.3). mask + 1, a power of 2, is the
// number of slots. The mix of a key with a seed is its hash, whose low bits, those of mask, are where the slots of the
// key begin; its rows, each in a slot of its own, lie fewer than patience slots behind. A slot is 0, or 1 + a row in
// the bits of mask and the hash in the others: what the table has no use for tells most other keys apart.
// TableBuildArgs are the arguments of [TableBuild].
type TableBuildArgs = TableBuildArgsOf[backend.Range]

// TableBuildArgsOf are the same with buffers of type B.
type TableBuildArgsOf[B any] struct {
	Keys  B `access:"read"`
	Slots B `access:"readwrite"`
	Lost  B `access:"accumulate"`
	Rows  uint32
	Mask  uint32
	Seed  uint32
}

// TableBuildConfig configures [TableBuild].
type TableBuildConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Patience uint32
}

// TableBuild puts rows into a hash table in device memory: at most mask rows into slots, which are zero before. It adds
// to lost the number of rows that found none.
var TableBuild = define[TableBuildArgs](entry[TableBuildArgsOf[[]byte], TableBuildConfig]{
	Name:     "table_build",
	Defaults: TableBuildConfig{Tile: Tile{256, 4}, Patience: 256},
	Compare:  backend.Predicate,
	Run: func(args *TableBuildArgsOf[[]byte], config *TableBuildConfig, group uint32) {
		if config.KeyBits == 64 {
			tableBuild[uint64](args, config, group)
		} else {
			tableBuild[uint32](args, config, group)
		}
	},
})

func tableBuild[K word](args *TableBuildArgsOf[[]byte], config *TableBuildConfig, group uint32) {
	rows, mask, seed, patience := args.Rows, args.Mask, args.Seed, config.Patience
	keys, slots := view[K](args.Keys), backend.Words(args.Slots)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		for first := t.first; first < t.end; first += pairRows {
			var buffer [pairRows]K
			homes := source(keys[first:min(first+pairRows, t.end)], buffer[:], digit{mixed: true, seed: seed})
			for _, home := range homes { // into the caches, many at a time; exchanges wait for each other
				atomic.LoadUint32(&slots[uint32(home)&mask])
			}
		next:
			for i, home := range homes {
				for tries := range patience {
					if atomic.CompareAndSwapUint32(&slots[(uint32(home)+tries)&mask], 0,
						uint32(home)&^mask|uint32(first+i)+1) {
						continue next
					}
				}
				atomic.AddUint32(&backend.Words(args.Lost)[0], 1)
			}
		}
	}
}

// TableProbeArgs are the arguments of [TableProbe].
type TableProbeArgs = TableProbeArgsOf[backend.Range]

// TableProbeArgsOf are the same with buffers of type B.
type TableProbeArgsOf[B any] struct {
	Slots B `access:"read"`
	JoinColumns[B]
	JoinRows
	Rows uint32
	Mask uint32
}

// TableProbeConfig configures [TableProbe].
type TableProbeConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Paged   uint32 `axis:"0,1"`
	Tile
	Patience uint32
	Unique   uint32
	Seed     uint32
	OutputConfig
	PageRows uint32
}

// TableProbe joins right rows with a table of the left ones: [TableBuild] made it with the same patience, mask and
// seed. Output rows are made as [PartitionJoin] does, a tile of right rows in place of a unit, in any order.
var TableProbe = define[TableProbeArgs](entry[TableProbeArgsOf[[]byte], TableProbeConfig]{
	Name:        "table_probe",
	Defaults:    TableProbeConfig{Tile: Tile{256, 4}, Patience: 256, OutputConfig: defaultOutput, PageRows: 1},
	Compare:     backend.Multiset,
	SharedBytes: func(config *TableProbeConfig) uint32 { return 4 * (2*((config.Workgroup+3)/4) + 4) },
	Run: func(args *TableProbeArgsOf[[]byte], config *TableProbeConfig, group uint32) {
		if config.KeyBits == 64 {
			tableProbe[uint64](args, config, group)
		} else {
			tableProbe[uint32](args, config, group)
		}
	},
})

func tableProbe[K word](args *TableProbeArgsOf[[]byte], config *TableProbeConfig, group uint32) {
	p := prober[K]{slots: backend.Words(args.Slots)[:args.Mask+1], left: view[K](args.LeftKeys),
		patience: config.Patience, unique: oneIf(config.Unique == 1)}
	out := &joinOutput[K]{JoinColumns: args.JoinColumns, JoinRows: args.JoinRows, OutputConfig: config.OutputConfig,
		unit: group, pageSize: config.Paged * config.PageRows, keys: keyOutputOf[K](args.KeysOut, 0, 0)}
	for first, keys := range tileBatches[K](config, group, args.Rows, args.RightKeys) {
		out.rightFirst = first
		for p.begin(keys, config.Seed); p.looking > 0; {
			matches := p.round(keys)
			out.writePairs(p.matched[0][:matches], p.matched[1][:matches])
		}
	}
	out.end()
}

// tileBatches yields the right keys of a workgroup's tile, pairRows at a time, with the row of the first.
func tileBatches[K word](config Tiled, group, rows uint32, rightKeys []byte) iter.Seq2[uint32, []K] {
	return func(yield func(uint32, []K) bool) {
		for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
			for first := t.first; first < t.end; first += pairRows {
				if !yield(uint32(first), view[K](rightKeys)[first:min(first+pairRows, t.end)]) {
					return
				}
			}
		}
	}
}

// prober looks a batch of rows up in a table. In a round, each row that still looks for matches looks at one slot;
// short loops load what slots hold and then what keys these rows have, so that as many loads as possible are under way.
type prober[K word] struct {
	slots    []uint32
	left     []K
	patience uint32
	unique   uint // 1: a row with a match looks no further

	looking, tries    uint                // how many rows look, and at how many slots each has
	rows, at, entries [pairRows]uint32    // of the rows that look: number in the batch, slot, and what it holds
	found             [pairRows]K         // the key of the left row there
	matched           [2][pairRows]uint32 // left and right rows of the matches of a round
}

func (p *prober[K]) begin(keys []K, seed uint32) {
	mask := uint32(len(p.slots) - 1)
	mixAll(p.found[:], keys, seed)
	for i, home := range p.found[:len(keys)] {
		p.rows[i], p.at[i] = uint32(i), uint32(home)&mask
	}
	p.looking, p.tries = uint(len(keys)), 0
	if len(p.left) == 0 {
		p.looking = 0
	}
}

// round returns the number of matches.
func (p *prober[K]) round(keys []K) (matches uint) {
	mask := uint32(len(p.slots) - 1)
	for k, at := range p.at[:p.looking] {
		p.entries[k] = p.slots[at]
	}
	for k, entry := range p.entries[:p.looking] {
		p.found[k] = p.left[max(entry&mask, 1)-1]
	}
	left, right, next := &p.matched[0], &p.matched[1], uint(0)
	for k, entry := range p.entries[:p.looking] {
		row, occupied := p.rows[k], oneIf(entry > 0)
		match := occupied & oneIf(p.found[k] == keys[row])
		left[matches%pairRows], right[matches%pairRows] = entry&mask-1, row
		matches += match
		p.rows[next%pairRows], p.at[next%pairRows] = row, (p.at[k]+1)&mask
		next += occupied &^ (match & p.unique)
	}
	if p.looking, p.tries = next, p.tries+1; p.tries == uint(p.patience) {
		p.looking = 0
	}
	return matches
}
