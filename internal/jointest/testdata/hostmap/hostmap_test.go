package hostmap_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/join/hostmap"
)

func TestMain(m *testing.M) { leak.Main(m) }

// Whatever is wanted, of whatever keys, in granules and windows of any size.
func TestDevicesJoin(t *testing.T) {
	wants, workloads := slices.Sorted(maps.Keys(jointest.Wants)), slices.Sorted(maps.Keys(jointest.Workloads))
	sizes, granules, windows := [][2]int{{0, 9}, {9, 0}, {40, 90}, {700, 5000}}, []uint64{0, 30}, []uint64{0, 4096}
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(wants), len(workloads), len(sizes), len(granules),
			len(windows), 2) {
			random, want := rand.New(rand.NewPCG(uint64(n), 1)), jointest.Wants[wants[c[0]]]
			want.Keys = n%2 == 0
			build, probe := jointest.Workloads[workloads[c[1]]].Relations(random, sizes[c[2]], 4+4*c[5],
				[2][]int{{4, 8}, {8}})
			jointest.CheckRun(t, lane, hostmap.Algorithm{}, build, probe, want,
				jointest.Options{Granule: granules[c[3]], Window: windows[c[4]]}, fmt.Sprint(n, c))
		}
	})
}
