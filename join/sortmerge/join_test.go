package sortmerge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

var algorithms = []sortmerge.Algorithm{sortmerge.OM, sortmerge.UM, sortmerge.OMSingle, sortmerge.OMMerge,
	sortmerge.OMCountFirst}

var (
	small    = [][2]int{{0, 0}, {0, 5}, {7, 0}, {1, 1}, {33, 20}, {9, 40}}
	payloads = append(slices.Clone(jointest.Payloads), [2][]int{{4, 8, 8, 4, 4}, {4, 4, 4, 4, 4}},
		[2][]int{{8, 8, 8}, nil})
	// smallUnits are units of so few pairs that one fits any window for rows of one side.
	smallUnits = primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 10}, "merge_join")
)

// tilings are what a unit of work takes: tuned, tiles of many rows with short pieces, and the other way round.
var tilings = []primitive.Tuning{
	nil,
	primitive.Override(backend.Config{"workgroup": 128, "items": 3, "table": 10}, "merge_join"),
	primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 700}, "merge_join"),
}

// TestDevicesJoin joins in every way: whatever is wanted, however probe rows come, and whatever room there is.
func TestDevicesJoin(t *testing.T) { devicetest.ForEach(t, joinAll) }

// TestWithoutSubgroups joins in all these ways on a device that has no subgroup operations.
func TestWithoutSubgroups(t *testing.T) { devicetest.ForEachWithoutSubgroups(t, joinAll) }

func joinAll(t *testing.T, device *backend.Device) {
	workloads := slices.Sorted(maps.Keys(jointest.Workloads))
	wants := slices.Sorted(maps.Keys(jointest.Wants))
	sizes := append(slices.Clone(small), jointest.Sizes[4:]...)
	tunings := append(slices.Clone(devicetest.Shapes(t, device.Info(), tilings)), smallUnits)
	for n, c := range devicetest.Combinations(t, len(sizes), len(wants), len(payloads), len(workloads),
		len(algorithms)) {
		if jointest.Instrumented(t) && n%5 > 0 {
			continue // instrumented pipelines take seconds to compile
		}
		random := rand.New(rand.NewPCG(uint64(n), 7))
		size, algorithm, keyBytes := sizes[c[0]], algorithms[c[4]], 4+4*random.IntN(2)
		want := jointest.Wants[wants[c[1]]]
		want.Keys = random.IntN(2) == 0
		build, probe := jointest.Workloads[workloads[c[3]]].Relations(random, size, keyBytes, payloads[c[2]])
		for _, r := range []*jointest.Relation{build, probe} {
			if random.IntN(4) == 0 {
				slices.Sort(r.Keys)
			}
		}
		var o jointest.Options
		switch probe := uint64(size[operator.Probe]); random.IntN(3) {
		case 1:
			o.Granule = probe/3 + 1
		case 2:
			o.Granule = max(1, probe/200)
		}
		tiling := random.IntN(len(tunings))
		switch random.IntN(3) {
		case 1:
			tiling, o.Window = len(tunings)-1, 2048
		case 2:
			o.Facts = func(f *operator.Facts) { f.Window = 3 } // so that there is too little room at first
		}
		jointest.CheckRun(t, jointest.Lane(t, device, tunings[tiling]), algorithm, build, probe, want, o,
			fmt.Sprintf("case %d: %s, %s of %s %v, keys %t of %d bytes, payload %v, granules of %d, windows of %d, "+
				"tiling %d", n, algorithm.Name(), wants[c[1]], workloads[c[3]], size, want.Keys, keyBytes,
				payloads[c[2]], o.Granule, o.Window, tiling))
	}
}
