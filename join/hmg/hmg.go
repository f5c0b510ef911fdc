// Package hmg sorts key codes in host memory, with row numbers, on several devices, as the multi-GPU sort-merge join of
// HMG does (docs/hmg.md): a side of any size goes through the devices in chunksets, which come back as sorted runs, and
// the host merges the runs.
//
//	chunkset 3 ── up ──► devices                            3.1.3, figure 9
//	chunkset 2           sorted across all devices          3.1.1, 3.1.2: exchange/peers
//	chunkset 1           devices ── down ──► a run
//	runs ── merged by the host ──► one run                  3.2: exchange/runs
package hmg

import (
	"context"
	"unsafe"

	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Config says where sides are sorted. Only one sort at a time may use its lanes.
type Config struct {
	Lanes []*exec.Lane // one for each device, whose grants are charged; a device may occur more than once
	Links *peers.Links // between the devices; may be nil for SortAlone and for one device
	Alloc runs.Allocator
	Sort  Sorting
	// ChunkRows is the maximum number of rows of a chunk, the share of a chunkset on one device.
	ChunkRows uint64
	Cores     int // of the host
}

// Sorting is how the chunks of a chunkset are sorted.
type Sorting uint8

const (
	SortRadix     Sorting = iota // across the devices by radix partition (HMG 3.1.2)
	SortMerge                    // across the devices by merges in stages (HMG 3.1.1)
	SortMergeOnce                // by a merge of all devices' rows at once, [peers.MergeOnce]
	// SortAlone sorts each chunk on its device, as with one device. Nothing moves between devices, but a chunkset is as
	// many runs as devices, which the host merges.
	SortAlone
)

// String returns the name that benchmarks use.
func (s Sorting) String() string { return [...]string{"radix", "merge", "merge-once", "alone"}[s] }

// Method is how rows are sorted across devices; for SortAlone, where that is necessary.
func (s Sorting) Method() peers.Method {
	return [...]peers.Method{SortRadix: peers.RadixPartition, SortMerge: peers.MergeStages,
		SortMergeOnce: peers.MergeOnce, SortAlone: peers.RadixPartition}[s]
}

// chunkCopies is the maximum number of copies of a chunk, with row numbers, on a device: uploaded ahead; being sorted
// across devices, which takes the chunk, its parts in order, what was received, and two buffers of a sort or merge;
// sorted and on the way to the host.
const chunkCopies = 7

// ChunkRows returns how many rows a chunk may have on a device with capBytes of memory, with keys of keyBytes.
func ChunkRows(capBytes uint64, keyBytes int) uint64 {
	usable := capBytes - min(capBytes, operator.Slack(capBytes))
	return min(usable/(chunkCopies*(uint64(keyBytes)+4)+1), primitive.MaxRows)
}

// ChunkBytes returns the device memory in bytes that chunks of this number of rows take.
func ChunkBytes(t primitive.Tuning, rows uint64, keyBytes int) (uint64, error) {
	sort, err := primitive.PlanSort(t, primitive.Sort{EndBit: 8 * keyBytes,
		Layout: primitive.Layout{Rows: rows, KeyBytes: keyBytes, Payload: primitive.Given, PayloadBytes: 4}})
	sizeBytes := rows*(uint64(keyBytes)+4)*chunkCopies + sort.MostScratchBytes
	return sizeBytes + operator.Slack(sizeBytes), err
}

// Buffer is a side in host memory: key codes beside row numbers.
type Buffer[K runs.Word] = runs.Buffer[K, uint32]

// Sort sorts a side, in place if it becomes one run, and otherwise into memory of its own. It takes the buffer and
// returns the one that has the rows, also after an error. The row numbers of a numbered side are 0, 1, 2, ...; they are
// not read. Rows with equal keys are in no particular order.
//
// Errors: backend.ErrDeviceMemory if ChunkRows are too many for a device; device errors; ErrCancelled.
func Sort[K runs.Word](ctx context.Context, c *Config, b *Buffer[K], numbered bool) (*Buffer[K], error) {
	s := &sorter[K]{Config: c, side: b.Block, numbered: numbered}
	if err := s.run(ctx); err != nil || len(s.sorted) < 2 {
		return b, err
	}
	merged := runs.NewBuffer[K, uint32](c.Alloc, uint64(len(b.Keys)))
	if err := runs.Merge(ctx, merged.Block, s.sorted, c.Cores); err != nil {
		merged.Free()
		return b, err
	}
	b.Free()
	return merged, nil
}

// Chunksets returns the number of chunksets in which a side is sorted.
func (c *Config) Chunksets(rows uint64) int {
	setRows := c.ChunkRows * uint64(len(c.Lanes))
	return int((rows + setRows - 1) / setRows)
}

func bytesOf[K runs.Word]() int { return int(unsafe.Sizeof(*new(K))) }

// each runs do for the numbers below n at a time, and waits for all.
func each(ctx context.Context, name string, n int, do func(ctx context.Context, i int) error) error {
	flow := exec.NewFlow(ctx)
	for i := range n {
		flow.Go(name, func(ctx context.Context) error { return do(ctx, i) })
	}
	return flow.Wait()
}
