package peers

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// splitter is a boundary between the keys of two neighbouring ranks.
type splitter struct {
	Key    uint64
	Before bool // rows with this key are before the boundary, not after it
	None   bool // there are no rows after the boundary
}

// keyRange parts sorted chunks by position, or by whole keys.
type keyRange struct {
	rank, size int
	weights    []uint32
	whole      bool // all rows with a key go to one rank
	// apart makes each run a group: the rows that a rank gets from another one are to be merged with the others.
	apart bool

	chunks    []*relation.Chunk
	phase     keyRangePhase
	rows      [][]uint64 // of each rank, by chunk
	targets   []uint64
	search    search     // one cut for each boundary
	splitters []splitter // with whole keys
	at        [][]uint64 // the place of each boundary in each sequence
}

// keyRangePhase is what is measured next.
type keyRangePhase uint8

const (
	measureRows keyRangePhase = iota
	searchCuts                // until each cut is exact
	findKeys                  // behind the cuts: the splitters
	countKeys                 // that are less than, and equal to, the splitters
	knowAll
)

// keyRange returns a partitioner of sorted chunks: rank i gets the i-th range of keys, in as many rows as its weight
// says, of all chunks together. Of a sorted chunk nothing moves before it is sent. Boundaries are found by positions: a
// few keys are looked at in each of some rounds. With whole keys each boundary then moves to the nearest one between
// different keys; otherwise rows with equal keys may be on neighbouring ranks. What a rank receives is one sorted run
// from each other rank, in the order of ranks ([Received.Runs]).
func (r *Rank) keyRange(whole bool) *keyRange {
	return &keyRange{rank: r.Rank(), size: r.Size(), weights: r.Weights, whole: whole}
}

// sequence is the number of the sequence of a chunk of a rank.
func (k *keyRange) sequence(rank, chunk int) int { return rank*len(k.chunks) + chunk }

// Measure says what the phase needs.
func (k *keyRange) Measure(ctx context.Context, lane *exec.Lane, chunks []*relation.Chunk) ([]byte, error) {
	k.chunks = chunks
	var numbers []uint64
	switch k.phase {
	case measureRows:
		for _, c := range chunks {
			numbers = append(numbers, c.Rows)
		}
	case searchCuts:
		return k.search.ask(ctx, lane, k.rank, chunks)
	case findKeys:
		for i, c := range chunks {
			var rows []uint64
			for _, at := range k.at {
				if row := at[k.sequence(k.rank, i)]; row < c.Rows {
					rows = append(rows, row)
				}
			}
			keys, err := keysAt(ctx, lane, c.Keys, rows)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, keys...)
		}
	case countKeys:
		keys := make([]uint64, len(k.splitters))
		for b, s := range k.splitters {
			if keys[b] = s.Key; s.None && b > 0 {
				keys[b] = keys[b-1]
			}
		}
		for _, c := range chunks {
			less, equal, err := rangesOf(ctx, lane, c.Keys, keys)
			if err != nil {
				return nil, err
			}
			numbers = append(append(numbers, less...), equal...)
		}
	}
	return putNumbers(numbers...), nil
}

// Decide draws the conclusions of a phase.
func (k *keyRange) Decide(said [][]byte) (again bool, err error) {
	switch k.phase {
	case measureRows:
		if k.rows, err = allNumbers(said, len(k.chunks)); err == nil {
			k.begin()
		}
	case searchCuts:
		err = k.search.hear(said, len(k.chunks))
	case findKeys:
		if err = k.findSplitters(said); err == nil {
			k.phase = countKeys
			return true, nil
		}
	case countKeys:
		err = k.placeSplitters(said)
		k.phase = knowAll
	}
	if err != nil {
		return false, err
	}
	if k.phase == searchCuts && k.search.found() {
		for _, c := range k.search.cuts {
			k.at = append(k.at, c.low)
		}
		if k.phase = knowAll; k.whole {
			k.phase = findKeys
		}
	}
	return k.phase != knowAll, nil
}

// begin shares out the rows.
func (k *keyRange) begin() {
	var through []sequence
	var rows []uint64
	total := uint64(0)
	for rank := range k.rows {
		for chunk, n := range k.rows[rank] {
			through, rows = append(through, sequence{rank, chunk}), append(rows, n)
			total += n
		}
	}
	k.targets = targets(total, k.weights)
	k.phase = searchCuts
	for _, target := range k.targets[1:k.size] {
		k.search.add(newCut(rows, target), through)
	}
}

// findSplitters takes as splitter of each boundary the least key behind it: the minimum over the first keys behind it
// in each sequence.
func (k *keyRange) findSplitters(said [][]byte) error {
	k.splitters = make([]splitter, len(k.at))
	for b := range k.splitters {
		k.splitters[b].None = true
	}
	for rank := range said {
		keys := numbersOf(8, said[rank])
		for chunk := range k.chunks {
			for b, at := range k.at {
				if at[k.sequence(rank, chunk)] >= k.rows[rank][chunk] {
					continue
				}
				if len(keys) == 0 {
					return invalid("rank %d says too few keys", rank)
				}
				if s := &k.splitters[b]; s.None || keys[0] < s.Key {
					*s = splitter{Key: keys[0]}
				}
				keys = keys[1:]
			}
		}
	}
	return nil
}

// placeSplitters puts each boundary before or behind the rows with the key of its splitter, whichever is nearer to
// where it should be.
func (k *keyRange) placeSplitters(said [][]byte) error {
	boundaries := len(k.splitters)
	all, err := allNumbers(said, 2*len(k.chunks)*boundaries)
	if err != nil {
		return err
	}
	k.at = make([][]uint64, boundaries)
	less, equal := make([]uint64, boundaries), make([]uint64, boundaries)
	for b := range boundaries {
		for rank := range all {
			for chunk := range k.chunks {
				less[b] += all[rank][2*chunk*boundaries+b]
				equal[b] += all[rank][(2*chunk+1)*boundaries+b]
			}
		}
		s := &k.splitters[b]
		if target := k.targets[b+1]; !s.None {
			s.Before = distance(less[b]+equal[b], target) < distance(less[b], target)
		}
		for rank := range all {
			for chunk, rows := range k.rows[rank] {
				at := all[rank][2*chunk*boundaries+b]
				if s.Before {
					at += all[rank][(2*chunk+1)*boundaries+b]
				}
				if s.None {
					at = rows
				}
				k.at[b] = append(k.at[b], at)
			}
		}
	}
	return nil
}

// Apply returns a chunk as it is, and where its parts are.
func (k *keyRange) Apply(chunk int) *Parts {
	p := &Parts{Chunk: *k.chunks[chunk]}
	for owner := range k.size {
		rows := make([]uint64, k.size)
		for from := range rows {
			first, end := uint64(0), k.rows[from][chunk]
			if owner > 0 {
				first = k.at[owner-1][k.sequence(from, chunk)]
			}
			if owner < k.size-1 {
				end = k.at[owner][k.sequence(from, chunk)]
			}
			rows[from] = end - first
		}
		p.add(owner, rows, k.apart)
	}
	return p
}

// add adds the rows that ranks have for an owner, as one group, or as one for each rank.
func (p *Parts) add(owner int, rows []uint64, apart bool) {
	if p.apart = apart; !apart {
		p.Groups = append(p.Groups, len(p.Owners))
		p.Rows, p.Owners = append(p.Rows, rows), append(p.Owners, owner)
		return
	}
	for from, n := range rows {
		only := make([]uint64, len(rows))
		only[from] = n
		p.Groups = append(p.Groups, len(p.Owners))
		p.Rows, p.Owners = append(p.Rows, only), append(p.Owners, owner)
	}
}

// stay reports whether all rows are where they belong.
func (p *Parts) stay() bool {
	for part, rows := range p.Rows {
		for from, n := range rows {
			if n > 0 && p.Owners[part] != from {
				return false
			}
		}
	}
	return true
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }
