package ranks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
	"github.com/spirjoin/spirjoin/source"
)

// A key that has more rows of one side than an eighth of what a rank should join would make its owner the last to end.
// Such a key is hot: its rows stay on the ranks that are known to have some, its holders, and its partners go to these.
//
//	key 7   rank 0: 900 left rows   rank 1: 800   rank 2: 2, none of them sampled      3 right rows
//	        left rows stay on ranks 0 and 1; those of rank 2 go to a holder; right rows go to ranks 0 and 1
//
// Each holder has a left row of the key, so no copy of a right row is without a partner, and any kind of join may keep
// right rows. Kinds that return a right row once have its copy on one holder alone. With keys that follow Zipf's law,
// exponent 1, on 1,024 ranks, the fullest rank would have 47.7 times the mean.

// sampledRows is the number of rows of a side that a rank samples, at most, in runs of sampleRun rows.
const (
	sampledRows = 1 << 14
	sampleRun   = 1 << 8
)

// toldKeys bounds the frequent keys of a side of which a rank tells the others. At most hotShare as many as there are
// ranks are hot.
func toldKeys(ranks int) int { return min(max(64, hotShare*ranks), 512) }

// hotShare is the inverse of the share of the rows of a rank that a hot key has at least.
const hotShare = 8

// hotKey is a hot key.
type hotKey struct {
	hash    uint64
	side    relation.Side // whose rows stay on the holders; other ranks send theirs to a holder
	holders []int         // ranks that are known to have rows of it
	once    bool          // rows of the other side go to the first holder alone, because the output has such a row once
}

// ranks are those to which a rank sends its rows of the key.
func (h *hotKey) ranks(side relation.Side, rank int) []int {
	switch {
	case side != h.side && !h.once:
		return h.holders
	case side != h.side:
		return h.holders[:1]
	case slices.Contains(h.holders, rank):
		return []int{rank}
	}
	return h.holders[rank%len(h.holders):][:1]
}

// frequent is a key by its hash, with the rows that a rank is estimated to have of it.
type frequent struct {
	Hash uint64
	Rows float64
}

// sample is what a rank says of the keys of both sides.
type sample struct {
	Keys [2][]frequent
	Rows [2]float64 // of its share
	// Hashes are those of sampled rows of the probe side of a join that may have a filter, Tested the number of these
	// rows, with or without a hash.
	Hashes []uint64
	Tested int
}

// toldHashes is the number of sampled rows of the probe side of which a rank tells the others, at most.
func toldHashes(ranks int) int { return max(64, (1<<12)/ranks) }

// sampleRanks tells all ranks of samples of the keys of this one, and returns what all say. It is collective.
func (r *run) sampleRanks(ctx context.Context, hashes *keys.Hashes) ([]sample, error) {
	mine := sample{}
	for side := range r.sources {
		side := relation.Side(side)
		table, err := r.first(side)
		if err != nil {
			return nil, err
		}
		var sampled []uint64
		var rows int64
		mine.Keys[side], sampled, rows, err = sampleKeys(ctx, hashes, side, table, toldKeys(r.job.Size()))
		if r.partBytes > 0 && side == r.probe {
			mine.Hashes, mine.Tested = thin(sampled, int(rows), toldHashes(r.job.Size()))
		}
		mine.Rows[side] = max(float64(table.NumRows()), float64(r.sources[side].Rows))
		if n := float64(table.NumRows()); n > 0 {
			for i := range mine.Keys[side] {
				mine.Keys[side][i].Rows *= mine.Rows[side] / n
			}
		}
		table.Release()
		if err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	said, err := r.job.Gather(ctx, "join keys", text)
	if err != nil {
		return nil, err
	}
	all := make([]sample, len(said))
	for rank, text := range said {
		if err := json.Unmarshal(text, &all[rank]); err != nil {
			return nil, fmt.Errorf("%w: rank %d sent no sample of keys: %w", backend.ErrInvalidInput, rank, err)
		}
	}
	return all, nil
}

// thin returns at most so many hashes of sampled rows, and how many rows these stand for.
func thin(hashes []uint64, rows, most int) (some []uint64, ofRows int) {
	step := max(1, (rows+most-1)/most)
	for i := 0; i < len(hashes); i += step {
		some = append(some, hashes[i])
	}
	return some, len(some) + (rows-len(hashes))/step
}

// first returns rows to sample: the table of a share, or its first batch, which stays in the source. The caller
// releases the table.
func (r *run) first(side relation.Side) (arrow.Table, error) {
	s := &r.sources[side]
	if table := s.Table(); table != nil {
		table.Retain()
		return table, nil
	}
	next, stop := iter.Pull2(s.Batches(r.flow.Context()))
	r.flow.AtEnd(stop)
	var batch arrow.RecordBatch
	some := false
	err := exec.Protect("read share of "+side.String(), func() (err error) {
		batch, err, some = next()
		return err
	})
	if err == nil && some && batch == nil {
		err = fmt.Errorf("%w: a batch of the %s side is nil", backend.ErrInvalidInput, side)
	}
	if err != nil {
		return nil, fmt.Errorf("%s source: %w", side, err)
	}
	if !some {
		*s = source.Source{Schema: s.Schema, Batches: source.Empty(s.Schema).Batches}
		return source.NoRows(r.schemas[side]), nil
	}
	var held sync.Once // releases the first batch if nobody draws it
	r.flow.AtEnd(func() { held.Do(batch.Release) })
	batches := func(yield func(arrow.RecordBatch, error) bool) {
		more := true
		held.Do(func() { more = yield(batch, nil) })
		for more {
			batch, err, some := next()
			more = some && yield(batch, err) && err == nil
		}
	}
	*s = source.Source{Schema: s.Schema, Rows: s.Rows,
		Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] { return batches }}
	return array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch}), nil
}

// sampleKeys returns the most frequent keys of a table that occur more than once in a sample, with their rows estimated
// for the whole table, and the hashes and the number of the sampled rows.
func sampleKeys(ctx context.Context, hashes *keys.Hashes, side relation.Side, table arrow.Table, most int) (
	all []frequent, drawn []uint64, sampled int64, err error) {
	runs := max(1, table.NumRows()*sampleRun/sampledRows) // a run begins every so many rows
	for from := int64(0); from < table.NumRows(); from += max(runs, sampleRun) {
		to := min(table.NumRows(), from+sampleRun)
		sampled += to - from
		slice := sliceOf(table, from, to)
		hashed, err := hashes.Bind(ctx, side, slice)
		if err == nil {
			var mu sync.Mutex
			err = hashed.Each(ctx, func(hashes []uint64, _ []uint32) {
				mu.Lock()
				defer mu.Unlock()
				drawn = append(drawn, hashes...)
			})
		}
		slice.Release()
		if err != nil {
			return nil, nil, 0, err
		}
	}
	counts := make(map[uint64]float64)
	for _, hash := range drawn {
		counts[hash]++
	}
	for hash, n := range counts {
		if n > 1 {
			all = append(all, frequent{hash, n * float64(table.NumRows()) / float64(sampled)})
		}
	}
	slices.SortFunc(all, func(a, b frequent) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Hash, b.Hash))
	})
	return all[:min(len(all), most)], drawn, sampled, nil
}

// sliceOf returns rows of a table, which the caller releases.
func sliceOf(table arrow.Table, from, to int64) arrow.Table {
	columns := make([]arrow.Column, table.NumCols())
	for i := range columns {
		columns[i] = *array.NewColumnSlice(table.Column(i), from, to)
	}
	defer func() {
		for i := range columns {
			columns[i].Release()
		}
	}()
	return array.NewTable(table.Schema(), columns, to-from)
}

// chooseHot returns the hot keys, with their numbers by hash, alike on all ranks: those whose rows of one side are more
// than an eighth of what a rank joins, and more than the copies of their partners on all holders. It leaves out keys
//
//   - whose rows must be unique on the side that stays, because rows with equal keys must meet then
//   - that may have the hash of another key (exact is false), if rows of the partners' side are in the output without a
//     partner, or once: no holder may be known to have a row of the other key
func chooseHot(spec *join.Spec, exact bool, all []sample) (hot []hotKey) {
	type key struct {
		rows    [2]float64
		holders [2][]int
	}
	total, found := 0.0, make(map[uint64]*key)
	for rank, s := range all {
		for side := range s.Keys {
			total += s.Rows[side]
			for _, f := range s.Keys[side] {
				k := found[f.Hash]
				if k == nil {
					k = new(key)
					found[f.Hash] = k
				}
				k.rows[side] += f.Rows
				k.holders[side] = append(k.holders[side], rank)
			}
		}
	}
	least := total / float64(len(all)) / hotShare
	for _, hash := range slices.Sorted(maps.Keys(found)) {
		k, stays := found[hash], relation.Left
		if k.rows[relation.Right] > k.rows[relation.Left] {
			stays = relation.Right
		}
		holders, partner := k.holders[stays], 1-stays
		once := spec.How.Has(partner) && !spec.How.Pairs()
		if k.rows[stays] < least || k.rows[partner]*float64(len(holders)) > k.rows[stays] ||
			spec.Validate.Unique(stays) || !exact && (once || spec.How.Keeps(partner)) {
			continue
		}
		hot = append(hot, hotKey{hash, stays, holders, once})
	}
	return hot
}

// moves returns where the rows of a side of hot keys go from a rank, as a Divider takes it: to the part of one rank, or
// to a further part whose rows go to several.
func moves(hot []hotKey, side relation.Side, rank, size int) (of map[uint64]int, copies [][]int) {
	of = make(map[uint64]int)
	for i := range hot {
		to := hot[i].ranks(side, rank)
		if len(to) == 1 {
			of[hot[i].hash] = to[0]
			continue
		}
		group := slices.IndexFunc(copies, func(other []int) bool { return slices.Equal(to, other) })
		if group < 0 {
			group, copies = len(copies), append(copies, to)
		}
		of[hot[i].hash] = size + group
	}
	return of, copies
}
