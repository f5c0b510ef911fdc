package exchange

import (
	"context"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
)

// Divider divides tables of either side into parts by the hashes of their keys. Safe for concurrent use.
type Divider struct {
	Hashes *relation.HashKeys
	Parts  int
	// Seed makes the division independent of others: rows of one part of a division are spread over all parts of one
	// with another seed, except for those with equal keys.
	Seed uint64
}

// Divided is the rows of a table in the order of their parts.
type Divided struct {
	arrow.RecordBatch
	starts []int64 // of each part, and the end
}

// Divide returns the rows of a table of a side, part by part, in memory of alloc. Within a part rows keep their order.
// The caller releases it. Errors are those of [relation.HashKeys.Hash] and [relation.Take].
func (d *Divider) Divide(ctx context.Context, side relation.Side, table arrow.Table, alloc memory.Allocator) (
	*Divided, error) {
	hashes, rows, err := d.Hashes.Hash(ctx, side, table)
	if err != nil {
		return nil, err
	}
	order, starts := d.order(hashes, rows, int(table.NumRows()))
	columns := make([]arrow.Array, table.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		if columns[i], err = relation.Take(ctx, table.Column(i).Data(), order, alloc); err != nil {
			return nil, err
		}
	}
	return &Divided{array.NewRecordBatch(table.Schema(), columns, table.NumRows()), starts}, nil
}

// order sorts row numbers by part. Rows without a hash, which match nothing, are spread over the parts.
func (d *Divider) order(hashes []uint64, rows []uint32, all int) (order []uint32, starts []int64) {
	parts := make([]uint16, all)
	if rows == nil {
		for i, hash := range hashes {
			parts[i] = d.part(hash)
		}
	} else {
		for i := range parts {
			parts[i] = d.part(uint64(i))
		}
		for i, row := range rows {
			parts[row] = d.part(hashes[i])
		}
	}
	starts = make([]int64, d.Parts+1)
	for _, part := range parts {
		starts[part+1]++
	}
	for part := range d.Parts {
		starts[part+1] += starts[part]
	}
	next, order := append([]int64(nil), starts...), make([]uint32, all)
	for row, part := range parts {
		order[next[part]] = uint32(row)
		next[part]++
	}
	return order, starts
}

// part is the part of a hash: the high bits of a mix of it, which has no bits in common with the mixes of kernels.
func (d *Divider) part(hash uint64) uint16 {
	x := hash + (d.Seed+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	part, _ := bits.Mul64(x^x>>31, uint64(d.Parts))
	return uint16(part)
}

// Part returns the rows of a part, which the caller releases.
func (d *Divided) Part(part int) arrow.RecordBatch {
	return d.NewSlice(d.starts[part], d.starts[part+1])
}
