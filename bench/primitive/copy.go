package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// A copy moves a column as it is.
var copyBenchmark = Benchmark{
	Name: "copy", Table: "copy", tunes: true, Keys: narrowWide, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment { return b.copying(b.ops.Copy) },
}

// The same by the device's copy command.
var copyEngine = Benchmark{
	Name: "copy_engine", Keys: narrowWide, Payloads: none, Distributions: only, variant: noVariant,
	set: func(b *bed) experiment {
		return b.copying(func(list *backend.List, to, from backend.Range) error {
			list.Copy(to, from)
			return nil
		})
	},
}

func (b *bed) copying(record func(list *backend.List, to, from backend.Range) error) experiment {
	value := func(row uint64) uint64 { return narrow(workload.Random(b.seed, row), b.Key) }
	from := b.column(b.Key, b.Rows, value)
	to := b.empty(b.Key, b.Rows)
	return experiment{
		leastBytes: 2 * b.Rows * uint64(b.Key/8),
		answers:    []backend.Range{to},
		record:     func(list *backend.List) error { return record(list, to, from) },
		verify: func() error {
			return b.check(b.Rows, func(k *block) error {
				for i := range k.rows {
					if got, want := k.at(0, int64(i)), value(k.first+i); got != want {
						return measure.Wrongf("row %d is %#x, not %#x", k.first+i, got, want)
					}
				}
				return nil
			}, result{to, b.Key})
		},
	}
}

// narrow keeps the low bits of a value.
func narrow(v uint64, bits int) uint64 { return v << (64 - bits) >> (64 - bits) }
