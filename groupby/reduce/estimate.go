package reduce

import (
	"cmp"
	"context"
	"math"
	"math/bits"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// A sample is samplePieces pieces of pieceRows rows each, from all over a batch.
const (
	samplePieces = 16
	pieceRows    = 1 << 10
)

// groupCount is a number of groups that is not known: about likely, and hardly ever more than most.
type groupCount struct{ likely, most uint64 }

// estimate returns about how many groups a batch has, by the facts or by a sample of its keys.
func (o *Operator) estimate(ctx context.Context, lane *exec.Lane, b *batch) (groupCount, error) {
	f := &o.plan.Facts
	if b.groups.likely > 0 {
		return b.groups, nil
	}
	if f.Groups > 0 {
		groups := min(f.Groups, b.rows)
		return groupCount{groups, groups}, nil
	}
	pieces, keyBytes := uint64(samplePieces), uint64(f.KeyBytes)
	rows := pieces * pieceRows
	if b.rows <= rows {
		pieces, rows = 1, b.rows
	}
	memory := lane.Scope(ctx)
	defer memory.ReleaseAll()
	sample, each := memory.New(rows*keyBytes, "sample"), rows/pieces
	if err := memory.Err(); err != nil {
		return groupCount{}, err
	}
	err := lane.Run(ctx, "group, sample", func(list *backend.List) (err error) {
		for i := range pieces {
			first := (b.rows - each) * i / max(1, pieces-1)
			err = cmp.Or(err, lane.Copy(list, sample.Range(i*each*keyBytes, each*keyBytes),
				b.keys.Part(first*keyBytes, each*keyBytes)))
		}
		return err
	})
	data := make([]byte, rows*keyBytes)
	if err == nil {
		err = lane.Download(ctx, data, sample.All())
	}
	if err != nil {
		return groupCount{}, err
	}
	runs, different, once := countKeys(data, f.KeyBytes)
	return estimateGroups(b.rows/rows*runs+b.rows%rows*runs/rows, runs, different, once), nil
}

// countKeys returns how many runs of equal keys there are, how many different keys, and how many of them have one run.
// Of rows that are near each other because their keys are equal, a sample has all or none.
func countKeys(keys []byte, keyBytes int) (runs, different, once uint64) {
	rows := len(keys) / keyBytes
	log2 := bits.Len(uint(2 * rows))
	table, counts := make([]uint64, 1<<log2), make([]uint32, 1<<log2)
	var before uint64
	for row := range rows {
		var key uint64
		if keyBytes == 4 {
			key = uint64(backend.Words(keys)[row])
		} else {
			key = backend.Longs(keys)[row]
		}
		if row > 0 && key == before {
			continue
		}
		runs, before = runs+1, key
		at := key * 0x9e3779b97f4a7c15 >> (64 - log2)
		for counts[at] > 0 && table[at] != key {
			at = (at + 1) & (1<<log2 - 1)
		}
		table[at] = key
		if counts[at]++; counts[at] == 1 {
			different, once = different+1, once+1
		} else if counts[at] == 2 {
			once--
		}
	}
	return runs, different, once
}

// rareMost is how many times more groups there may be than estimated, if rare keys are many.
const rareMost = 16

// estimateGroups estimates the number of groups of rows rows from a sample of sample rows with different different
// keys, once of which occur once. If keys are equally frequent, n rows of the sample repeat a key by chance. That gives
// the number of groups with a relative error of about 1/sqrt(n); most adds two errors, up to twice the groups. If more
// keys occur once than equal frequency explains, there are many rare keys. Each key that occurs once then stands for
// sqrt(rows/sample) groups (Charikar, Chaudhuri, Motwani and Narasayya, 2000); most is larger by the same factor, up to
// rareMost. Unless likely is larger, most is at most a quarter of the rows, so that tables have at most half as many
// slots as rows.
func estimateGroups(rows, sample, different, once uint64) groupCount {
	if sample == rows {
		return groupCount{different, different}
	}
	alike := relation.DrawnFrom(float64(sample), float64(different))
	most := float64(alike) * min(2, 1+2/math.Sqrt(float64(sample-different)))
	if expected := float64(sample) * math.Exp(-float64(sample)/float64(alike)); float64(once) > 1.25*expected+64 {
		each := math.Sqrt(float64(rows) / float64(sample))
		alike = different - once + uint64(float64(once)*each)
		most = float64(alike) * min(rareMost, each)
	}
	likely := min(rows, alike)
	return groupCount{likely, max(likely, uint64(min(float64(rows)/4, most)))}
}
