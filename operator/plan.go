package operator

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Facts are what a plan depends on. Sides are [Build] and [Probe].
type Facts struct {
	Rows     [2]uint64
	KeyBytes int      // 4 or 8
	KeyBits  int      // the low bits in which keys differ; 0: all
	Narrow   bool     // the high words of 8-byte keys are all the same ([relation.Chunk])
	Payload  [2][]int // bytes of the payload columns: 4 or 8
	// Granule is how many probe rows come at a time, at most; 0: all of them.
	Granule uint64
	Stays   bool // the build side stays for further probe sides
	// Window is how many output rows there is room for at a time; 0: as many as are expected ([Facts.Room]).
	Window    uint64
	HeldBytes uint64 // device memory that is taken during the whole join: inputs, buffers for batches
	// SmallBytes are taken likewise, in several buffers of which each is known to be no larger than the device allows.
	SmallBytes uint64
	Loaded     bool // chunks are brought for this join: they take memory too
	// TableRows are those of which chunks are made, with the ones that have no key and are left out on the device; 0: no
	// more than Rows.
	TableRows [2]uint64
	// Encoded says that the device makes the keys of a side, of all rows that are brought.
	Encoded [2]bool

	OutputRows uint64     // pairs, estimated
	MostRows   uint64     // upper bound on OutputRows (99.7%); 0 if unknown
	Unique     bool       // no key is on the build side twice, as far as is known
	Proved     bool       // no key is on the build side twice, for certain
	MatchRatio float64    // share of the probe rows that have a match
	BuildRatio float64    // share of the build rows that have one
	Repeats    float64    // share of the matches that meet a build row which others have just met; 0 without skew
	Hottest    [2]float64 // share of the rows of a side that have its most frequent key; 0 where not known
	Distinct   float64    // build rows for each distinct key; 1 for unique keys, 0 where not known
	Sorted     [2]bool    // in order of the key, as far as is known

	Tuning       primitive.Tuning
	CacheBytes   float64 // columns and tables up to this size are near
	Software     bool    // a driver for CPU cores, which ends all loops of an invocation after 65,535 trips
	SubgroupSize int
}

// Room is the number of pairs for which there is room before their exact number is known: more than expected, because a
// join with too little room is repeated, but no more than unique keys allow.
func (f *Facts) Room() uint64 {
	probe := f.Held(Probe)
	share := float64(probe) / float64(max(1, f.Rows[Probe]))
	expected, most := uint64(share*float64(f.OutputRows)), uint64(share*float64(f.MostRows))
	room := max(most, expected+expected/4+min(probe, 1<<16))
	if f.Unique {
		room = min(room, probe)
	}
	if f.Window > 0 {
		room = min(room, f.Window)
	}
	return max(1, room)
}

// Held is how many rows of a side are on their way at a time.
func (f *Facts) Held(side int) uint64 {
	if side == Probe && f.Granule > 0 {
		return min(f.Rows[side], f.Granule)
	}
	return f.Rows[side]
}

// Brought is how many rows of a table are brought at a time, at most, to leave some out. Granules have as many on average.
func (f *Facts) Brought(side int) uint64 {
	all, held := max(f.TableRows[side], f.Rows[side]), f.Held(side)
	if held == f.Rows[side] {
		return all
	}
	return held + uint64(float64(held)*float64(all-f.Rows[side])/float64(f.Rows[side]))
}

// Granules is how many of them the probe side comes in.
func (f *Facts) Granules() uint64 {
	if f.Granule == 0 {
		return 1
	}
	return max(1, (f.Rows[Probe]+f.Granule-1)/f.Granule)
}

// Kept says that the build side is kept behind a granule, for others or for further probe sides.
func (f *Facts) Kept() bool { return f.Stays || f.Granules() > 1 }

// Windows is how many a granule fills with pairs, as far as is known.
func (f *Facts) Windows() float64 {
	if f.Window == 0 {
		return 1
	}
	window := float64(f.Window)
	return max(1, (float64(f.OutputRows)/float64(f.Granules())+window-1)/window)
}

// CountsFirst tells whether the output of units is counted before any is written ([Units]), because it fills several
// windows or is more than a kernel writes.
func (f *Facts) CountsFirst() bool { return f.Windows() > 1 || f.Room() > mostRows }

// Check reports facts and wants that make no sense.
func (f *Facts) Check(op string, want *Want) error {
	detail := ""
	switch {
	case f.KeyBytes != 4 && f.KeyBytes != 8:
		detail = fmt.Sprintf("keys of %d bytes", f.KeyBytes)
	case want.Pairs && (want.Matched[Build] || want.Matched[Probe]):
		detail = "pairs and matched rows are wanted of one join"
	case !want.Pairs && !want.Marks(Build) && !want.Marks(Probe):
		detail = "nothing is wanted of the join"
	default:
		return nil
	}
	return &backend.OpError{Op: op, Err: backend.ErrInvalidInput, Detail: detail}
}

// Plan is what an operator would do. Its algorithm opens it.
type Plan struct {
	Algorithm Algorithm
	Facts     Facts
	Want      Want
	Stages    []Stage // in the order of the work
	PeakBytes uint64  // device memory at its peak, with Facts.HeldBytes and Facts.SmallBytes
	MostBytes uint64  // of one buffer
	// Reject says why the algorithm cannot join under these facts, backend.ErrLimit; nil where it can.
	Reject error
	// LeastGranule is the number of probe rows below which granules do not pay: each of them walks the build side.
	LeastGranule uint64
	// Met is how many random accesses pairs make to the rows of a side, where its columns were not moved. A further
	// access to a row that was just met does not count.
	Met    [2]float64
	Detail any // what the algorithm has decided, for its operator
}

// Time is that of all stages, as predicted.
func (p *Plan) Time() (total time.Duration) {
	for _, stage := range p.Stages {
		total += stage.Time
	}
	return total
}

// Stage is a part of a join, with the work that it takes. Time is predicted, by whoever knows the rates of the device.
type Stage struct {
	Name string
	Work Work
	Time time.Duration
}

// The stages. The first and the last are only those of tables.
const (
	Load      = "load"      // keys are encoded, keys and payload go to the device
	Transform = "transform" // partition, sort, building of a table
	Match     = "match"     // matches are found, and the first columns of the output written
	Gather    = "gather"    // the other columns of the output are made on the device
	Deliver   = "deliver"   // output goes to the host, which fetches what the device has not
)

// Alone is how many rows of a side are put for themselves, expected.
func (p *Plan) Alone(side int) float64 {
	f := &p.Facts
	share, rows := [2]float64{f.BuildRatio, f.MatchRatio}[side], 0.0
	if p.Want.Matched[side] {
		rows = share * float64(f.Rows[side])
	}
	if p.Want.Rest[side] {
		rows += (1 - share) * float64(f.Rows[side])
	}
	return rows
}

// Add books work for a stage.
func (p *Plan) Add(stage string, unit Unit, amount float64) {
	i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.Name == stage })
	if i < 0 {
		i = len(p.Stages)
		p.Stages = append(p.Stages, Stage{Name: stage})
	}
	p.Stages[i].Work[unit] += amount
}

// SortStages puts the stages in the order of the work.
func (p *Plan) SortStages() {
	order := []string{Load, Transform, Match, Gather, Deliver}
	slices.SortFunc(p.Stages, func(a, b Stage) int {
		return cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name))
	})
}
