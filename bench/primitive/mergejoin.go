package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/kernel"
)

// A merge join of sorted sides, the right one with twice as many rows, two of which match each row on the left; a
// payload of 32 bits on both sides.
var mergeJoinBenchmark = Benchmark{
	Name: "merge_join", Table: "merge_join", tunes: true, Keys: narrowWide, Payloads: none, Distributions: only,
	variant: func(key, _ int) backend.Config { return setting("key_bits", key) },
	set: func(b *bed) experiment {
		tuned := b.ops.Tuning().Config("merge_join", setting("key_bits", b.Key))
		config := kernel.MergeJoin.With(tuned)
		config.KeyBits = uint32(b.Key)
		k, err := kernel.MergeJoinOn(b.device(), config, tuned["walk"] == 1)
		if err != nil {
			b.fail(err)
			return experiment{}
		}
		left := max(1, min(uint64(kernel.TileRows(config))/2, uint64(config.Table))) // rows of a unit
		units, leftRows := (b.Rows+2*left-1)/(2*left), (b.Rows+1)/2
		key := func(row uint64) uint64 { return narrow(3*row, b.Key) }
		bounds := b.column(32, 4*units, func(i uint64) uint64 {
			unit := i / 4
			return [4]uint64{unit * left, min((unit+1)*left, leftRows), unit * 2 * left,
				min((unit+1)*2*left, b.Rows)}[i%4]
		})
		leftKeys, rightKeys := b.column(b.Key, leftRows, key),
			b.column(b.Key, b.Rows, func(row uint64) uint64 { return key(row / 2) })
		payload := [2]backend.Range{b.column(32, leftRows, b.partner), b.column(32, b.Rows, b.partner)}
		offsets := b.column(64, units, func(unit uint64) uint64 { return unit * 2 * left })
		keys, out := b.empty(b.Key, b.Rows), [2]backend.Range{b.empty(32, b.Rows), b.empty(32, b.Rows)}
		columns := kernel.JoinColumns[backend.Range]{LeftKeys: leftKeys, RightKeys: rightKeys, LeftPayload: payload[0],
			RightPayload: payload[1],
			Places:       offsets, KeysOut: keys, LeftOut: out[0], RightOut: out[1]}
		return experiment{
			leastBytes: (leftRows+2*b.Rows)*uint64(b.Key/8+4) + b.Rows*4,
			answers:    []backend.Range{keys, out[0], out[1]},
			record: func(list *backend.List) error {
				k.Dispatch(list, uint32(units), kernel.MergeJoinArgs{Units: bounds, JoinColumns: columns,
					JoinRows: kernel.JoinRows{OutRows: uint32(b.Rows)}})
				return nil
			},
			verify: func() error {
				return b.check(b.Rows, func(block *block) error {
					for i := range int64(block.rows) {
						row := block.first + uint64(i)
						if block.at(0, i) != key(row/2) || block.at(1, i) != b.partner(row/2) ||
							block.at(2, i) != b.partner(row) {
							return measure.Wrongf("row %d is not left row %d with right row %d", row, row/2, row)
						}
					}
					return nil
				}, result{keys, b.Key}, result{out[0], 32}, result{out[1], 32})
			},
		}
	},
}
