package exchange

import (
	"context"
	"math/bits"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/relation/take"
)

// Divider divides tables of either side into parts by the hashes of their keys. Safe for concurrent use.
type Divider struct {
	Hashes *keys.Hashes // nil: all rows are in the first part
	Parts  int          // by hashes
	// Slots are the parts of equal ranges of hashes, for parts of unequal shares; nil: each part has one range.
	Slots []uint16
	// Nulls says that rows without a hash because a key is NULL are in a part of their own, which follows the others.
	Nulls bool
	// Alone are hashes of the keys of a side by its own type, for rows that have no other: equal ones are in one part
	// then, too. nil: such rows are spread over the parts.
	Alone [2]*keys.Hashes
	// Hot are hashes of keys whose rows are in other parts than those of their hashes. Numbers from Parts on are those
	// of further parts, HotParts of them, which follow all others.
	Hot      map[uint64]int
	HotParts int
	// Bounds divide rows by a column of 64-bit integers instead, number Column: part i has the values less than
	// Bounds[i], and the last one all others and NULLs. nil: by hashes.
	Bounds []int64
	Column int
	// Filter, if it has its parts, drops rows whose keys it does not know, and rows without a hash: they are in no
	// part. Rows of Hot keys stay. It requires a KeyBytes of 0, and no Nulls.
	Filter *Filter
	// Seed makes the division independent of others: rows of one part of a division are spread over all parts of one
	// with another seed, except for those with equal keys.
	Seed uint64
	// KeyBytes is the size of the values of the key if these decide the part, as on a device ([Divider.Digit]); 0:
	// hashes do. Otherwise [keys.Hashes.ValueBytes] says it, and Parts is a power of two.
	KeyBytes int
	// Together says that the parts of a block may share memory, which is then freed with the last of them: it takes
	// less time to allocate, and to import on a device.
	Together bool
}

// All is the number of all parts.
func (d *Divider) All() int { return d.hotPart(d.Parts + d.HotParts) }

// hotPart is the part that a number of Hot means.
func (d *Divider) hotPart(number int) int {
	if d.Nulls && number >= d.Parts {
		return number + 1
	}
	return number
}

// Divide returns the rows of a table of a side, part by part, each in memory of its own from alloc unless Together.
// Rows that Filter drops are in none. It uses all cores. Within a part rows keep their order. The caller releases the
// parts. Errors: as for [keys.Hashes.Bind] and [take.Rows].
func (d *Divider) Divide(ctx context.Context, side relation.Side, table arrow.Table, alloc memory.Allocator) (
	parts []arrow.RecordBatch, err error) {
	of, freeOf := scratch[uint16](alloc, int(table.NumRows()))
	defer freeOf()
	if err := d.of(ctx, side, table, of); err != nil {
		return nil, err
	}
	s := newScatter(of, d.All())
	columns := make([][]arrow.Array, d.All()) // by part
	for part := range columns {
		columns[part] = make([]arrow.Array, table.NumCols())
	}
	defer func() {
		for _, of := range columns {
			relation.ReleaseAll(of)
		}
	}()
	var order []uint32
	for i := range int(table.NumCols()) {
		column := table.Column(i).Data()
		if scattered := s.column(column, d.Together, alloc); scattered != nil {
			for part, c := range scattered {
				columns[part][i] = c
			}
			continue
		}
		if order == nil {
			var free func()
			order, free = scratch[uint32](alloc, len(of))
			defer free()
			s.order(order)
		}
		group, groupCtx := onAllCores(ctx)
		for part := range d.All() {
			group.Go(func() (err error) {
				ids := order[s.starts[part]:s.starts[part+1]]
				columns[part][i], err = take.Rows(groupCtx, column, ids, alloc)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
	}
	for part := range d.All() {
		parts = append(parts, array.NewRecordBatch(table.Schema(), columns[part], s.rows(part)))
	}
	return parts, nil
}

// of sets the part of each row.
func (d *Divider) of(ctx context.Context, side relation.Side, table arrow.Table, parts []uint16) error {
	switch {
	case d.Bounds != nil:
		d.placeByBounds(table, parts)
		return nil
	case d.Hashes == nil:
		clear(parts)
		return nil
	}
	hashed, err := d.Hashes.Bind(ctx, side, table)
	if err != nil {
		return err
	}
	if hashed.LeavesOut() && !d.filters() {
		if err := d.spread(ctx, side, table, parts); err != nil {
			return err
		}
	}
	if err := d.place(ctx, hashed, parts); err != nil {
		return err
	}
	if err := d.placeHot(ctx, hashed, parts); err != nil || !d.Nulls {
		return err
	}
	for _, row := range hashed.NullRows() {
		parts[row] = uint16(d.Parts)
	}
	return nil
}

// placeByBounds sets the parts of rows by their values. Neighbours are mostly in the same part.
func (d *Divider) placeByBounds(table arrow.Table, parts []uint16) {
	row, part := 0, 0
	for _, chunk := range table.Column(d.Column).Data().Chunks() {
		values := chunk.(*array.Int64)
		for i, v := range values.Int64Values() {
			if values.IsNull(i) {
				parts[row] = uint16(len(d.Bounds))
			} else {
				if part > 0 && v < d.Bounds[part-1] || part < len(d.Bounds) && v >= d.Bounds[part] {
					part = sort.Search(len(d.Bounds), func(p int) bool { return v < d.Bounds[p] })
				}
				parts[row] = uint16(part)
			}
			row++
		}
	}
}

// spread sets the parts of rows that have no hash by their numbers, or by the type of the side alone.
func (d *Divider) spread(ctx context.Context, side relation.Side, table arrow.Table, parts []uint16) error {
	seed := d.seed()
	inRanges(cores(), len(parts), func(_, from, to int) {
		for row := from; row < to; row++ {
			parts[row] = d.partOf(uint64(row) + seed)
		}
	})
	if d.Alone[side] == nil {
		return nil
	}
	alone, err := d.Alone[side].Bind(ctx, side, table)
	if err != nil {
		return err
	}
	return d.place(ctx, alone, parts)
}

// place sets the parts of rows by their hashes.
func (d *Divider) place(ctx context.Context, table *keys.HashedTable, parts []uint16) error {
	if d.KeyBytes > 0 {
		return d.placeByDigit(ctx, table, parts)
	}
	if d.filters() {
		return d.placeKnown(ctx, table, parts)
	}
	seed := d.seed()
	if d.Slots != nil {
		return table.Each(ctx, func(hashes []uint64, rows []uint32) {
			for i, row := range rows {
				parts[row] = d.partOf(hashes[i] + seed)
			}
		})
	}
	all := uint64(d.Parts)
	return table.Each(ctx, func(hashes []uint64, rows []uint32) {
		n := len(hashes)
		if n == 0 {
			return
		}
		if first := int(rows[0]); int(rows[n-1])-first == n-1 { // neighbours
			of := parts[first:][:n]
			for i, hash := range hashes {
				of[i] = partOf(hash+seed, all)
			}
			return
		}
		for i, row := range rows[:n] {
			parts[row] = partOf(hashes[i]+seed, all)
		}
	})
}

// placeKnown sets the parts of rows by their hashes, if the filter knows these; other rows are in none.
func (d *Divider) placeKnown(ctx context.Context, table *keys.HashedTable, parts []uint16) error {
	none := uint16(d.All())
	if table.LeavesOut() {
		for row := range parts {
			parts[row] = none
		}
	}
	return table.Each(ctx, func(hashes []uint64, rows []uint32) {
		n := len(hashes)
		if n == 0 {
			return
		}
		if first := int(rows[0]); int(rows[n-1])-first == n-1 { // neighbours
			d.Filter.partsOf(hashes, none, parts[first:])
			return
		}
		var of [keys.StripRows]uint16
		d.Filter.partsOf(hashes, none, of[:])
		for i, row := range rows {
			parts[row] = of[i]
		}
	})
}

// placeHot sets the parts of the rows of hot keys. A bit for each of their hashes tells most other rows.
func (d *Divider) placeHot(ctx context.Context, table *keys.HashedTable, parts []uint16) error {
	if len(d.Hot) == 0 {
		return nil
	}
	const words = 1 << 8
	var bits [words]uint64
	at := func(hash uint64) (word, bit uint64) { hash ^= hash >> 32; return hash >> 6 % words, hash % 64 }
	for hash := range d.Hot {
		word, bit := at(hash)
		bits[word] |= 1 << bit
	}
	return table.Each(ctx, func(hashes []uint64, rows []uint32) {
		for i, hash := range hashes {
			if word, bit := at(hash); bits[word]>>bit&1 == 0 {
				continue
			}
			if part, hot := d.Hot[hash]; hot {
				parts[rows[i]] = uint16(d.hotPart(part))
			}
		}
	})
}

// filters reports whether rows without a partner are dropped.
func (d *Divider) filters() bool { return d.Filter != nil && d.Filter.parts != nil }

// seed makes each division hash differently.
func (d *Divider) seed() uint64 { return (d.Seed + 1) * 0x9e3779b97f4a7c15 }

// partOf is the part of a hash to which the seed was added.
func (d *Divider) partOf(x uint64) uint16 {
	if d.Slots != nil {
		return d.Slots[partOf(x, uint64(len(d.Slots)))]
	}
	return partOf(x, uint64(d.Parts))
}

// partOf is the part of a hash to which the seed was added: the high bits of its mix.
func partOf(x, parts uint64) uint16 {
	part, _ := bits.Mul64(mixed(x), parts)
	return uint16(part)
}

// mixed is the mix of a hash to which the seed was added. It is independent of the mixes of kernels.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
