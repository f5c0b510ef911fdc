// Package plan chooses how to join: from facts about two relations and measured rates of a device it predicts, for
// every algorithm, the time of each stage and the device memory at its peak, and puts the alternatives in order. It is
// a pure function of its arguments and touches no device.
//
// Where no rates of a device are known the decision tree of GFTR 5.4 orders the alternatives instead ([Tree]).
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Algorithm is a way to join, by its name in GFTR 5.1.
type Algorithm uint8

const (
	Auto  Algorithm = iota // whatever is predicted to be fastest
	PHJOM                  // partitioned hash join, payload partitioned with the keys
	PHJUM                  // partitioned hash join, payload gathered from where it is
	HJ                     // hash join with one table, nothing partitioned
	SMJOM                  // sort-merge join, payload sorted with the keys
	SMJUM                  // sort-merge join, payload gathered from where it is
	algorithms
)

var algorithmNames = [algorithms]string{"auto", "phj-om", "phj-um", "hj", "smj-om", "smj-um"}

func (a Algorithm) String() string { return algorithmNames[a] }

// ParseAlgorithm reads the name of an algorithm; "" is auto.
func ParseAlgorithm(name string) (Algorithm, error) {
	if name == "" {
		return Auto, nil
	}
	if i := slices.Index(algorithmNames[:], strings.ToLower(name)); i >= 0 {
		return Algorithm(i), nil
	}
	return Auto, fmt.Errorf("%w: no algorithm %q; there are %s", backend.ErrInvalidInput, name,
		strings.Join(algorithmNames[:], ", "))
}

// Facts are what a plan depends on. Sides are left and right. The build side is the one with fewer rows, left if both
// have the same number; the other is the probe side.
type Facts struct {
	Rows     [2]uint64
	KeyBytes int      // 4 or 8
	KeyBits  int      // the low bits in which keys differ; 0: all
	Payload  [2][]int // bytes of the columns on the device that the output needs: 4 or 8
	Count    bool     // only the number of output rows is wanted

	OutputRows uint64     // estimate
	MostRows   uint64     // what the estimate may fall short of, three times in a thousand; 0 where that is not known
	Unique     bool       // no key is on the build side twice, as far as is known
	MatchRatio float64    // share of the probe rows that have a match
	Repeats    float64    // share of the matches that meet a build row which others have just met; 0 without skew
	Hottest    [2]float64 // share of the rows of a side that have its most frequent key; 0 where not known
	Sorted     [2]bool    // in order of the key, as far as is known

	// Tables says that keys and payload come from the host and the output goes there, batch by batch. The further facts
	// are about tables.
	Tables   bool
	Numbers  [2]bool  // row numbers of a side are wanted too
	Numbered [2][]int // bytes of the columns that the device fetches by row number for each batch, from where they are
	Host     [2]int   // how many columns the host fetches by row number

	HeldBytes uint64 // device memory that is taken during the whole join: inputs, buffers for batches
}

// Build returns the build side: that with fewer rows.
func (f *Facts) Build() relation.Side {
	if f.Rows[relation.Right] < f.Rows[relation.Left] {
		return relation.Right
	}
	return relation.Left
}

// Room is the number of output rows that a hash join allocates before it knows the exact count: more than expected,
// because a join with too little room is repeated, but no more than unique keys allow.
func (f *Facts) Room() uint64 {
	probe := f.Rows[1-f.Build()]
	room := max(f.MostRows, f.OutputRows+f.OutputRows/4+min(probe, 1<<16))
	if f.Unique {
		room = min(room, probe)
	}
	return max(1, room)
}

// Alternative is one way to join, with what is predicted for it.
type Alternative struct {
	Algorithm Algorithm
	OneByOne  bool          // payload columns are moved one at a time, which takes less memory
	Stages    []Stage       // in the order of the work; without rates none
	Time      time.Duration // of all stages
	PeakBytes uint64        // device memory at its peak, with Facts.HeldBytes
	MostBytes uint64        // of one buffer
	Reject    error         // why it cannot be taken, backend.ErrDeviceMemory or ErrLimit; nil where it can
}

// Name is the name of the algorithm and its form.
func (a *Alternative) Name() string {
	if a.OneByOne {
		return a.Algorithm.String() + " one by one"
	}
	return a.Algorithm.String()
}

// Batchwise reports whether the alternative finds or counts ranges of matches, from which output is made batch by batch
// (ranges.Match). The others make all output at once.
func (a *Alternative) Batchwise(f *Facts) bool { return a.Algorithm == SMJUM && (f.Tables || f.Count) }

// Stage is a part of a join. Time is predicted.
type Stage struct {
	Name string
	Time time.Duration

	work work
}

// The stages. The first and the last are only those of tables.
const (
	Load      = "load"      // keys are encoded, keys and payload go to the device
	Transform = "transform" // partition, sort, building of a table
	Match     = "match"     // matches are found, and the first columns of the output written
	Gather    = "gather"    // the other columns of the output are made on the device
	Deliver   = "deliver"   // output goes to the host, which fetches what the device has not
)

// StageOf tells which stage a step of a join, by its name in a profile, belongs to.
func StageOf(step string) string {
	switch first, _, _ := strings.Cut(step, " "); {
	case step == "gather keys":
		return Match
	case first == "gather":
		return Gather
	case first == "number":
		return Load
	case slices.Contains([]string{"partition", "sort", "varying", "build"}, first):
		return Transform
	}
	return Match
}

// Limits are what the plan of a join must keep to.
type Limits struct {
	DeviceMemoryBytes uint64 // of all buffers together; 0: no limit
	BlockBytes        uint64 // of one buffer; 0: no limit
}

// Choose returns the alternatives for these facts, the best first and those that cannot be taken last. The error says
// that the facts allow no plan.
func Choose(f Facts, rates *Rates, tuning primitive.Tuning, limits Limits) ([]Alternative, error) {
	var all []Alternative
	for _, a := range []Alternative{{Algorithm: PHJOM}, {Algorithm: PHJOM, OneByOne: true}, {Algorithm: PHJUM},
		{Algorithm: HJ},
		{Algorithm: SMJOM}, {Algorithm: SMJOM, OneByOne: true}, {Algorithm: SMJUM}} {
		if !f.has(&a) {
			continue
		}
		if err := predict(&f, rates, tuning, &a); err != nil {
			return nil, err
		}
		a.check(&f, limits)
		all = append(all, a)
	}
	SortAlternatives(all, f, rates != nil)
	return all, nil
}

// SortAlternatives puts the best first: by time, or where none is predicted by [Tree]; those that cannot be taken last.
func SortAlternatives(all []Alternative, f Facts, timed bool) {
	tree := Tree(f)
	rank := func(a *Alternative) int {
		i := slices.Index(tree, a.Algorithm) * 2
		if a.OneByOne {
			i++
		}
		return i
	}
	slices.SortStableFunc(all, func(a, b Alternative) int {
		if (a.Reject == nil) != (b.Reject == nil) {
			return cmp.Compare(rejected(&a), rejected(&b))
		}
		if c := cmp.Compare(a.Time, b.Time); timed && c != 0 {
			return c
		}
		return cmp.Compare(rank(&a), rank(&b))
	})
}

// has leaves out forms that coincide with another one under these facts: where only keys move, and where no two columns
// move together.
func (f *Facts) has(a *Alternative) bool {
	columns := max(len(f.Payload[0]), len(f.Payload[1]))
	switch {
	case f.Count:
		return a.Algorithm == PHJOM && !a.OneByOne || a.Algorithm == HJ || a.Algorithm == SMJUM
	case f.Tables && columns == 0: // row numbers at most
		return a.Algorithm == PHJUM || a.Algorithm == HJ || a.Algorithm == SMJUM
	case columns == 0:
		return a.Algorithm == PHJOM && !a.OneByOne || a.Algorithm == HJ || a.Algorithm == SMJOM && !a.OneByOne
	case a.OneByOne:
		return columns > 1
	}
	return true
}

func (a *Alternative) check(f *Facts, limits Limits) {
	build := f.Build()
	repeats := f.Hottest[build] * float64(f.Rows[build])
	reject := func(err error, format string, args ...any) {
		a.Reject = &backend.OpError{Op: "plan join", Err: err, Detail: a.Name() + " " + fmt.Sprintf(format, args...)}
	}
	switch {
	case limits.DeviceMemoryBytes > 0 && a.PeakBytes > limits.DeviceMemoryBytes:
		reject(backend.ErrDeviceMemory,
			"needs %d bytes of device memory, the limit is %d; raise device_memory to at least %s",
			a.PeakBytes, limits.DeviceMemoryBytes, text.Mebibytes(a.PeakBytes))
	case limits.BlockBytes > 0 && a.MostBytes > limits.BlockBytes:
		reject(backend.ErrDeviceMemory, "needs %d bytes in one buffer, the device allows %d", a.MostBytes,
			limits.BlockBytes)
	case a.Algorithm == HJ && repeats > mostRepeats:
		reject(backend.ErrLimit, "takes a key of the build side %d times at most, one is there about %.0f times",
			mostRepeats, repeats)
	case a.Algorithm == HJ && f.Rows[build] > hash.MostBuildRows:
		reject(backend.ErrLimit, "takes %d build rows at most", uint64(hash.MostBuildRows))
	case !f.Count && f.OutputRows > primitive.MaxRows && !a.Batchwise(f):
		reject(backend.ErrLimit, "makes %d rows at most, about %d are expected", uint64(primitive.MaxRows),
			f.OutputRows)
	}
}

func rejected(a *Alternative) int {
	if a.Reject != nil {
		return 1
	}
	return 0
}

// mostRepeats is somewhat less than the rows of one key that a table takes (join/hash, patience): other keys need slots
// too.
const mostRepeats = 128
