package peers

import (
	"context"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// hash parts rows by bits of a mix of their keys.
type hash struct {
	seed    uint32
	bits    int
	size    int
	weights []uint32

	chunks []*relation.Chunk
	parted []relation.Chunk
	rows   [][][]uint64 // of each bucket of a chunk, by rank
	owners []int
}

// bucketsPerRank is the least number of buckets for each rank: the more there are, the more evenly rows are shared out.
const bucketsPerRank = 8

// Hash returns a partitioner that spreads keys by a mix of them with a seed ([kernel.Mix]): a stable partition into 256
// buckets, or as many as give each rank 8. Their rows are counted before neighbouring buckets are assigned to ranks, so
// that the fullest rank has as little as the buckets allow. Rows of one rank keep their order within a bucket. Other
// partitions of the same rows use other seeds. The partitioned copies of all chunks of an exchange exist at once.
func (r *Rank) Hash(seed uint32) Partitioner {
	return &hash{seed: seed, size: r.Size(), weights: r.Weights,
		bits: max(8, bits.Len(uint(bucketsPerRank*r.Size()-1)))}
}

// Measure partitions the chunks into buckets and returns how many rows each has.
func (h *hash) Measure(ctx context.Context, lane *exec.Lane, chunks []*relation.Chunk) ([]byte, error) {
	h.chunks, h.parted = chunks, make([]relation.Chunk, len(chunks))
	if h.bits > 16 {
		return nil, invalid("%d ranks; a partition has 65,536 buckets at most", h.size)
	}
	counts := make([]uint64, 0, len(chunks)<<h.bits)
	for i, c := range chunks {
		parted, rows, err := Partition(ctx, lane, c, h.bits, h.seed)
		if err != nil {
			return nil, err
		}
		h.parted[i] = parted
		counts = append(counts, rows...)
	}
	return putNumbers(counts...), nil
}

// Decide assigns buckets to ranks by the rows of all chunks.
func (h *hash) Decide(said [][]byte) (again bool, err error) {
	buckets := 1 << h.bits
	all, err := allNumbers(said, len(h.chunks)*buckets)
	if err != nil {
		return false, err
	}
	total := make([]uint64, buckets)
	for chunk := range h.chunks {
		rows := make([][]uint64, buckets)
		for b := range rows {
			for rank := range all {
				n := all[rank][chunk*buckets+b]
				rows[b] = append(rows[b], n)
				total[b] += n
			}
		}
		h.rows = append(h.rows, rows)
	}
	if h.owners == nil {
		h.owners = assign(total, h.weights)
	}
	return false, nil
}

// Alike returns a partitioner that sends keys to the ranks to which one of [Rank.Hash] has sent them in an exchange.
func Alike(by Partitioner) Partitioner {
	h := by.(*hash)
	return &hash{seed: h.seed, bits: h.bits, size: h.size, weights: h.weights, owners: h.owners}
}

// Apply returns the partitioned rows.
func (h *hash) Apply(chunk int) *Parts {
	return &Parts{Chunk: h.parted[chunk], Rows: h.rows[chunk], Owners: h.owners}
}

// Partition returns the rows of a chunk in the order of their parts, in memory of the lane, and the number of rows of
// each part. The part of a row is the highest bits of the mix of its key with a seed ([kernel.Mix]). Partition is
// stable. Errors: allocation and device errors.
func Partition(ctx context.Context, lane *exec.Lane, c *relation.Chunk, bits int, seed uint32) (parted relation.Chunk,
	rows []uint64, err error) {
	by := primitive.Partition{Shift: c.Keys.Bytes*8 - bits, Bits: bits, Mixed: true, Seed: seed}
	return partition(ctx, lane, by, c)
}

// partition partitions a chunk into memory of the lane, where the keys are not mixed, and returns the rows of each
// digit.
func partition(ctx context.Context, lane *exec.Lane, by primitive.Partition, c *relation.Chunk) (to relation.Chunk,
	rows []uint64, err error) {
	rows = make([]uint64, 1<<by.Bits)
	if c.Rows == 0 {
		return *c, rows, nil
	}
	work := lane.Nested(ctx) // the mixed keys are temporary
	defer work.Memory.ReleaseAll()
	startBuffer := work.Memory.New(uint64(len(rows)+1)*4, "partition starts")
	in := operator.NewInput(work, c, "rows")
	err = in.TransformAll(ctx, operator.Move{Stage: "partition", Plan: operator.PartitionBy(lane.Ops, by, startBuffer.All())})
	if err != nil {
		return to, nil, err
	}
	if to = in.Transformed(); by.Mixed {
		to.Keys.Data = lane.Memory.New(c.Keys.Data.SizeBytes, "parted keys").All()
		if err := lane.Memory.Err(); err != nil {
			return to, nil, err
		}
	}
	starts := make([]uint32, len(rows)+1)
	err = lane.Run(ctx, "partition rows", func(list *backend.List) error {
		if !by.Mixed {
			return nil
		}
		return lane.Unmix(list, primitive.Unmixing{Rows: c.Rows, KeyBytes: c.Keys.Bytes, Seed: by.Seed}, in.Ordered,
			to.Keys.Data)
	}, backend.Transfer{Device: startBuffer.All(), Host: backend.AsBytes(starts)})
	if err != nil {
		return to, nil, err
	}
	for _, moved := range in.Moved {
		work.Memory.Move(lane.Memory, moved.Buffer)
	}
	if !by.Mixed {
		work.Memory.Move(lane.Memory, in.Ordered.Buffer)
	}
	for i := range rows {
		rows[i] = uint64(starts[i+1] - starts[i])
	}
	return to, rows, lane.Memory.Err()
}
