// Package operator is the contract between joins and the algorithms that find their matches, and the code that the
// algorithms share: payload columns and how they reach the output (GFTR, section 4.1), output that a kernel writes unit
// by unit, rows without a partner, and the account of work and memory with which an algorithm plans.
//
// An algorithm plans without a device, and its operator does what was planned. The operator takes the build side once
// and the probe side in granules, and fills windows, which it gets from and returns to a [Sink]. docs/operators.md is
// an introduction; docs/glossary.md lists the papers: GFTR (gather from transformed relations) and RT.
package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// The sides of a join as operators see them.
const (
	Build = 0 // is sorted, partitioned or made a hash table, once
	Probe = 1 // arrives in granules, each of which is joined with the whole build side
)

// Want says which rows the output has. Every kind of join is a combination: an inner join wants pairs, a left join
// pairs and the left rows without a partner, a semi join the rows with a partner, an anti join those without, a mark
// join both.
type Want struct {
	Pairs   bool    // a row for each pair of rows with equal keys
	Matched [2]bool // a row for each row of a side that has a partner; not together with Pairs
	Rest    [2]bool // a row for each row of a side that has none
	Keys    bool    // rows have a key column, in addition to the payload
	Count   bool    // no rows are written; their number goes to [Sink.Count]
}

// Marks reports whether it matters which rows of a side have a partner.
func (w *Want) Marks(side int) bool { return w.Matched[side] || w.Rest[side] }

// Once reports whether one step makes all rows: the pairs, or the rows of a side that have a partner. Rows without a
// partner come at the end, and after them rows without a key.
func (w *Want) Once() bool {
	return w.Rest == [2]bool{} && (w.Pairs && w.Matched == [2]bool{} || !w.Pairs && w.Matched[0] != w.Matched[1])
}

// Algorithm is a join algorithm. Package join has the list of all.
type Algorithm interface {
	Name() string
	// Plan returns what the operator would do, and the work and memory that it takes. It is a pure function. An
	// algorithm that cannot join under these facts says so in [Plan.Reject]; an error is returned only for invalid
	// facts.
	Plan(f *Facts, want Want) (*Plan, error)
	// Open returns an operator that does what was planned, and allocates its memory from the lane. The caller closes
	// it.
	Open(ctx context.Context, lane *exec.Lane, p *Plan) Operator
}

// ByName is an algorithm that runs only where it is asked for by name: the planner never chooses it among others.
type ByName interface {
	ByName() (why string)
}

// Operator is a join in progress. It is used by one goroutine at a time.
type Operator interface {
	// Build takes the build side. It is called once, before anything else. The columns must live until Close.
	Build(ctx context.Context, build *relation.Chunk) error
	// Probe joins a granule of the probe side and outputs its rows, except those that depend on all granules. The
	// number of granules follows from Facts.Granule and Facts.Rows. Memory for the granule comes from the lane and is
	// released when Probe returns; the columns of the granule may be released then. If a side has no rows, Probe
	// outputs what the other one contributes.
	Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink Sink) error
	// Finish outputs the rows of the build side that depend on all granules: those with or without a partner.
	Finish(ctx context.Context, sink Sink) error
	// Rewind discards the results of all probes, also after an error of Probe or Finish, so that another probe side can
	// follow. It is allowed only for plans with Facts.Stays.
	Rewind(ctx context.Context) error
	// Close releases all memory, whatever was called before and with whatever result. An operator that has returned an
	// error can only be closed or rewound.
	Close()
}
