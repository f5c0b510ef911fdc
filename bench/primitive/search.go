package primitive

import (
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

// ascending is a column of keys in ascending order: distinct random ones (uniform), evenly spread ones (sorted), 16
// values (few), or one (equal).
func (b *bed) ascending(rows uint64, keyBits int, seed uint64) func(row uint64) uint64 {
	spread := keyBits - bits.Len64(max(rows, 1)-1) // bits between neighbours
	switch b.Distribution {
	case workload.Uniform:
		return func(row uint64) uint64 { return row<<spread | workload.Random(seed, row)>>(64-spread) }
	case workload.Few:
		return func(row uint64) uint64 { return row * 16 / rows << (keyBits - 4) }
	case workload.Equal:
		return func(uint64) uint64 { return 7 }
	}
	return func(row uint64) uint64 { return row << spread }
}

// A search of a sorted column in another of as many rows, the same keys: every row has a match.
var searchBenchmark = Benchmark{
	Name: "range_search", Table: "range_search", tunes: true, Keys: narrowWide, Payloads: none,
	Distributions: []workload.Distribution{workload.Uniform, workload.Sorted, workload.Few, workload.Equal},
	variant:       func(key, _ int) backend.Config { return setting("key_bits", key) },
	set: func(b *bed) experiment {
		key := b.ascending(b.Rows, b.Key, b.seed)
		p := plan[primitive.RangeSearchPlan](b)(primitive.PlanRangeSearch(b.ops.Tuning(), b.Rows, b.Rows, b.Key/8))
		left, right := b.column(b.Key, b.Rows, key), b.column(b.Key, b.Rows, key)
		begins, counts, scratch := b.empty(32, b.Rows), b.empty(32, b.Rows), b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: b.Rows * uint64(2*b.Key/8+8),
			answers:    []backend.Range{begins, counts, scratch.Part(p.TotalOffset, 8)},
			record: func(list *backend.List) error {
				return b.ops.RangeSearch(list, p, left, right, begins, counts, scratch)
			},
			verify: func() error {
				if err := b.check(b.Rows, func(k *block) error {
					for i := range int64(k.rows) {
						row, begin := k.first+uint64(i), k.at(0, i)
						end, wanted := begin+k.at(1, i), key(k.first+uint64(i))
						if end > b.Rows || begin > 0 && key(begin-1) >= wanted ||
							begin < b.Rows && key(begin) < wanted ||
							end > 0 && key(end-1) > wanted || end < b.Rows && key(end) <= wanted {
							return measure.Wrongf("row %d matches rows %d to %d", row, begin, end)
						}
					}
					return nil
				}, result{begins, 32}, result{counts, 32}); err != nil {
					return err
				}
				return b.checkTotal(counts, scratch, p.TotalOffset)
			},
		}
	},
}

// checkTotal compares a 64-bit total with the sum of counts that were found right.
func (b *bed) checkTotal(counts, scratch backend.Range, offsetBytes uint64) error {
	blocks := make([]uint64, (b.Rows+blockRows-1)/blockRows) // sums
	if err := b.check(b.Rows, func(k *block) error {
		for i := range int64(k.rows) {
			blocks[k.first/blockRows] += k.at(0, i)
		}
		return nil
	}, result{counts, 32}); err != nil {
		return err
	}
	want := uint64(0)
	for _, sum := range blocks {
		want += sum
	}
	got, err := b.word(scratch, offsetBytes, 64)
	if err == nil && got != want {
		return measure.Wrongf("the total is %d, not %d", got, want)
	}
	return err
}

// An expansion to rows pairs of a quarter of left rows, with 1 to 7 matches each (uniform) or 4 (sorted), or of one row
// (equal).
var expandBenchmark = Benchmark{
	Name: "range_expand", Table: "range_expand", tunes: true, Keys: []int{32}, Payloads: none,
	Distributions: []workload.Distribution{workload.Uniform, workload.Sorted, workload.Equal}, variant: noVariant,
	set: func(b *bed) experiment {
		leftRows := max(1, b.Rows/4)
		if b.Distribution == workload.Equal {
			leftRows = 1
		}
		offset := func(left uint64) uint64 {
			switch {
			case left == 0:
				return 0
			case left == leftRows:
				return b.Rows
			case b.Distribution == workload.Uniform:
				return left*4 + workload.Random(b.seed, left)%4
			}
			return left * 4
		}
		begin := func(left uint64) uint64 { return workload.Random(b.seed+1, left) >> 34 }
		ranges := primitive.Ranges{LeftRows: leftRows, Offsets: b.column(64, leftRows+1, offset),
			Begins: b.column(32, leftRows, begin)}
		left, right := b.empty(32, b.Rows), b.empty(32, b.Rows)
		return experiment{
			leastBytes: leftRows*12 + b.Rows*8,
			answers:    []backend.Range{left, right},
			record: func(list *backend.List) error {
				return b.ops.Expand(list, ranges, 0, uint32(b.Rows), left, right)
			},
			verify: func() error {
				return b.check(b.Rows, func(k *block) error {
					for i := range int64(k.rows) {
						pair, l, r := k.first+uint64(i), k.at(0, i), k.at(1, i)
						if l >= leftRows || pair < offset(l) || pair >= offset(l+1) ||
							r != narrow(begin(l)+pair-offset(l), 32) {
							return measure.Wrongf("pair %d is row %d with row %d", pair, l, r)
						}
					}
					return nil
				}, result{left, 32}, result{right, 32})
			},
		}
	},
}
