package peers

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// keysAt returns the keys of a few rows of a column.
func keysAt(ctx context.Context, lane *exec.Lane, column relation.Values, rows []uint64) ([]uint64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	places := temporary.New(uint64(4*len(rows)), "places of keys")
	found := temporary.New(uint64(len(rows)*column.Bytes), "keys at places")
	if err := temporary.Err(); err != nil {
		return nil, err
	}
	if _, err := lane.Device().Upload(ctx, places.All(), bytesOf(4, rows)); err != nil {
		return nil, err
	}
	keys := make([]byte, len(rows)*column.Bytes)
	err := lane.Run(ctx, "look at keys", func(list *backend.List) error {
		return lane.Gather(list, column.Bytes, column.Data, places.All(), found.All(), uint32(len(rows)))
	}, backend.Transfer{Device: found.All(), Host: keys})
	return numbersOf(column.Bytes, keys), err
}

// rangesOf returns, for keys in ascending order, how many rows of a sorted column have a lesser key, and how many an
// equal one.
func rangesOf(ctx context.Context, lane *exec.Lane, column relation.Values, keys []uint64) (less, equal []uint64,
	err error) {
	less, equal = make([]uint64, len(keys)), make([]uint64, len(keys))
	rows := column.Data.SizeBytes / uint64(column.Bytes)
	if rows == 0 || len(keys) == 0 {
		return less, equal, nil
	}
	temporary := lane.Scope(ctx)
	defer temporary.ReleaseAll()
	p, err := primitive.PlanRangeSearch(lane.Tuning(), uint64(len(keys)), rows, column.Bytes)
	if err != nil {
		return nil, nil, err
	}
	wanted := temporary.New(uint64(column.Bytes*len(keys)), "splitters")
	begins, counts := temporary.New(uint64(4*len(keys)), "begins"), temporary.New(uint64(4*len(keys)), "counts")
	scratch := temporary.New(p.ScratchBytes, "search scratch")
	if err := temporary.Err(); err != nil {
		return nil, nil, err
	}
	if _, err := lane.Device().Upload(ctx, wanted.All(), bytesOf(column.Bytes, keys)); err != nil {
		return nil, nil, err
	}
	first, found := make([]byte, 4*len(keys)), make([]byte, 4*len(keys))
	err = lane.Run(ctx, "look for splitters", func(list *backend.List) error {
		return lane.RangeSearch(list, p, wanted.All(), column.Data, begins.All(), counts.All(), scratch.All())
	}, backend.Transfer{Device: begins.All(), Host: first}, backend.Transfer{Device: counts.All(), Host: found})
	return numbersOf(4, first), numbersOf(4, found), err
}
