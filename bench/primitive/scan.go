package primitive

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Sums are the payload: never narrower than the values.
func noNarrower(key, payload int) bool { return payload >= key }

func scanVariant(key, payload int) backend.Config {
	return backend.Config{"in_bits": uint32(key), "sum_bits": uint32(payload)}
}

// An exclusive scan with its total.
var scanBenchmark = Benchmark{
	Name: "scan", Table: "scan", tunes: true, Keys: narrowWide, Payloads: narrowWide, offered: noNarrower, Distributions: only, variant: scanVariant,
	set: func(b *bed) experiment {
		in := b.keys(b.Rows, b.Key, 0)
		if b.err != nil {
			return experiment{}
		}
		bits := b.Payload
		p := plan[primitive.ScanPlan](b)(primitive.PlanScan(b.ops.Tuning(), b.Rows, b.Key, bits, true))
		values, sums, scratch := b.column(b.Key, b.Rows, in.At), b.empty(bits, b.Rows+1), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: b.Rows * uint64(b.Key+bits) / 8,
			answers:    []backend.Range{sums},
			record:     func(list *backend.List) error { return b.ops.Scan(list, p, values, sums, scratch) },
			verify: func() error { // each sum exceeds the one before by the value before
				return b.check(b.Rows+1, func(k *block) error {
					for i := range int64(k.rows) {
						row, want := k.first+uint64(i), uint64(0)
						if row > 0 {
							want = narrow(k.at(0, i-1)+in.At(row-1), bits)
						}
						if got := k.at(0, i); got != want {
							return wrongf("sum %d is %d, not %d", row, got, want)
						}
					}
					return nil
				}, result{sums, bits})
			},
		}
	},
}

// The sum of a column.
var reduceBenchmark = Benchmark{
	Name: "reduce", Table: "scan", Keys: narrowWide, Payloads: narrowWide, offered: noNarrower, Distributions: only, variant: scanVariant,
	set: func(b *bed) experiment {
		in := b.keys(b.Rows, b.Key, 0)
		if b.err != nil {
			return experiment{}
		}
		bits := b.Payload
		p := plan[primitive.ReducePlan](b)(primitive.PlanReduce(b.ops.Tuning(), b.Rows, b.Key, bits))
		values, scratch := b.column(b.Key, b.Rows, in.At), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: b.Rows * uint64(b.Key) / 8,
			answers:    []backend.Range{part(scratch, p.ResultOffset, uint64(bits/8))},
			record:     func(list *backend.List) error { return b.ops.Reduce(list, p, values, scratch) },
			verify: func() error {
				want, err := b.sum(in.At)
				if err != nil {
					return err
				}
				got, err := b.word(scratch, p.ResultOffset, bits)
				if err == nil && got != narrow(want, bits) {
					return wrongf("the sum is %d, not %d", got, narrow(want, bits))
				}
				return err
			},
		}
	},
}

// sum adds up the values of all rows, modulo 2^64.
func (b *bed) sum(value func(row uint64) uint64) (uint64, error) {
	var all atomic.Uint64
	err := inBlocks(b.ctx, b.Rows, func(from, to uint64) error {
		sum := uint64(0)
		for row := from; row < to; row++ {
			sum += value(row)
		}
		all.Add(sum)
		return nil
	})
	return all.Load(), err
}
