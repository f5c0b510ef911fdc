package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// A gather of as many values as the column has, with row ids of the distribution. Ascending ids come first: joins that
// keep rows in order have them.
var gatherBenchmark = Benchmark{
	Name: "gather", Table: "gather", tunes: true, Keys: narrowWide, Payloads: none,
	Distributions: []workload.Distribution{workload.Sorted, workload.Uniform, workload.Reverse, workload.Equal,
		workload.Zipfian, workload.Few},
	variant: func(key, _ int) backend.Config { return setting("value_bits", key) },
	set: func(b *bed) experiment {
		id := b.rowIDs()
		if b.err != nil {
			return experiment{}
		}
		value := func(row uint64) uint64 { return narrow(workload.Random(b.seed, row), b.Key) }
		values, ids, gathered := b.column(b.Key, b.Rows, value), b.column(32, b.Rows, id), b.empty(b.Key, b.Rows)
		return experiment{
			leastBytes: b.Rows * uint64(4+2*b.Key/8),
			answers:    []backend.Range{gathered},
			record: func(list *backend.List) error {
				return b.ops.Gather(list, b.Key/8, values, ids, gathered, uint32(b.Rows))
			},
			verify: func() error {
				return b.check(b.Rows, func(k *block) error {
					for i := range k.rows {
						if got, want := k.at(0, int64(i)), value(id(k.first+i)); got != want {
							return measure.Wrongf("row %d is %#x, not %#x", k.first+i, got, want)
						}
					}
					return nil
				}, result{gathered, b.Key})
			},
		}
	},
}

// rowIDs are row numbers by the distribution of the case.
func (b *bed) rowIDs() func(row uint64) uint64 {
	keys := b.keys(b.Rows, 32, 1)
	switch b.Distribution {
	case workload.Sorted:
		return func(row uint64) uint64 { return row }
	case workload.Reverse:
		return func(row uint64) uint64 { return b.Rows - 1 - row }
	}
	return func(row uint64) uint64 { return keys.At(row) * b.Rows >> 32 } // rows are less than 2^32
}

// Row numbers.
var iotaBenchmark = Benchmark{
	Name: "iota", Table: "gather", Keys: []int{32}, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		values := b.empty(32, b.Rows)
		return experiment{
			leastBytes: b.Rows * 4,
			answers:    []backend.Range{values},
			record:     func(list *backend.List) error { return b.ops.Iota(list, values, b.Rows, 7) },
			verify: func() error {
				return b.check(b.Rows, func(k *block) error {
					for i := range k.rows {
						if got := k.at(0, int64(i)); got != narrow(k.first+i+7, 32) {
							return measure.Wrongf("row %d is %d", k.first+i, got)
						}
					}
					return nil
				}, result{values, 32})
			},
		}
	},
}
