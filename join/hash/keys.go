package hash

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// newHigh readies the word that the passes over narrow keys compare with.
func (j *partitioned) newHigh(ctx context.Context) error {
	if !j.narrow {
		return nil
	}
	j.high = j.lane.Memory.New(8, "high word")
	if err := j.lane.Memory.Err(); err != nil {
		return err
	}
	list := new(backend.List)
	list.Fill(j.high.Range(0, 4), j.build.HighWord)
	list.Fill(j.high.Range(4, 4), 0) // for the pass that counts
	return j.lane.Submit(ctx, list)
}

// fetch is [exec.Lane.Fetch]. It refuses chunks that are not as narrow as they say.
func (j *partitioned) fetch(ctx context.Context, list *backend.List, results ...backend.Transfer) error {
	var differing [4]byte
	if j.narrow {
		results = append(results, backend.Transfer{Device: j.high.Range(4, 4), Host: differing[:]})
	}
	if err := j.lane.Fetch(ctx, list, results...); err != nil {
		return err
	}
	if differing != [4]byte{} {
		return &backend.OpError{Op: "hash join", Err: backend.ErrInvalidInput,
			Detail: "keys differ in their high words, of chunks that are said to be narrow"}
	}
	return nil
}

// unmix turns rows moved keys back.
func (j *partitioned) unmix(list *backend.List, keys, to backend.Range, rows uint64) error {
	return j.lane.Unmix(list, primitive.Unmixing{Rows: rows, KeyBytes: int(j.config.KeyBits / 8), Seed: partitionSeed,
		Widened: j.narrow, High: j.build.HighWord}, keys, to)
}
