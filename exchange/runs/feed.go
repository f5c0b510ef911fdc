package runs

import "context"

// Feed merges runs that are still arriving: whatever can no longer change is merged, so that the merge overlaps with
// the downloads of the last chunksets. The result is that of [Merge]. Used by one goroutine at a time.
type Feed[K, V Word] struct {
	out    Block[K, V]
	cores  int
	runs   []Run[K, V]
	ended  []bool
	merged []uint64 // rows of each run that are in out
}

// NewFeed returns a feed of some runs, all of them empty, into an output with room for all their rows, on at most cores
// goroutines.
func NewFeed[K, V Word](out Block[K, V], runs, cores int) *Feed[K, V] {
	return &Feed[K, V]{out, cores, make([]Run[K, V], runs), make([]bool, runs), make([]uint64, runs)}
}

// Add appends a block to a run. ErrInvalidInput if the run has ended, or for a block that [NewRun] refuses.
func (f *Feed[K, V]) Add(run int, b Block[K, V]) error {
	if f.ended[run] {
		return invalid("feed", "run %d has ended", run)
	}
	r, err := NewRun(append(f.runs[run].blocks, b)...)
	f.runs[run] = r
	return err
}

// End says that nothing more is added to a run.
func (f *Feed[K, V]) End(run int) { f.ended[run] = true }

// Merge merges the rows that no row to come can precede, and returns how many rows of the output are final. Errors are
// those of [Merge], and ErrInvalidInput if the output is too small.
func (f *Feed[K, V]) Merge(ctx context.Context) (rows uint64, err error) {
	parts, before, after := make([]Run[K, V], len(f.runs)), uint64(0), uint64(0)
	ends := f.final()
	for i, r := range f.runs {
		parts[i] = r.Slice(f.merged[i], max(ends[i], f.merged[i]))
		before += f.merged[i]
		after += parts[i].Len()
	}
	after += before
	if after > uint64(len(f.out.Keys)) || after > uint64(len(f.out.Rows)) {
		return before, invalid("feed", "room for %d rows, but there are %d", len(f.out.Keys), after)
	}
	if err := Merge(ctx, f.out.slice(int(before), int(after)), parts, f.cores); err != nil {
		return before, err
	}
	for i, r := range parts {
		f.merged[i] += r.Len()
	}
	return after, nil
}

// final returns how many rows of each run precede every row to come. Those begin with the last row of the unfinished
// run that is the first of its kind in the order of key and run.
func (f *Feed[K, V]) final() []uint64 {
	ends, first := make([]uint64, len(f.runs)), -1
	for i, r := range f.runs {
		ends[i] = r.Len()
		if f.ended[i] {
			continue
		}
		if r.Len() == 0 {
			return f.merged
		}
		if first < 0 || r.last() < f.runs[first].last() {
			first = i
		}
	}
	if first >= 0 {
		x := f.runs[first].last()
		for i, r := range f.runs {
			if i != first {
				ends[i] = r.bound(x, i < first, 0, r.Len())
			}
		}
	}
	return ends
}
