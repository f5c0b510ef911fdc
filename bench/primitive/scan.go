package primitive

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// Sums are the payload: never narrower than the values.
func noNarrower(key, payload int) bool { return payload >= key }

func scanVariant(key, payload int) backend.Config {
	return backend.Config{"in_bits": uint32(key), "sum_bits": uint32(payload)}
}

// An exclusive scan with its total.
var scanBenchmark = Benchmark{
	Name: "scan", Table: "scan", tunes: true, Keys: narrowWide, Payloads: narrowWide, offered: noNarrower,
	Distributions: only, variant: scanVariant,
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
							return measure.Wrongf("sum %d is %d, not %d", row, got, want)
						}
					}
					return nil
				}, result{sums, bits})
			},
		}
	},
}

// Which bits of a column vary, and whether it is sorted: the AND and the OR of its keys and the number of descents in
// one pass.
var varyingBenchmark = Benchmark{
	Name: "varying_bits", Table: "reduce", Keys: narrowWide, Payloads: none, Distributions: workload.Distributions(),
	variant: func(key, _ int) backend.Config { return setting("key_bits", key) },
	set: func(b *bed) experiment {
		in := b.keys(b.Rows, b.Key, 0)
		if b.err != nil {
			return experiment{}
		}
		p := plan[primitive.VaryingBitsPlan](b)(primitive.PlanVaryingBits(b.ops.Tuning(), b.Rows, b.Key/8))
		keys, scratch := b.column(b.Key, b.Rows, in.At), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: b.Rows * uint64(b.Key) / 8,
			answers:    []backend.Range{scratch.Part(0, uint64(3*b.Key/8))},
			record:     func(list *backend.List) error { return b.ops.VaryingBits(list, p, keys, scratch) },
			verify: func() error {
				var zeros, ones, descents atomic.Uint64 // bits that some key lacks, and that some key has
				if err := inBlocks(b.ctx, b.Rows, func(from, to uint64) error {
					without, with := uint64(0), uint64(0)
					for row := from; row < to; row++ {
						without, with = without|^in.At(row), with|in.At(row)
						if row > 0 && in.At(row) < in.At(row-1) {
							descents.Add(1)
						}
					}
					zeros.Or(without)
					ones.Or(with)
					return nil
				}); err != nil {
					return err
				}
				return b.check(3, func(k *block) error {
					for i := range k.rows {
						want := [3]uint64{narrow(^zeros.Load(), b.Key), ones.Load(), descents.Load()}[k.first+i]
						if got := k.at(0, int64(i)); got != want {
							return measure.Wrongf("word %d is %#x, not %#x", k.first+i, got, want)
						}
					}
					return nil
				}, result{scratch, b.Key})
			},
		}
	},
}

// The sum of a column.
var reduceBenchmark = Benchmark{
	Name: "reduce", Table: "reduce", tunes: true, Keys: narrowWide, Payloads: narrowWide, offered: noNarrower,
	Distributions: only, variant: scanVariant,
	set: func(b *bed) experiment {
		in := b.keys(b.Rows, b.Key, 0)
		if b.err != nil {
			return experiment{}
		}
		bits := b.Payload
		p := plan[primitive.ReducePlan](b)(primitive.PlanReduce(b.ops.Tuning(), kernel.ReduceSum, b.Rows, b.Key, bits))
		values, scratch := b.column(b.Key, b.Rows, in.At), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: b.Rows * uint64(b.Key) / 8,
			answers:    []backend.Range{scratch.Part(p.ResultOffset, uint64(bits/8))},
			record:     func(list *backend.List) error { return b.ops.Reduce(list, p, values, scratch) },
			verify: func() error {
				want, err := b.sum(in.At)
				if err != nil {
					return err
				}
				got, err := b.word(scratch, p.ResultOffset, bits)
				if err == nil && got != narrow(want, bits) {
					return measure.Wrongf("the sum is %d, not %d", got, narrow(want, bits))
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
