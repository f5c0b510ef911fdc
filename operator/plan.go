package operator

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/primitive"
)

// Facts are the input of a plan. Sides are [Build] and [Probe].
type Facts struct {
	Rows     [2]uint64
	KeyBytes int      // 4 or 8
	KeyBits  int      // the low bits in which keys differ; 0: all
	Narrow   bool     // the high words of 8-byte keys are all the same ([relation.Chunk])
	Payload  [2][]int // bytes per value of the payload columns: 4 or 8
	// Granule is the maximum number of probe rows at a time; 0: all of them.
	Granule uint64
	Stays   bool // the build side stays on the device for further probe sides
	// Window is the number of output rows that there is room for at a time; 0: as many as are expected ([Facts.Room]).
	Window    uint64
	HeldBytes uint64 // device memory that is taken during the whole join: inputs, buffers for batches
	// SmallBytes is taken likewise, in several buffers, each known to be no larger than the device allows.
	SmallBytes uint64
	Loaded     bool // chunks are loaded for this join, so that they take memory too
	// Ahead says that the next granule is loaded and the last window delivered while a granule is joined, so that there
	// is memory for two of each.
	Ahead bool
	// TableRows is the number of rows of the table of each side, including those that the device leaves out because
	// they have no key; 0: the same as Rows.
	TableRows [2]uint64
	// Encoded says that the device makes the keys of a side, for all rows that are loaded.
	Encoded [2]bool
	// InPlace says which payload columns of chunks that are loaded lie in the memory of the table; nil: none.
	InPlace [2][]bool

	OutputRows uint64     // pairs, estimated
	MostRows   uint64     // upper bound on OutputRows (99.7%); 0 if unknown
	Unique     bool       // keys of the build side are unique, as far as is known
	Proved     bool       // keys of the build side are known to be unique
	MatchRatio float64    // share of the probe rows that have a match
	BuildRatio float64    // share of the build rows that have a match
	Repeats    float64    // share of the matches with a build row that was just accessed for others; 0 without skew
	Hottest    [2]float64 // share of the rows of a side that have its most frequent key; 0 if unknown
	Distinct   float64    // build rows per distinct key; 1 for unique keys, 0 if unknown
	Sorted     [2]bool    // in order of the key, as far as is known

	Tuning       primitive.Tuning
	CacheBytes   float64 // columns and tables up to this size are near
	ShortLoops   bool    // the driver ends all loops of an invocation after 65,535 iterations ([ShortLoops])
	SubgroupSize int
	Raster       backend.RasterLimits // of images, if the device draws
	CannotDraw   error                // why it does not; nil if it does
}

// On fills in what follows from the device.
func (f *Facts) On(device *backend.Device) {
	f.ShortLoops, f.SubgroupSize = ShortLoops(device.Info()), int(device.Info().SubgroupSize)
	r, err := device.Rasterizer()
	if f.CannotDraw = err; err == nil {
		f.Raster = r.RasterLimits()
	}
}

// ShortLoops reports whether a driver ends all loops of an invocation after 65,535 iterations, without an error. lavapipe
// does; other Vulkan drivers for CPU cores are treated alike. OpenCL drivers for CPU cores do not.
func ShortLoops(info *backend.DeviceInfo) bool {
	return info.Backend == "vulkan" && info.Type == backend.Software
}

// Room is the number of pairs for which room is allocated before their exact number is known: [Facts.Pairs], or the
// size of a window if that is less.
func (f *Facts) Room() uint64 {
	room := f.Pairs()
	if f.Window > 0 {
		room = min(room, f.Window)
	}
	return max(1, room)
}

// Pairs is the number of pairs of a granule for which memory is planned: more than expected, because a join with too
// little room is repeated, but no more than unique keys allow.
func (f *Facts) Pairs() uint64 {
	probe := f.Held(Probe)
	share := float64(probe) / float64(max(1, f.Rows[Probe]))
	expected, most := uint64(share*float64(f.OutputRows)), uint64(share*float64(f.MostRows))
	pairs := max(most, expected+expected/4+min(probe, 1<<16))
	if f.Unique {
		pairs = min(pairs, probe)
	}
	return pairs
}

// RowBytes is the size of a row of a chunk of a side.
func (f *Facts) RowBytes(side int) uint64 {
	sizeBytes := f.KeyBytes
	for _, bytes := range f.Payload[side] {
		sizeBytes += bytes
	}
	return uint64(sizeBytes)
}

// Held is the number of rows of a side that are on the device at a time.
func (f *Facts) Held(side int) uint64 {
	if side == Probe && f.Granule > 0 {
		return min(f.Rows[side], f.Granule)
	}
	return f.Rows[side]
}

// Brought is the number of table rows that are loaded for a granule, on average, including those that are then left
// out, such as rows without a key.
func (f *Facts) Brought(side int) uint64 {
	all, held := max(f.TableRows[side], f.Rows[side]), f.Held(side)
	if held == f.Rows[side] {
		return all
	}
	return held + uint64(float64(held)*float64(all-f.Rows[side])/float64(f.Rows[side]))
}

// Granules is the number of granules of the probe side.
func (f *Facts) Granules() uint64 {
	if f.Granule == 0 {
		return 1
	}
	return max(1, (f.Rows[Probe]+f.Granule-1)/f.Granule)
}

// Kept reports whether the build side is kept after a granule, for other granules or for further probe sides.
func (f *Facts) Kept() bool { return f.Stays || f.Granules() > 1 }

// Windows is the expected number of windows that the pairs of a granule fill.
func (f *Facts) Windows() float64 {
	if f.Window == 0 {
		return 1
	}
	window := float64(f.Window)
	return max(1, (float64(f.OutputRows)/float64(f.Granules())+window-1)/window)
}

// CountsFirst reports whether the output of units is counted before any is written ([Units]), because it fills several
// windows or is more than a kernel can write.
func (f *Facts) CountsFirst() bool { return f.Windows() > 1 || f.Room() > mostRows }

// Check returns backend.ErrInvalidInput for invalid facts or wants.
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

// Plan says what an operator would do. Its algorithm opens the operator.
type Plan struct {
	Algorithm Algorithm
	Facts     Facts
	Want      Want
	Stages    []Stage // in the order in which they run
	PeakBytes uint64  // peak device memory, including Facts.HeldBytes and Facts.SmallBytes
	MostBytes uint64  // of the largest buffer
	// Reject says why the algorithm cannot join under these facts, as a backend.ErrLimit; nil if it can.
	Reject error
	// LeastGranule is the number of probe rows below which granules are not worthwhile, because each of them walks the
	// build side.
	LeastGranule uint64
	// Met is the number of random accesses that pairs make to the rows of a side whose columns were not moved. Repeated
	// accesses to a row that was just accessed do not count.
	Met [2]float64
	// ExtraTime is how much more predicted time it takes than with enough memory to join all rows at once; 0 without
	// rates.
	ExtraTime time.Duration
	Detail    any // decisions of the algorithm, for its operator
}

// Time is the predicted time of all stages.
func (p *Plan) Time() (total time.Duration) {
	for _, stage := range p.Stages {
		total += stage.Time
	}
	return total
}

// Stage is a part of a join with the work that it takes. Time is its predicted time, filled in from the rates of the
// device.
type Stage struct {
	Name string
	Work Work
	Time time.Duration
}

// The stages. Only joins of tables have the first and the last.
const (
	Load      = "load"      // keys are encoded, keys and payload go to the device
	Transform = "transform" // partition, sort, building of a table
	Match     = "match"     // matches are found, and the first columns of the output written
	Gather    = "gather"    // the other columns of the output are made on the device
	Deliver   = "deliver"   // output goes to the host, which fetches the columns that the device does not have
)

// Alone is the expected number of output rows of a side alone, without a row of the other side.
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

// AloneRoom is the number of output rows of a side alone that there is room for at a time: those that are expected of a
// granule, or a window of them. More may come, so it is never less than what [Rows] writes at a time at least.
func (p *Plan) AloneRoom(side int) uint64 {
	f, rows := &p.Facts, p.Alone(side)
	if p.Want.Count || !p.Want.Marks(side) {
		return 0
	}
	if side == Probe {
		rows /= float64(f.Granules())
	}
	room := uint64(rows)
	if f.Window > 0 {
		room = min(room, f.Window)
	}
	return max(room, min(f.Held(side), blockRows))
}

// Add adds work to a stage.
func (p *Plan) Add(stage string, unit Unit, amount float64) {
	i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.Name == stage })
	if i < 0 {
		i = len(p.Stages)
		p.Stages = append(p.Stages, Stage{Name: stage})
	}
	p.Stages[i].Work[unit] += amount
}

// AddWork adds work of several units to a stage.
func (p *Plan) AddWork(stage string, work *Work) {
	for unit, amount := range work {
		if amount != 0 {
			p.Add(stage, Unit(unit), amount)
		}
	}
}

// SortStages puts the stages in the order in which they run.
func (p *Plan) SortStages() {
	order := []string{Load, Transform, Match, Gather, Deliver}
	slices.SortFunc(p.Stages, func(a, b Stage) int {
		return cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name))
	})
}
