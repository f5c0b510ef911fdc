package primitive

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

// A sort of all bits of the keys; a payload of 32 bits is a column of the caller.
var sortBenchmark = Benchmark{
	Name: "sort", Table: "radix_sort", tunes: true, Keys: narrowWide, Payloads: []int{0, 32}, Distributions: workload.Distributions(),
	variant: keyAndPayload,
	set: func(b *bed) experiment {
		payload := primitive.NoPayload
		if b.Payload > 0 {
			payload = primitive.Given
		}
		p := plan[primitive.SortPlan](b)(primitive.PlanSort(b.ops.Tuning(), b.Rows, b.Key/8, b.Key, payload))
		return b.sorting(p.ScratchBytes, p.Result(), func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error {
			return b.ops.Sort(list, p, keys, payload, scratch)
		})
	},
}

func keyAndPayload(key, payload int) backend.Config {
	return backend.Config{"key_bits": uint32(key), "payload_bits": uint32(payload)}
}

// sorting is a stable sort between two buffers of keys and two of payload, whose rows end up in those of number result. The payload
// of a row is its number, and in 64 bits a mix of it beside, so that keys, payload and stability are checked row by row: a
// column of pairs (key of row n, n) that ascends strictly has every row once, in the order of a stable sort.
func (b *bed) sorting(scratchBytes uint64, result int, record func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error) experiment {
	in := b.keys(b.Rows, b.Key, 0)
	if b.err != nil {
		return experiment{}
	}
	number := func(row uint64) uint64 { return narrow(row|workload.Random(b.seed+1, row)<<32, b.Payload) }
	var source, keys, payload [2]backend.Range // the source has keys and payload
	source[0] = b.column(b.Key, b.Rows, in.At)
	columns := []*[2]backend.Range{&keys}
	if b.Payload > 0 {
		source[1] = b.column(b.Payload, b.Rows, number)
		columns = append(columns, &payload)
	}
	for c, column := range columns {
		for i := range column {
			column[i] = b.empty([]int{b.Key, b.Payload}[c], b.Rows)
		}
	}
	scratch := b.scratch(scratchBytes)
	e := experiment{
		leastBytes: 2 * b.Rows * uint64(b.Key+b.Payload) / 8,
		restore: func(list *backend.List) {
			for c, column := range columns {
				list.Copy(column[0], source[c])
			}
		},
		record: func(list *backend.List) error { return record(list, keys, payload, scratch) },
	}
	for _, column := range columns {
		e.answers = append(e.answers, column[result])
	}
	e.verify = func() error {
		if b.Payload == 0 {
			return b.checkSortedKeys(in, keys[result])
		}
		return b.checkSortedPairs(in, number, keys[result], payload[result])
	}
	return e
}

func (b *bed) checkSortedPairs(in *workload.Keys, number func(uint64) uint64, keys, payload backend.Range) error {
	return b.check(b.Rows, func(k *block) error {
		for i := range int64(k.rows) {
			row, key, value := k.first+uint64(i), k.at(0, i), k.at(1, i)
			from := narrow(value, 32)
			if from >= b.Rows || value != number(from) || key != in.At(from) {
				return wrongf("row %d is key %#x with payload %#x, which no row was", row, key, value)
			}
			if row == 0 {
				continue
			}
			if before := k.at(0, i-1); before > key || before == key && narrow(k.at(1, i-1), 32) >= from {
				return wrongf("row %d has key %#x of row %d after key %#x of row %d", row, key, from, before, narrow(k.at(1, i-1), 32))
			}
		}
		return nil
	}, result{keys, b.Key}, result{payload, b.Payload})
}

// checkSortedKeys checks that keys ascend and that two sums over all of them, one of random functions of the keys, are those
// of the unsorted keys.
func (b *bed) checkSortedKeys(in *workload.Keys, keys backend.Range) error {
	var want, got [2]atomic.Uint64
	if err := inBlocks(b.ctx, b.Rows, func(from, to uint64) error {
		var sums [2]uint64
		for row := from; row < to; row++ {
			addTo(&sums, in.At(row))
		}
		want[0].Add(sums[0])
		want[1].Add(sums[1])
		return nil
	}); err != nil {
		return err
	}
	if err := b.check(b.Rows, func(k *block) error {
		var sums [2]uint64
		for i := range int64(k.rows) {
			key := k.at(0, i)
			addTo(&sums, key)
			if row := k.first + uint64(i); row > 0 && k.at(0, i-1) > key {
				return wrongf("row %d has key %#x after %#x", row, key, k.at(0, i-1))
			}
		}
		got[0].Add(sums[0])
		got[1].Add(sums[1])
		return nil
	}, result{keys, b.Key}); err != nil {
		return err
	}
	if got[0].Load() != want[0].Load() || got[1].Load() != want[1].Load() {
		return wrongf("the sorted keys are not those of the input")
	}
	return nil
}

func addTo(sums *[2]uint64, key uint64) {
	sums[0] += key
	sums[1] += workload.Random(key, 0)
}
