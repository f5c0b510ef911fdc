// Package resident has what the join algorithms share: relations and results that are on a device as columns, and
// payload on its way to the output. It knows keys and payload by their width, no tables.
package resident

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/primitive"
)

// Column is a column on a device, of values of 4 or 8 bytes.
type Column struct {
	Data  backend.Range
	Bytes int
}

// Relation is one side of a join. A join reads it and leaves it as it is.
type Relation struct {
	Rows    uint64
	Keys    Column
	Payload []Column
}

// Check reports a relation whose columns are not what it says.
func (r *Relation) Check(op string) error {
	if err := primitive.CheckRows(op, r.Rows); err != nil {
		return err
	}
	for i, c := range append([]Column{r.Keys}, r.Payload...) {
		if c.Bytes != 4 && c.Bytes != 8 || c.Data.SizeBytes != r.Rows*uint64(c.Bytes) {
			return &backend.OpError{Op: op, Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("column %d has %d bytes for %d rows of %d", i, c.Data.SizeBytes, r.Rows, c.Bytes)}
		}
	}
	return nil
}

// Result is the output of a join: Rows rows of the key and of the payload columns of both sides, in the order of their
// relations. Buffers may be longer. The owner releases it.
type Result struct {
	Rows    uint64
	Keys    *backend.Buffer
	Payload [2][]*backend.Buffer // of the left and of the right relation
	memory  *exec.Scope
}

// Release gives the device memory back.
func (r *Result) Release() { r.memory.ReleaseAll() }

// Swap exchanges the sides, for a join that took them the other way round.
func (r *Result) Swap() { r.Payload[0], r.Payload[1] = r.Payload[1], r.Payload[0] }

// Move hands the buffers over to another scope, which releases them then.
func (r *Result) Move(to *exec.Scope) {
	r.memory.Move(to, r.Keys)
	for _, side := range r.Payload {
		r.memory.Move(to, side...)
	}
}
