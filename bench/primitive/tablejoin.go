package primitive

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/kernel"
)

// A hash join with one table, with eight times as many right rows, which all match one row on the left; a payload of 32
// bits on both sides. The table is built, too.
var tableJoinBenchmark = Benchmark{
	Name: "table_join", Table: "table_join", tunes: true, Keys: narrowWide, Payloads: none, Distributions: only,
	variant: func(key, _ int) backend.Config { return setting("key_bits", key) },
	set: func(b *bed) experiment {
		const seed, patience = 1, 256
		tuned := b.ops.Tuning().Config("table_join", setting("key_bits", b.Key))
		building, probing := kernel.TableBuild.With(tuned), kernel.TableProbe.With(tuned)
		building.KeyBits, building.Patience = uint32(b.Key), patience
		probing.KeyBits, probing.Patience, probing.Unique, probing.Seed = uint32(b.Key), patience, 1, seed
		build, err := kernel.TableBuild.On(b.device(), building)
		if err != nil {
			b.fail(err)
			return experiment{}
		}
		probe, err := kernel.TableProbe.On(b.device(), probing)
		if err != nil {
			b.fail(err)
			return experiment{}
		}
		left, slots := max(1, b.Rows/8), uint64(2)
		for slots < 2*left {
			slots *= 2
		}
		leftRow := func(right uint64) uint64 { return workload.Random(b.seed, right) % left }
		key := func(left uint64) uint64 { return narrow(left*0x9e3779b97f4a7c15, b.Key) }
		leftKeys := b.column(b.Key, left, key)
		rightKeys := b.column(b.Key, b.Rows, func(row uint64) uint64 { return key(leftRow(row)) })
		leftPayload, rows := b.column(32, left, b.partner), b.column(32, b.Rows, func(row uint64) uint64 { return row })
		tile := uint64(kernel.TileRows(probing))
		offsets := b.column(64, (b.Rows+tile-1)/tile, func(group uint64) uint64 { return group * tile })
		table, lost, lostRows := b.empty(32, slots), b.empty(32, 1), b.empty(32, (left+31)/32)
		keys, out := b.empty(b.Key, b.Rows), [2]backend.Range{b.empty(32, b.Rows), b.empty(32, b.Rows)}
		columns := kernel.JoinColumns[backend.Range]{LeftKeys: leftKeys, RightKeys: rightKeys, LeftPayload: leftPayload,
			RightPayload: rows, Places: offsets, KeysOut: keys, LeftOut: out[0], RightOut: out[1]}
		mask := uint32(slots - 1)
		return experiment{
			leastBytes: (left+2*b.Rows)*uint64(b.Key/8+4) + b.Rows*4 + slots*4,
			answers:    []backend.Range{keys, out[0], out[1]},
			record: func(list *backend.List) error {
				for _, r := range []backend.Range{table, lost, lostRows} {
					list.Fill(r, 0)
				}
				build.Dispatch(list, kernel.Groups(building, left), kernel.TableBuildArgs{Keys: leftKeys, Slots: table,
					Lost: lost, LostRows: lostRows, Rows: uint32(left), Mask: mask, Seed: seed})
				probe.Dispatch(list, kernel.Groups(probing, b.Rows), kernel.TableProbeArgs{Slots: table,
					JoinColumns: columns, JoinRows: kernel.JoinRows{OutRows: uint32(b.Rows)}, Rows: uint32(b.Rows), Mask: mask})
				return nil
			},
			verify: func() error { // the rows of a tile may come in any order
				seen := make([]atomic.Uint32, (b.Rows+31)/32)
				return b.check(b.Rows, func(block *block) error {
					for i := range int64(block.rows) {
						row := block.at(2, i)
						if row >= b.Rows || seen[row/32].Or(1<<(row%32))>>(row%32)&1 == 1 {
							return measure.Wrongf("right row %d is there again, or was never", row)
						}
						if l := leftRow(row); block.at(0, i) != key(l) || block.at(1, i) != b.partner(l) {
							return measure.Wrongf("right row %d is not with left row %d", row, l)
						}
					}
					return nil
				}, result{keys, b.Key}, result{out[0], 32}, result{out[1], 32})
			},
		}
	},
}
