package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/kernel"
)

// A hash join of partitions that fill four fifths of the table in shared memory, each with twice as many right rows,
// which all match one row on the left; a payload of 32 bits on both sides.
var partitionJoinBenchmark = Benchmark{
	Name: "partition_join", Table: "partition_join", tunes: true, Keys: narrowWide, Payloads: none, Distributions: only,
	variant: func(key, _ int) backend.Config { return setting("key_bits", key) },
	set: func(b *bed) experiment {
		tuned := b.ops.Tuning().Config("partition_join", setting("key_bits", b.Key))
		config := kernel.PartitionJoin.With(tuned) // keys are unique and not mixed
		config.KeyBits, config.Unique = uint32(b.Key), 1
		k, err := kernel.PartitionJoinOn(b.device(), config, tuned["walk"] == 1)
		if err != nil {
			b.fail(err)
			return experiment{}
		}
		left := max(1, uint64(config.Table)*4/5) // rows of a partition
		partitions := (b.Rows + 2*left - 1) / (2 * left)
		leftRow := func(right uint64) uint64 { return right/(2*left)*left + workload.Random(b.seed, right)%left }
		key := func(left uint64) uint64 { return narrow(left*0x9e3779b97f4a7c15, b.Key) }
		units := b.column(32, 4*partitions, func(i uint64) uint64 {
			unit := i / 4
			return [4]uint64{unit * left, (unit + 1) * left, unit * 2 * left, min((unit+1)*2*left, b.Rows)}[i%4]
		})
		leftKeys := b.column(b.Key, partitions*left, key)
		rightKeys := b.column(b.Key, b.Rows, func(row uint64) uint64 { return key(leftRow(row)) })
		payload := [2]backend.Range{b.column(32, partitions*left, b.partner), b.column(32, b.Rows, b.partner)}
		offsets := b.column(64, partitions, func(unit uint64) uint64 { return unit * 2 * left })
		keys, out := b.empty(b.Key, b.Rows), [2]backend.Range{b.empty(32, b.Rows), b.empty(32, b.Rows)}
		columns := kernel.JoinColumns[backend.Range]{LeftKeys: leftKeys, RightKeys: rightKeys, LeftPayload: payload[0],
			RightPayload: payload[1],
			Places:       offsets, KeysOut: keys, LeftOut: out[0], RightOut: out[1]}
		return experiment{
			leastBytes: (partitions*left+2*b.Rows)*uint64(b.Key/8+4) + b.Rows*4,
			answers:    []backend.Range{keys, out[0], out[1]},
			record: func(list *backend.List) error {
				k.Dispatch(list, uint32(partitions), kernel.PartitionJoinArgs{Units: units, JoinColumns: columns,
					JoinRows: kernel.JoinRows{OutRows: uint32(b.Rows)}})
				return nil
			},
			verify: func() error {
				return b.check(b.Rows, func(block *block) error {
					for i := range int64(block.rows) {
						row := block.first + uint64(i)
						if l := leftRow(row); block.at(0, i) != key(l) || block.at(1, i) != b.partner(l) ||
							block.at(2, i) != b.partner(row) {
							return measure.Wrongf("row %d is not left row %d with right row %d", row, l, row)
						}
					}
					return nil
				}, result{keys, b.Key}, result{out[0], 32}, result{out[1], 32})
			},
		}
	},
}

// partner is the payload of a row.
func (b *bed) partner(row uint64) uint64 { return narrow(workload.Random(b.seed+1, row), 32) }
