package ranges

import (
	"context"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
)

// KeyRange pairs every row of a range of the sorted left side with every row of a range of the sorted right side; all
// these rows have the same key (HMG 3.3.3).
type KeyRange struct {
	LeftBegin, LeftCount   uint32
	RightBegin, RightCount uint32
}

// Ranges downloads the matches as key ranges in ascending order of the key, together with the row numbers of the sorted
// sides, which the ranges index. The left side is the build side.
func (m *Matches) Ranges(ctx context.Context) (ranges []KeyRange, leftIDs, rightIDs []uint32, err error) {
	if m.Total == 0 {
		return nil, nil, nil, nil
	}
	var ids [2][]uint32
	for side := range ids {
		if ids[side], err = m.download(ctx, m.sides[side].IDs, m.sides[side].Rows); err != nil {
			return nil, nil, nil, err
		}
	}
	rows := m.sides[m.few].Rows
	begins, err := m.download(ctx, m.begins.All(), rows)
	if err != nil {
		return nil, nil, nil, err
	}
	counts, err := m.download(ctx, m.counts.All(), rows)
	if err != nil {
		return nil, nil, nil, err
	}
	ranges = joinRuns(begins, counts)
	if m.few == operator.Probe {
		for i, r := range ranges {
			ranges[i] = KeyRange{r.RightBegin, r.RightCount, r.LeftBegin, r.LeftCount}
		}
	}
	return ranges, ids[operator.Build], ids[operator.Probe], nil
}

// joinRuns makes one range of neighbouring rows with the same matches: they hold the same key.
func joinRuns(begins, counts []uint32) []KeyRange {
	var ranges []KeyRange
	for i, count := range counts {
		if count == 0 {
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1].RightBegin == begins[i] {
			ranges[n-1].LeftCount++
			continue
		}
		ranges = append(ranges, KeyRange{LeftBegin: uint32(i), LeftCount: 1, RightBegin: begins[i], RightCount: count})
	}
	return ranges
}

// download returns the first rows values of a column. The values of an absent column are 0, 1, 2, ...
func (m *Matches) download(ctx context.Context, from backend.Range, rows uint64) ([]uint32, error) {
	values := make([]uint32, rows)
	if from.Buffer == nil {
		for i := range values {
			values[i] = uint32(i)
		}
		return values, nil
	}
	return values, m.lane.Download(ctx, backend.AsBytes(values), from)
}
