package hash

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

var (
	om, um, single = Partitioned{}, Partitioned{Untransformed: true}, Partitioned{OneByOne: true}
	hj             = Unpartitioned{}
)

func laneOf(t testing.TB, device *backend.Device) *exec.Lane {
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	return exec.NewLane(t.Context(), ops, nil)
}

// TestDevicesWants: all that can be wanted, by every algorithm, of every workload, in one granule and in several, with
// windows of any size.
func TestDevicesWants(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		lane := laneOf(t, device)
		random := rand.New(rand.NewPCG(1, 2))
		for name, workload := range jointest.Workloads {
			for i, c := range []struct {
				rows     [2]int
				keyBytes int
				payload  [2][]int
			}{
				{[2]int{0, 300}, 4, [2][]int{{4}, {4}}}, {[2]int{300, 0}, 8, [2][]int{{4}, {4}}},
				{[2]int{1, 1}, 4, [2][]int{{}, {8}}}, {[2]int{257, 1000}, 4, [2][]int{{4}, {8, 8}}},
				{[2]int{1000, 2049}, 8, [2][]int{{4, 8, 4}, {8, 4, 4, 4}}}, {[2]int{3000, 200}, 4, [2][]int{{4, 4, 4, 8}, {}}},
			} {
				build, probe := workload.Relations(random, c.rows, c.keyBytes, c.payload)
				for want, w := range jointest.Wants {
					w.Keys = i%2 == 0 && !w.Count
					for _, a := range []operator.Algorithm{om, um, single, hj} {
						for _, o := range []jointest.Options{{}, {Granule: uint64(max(1, c.rows[1]/3+1))}} {
							describe := fmt.Sprintf("%s, %v, %s, %s, %+v", name, c, want, a.Name(), o)
							got, err := jointest.Run(t, lane, a, build, probe, w, o)
							if a == operator.Algorithm(hj) && w.Pairs && !w.Count && err != nil {
								require.ErrorIs(t, err, backend.ErrLimit, describe)
								continue
							}
							require.NoError(t, err, describe)
							require.Empty(t, jointest.Difference(jointest.Oracle(build, probe, w), got), describe)
						}
					}
				}
			}
		}
	})
}
