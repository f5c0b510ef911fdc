package primitive

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

// A sort of all bits of the keys; a payload is a column of the caller.
var sortBenchmark = Benchmark{
	Name: "sort", Table: "radix_sort", tunes: true, Keys: narrowWide, Payloads: []int{0, 32, 64},
	Distributions: workload.Distributions(),
	variant:       keyAndPayload,
	set: func(b *bed) experiment {
		p := plan[primitive.SortPlan](b)(primitive.PlanSort(b.ops.Tuning(),
			primitive.Sort{Layout: b.moved(), EndBit: b.Key}))
		return b.sorting(p.ScratchBytes, p.Result(),
			func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error {
				rows := b.columns(keys, payload)
				return b.ops.Sort(list, p, scratch, rows[0], rows)
			})
	},
}

// One pass of a radix partition by the low 8 bits of the keys, its counts included.
var partitionBenchmark = Benchmark{
	Name: "partition", Table: "radix_sort", Keys: narrowWide, Payloads: []int{0, 32, 64},
	Distributions: workload.Distributions(),
	variant:       keyAndPayload,
	set: func(b *bed) experiment {
		const bits = 8
		p := plan[primitive.PartitionPlan](b)(primitive.PlanPartition(b.ops.Tuning(),
			primitive.Partition{Layout: b.moved(), Bits: bits}))
		starts := b.empty(32, 1<<bits+1)
		b.orderBits = 1<<bits - 1
		return b.sorting(p.ScratchBytes, 1,
			func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error {
				rows := b.columns(keys, payload)
				return b.ops.Partition(list, p, starts, scratch, rows[0], rows)
			})
	},
}

// moved are the rows that a sort or partition moves.
func (b *bed) moved() primitive.Layout {
	rows := primitive.Layout{Rows: b.Rows, KeyBytes: b.Key / 8, PayloadBytes: b.Payload / 8}
	if b.Payload > 0 {
		rows.Payload = primitive.Given
	}
	return rows
}

// columns are two buffers of rows that a sort moves between.
func (b *bed) columns(keys, payload [2]backend.Range) (rows [2]primitive.Columns) {
	for i := range rows {
		rows[i].Keys = keys[i]
		if b.Payload > 0 {
			rows[i].Payload = payload[i : i+1]
		}
	}
	return rows
}

func keyAndPayload(key, payload int) backend.Config {
	return backend.Config{"key_bits": uint32(key), "payload_bits": uint32(payload)}
}

// sorting is a stable sort between two buffers of keys and two of payload. The sorted rows end up in the buffers with
// index result.
func (b *bed) sorting(scratchBytes uint64, result int,
	record func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error) experiment {
	in := b.keys(b.Rows, b.Key, 0)
	if b.err != nil {
		return experiment{}
	}
	var source, keys, payload [2]backend.Range // the source has keys and payload
	source[0] = b.column(b.Key, b.Rows, in.At)
	columns := []*[2]backend.Range{&keys}
	if b.Payload > 0 {
		source[1] = b.column(b.Payload, b.Rows, b.number)
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
		return b.checkSorted(in.At, keys[result], payload[result])
	}
	return e
}

// number is the payload of a row: its number, and in 64 bits a mix of it beside.
func (b *bed) number(row uint64) uint64 {
	return narrow(row|workload.Random(b.seed+1, row)<<32, b.Payload)
}

// orderOf is what decides the order of a key.
func (b *bed) orderOf(key uint64) uint64 {
	if b.orderBits == 0 {
		return key
	}
	return key & b.orderBits
}

// checkSorted checks the sorted rows of keys key(0), key(1), ... with their numbers as payload. A column of pairs (key
// of row n, n) that ascends strictly has every row once, in the order of a stable sort.
func (b *bed) checkSorted(key func(row uint64) uint64, keys, payload backend.Range) error {
	if b.Payload == 0 {
		return b.checkSortedKeys(key, keys)
	}
	return b.check(b.Rows, func(k *block) error {
		for i := range int64(k.rows) {
			row, got, value := k.first+uint64(i), k.at(0, i), k.at(1, i)
			from := narrow(value, 32)
			if from >= b.Rows || value != b.number(from) || got != key(from) {
				return measure.Wrongf("row %d is key %#x with payload %#x, which no row was", row, got, value)
			}
			if row == 0 {
				continue
			}
			if before := b.orderOf(k.at(0, i-1)); before > b.orderOf(got) ||
				before == b.orderOf(got) && narrow(k.at(1, i-1), 32) >= from {
				return measure.Wrongf("row %d has key %#x of row %d after key %#x of row %d", row, got, from, before,
					narrow(k.at(1, i-1), 32))
			}
		}
		return nil
	}, result{keys, b.Key}, result{payload, b.Payload})
}

// checkSortedKeys checks that keys ascend and that two sums over them, one of random functions of the keys, equal the
// sums over the unsorted keys.
func (b *bed) checkSortedKeys(key func(row uint64) uint64, keys backend.Range) error {
	var want, found [2]atomic.Uint64
	if err := inBlocks(b.ctx, b.Rows, func(from, to uint64) error {
		var sums [2]uint64
		for row := from; row < to; row++ {
			addTo(&sums, key(row))
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
			got := k.at(0, i)
			addTo(&sums, got)
			if row := k.first + uint64(i); row > 0 && b.orderOf(k.at(0, i-1)) > b.orderOf(got) {
				return measure.Wrongf("row %d has key %#x after %#x", row, got, k.at(0, i-1))
			}
		}
		found[0].Add(sums[0])
		found[1].Add(sums[1])
		return nil
	}, result{keys, b.Key}); err != nil {
		return err
	}
	if found[0].Load() != want[0].Load() || found[1].Load() != want[1].Load() {
		return measure.Wrongf("the sorted keys differ from the keys of the input")
	}
	return nil
}

func addTo(sums *[2]uint64, key uint64) {
	sums[0] += key
	sums[1] += workload.Random(key, 0)
}
