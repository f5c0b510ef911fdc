package query

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
)

// counted is a table that counts its owners.
type counted struct {
	arrow.Table
	owners int
}

func (c *counted) Retain()  { c.owners++ }
func (c *counted) Release() { c.owners-- }

// TestFailReleasesPartsOnce: parts of a device that fails go to the other devices or, where the join has ended
// meanwhile, are released, each once.
func TestFailReleasesPartsOnce(t *testing.T) {
	for _, ended := range []bool{false, true} {
		flow := exec.NewFlow(t.Context())
		query := &Query{Spec: Spec{Progress: exec.NewProgress(nil), Quota: new(deliver.Quota)}}
		r := &Result{flow: flow, parts: exec.NewPipe[*Part](flow, 2), Query: query,
			taken: &Alternative{Join: &Join{Scans: [2]*Scan{{}, {}}}}}
		r.strands = []*strand{{Result: r}, {Result: r}}
		r.handOut()
		parts := []*counted{{owners: 1}, {owners: 1}}
		for _, table := range parts {
			table.Table = array.NewTable(arrow.NewSchema(nil, nil), nil, 0)
			require.NoError(t, r.parts.Put(flow.Context(), &Part{Table: table}))
			part, _, err := r.handout.take(flow.Context(), r.strands[1])
			require.NoError(t, err)
			part.Release() // the strand has joined it, and not delivered yet
		}
		if ended {
			flow.Fail(context.Canceled)
		}
		err := r.fail(r.strands[1], backend.ErrDeviceLost)
		require.Equal(t, ended, err != nil)
		r.strands[1].endHeld()
		flow.Stop()
		for _, table := range parts {
			require.Zero(t, table.owners, "ended %t", ended)
		}
	}
}
