// Package joins measures joins of relations that are on a device: the workloads of GFTR 5.1 and 5.2, with every
// algorithm. Each result is verified before it is timed.
package joins

import (
	"cmp"
	"context"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/relation"
)

// Algorithm is a way to join two relations that are on a device.
type Algorithm struct {
	Name string
	// by is nil for auto: whatever the planner predicts to be fastest, from a sample of both sides.
	by operator.Algorithm
	// unique says that the side with fewer rows must not have a key twice, and is joined as one that has none.
	unique bool
}

// Named returns an algorithm under a name; nil is the one that the planner predicts to be fastest.
func Named(name string, by operator.Algorithm) Algorithm { return Algorithm{Name: name, by: by} }

// Algorithms returns all algorithms; those that materialize have their names of GFTR 5.1.
func Algorithms() []Algorithm {
	return []Algorithm{
		{Name: "phj-om", by: hash.Partitioned{}},
		{Name: "phj-om-unique", by: hash.Partitioned{}, unique: true},
		{Name: "phj-om-single", by: hash.Partitioned{OneByOne: true}},
		{Name: "phj-om-count", by: hash.Partitioned{CountFirst: true}},
		{Name: "phj-om-pages-1", by: hash.Partitioned{PageRows: 1}},
		{Name: "phj-om-pages-2", by: hash.Partitioned{PageRows: 2}},
		{Name: "phj-om-pages-4", by: hash.Partitioned{PageRows: 4}},
		{Name: "phj-om-pages-8", by: hash.Partitioned{PageRows: 8}},
		{Name: "phj-um", by: hash.Partitioned{Untransformed: true}},
		{Name: "hj", by: hash.Unpartitioned{}},
		{Name: "hj-unique", by: hash.Unpartitioned{}, unique: true},
		{Name: "smj-om", by: sortmerge.OM},
		{Name: "smj-om-single", by: sortmerge.OMSingle},
		{Name: "smj-om-count", by: sortmerge.OMCountFirst},
		{Name: "smj-om-merge", by: sortmerge.OMMerge},
		{Name: "smj-um", by: sortmerge.UM},
		{Name: "auto"},
	}
}

// Names returns the names of all algorithms.
func Names() (names []string) {
	for _, a := range Algorithms() {
		names = append(names, a.Name)
	}
	return names
}

// Find returns algorithms by name, all for none and for "all".
func Find(names []string) ([]Algorithm, error) {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		return Algorithms(), nil
	}
	return measure.Find("join", Algorithms(), func(a Algorithm) string { return a.Name }, names)
}

// plan plans the join of a build side with a probe side, whose first granule is given. The facts are those that the
// workload is known by; auto looks for itself. The error of a join that cannot be is why.
func (a Algorithm) plan(ctx context.Context, lane *exec.Lane, build, probe *relation.Chunk, f operator.Facts,
	want operator.Want) (*operator.Plan, error) {
	if a.by != nil {
		f.Proved = a.unique
		p, err := a.by.Plan(&f, want)
		if err == nil {
			err = p.Reject
		}
		return p, err
	}
	rows := f.Rows
	if err := Sample(ctx, lane, build, probe, &f); err != nil {
		return nil, err
	}
	scale := float64(rows[operator.Probe]) / float64(max(1, f.Rows[operator.Probe]))
	f.Rows, f.OutputRows, f.MostRows = rows, uint64(scale*float64(f.OutputRows)), uint64(scale*float64(f.MostRows))
	device := lane.Device()
	rates := planner.RatesFor(device.Info())
	f.HeldBytes = device.MemoryUse(backend.DeviceLocal).InUse
	all, err := planner.Choose(f, want, join.Algorithms, rates, planner.Limits{
		DeviceMemoryBytes: device.Options().DeviceMemoryBytes, BlockBytes: device.Info().Limits.MaxBlockBytes})
	if err != nil {
		return nil, err
	}
	if all[0].Reject != nil {
		least := slices.MinFunc(all, func(a, b *operator.Plan) int { return cmp.Compare(a.PeakBytes, b.PeakBytes) })
		return nil, least.Reject
	}
	return all[0], nil
}
