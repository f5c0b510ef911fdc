package peers

import (
	"context"
	"math/bits"
	"slices"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Thresholds of HMG 3.1.2, relative to an even share of the rows, in 1/1000.
const (
	paddingThousandths = 5  // what a rank may have more or less than its share, so that fewer buckets are refined
	fusingThousandths  = 10 // buckets that are sorted together have at most as many rows
)

// fusingRows is the number of rows that buckets that are sorted together may have in any case: dispatches take most of
// the time of a sort of fewer.
const fusingRows = 1 << 15

// dispatchRows is how many rows a pass of a sort moves on a GPU in the time that its dispatches take at least: 20 us,
// at 57 G rows/s of 16 bytes on an H100. CPU cores lose more in caches by sorting many rows at once than by dispatches.
const dispatchRows = 1 << 20

// radix parts rows by the most significant bits of their keys (HMG 3.1.2): each pass partitions, by the next 8 bits,
// the buckets in which boundaries of ranks lie, until all boundaries lie between buckets. The first pass begins with
// the highest bit in which keys of any rank differ.
//
// A boundary may also be at most 0.25% of a share away from the edge of a bucket. Once half of the rows are in buckets
// that belong to one rank, these are sent while the others are refined (beyond the paper). Small neighbours are sorted
// together (the fusing threshold of the paper), because on GPUs a pass also pays for its dispatches.
//
// Example for 2 ranks with 2 bits a pass: keys 00, 01, 01, 10 have buckets of 1, 2, 1 rows. The boundary after 2 rows
// lies in the second one, which all its bits are known of: equal keys, of which each rank gets one.
type radix struct {
	rank, size int
	weights    []uint32
	whole      bool   // all rows with a key are to be on one rank
	fusing     uint64 // rows that buckets that are sorted together may have in any case
	dispatch   uint64 // rows in the time of dispatches, of the device for which that is most

	chunks  []*Held // partitioned so far
	begun   bool
	varying uint64
	targets []uint64
	share   uint64 // an even one
	buckets []bucket
	divided divided
	total   uint64 // rows of all ranks
	passes  int    // so far
}

// delivery is pieces of buckets that move at once, in groups that are sorted together.
type delivery struct {
	pieces []piece // of all buckets; no rank owns those that do not move
	groups []fused
	least  []uint64 // the least key of each group
}

// Measure says what dispatches cost and how the keys vary, then how many rows the parts of each spanning bucket have.
func (x *radix) Measure(ctx context.Context, lane *exec.Lane, chunks []*relation.Chunk) ([]byte, error) {
	if !x.begun {
		numbers := []uint64{0}
		if !lane.Device().Info().CPULike() {
			numbers[0] = dispatchRows
		}
		for _, c := range chunks {
			v, err := operator.FindVarying(ctx, lane, "varying bits", c.Keys)
			if err != nil {
				return nil, err
			}
			x.chunks = append(x.chunks, &Held{Chunk: *c})
			numbers = append(numbers, c.Rows, v.Bits, v.Common)
		}
		return putNumbers(numbers...), nil
	}
	var numbers []uint64
	for _, number := range x.divided.spanning {
		d, _ := x.buckets[number].nextDigit(x.varying)
		for chunk := range chunks {
			rows, err := x.refine(ctx, lane, chunk, number, d)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, rows...)
		}
	}
	return putNumbers(numbers...), nil
}

// refine partitions a bucket of a chunk where it is.
func (x *radix) refine(ctx context.Context, lane *exec.Lane, chunk, number int, d radixDigit) ([]uint64, error) {
	h, first := x.chunks[chunk], uint64(0)
	for i := range number {
		first += x.buckets[i].rows[chunk][x.rank]
	}
	rows := x.buckets[number].rows[chunk][x.rank]
	if rows == 0 {
		return make([]uint64, 1<<d.bits), nil
	}
	by, work := primitive.Partition{Shift: d.shift, Bits: d.bits}, lane.Nested(ctx)
	if rows == h.Rows {
		parted, counts, err := partition(ctx, work, by, &h.Chunk)
		if err != nil {
			work.Memory.ReleaseAll()
			return nil, err
		}
		h.Release()
		x.chunks[chunk] = &Held{parted, work.Memory}
		return counts, nil
	}
	defer work.Memory.ReleaseAll()
	// Kernels read from aligned places: the bucket is copied to one, partitioned, and copied back.
	old, aligned := part(&h.Chunk, first, rows), &Held{memory: work.Memory}
	if err := aligned.copy(ctx, lane, &old); err != nil {
		return nil, err
	}
	parted, counts, err := partition(ctx, work, by, &aligned.Chunk)
	if err != nil {
		return nil, err
	}
	return counts, copyRows(ctx, lane, "put back", &old, &parted)
}

// Decide distributes the buckets, and asks again while some span ranks.
func (x *radix) Decide(said [][]byte) (again bool, err error) {
	if !x.begun {
		err = x.begin(said)
	} else {
		err = x.replace(said)
	}
	if err != nil {
		return false, err
	}
	x.divided = divide(x.buckets, x.targets, x.varying, x.share*paddingThousandths/2000, x.whole)
	return len(x.divided.spanning) > 0, nil
}

// settled reports whether most rows are in buckets that belong to one rank, while others are to be refined. It marks
// these buckets as sent, once.
func (x *radix) settled() bool {
	if x.passes == 0 || len(x.divided.spanning) == 0 {
		return false
	}
	rest := uint64(0)
	for i := range x.buckets {
		if x.buckets[i].sent {
			return false
		}
		if slices.Contains(x.divided.spanning, i) {
			rest += x.buckets[i].total
		}
	}
	if rest > x.total/2 {
		return false
	}
	for i := range x.buckets {
		x.buckets[i].sent = !slices.Contains(x.divided.spanning, i)
	}
	return true
}

// deliver returns the buckets that are marked as sent, or the others.
func (x *radix) deliver(sent bool) *delivery {
	d := &delivery{pieces: x.divided.pieces(x.buckets)}
	for i, p := range d.pieces {
		if x.buckets[p.bucket].sent != sent {
			d.pieces[i].owner = nobody
		}
	}
	d.groups = fuse(d.pieces, x.buckets, x.varying, max(x.fusing, x.share*fusingThousandths/1000), x.dispatch)
	for _, g := range d.groups {
		d.least = append(d.least, x.buckets[g.least].least)
	}
	return d
}

// begin makes a bucket of all rows.
func (x *radix) begin(said [][]byte) error {
	all, err := allNumbers(said, 1+3*len(x.chunks))
	if err != nil {
		return err
	}
	x.begun = true
	rows, some, one := make([][]uint64, len(x.chunks)), false, uint64(0)
	for rank := range all {
		x.dispatch = max(x.dispatch, all[rank][0])
		for chunk := range x.chunks {
			n, varying, common := all[rank][3*chunk+1], all[rank][3*chunk+2], all[rank][3*chunk+3]
			rows[chunk] = append(rows[chunk], n)
			if x.total += n; n == 0 {
				continue
			}
			if !some {
				some, one = true, common
			}
			x.varying |= varying | one ^ common
		}
	}
	x.targets, x.share = targets(x.total, x.weights), x.total/uint64(x.size)
	if x.total > 0 {
		x.buckets = []bucket{newBucket(one&^x.varying, bits.Len64(x.varying), rows)}
	}
	return nil
}

// replace puts the parts of spanning buckets in their place. Empty ones are left out.
func (x *radix) replace(said [][]byte) error {
	count := 0
	for _, number := range x.divided.spanning {
		d, _ := x.buckets[number].nextDigit(x.varying)
		count += len(x.chunks) << d.bits
	}
	all, err := allNumbers(said, count)
	if err != nil {
		return err
	}
	var buckets []bucket
	spanning, at := x.divided.spanning, 0
	for number, b := range x.buckets {
		if len(spanning) == 0 || spanning[0] != number {
			buckets = append(buckets, b)
			continue
		}
		spanning = spanning[1:]
		d, _ := b.nextDigit(x.varying)
		for digit := range 1 << d.bits {
			rows := make([][]uint64, len(x.chunks))
			for chunk := range rows {
				for rank := range all {
					rows[chunk] = append(rows[chunk], all[rank][at+chunk<<d.bits+digit])
				}
			}
			// Bits of the digit that do not vary are in least already.
			small := newBucket(b.least|uint64(digit)<<d.shift, d.shift, rows)
			if small.total > 0 {
				buckets = append(buckets, small)
			}
		}
		at += len(x.chunks) << d.bits
	}
	x.buckets = buckets
	x.passes++
	return nil
}

// parts returns the parts of a delivery; each of its groups is a group of parts.
func (x *radix) parts(d *delivery, chunk int) *Parts {
	p := &Parts{Chunk: x.chunks[chunk].Chunk, apart: true}
	for _, g := range d.groups {
		p.Groups = append(p.Groups, g.first)
	}
	for _, one := range d.pieces {
		p.Rows, p.Owners = append(p.Rows, one.rows[chunk]), append(p.Owners, one.owner)
	}
	return p
}

// release releases the partitioned rows of a chunk.
func (x *radix) release(chunk int) {
	if chunk < len(x.chunks) {
		x.chunks[chunk].Release()
	}
}
