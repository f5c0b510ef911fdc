package ranges

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Problem is what a plan depends on.
type Problem struct {
	Rows      [2]uint64 // rows with a key on the left and on the right
	HasIDs    [2]bool   // row numbers come with the keys; otherwise row i of the column is row i of the table
	KeyBytes  int       // 4 or 8
	KeyBits   int       // the low bits in which keys differ
	CountOnly bool      // only the number of matching pairs is wanted, so no row numbers move
}

// Plan is the sequence of steps and the device memory that each holds. The side with fewer rows, First, is sorted
// first, and its rows are looked up in the other. A side that turns out to be sorted is not sorted, and bits that all
// its keys share cost nothing.
type Plan struct {
	Problem
	First     relation.Side // the side that is sorted first and searched for
	sort      [2]primitive.SortPlan
	search    primitive.RangeSearchPlan
	scan      primitive.ScanPlan
	PeakBytes uint64 // device memory at most, until the matches are found
	HeldBytes uint64 // device memory that the matches hold afterwards
	MostBytes uint64 // of one buffer
}

// NewPlan plans a join. It allocates nothing and touches no device.
func NewPlan(t primitive.Tuning, p Problem) (Plan, error) {
	plan := Plan{Problem: p}
	if p.Rows[relation.Right] < p.Rows[relation.Left] {
		plan.First = relation.Right
	}
	if p.Rows[relation.Left] == 0 || p.Rows[relation.Right] == 0 {
		return plan, nil
	}
	first, second := plan.First, 1-plan.First
	var scratch [2]uint64 // of the sorts
	var err error
	for _, side := range []relation.Side{first, second} {
		if plan.sort[side], err = p.sortOf(t, side, 1<<p.KeyBits-1); err != nil {
			return plan, err
		}
		// Keys that differ in few bits only are sorted by one digit, which may need more scratch than several.
		oneDigit, err := p.sortOf(t, side, 1<<min(p.KeyBits, 8)-1)
		if err != nil {
			return plan, err
		}
		scratch[side] = max(plan.sort[side].ScratchBytes, oneDigit.ScratchBytes)
	}
	if plan.search, err = primitive.PlanRangeSearch(t, p.Rows[first], p.Rows[second], p.KeyBytes); err != nil {
		return plan, err
	}
	if plan.scan, err = primitive.PlanScan(t, p.Rows[first], 32, 64, true); err != nil {
		return plan, err
	}
	sorted := func(side relation.Side) uint64 { return p.Rows[side] * uint64(p.KeyBytes+p.idBytes()) }
	searched := plan.search.ScratchBytes
	if !p.CountOnly {
		searched += p.Rows[first] * 8
	}
	scanned := (p.Rows[first]+1)*8 + plan.scan.ScratchBytes
	for _, side := range []relation.Side{first, second} {
		plan.MostBytes = max(plan.MostBytes, p.Rows[side]*uint64(max(p.KeyBytes, p.idBytes())), scratch[side])
	}
	plan.MostBytes = max(plan.MostBytes, plan.search.ScratchBytes)
	if !p.CountOnly {
		plan.MostBytes = max(plan.MostBytes, (p.Rows[first]+1)*8, plan.scan.ScratchBytes)
	}
	ids := (p.Rows[relation.Left] + p.Rows[relation.Right]) * uint64(p.idBytes())
	plan.PeakBytes = max(
		2*sorted(first)+scratch[first],
		sorted(first)+2*sorted(second)+scratch[second],
		sorted(first)+sorted(second)+searched)
	if !p.CountOnly {
		plan.PeakBytes = max(plan.PeakBytes, ids+p.Rows[first]*8+scanned)
		plan.HeldBytes = ids + p.Rows[first]*8 + (p.Rows[first]+1)*8
	}
	plan.PeakBytes += plan.PeakBytes/8 + slackBytes
	return plan, nil
}

// slackBytes, with an eighth of the sum, covers what the arena needs beyond the buffers: alignment and partly used
// blocks.
const slackBytes = 1 << 20

// sortOf plans the sort of a side whose keys have to be ordered by some bits.
func (p *Problem) sortOf(t primitive.Tuning, side relation.Side, unordered uint64) (primitive.SortPlan, error) {
	layout := primitive.Layout{Rows: p.Rows[side], KeyBytes: p.KeyBytes, Payload: p.payload(side)}
	return primitive.PlanSort(t, primitive.Sort{Layout: layout, EndBit: bits.Len64(unordered), Varying: unordered})
}

func (p *Problem) payload(side relation.Side) primitive.Payload {
	switch {
	case p.CountOnly:
		return primitive.NoPayload
	case p.HasIDs[side]:
		return primitive.Given
	}
	return primitive.RowNumbers
}

func (p *Problem) idBytes() int {
	if p.CountOnly {
		return 0
	}
	return 4
}

// Check holds the plan against a cap of device memory, in bytes, and the limits of a device.
func (p *Plan) Check(capBytes uint64, limits *backend.Limits) error {
	switch {
	case p.MostBytes > limits.MaxBlockBytes:
		return &backend.OpError{Op: "plan sort-merge join", Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
			"%s need %d bytes in one buffer, the device allows %d, and %d in one allocation",
			p.Problem, p.MostBytes, limits.MaxBlockBytes, limits.MaxAllocationBytes)}
	case p.PeakBytes <= capBytes:
		return nil
	}
	return &backend.OpError{Op: "plan sort-merge join", Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
		"%s need %d bytes of device memory, the limit is %d; raise device_memory to at least %s",
		p.Problem, p.PeakBytes, capBytes, text.Mebibytes(p.PeakBytes))}
}

// String names the sizes of a problem.
func (p Problem) String() string {
	return fmt.Sprintf("%d x %d rows with keys of %d bytes", p.Rows[relation.Left], p.Rows[relation.Right], p.KeyBytes)
}

// String lists the steps for an explain text.
func (p *Plan) String() string {
	if p.Rows[relation.Left] == 0 || p.Rows[relation.Right] == 0 {
		return "nothing to match: one side has no rows with a key\n"
	}
	var b strings.Builder
	for _, side := range []relation.Side{p.First, 1 - p.First} {
		sort := &p.sort[side]
		payload := [...]string{"keys alone", "row numbers made on the way", "row numbers given"}[sort.Sort.Payload]
		fmt.Fprintf(&b, "sort %-5s   %d rows, %d-byte keys, %s in at most %s, %s\n",
			side, p.Rows[side], p.KeyBytes, text.Plural(p.KeyBits, "bit"), text.Plural(sort.Passes(), "pass"), payload)
	}
	fmt.Fprintf(&b, "range search the keys of the %s side in the %s side\n", p.First, 1-p.First)
	if !p.CountOnly {
		b.WriteString("expand       pairs of row numbers, balanced by output\n")
	}
	fmt.Fprintf(&b, "memory       at most %s on the device", text.Mebibytes(p.PeakBytes))
	if p.HeldBytes > 0 {
		fmt.Fprintf(&b, ", %s while pairs are expanded", text.Mebibytes(p.HeldBytes))
	}
	b.WriteByte('\n')
	return b.String()
}
