// Package hmg is the multi-GPU sort-merge join of HMG (docs/hmg.md) over key codes in host memory, for sides of any
// size on any number of devices:
//
//	codes, row numbers ─► Prepare: chunksets up, sorted on the devices, down as runs; merged by the host   3.1, 3.2
//	both sides sorted ─► Match: merge path; per device streams of upload, range search, download           3.3
//	─► ranges, expanded to pairs of row numbers by whoever draws them                                      3.3.2
//
// Sides that fit the devices together do not make the round trip, unless asked for:
//
//	codes, row numbers ─► Prepare: both up, sorted with common splitters, range search on each device      beyond HMG
//	─► Match: down ─► ranges, expanded as above
//
// Sides that take several chunksets are not merged, unless asked for:
//
//	codes, row numbers ─► Prepare: divided by the host into segments, ranges of keys that fit a device     section 5
//	segments ─► Match: per device upload, sort and range search, download ─► ranges, expanded as above
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

// Config says where a join runs and how it is divided. Only one join at a time may use its lanes.
type Config struct {
	Lanes []*exec.Lane // one for each device, whose grants are charged; a device may occur more than once
	Links *peers.Links // between the devices; may be nil for SortAlone and for one device
	Alloc runs.Allocator
	Sort  Sorting
	// Within says how to join sides that fit the devices together, Beyond how to join sides of several chunksets.
	Within Within
	Beyond Beyond
	// ChunkRows is the maximum number of rows of a chunk, the share of a chunkset on one device. It also bounds the
	// rows of both sides together where they are sorted in place, in an even share, or in a segment. TaskRows is the
	// maximum number of rows of both sides in one range search of sorted sides. See [Config.Fit].
	ChunkRows, TaskRows uint64
	Streams             int // of range searches on each device; 0 is 3
	Cores               int // of the host
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

func (s Sorting) String() string { return [...]string{"radix", "merge", "merge-once", "alone"}[s] }

func (s Sorting) method() peers.Method {
	return [...]peers.Method{SortRadix: peers.RadixPartition, SortMerge: peers.MergeStages,
		SortMergeOnce: peers.MergeOnce}[s]
}

// Within is what is done with sides that fit the devices together.
type Within uint8

const (
	// WithinPlace sorts both sides across the devices with common splitters, so that each joins its range of keys in
	// place. [SortAlone] makes no such ranges on several devices.
	WithinPlace Within = iota
	// WithinRoundTrip sorts one side after the other in one chunkset, and brings both back and up again (HMG 3.1, 3.3).
	WithinRoundTrip
)

func (w Within) String() string { return [...]string{"in place", "round trip"}[w] }

// InPlace reports whether sides with these numbers of rows are sorted and joined in place, after [Config.Fit].
func (c *Config) InPlace(devices int, rows [2]uint64) bool {
	n := uint64(devices)
	return c.Within == WithinPlace && (n == 1 || c.Sort != SortAlone) && (rows[0]+rows[1]+n-1)/n <= c.ChunkRows
}

// Beyond is what is done with sides that take several chunksets to sort.
type Beyond uint8

const (
	// BeyondSegments divides both sides by key ranges on the host, into segments that fit a device, and sorts and joins
	// these one by one: HMG's future work.
	BeyondSegments Beyond = iota
	// BeyondMerge sorts chunksets, which the host merges (HMG 3.1.3, 3.2).
	BeyondMerge
)

func (b Beyond) String() string { return [...]string{"segments", "merge"}[b] }

const defaultStreams = 3

func (c *Config) streams() int {
	if c.Streams == 0 {
		return defaultStreams
	}
	return c.Streams
}

// chunkCopies is how many times a device has the rows of a chunk, with row numbers, at most: uploaded ahead; being
// sorted across devices, which takes the chunk, its parts in order, what was received, and two buffers of a sort or
// merge; sorted and on the way to the host. Segments take less: uploaded ahead; being sorted, three times; ranges of
// half the rows; ranges and row numbers of the last one, on the way to the host. In place nothing is ahead or on the
// way back, which leaves room for keys that are not shared out evenly.
const chunkCopies = 7

// Device is what [Config.Fit] has to know of the devices: their number, and of the weakest the memory and the tuning.
type Device struct {
	Count    int
	CapBytes uint64
	Tuning   primitive.Tuning
}

// Fit chooses ChunkRows and TaskRows that a device has room for, if they are 0, for sides with these numbers of rows.
// It returns the device memory in bytes that they take. Sides that fit in the memory of all devices together are joined
// in place; a side that fits by itself makes one chunkset. Fit needs no lanes.
func (c *Config) Fit(d Device, keyBytes int, rows [2]uint64) (deviceBytes uint64, err error) {
	row, usable := uint64(keyBytes)+4, d.CapBytes-min(d.CapBytes, operator.Slack(d.CapBytes))
	most, devices := max(rows[0], rows[1]), uint64(d.Count)
	if c.ChunkRows == 0 {
		c.ChunkRows = min(usable/(chunkCopies*row+1), primitive.MaxRows)
	}
	if c.InPlace(d.Count, rows) {
		most = rows[0] + rows[1]
	}
	c.ChunkRows = max(1, min(c.ChunkRows, (most+devices-1)/devices))
	sort, err := primitive.PlanSort(d.Tuning, primitive.Sort{EndBit: 8 * keyBytes,
		Layout: primitive.Layout{Rows: c.ChunkRows, KeyBytes: keyBytes, Payload: primitive.Given, PayloadBytes: 4}})
	if err != nil {
		return 0, err
	}
	// A task has the keys of both sides, a begin and a count for each row of the shorter one, and scratch.
	taskBytes := uint64(keyBytes) + 8
	if c.TaskRows == 0 {
		c.TaskRows = min(usable/(uint64(c.streams())*taskBytes+1), primitive.MaxRows)
	}
	c.TaskRows = max(2, min(c.TaskRows, rows[0]+rows[1]))
	deviceBytes = max(c.ChunkRows*row*chunkCopies+sort.MostScratchBytes, c.TaskRows*taskBytes*uint64(c.streams()))
	return deviceBytes + operator.Slack(deviceBytes), nil
}

// HostBytes is the host memory in bytes that sides with these numbers of rows take, after [Config.Fit]: codes and row
// numbers of both, a copy of one of them while it is merged or divided, and the ranges of tasks that were found or are
// expanded.
func (c *Config) HostBytes(d Device, keyBytes int, rows [2]uint64) uint64 {
	found := uint64(2*d.Count*c.streams()+1) * min(c.TaskRows/2, rows[0], rows[1])
	if beyond := max(rows[0], rows[1]) > c.ChunkRows*uint64(d.Count); beyond && c.Beyond == BeyondSegments {
		found = max(found, uint64(2*d.Count+1)*min(c.ChunkRows/2, rows[0], rows[1]))
	} else if c.InPlace(d.Count, rows) {
		found = max(found, min(rows[0], rows[1]))
	}
	return (rows[0]+rows[1]+max(rows[0], rows[1]))*uint64(keyBytes+4) + found*8
}

// Buffer is a side in host memory: key codes beside row numbers.
type Buffer[K runs.Word] = runs.Buffer[K, uint32]

func bytesOf[K runs.Word]() int { return int(unsafe.Sizeof(*new(K))) }

// each runs do for the numbers below n at a time, and waits for all.
func each(ctx context.Context, name string, n int, do func(ctx context.Context, i int) error) error {
	flow := exec.NewFlow(ctx)
	for i := range n {
		flow.Go(name, func(ctx context.Context) error { return do(ctx, i) })
	}
	return flow.Wait()
}
