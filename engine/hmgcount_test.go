package engine

import (
	"sync"
	"testing"

	"github.com/spirjoin/spirjoin/join"
	"github.com/stretchr/testify/require"
)

// TestHMGCountsAtOnce: tasks of several devices add their rows at the same time, and none is lost.
func TestHMGCountsAtOnce(t *testing.T) {
	const tasks, adds = 4, 2_000_000
	r := &HMGResult{Layout: &join.Layout{}}
	var adding sync.WaitGroup
	for range tasks {
		adding.Go(func() {
			for range adds {
				if err := r.add(3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	adding.Wait()
	require.EqualValues(t, 3*tasks*adds, r.Rows())
}
