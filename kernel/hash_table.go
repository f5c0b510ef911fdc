package kernel

import (
	"iter"
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// A hash table in device memory holds the rows of a side by open addressing (DIST 3.3). It has mask + 1 slots, a power
// of 2. The hash of a key is its mix with a seed. The bits of the hash under mask, its low bits, are the first slot of
// the key. Each row has its own slot, fewer than patience slots after the first. A slot is 0 if empty. Otherwise it
// holds 1 + the row in the bits of mask and the hash in the remaining bits, which distinguish most other keys.
// TableBuildArgs are the arguments of [TableBuild].
type TableBuildArgs = TableBuildArgsOf[backend.Range]

// TableBuildArgsOf are the same with buffers of type B.
type TableBuildArgsOf[B any] struct {
	Keys     B `access:"read"`
	Slots    B `access:"readwrite"`
	Lost     B `access:"accumulate"`
	LostRows B `access:"accumulate"`
	Repeats  B `access:"accumulate"`
	Rows     uint32
	Mask     uint32
	Seed     uint32
}

// TableBuildConfig configures [TableBuild].
type TableBuildConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Tile
	Patience uint32
	Distinct uint32
}

// TableBuild puts rows into a hash table in device memory: at most mask rows into slots, which are initially zero. It
// adds the number of rows that found no slot to lost, and sets their bits in lost_rows; which rows of a key these are
// is unspecified. With distinct, a row whose key already has a slot takes none, but adds 1 to repeats (a 32-bit word
// per row) of the row in the slot. Patience then only has to cover different keys, however often one occurs, and either
// all rows of a key are lost or none. Which row of a key gets the slot is unspecified. Without distinct, repeats is
// absent.
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
	keys, slots, repeats := view[K](args.Keys), backend.Words(args.Slots), backend.Words(args.Repeats)
	for t := range tiles(config, group, Tiles(config, uint64(rows)), rows) {
		for first := t.first; first < t.end; first += pairRows {
			var buffer [pairRows]K
			homes := source(keys[first:min(first+pairRows, t.end)], buffer[:], digit{mixed: true, seed: seed})
			for _, home := range homes { // into the caches, many at a time; exchanges wait for each other
				atomic.LoadUint32(&slots[uint32(home)&mask])
			}
		next:
			for i, home := range homes {
				entry := uint32(home)&^mask | uint32(first+i) + 1
				for tries := range patience {
					slot := &slots[(uint32(home)+tries)&mask]
					held := atomic.LoadUint32(slot)
					if held == 0 {
						if atomic.CompareAndSwapUint32(slot, 0, entry) {
							continue next
						}
						held = atomic.LoadUint32(slot) // a slot that is taken never changes
					}
					if config.Distinct == 1 && (held^entry)&^mask == 0 && keys[held&mask-1] == keys[first+i] {
						atomic.AddUint32(&repeats[held&mask-1], 1)
						continue next
					}
				}
				atomic.AddUint32(&backend.Words(args.Lost)[0], 1)
				marker(backend.Words(args.LostRows)).mark(uint32(first + i))
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
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Patience uint32
	Unique   uint32
	Seed     uint32
	OutputConfig
	PageRows uint32
}

// TableProbe joins right rows with the left ones that have a slot in a table: [TableBuild] made it with the same
// patience, mask and seed. Output rows are written as by [PartitionJoin], with a tile of right rows in place of a unit,
// in any order.
var TableProbe = define[TableProbeArgs](entry[TableProbeArgsOf[[]byte], TableProbeConfig]{
	Name:     "table_probe",
	Defaults: TableProbeConfig{Tile: Tile{256, 4}, Patience: 256, OutputConfig: defaultOutput, PageRows: 1},
	Compare:  backend.Multiset,
	SharedBytes: func(config *TableProbeConfig) uint32 {
		return joinRowsBytes(config.Tile, config.Shared, config.Paged)
	},
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

// TableCountArgs are the arguments of [TableCount].
type TableCountArgs = TableCountArgsOf[backend.Range]

// TableCountArgsOf are the same with buffers of type B.
type TableCountArgsOf[B any] struct {
	Slots     B `access:"read"`
	LeftKeys  B `access:"read"`
	RightKeys B `access:"read"`
	Repeats   B `access:"read"`
	Counts    B `access:"write"`
	Rows      uint32
	Mask      uint32
}

// TableCountConfig configures [TableCount].
type TableCountConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Patience uint32
	Unique   uint32
	Distinct uint32
	Seed     uint32
}

// TableCount counts the output rows that [TableProbe] would write for each tile of right rows: counts receives 64 bits
// per tile. With distinct, for a table and repeats built with distinct by [TableBuild], the lookup of a row ends at its
// first match, however many rows have the key; without it, repeats is absent.
var TableCount = define[TableCountArgs](entry[TableCountArgsOf[[]byte], TableCountConfig]{
	Name:        "table_count",
	Defaults:    TableCountConfig{Tile: Tile{256, 4}, Patience: 256},
	SharedBytes: func(config *TableCountConfig) uint32 { return totalBytes(config.Tile, config.Shared) },
	Run: func(args *TableCountArgsOf[[]byte], config *TableCountConfig, group uint32) {
		if config.KeyBits == 64 {
			tableCount[uint64](args, config, group)
		} else {
			tableCount[uint32](args, config, group)
		}
	},
})

func tableCount[K word](args *TableCountArgsOf[[]byte], config *TableCountConfig, group uint32) {
	repeats, count := backend.Words(args.Repeats), uint64(0)
	p := prober[K]{slots: backend.Words(args.Slots)[:args.Mask+1], left: view[K](args.LeftKeys),
		patience: config.Patience, unique: oneIf(config.Unique == 1 || config.Distinct == 1)}
	for _, keys := range tileBatches[K](config, group, args.Rows, args.RightKeys) {
		for p.begin(keys, config.Seed); p.looking > 0; {
			matches := p.round(keys)
			count += uint64(matches)
			if config.Distinct == 1 {
				for _, row := range p.matched[0][:matches] {
					count += uint64(repeats[row])
				}
			}
		}
	}
	backend.Longs(args.Counts)[group] = count
}

// TableMarkArgs are the arguments of [TableMark].
type TableMarkArgs = TableMarkArgsOf[backend.Range]

// TableMarkArgsOf are the same with buffers of type B.
type TableMarkArgsOf[B any] struct {
	Slots      B `access:"read"`
	LeftKeys   B `access:"read"`
	RightKeys  B `access:"read"`
	Partners   B `access:"read"`
	LeftMarks  B `access:"accumulate"`
	RightMarks B `access:"accumulate"`
	Rows       uint32
	Mask       uint32
}

// TableMarkConfig configures [TableMark].
type TableMarkConfig struct {
	KeyBits uint32 `axis:"32,64"`
	Shared  uint32 `axis:"0,1"` // as in [ScanTilesConfig]
	Tile
	Patience uint32
	Seed     uint32
	Sides    uint32
	Among    uint32
}

// TableMark marks rows that have a match, as [PartitionMark] does, for the right rows of a [TableProbe]. The lookup of
// a row ends at its first match. sides says which: 1 right rows, in right_marks; 2 the left rows that are the first
// match of one, in left_marks; 3 both. The first match is the same row for all right rows of a key, so one row
// represents all left rows of the key. With among, a match counts only if the bit of the left row is set in partners.
//
// Two dispatches thus determine which left rows have a partner, with one lookup per row: the first sets left_marks; the
// second takes these as partners and the rows of the left side in place of the right ones, and right_marks receives
// their marks. Bitmaps that are not needed are absent.
var TableMark = define[TableMarkArgs](entry[TableMarkArgsOf[[]byte], TableMarkConfig]{
	Name:        "table_mark",
	Defaults:    TableMarkConfig{Tile: Tile{256, 4}, Patience: 256, Sides: 1},
	SharedBytes: func(config *TableMarkConfig) uint32 { return config.Shared * config.batchBitsBytes() },
	Run: func(args *TableMarkArgsOf[[]byte], config *TableMarkConfig, group uint32) {
		if config.KeyBits == 64 {
			tableMark[uint64](args, config, group)
		} else {
			tableMark[uint32](args, config, group)
		}
	},
})

func tableMark[K word](args *TableMarkArgsOf[[]byte], config *TableMarkConfig, group uint32) {
	partners := backend.Words(args.Partners)
	left, right := marker(backend.Words(args.LeftMarks)), marker(backend.Words(args.RightMarks))
	p := prober[K]{slots: backend.Words(args.Slots)[:args.Mask+1], left: view[K](args.LeftKeys),
		patience: config.Patience, unique: 1}
	for first, keys := range tileBatches[K](config, group, args.Rows, args.RightKeys) {
		for p.begin(keys, config.Seed); p.looking > 0; {
			for i, row := range p.matched[0][:p.round(keys)] {
				if config.Among == 1 && partners[row/32]>>(row%32)&1 == 0 {
					continue
				}
				if config.Sides&MarkRight > 0 {
					right.mark(first + p.matched[1][i])
				}
				if config.Sides&MarkLeft > 0 {
					left.mark(row)
				}
			}
		}
	}
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
