// Package operator is the contract between joins and the algorithms that find their matches, and what algorithms share:
// the way of payload to the output (GFTR 4.1), output that a kernel makes unit by unit, rows without a partner, and the
// account of work and memory by which an algorithm plans.
//
// An algorithm plans without a device and records what it planned. Its operator takes the build side once and the probe
// side in granules, and fills windows, which a [Sink] gives and takes.
package operator

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/relation"
)

// The sides of a join as operators see them.
const (
	Build = 0 // is transformed or made a table, once
	Probe = 1 // comes in granules, each of which meets all of the build side
)

// Want says which rows the output has. Every kind of join is a combination: an inner join wants pairs, a left join pairs
// and the left rows that have none, a semi join matched rows, an anti join the others, a mark join both.
type Want struct {
	Pairs   bool    // a row for each two rows with equal keys
	Matched [2]bool // a row for each row of a side that has a partner; not together with Pairs
	Rest    [2]bool // a row for each row of a side that has none
	Keys    bool    // rows have a key column, beside the payload
	Count   bool    // no rows are made; their number goes to [Sink.Count]
}

// Marks tells of a side whether it matters which of its rows have a partner.
func (w *Want) Marks(side int) bool { return w.Matched[side] || w.Rest[side] }

// Algorithm is a way to join. The list of all is in package join.
type Algorithm interface {
	Name() string
	// Plan says what the operator would do, and the work and memory that it takes. It is a pure function. An algorithm
	// that cannot join under these facts says so in [Plan.Reject]; the error is that of facts which make no sense.
	Plan(f *Facts, want Want) (*Plan, error)
	// Open returns an operator that does what was planned, with memory of its own from the lane. The caller closes it.
	Open(ctx context.Context, lane *exec.Lane, p *Plan) Operator
}

// Operator is a join under way. It is used by one goroutine at a time.
type Operator interface {
	// Build takes the build side, once, and before anything else. Its columns must live until Close.
	Build(ctx context.Context, build *relation.Chunk) error
	// Probe joins a granule of the probe side and puts what comes of it, but for the rows that only Finish knows; there
	// are as many granules as Facts.Granule makes of Facts.Rows. Memory for the granule comes from the lane, and goes
	// back with the return; its columns may be released then. Without rows on either side Probe does what is left to do.
	Probe(ctx context.Context, lane *exec.Lane, probe *relation.Chunk, sink Sink) error
	// Finish puts the rows of the build side that depend on all granules: those with or without a partner.
	Finish(ctx context.Context, sink Sink) error
	// Rewind forgets what was probed, also after an error of Probe or Finish, so that another probe side can come; for
	// plans with Facts.Stays.
	Rewind(ctx context.Context) error
	// Close gives all memory back, whatever was called before and however that ended. An operator that has returned an
	// error can only be closed or rewound.
	Close()
}
