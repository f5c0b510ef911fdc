package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// panics is an algorithm that cannot plan.
type panics struct{ hash.Partitioned }

func (panics) Plan(*operator.Facts, operator.Want) (*operator.Plan, error) { panic("no plan") }

// TestPanic: an algorithm that panics on a goroutine of its own ends the plan, not the process.
func TestPanic(t *testing.T) {
	for _, rows := range []uint64{1, 1 << 24} {
		_, err := planner.Choose(operator.Facts{Rows: [2]uint64{1, rows}}, pairsOf, []operator.Algorithm{panics{}}, nil,
			planner.Limits{})
		require.ErrorAs(t, err, new(*exec.PanicError))
	}
}

// byName is a fast algorithm that runs only by name.
type byName struct{ hash.Partitioned }

func (byName) Name() string   { return "by name" }
func (byName) ByName() string { return "because" }

// TestByName: it is planned alone, and rejected with its reason among others.
func TestByName(t *testing.T) {
	f := operator.Facts{Rows: [2]uint64{1, 1}, KeyBytes: 4}
	all, err := planner.Choose(f, pairsOf, []operator.Algorithm{byName{}}, nil, planner.Limits{})
	require.NoError(t, err)
	require.NoError(t, all[0].Reject)
	all, err = planner.Choose(f, pairsOf, []operator.Algorithm{byName{}, hash.Unpartitioned{}}, nil, planner.Limits{})
	require.NoError(t, err)
	require.Equal(t, hash.Unpartitioned{}.Name(), all[0].Algorithm.Name())
	require.ErrorIs(t, all[1].Reject, backend.ErrUnsupported)
	require.ErrorContains(t, all[1].Reject, "because")
}
