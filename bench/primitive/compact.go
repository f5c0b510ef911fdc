package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

func bitmapBytes(rows uint64) uint64 { return (rows + 31) / 32 * 4 }

// A compaction keeps a random half of the rows (uniform), the first half (sorted), or all (equal).
var compactBenchmark = Benchmark{
	Name: "compact", Table: "compact", tunes: true, Keys: narrowWide, Payloads: none,
	Distributions: []workload.Distribution{workload.Uniform, workload.Sorted, workload.Equal},
	variant:       func(key, _ int) backend.Config { return setting("value_bits", key) },
	set: func(b *bed) experiment {
		word := func(word uint64) uint64 {
			switch {
			case b.Distribution == workload.Equal, b.Distribution == workload.Sorted && word < b.Rows/64:
				return narrow(^uint64(0), 32)
			case b.Distribution == workload.Sorted:
				return 0
			}
			return narrow(workload.Random(b.seed+1, word), 32)
		}
		isKept := func(row uint64) bool { return word(row/32)>>(row%32)&1 == 1 }
		kept, err := b.sum(func(row uint64) uint64 {
			if isKept(row) {
				return 1
			}
			return 0
		})
		b.fail(err)
		// A value begins with its row number, as far as it has room, so that what was kept tells where it came from.
		value := func(row uint64) uint64 { return narrow(row|workload.Random(b.seed, row)<<32, b.Key) }
		p := plan[primitive.CompactPlan](b)(primitive.PlanCompact(b.ops.Tuning(), b.Rows))
		bits, values := b.column(32, bitmapBytes(b.Rows)/4, word), b.column(b.Key, b.Rows, value)
		out, scratch := b.empty(b.Key, b.Rows), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: bitmapBytes(b.Rows) + 2*kept*uint64(b.Key/8),
			answers:    []backend.Range{out.Part(0, kept*uint64(b.Key/8)), scratch.Part(p.CountOffset, 8)},
			record: func(list *backend.List) error {
				if err := b.ops.CompactOffsets(list, p, bits, scratch); err != nil {
					return err
				}
				return b.ops.Compact(list, p, b.Key/8, bits, values, out, scratch)
			},
			verify: func() error {
				got, err := b.word(scratch, p.CountOffset, 64)
				if err != nil {
					return err
				}
				if got != kept {
					return measure.Wrongf("%d rows are kept, not %d", got, kept)
				}
				return b.check(kept, func(k *block) error { // as many as there are, in their order: all of them
					for i := range int64(k.rows) {
						v := k.at(0, i)
						from := narrow(v, 32)
						if from >= b.Rows || v != value(from) || !isKept(from) {
							return measure.Wrongf("row %d is %#x, which is not to be kept", k.first+uint64(i), v)
						}
						if k.first+uint64(i) > 0 && narrow(k.at(0, i-1), 32) >= from {
							return measure.Wrongf("row %d is row %d, after row %d", k.first+uint64(i), from,
								narrow(k.at(0, i-1), 32))
						}
					}
					return nil
				}, result{out, b.Key})
			},
		}
	},
}
