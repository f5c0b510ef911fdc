package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
