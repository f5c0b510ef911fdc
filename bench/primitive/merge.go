package primitive

import (
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/primitive"
)

var payloads = []int{0, 32, 64}

// A merge of two sorted halves.
var mergeBenchmark = Benchmark{
	Name: "merge", Table: "merge", tunes: true, Keys: narrowWide, Payloads: payloads,
	Distributions: []workload.Distribution{workload.Uniform, workload.Sorted, workload.Few, workload.Equal}, variant: keyAndPayload,
	set: func(b *bed) experiment {
		leftRows := b.Rows / 2
		leftKey, rightKey := b.ascending(leftRows, b.Key, b.seed), b.ascending(b.Rows-leftRows, b.Key, b.seed+1)
		p := plan[primitive.MergePlan](b)(primitive.PlanMerge(b.ops.Tuning(), leftRows, b.Rows-leftRows, b.Key/8, b.Payload))
		left := primitive.KeyedColumns{Keys: b.column(b.Key, leftRows, leftKey)}
		right := primitive.KeyedColumns{Keys: b.column(b.Key, b.Rows-leftRows, rightKey)}
		out := primitive.KeyedColumns{Keys: b.empty(b.Key, b.Rows)}
		answers := []backend.Range{out.Keys}
		if b.Payload > 0 {
			left.Payload = b.column(b.Payload, leftRows, b.number)
			right.Payload = b.column(b.Payload, b.Rows-leftRows, func(row uint64) uint64 { return b.number(leftRows + row) })
			out.Payload = b.empty(b.Payload, b.Rows)
			answers = append(answers, out.Payload)
		}
		scratch := b.scratch(p.ScratchBytes)
		return experiment{
			leastBytes: 2 * b.Rows * uint64(b.Key+b.Payload) / 8,
			answers:    answers,
			record:     func(list *backend.List) error { return b.ops.Merge(list, p, left, right, out, scratch) },
			verify: func() error { // left rows have the lower numbers: a stable merge is a stable sort of both halves
				return b.checkSorted(func(row uint64) uint64 {
					if row < leftRows {
						return leftKey(row)
					}
					return rightKey(row - leftRows)
				}, out.Keys, out.Payload)
			},
		}
	},
}

// A merge sort; a payload is a column of the caller.
var mergeSortBenchmark = Benchmark{
	Name: "merge_sort", Table: "merge_sort", tunes: true, Keys: narrowWide, Payloads: payloads, Distributions: workload.Distributions(), variant: keyAndPayload,
	set: func(b *bed) experiment {
		p := plan[primitive.MergeSortPlan](b)(primitive.PlanMergeSort(b.ops.Tuning(), b.moved()))
		return b.sorting(p.ScratchBytes, p.Result(), func(list *backend.List, keys, payload [2]backend.Range, scratch backend.Range) error {
			rows := b.columns(keys, payload)
			return b.ops.MergeSort(list, p, scratch, rows[0], rows)
		})
	},
}
