package graphics_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/join/graphics"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestMain(m *testing.M) {
	vulkantest.Graphics = true
	leak.Main(m)
}

// drawing runs a test on each device that draws.
func drawing(t *testing.T, test func(t *testing.T, lane *exec.Lane)) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if _, err := lane.Device().Rasterizer(); err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			t.Skip(err)
		}
		test(t, lane)
	})
}

// runnable is an algorithm that a device runs rightly. Under GPU-assisted validation lavapipe ends loops of vertex
// shaders after one trip: that is the form by image, and no flattened stack.
func runnable(t *testing.T, a graphics.Algorithm) graphics.Algorithm {
	if jointest.Instrumented(t) {
		return a.Unlooped()
	}
	return a
}

// Whatever is wanted, of whatever keys, in granules and windows of any size.
func TestDevicesJoin(t *testing.T) {
	wants, workloads := slices.Sorted(maps.Keys(jointest.Wants)), slices.Sorted(maps.Keys(jointest.Workloads))
	sizes, granules, windows := [][2]int{{0, 9}, {9, 0}, {40, 90}, {700, 5000}}, []uint64{0, 30}, []uint64{0, 4096}
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(wants), len(workloads), len(sizes), len(granules),
			len(windows), 2) {
			random, want := rand.New(rand.NewPCG(uint64(n), 1)), jointest.Wants[wants[c[0]]]
			want.Keys = n%2 == 0
			build, probe := jointest.Workloads[workloads[c[1]]].Relations(random, sizes[c[2]], 4+4*c[5],
				[2][]int{{4, 8}, {8}})
			jointest.CheckRun(t, lane, runnable(t, graphics.Algorithm{ByImage: n%3 == 0}), build, probe, want,
				jointest.Options{Granule: granules[c[3]], Window: windows[c[4]]}, fmt.Sprint(n, c))
		}
	})
}

// Partitions, units of few rows, images of few pixels, high stacks in cycles or flattened: all rare paths.
func TestForcedShapes(t *testing.T) {
	wants, workloads := slices.Sorted(maps.Keys(jointest.Wants)), slices.Sorted(maps.Keys(jointest.Workloads))
	bits, sides, units, flatten := []int{0, 1, 5}, []uint64{0, 8, 64}, []uint64{0, 64}, []uint32{0, 1, 1 << 20}
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(bits), len(sides), len(units), len(flatten), len(workloads),
			len(wants), 2, 2) {
			random, want := rand.New(rand.NewPCG(uint64(n), 2)), jointest.Wants[wants[c[5]]]
			want.Keys = n%2 == 0
			rows := [2]int{300, 1100}
			if c[7] == 1 {
				rows = [2]int{900, 200}
			}
			build, probe := jointest.Workloads[workloads[c[4]]].Relations(random, rows, 4+4*c[6], [2][]int{{4}, {8}})
			a := graphics.Forced(bits[c[0]], sides[c[1]], units[c[2]], flatten[c[3]])
			a.ByImage, a.Stack = n%3 == 0, graphics.StackOf(n/3%3)
			jointest.CheckRun(t, lane, runnable(t, a), build, probe, want, jointest.Options{}, fmt.Sprint(n, c))
		}
	})
}

// Two keys have many rows, one on each side: stacks of either side, and high ones in cycles or flattened, whose
// candidates take several draws.
func TestStackOf(t *testing.T) {
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		sides := func(hot int) (of [2]*jointest.Relation) {
			for side, key := range [2]uint64{1, 2} {
				r := &jointest.Relation{KeyBytes: 4, Payload: []int{4}}
				for k := range uint64(300) {
					for range map[bool]int{false: 1, true: hot}[k == key] {
						r.Keys = append(r.Keys, k)
					}
				}
				of[side] = r
			}
			return of
		}
		for _, hot := range []int{1, 20, 1500} {
			of := sides(hot)
			for _, a := range []graphics.Algorithm{{Stack: graphics.BuildStack}, {Stack: graphics.ProbeStack}, {},
				{Unflattened: true}, {Unflattened: true, Stack: graphics.ProbeStack}} {
				jointest.CheckRun(t, lane, runnable(t, a), of[0], of[1], jointest.Wants["inner"],
					jointest.Options{Window: 64}, fmt.Sprint(a.Name(), hot))
			}
		}
	})
}

// A result image of few pixels and a side of many rows: more sums are looked at than there are other numbers to fetch.
func TestManySums(t *testing.T) {
	if jointest.Instrumented(t) {
		t.Skip("in several blocks, which instrumented accesses search in a loop, and lavapipe ends it after one trip")
	}
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		for _, byImage := range []bool{false, true} {
			random := rand.New(rand.NewPCG(5, 5))
			build, probe := jointest.Workloads["primary and foreign"].Relations(random, [2]int{400, 1_100_000}, 4,
				[2][]int{{}, {}})
			for i := range probe.Keys[600:] {
				probe.Keys[600+i] = 1 // without a partner
			}
			jointest.CheckRun(t, lane, graphics.Algorithm{ByImage: byImage}, build, probe,
				jointest.Wants["inner"], jointest.Options{Window: 64}, "")
		}
	})
}

func TestFailures(t *testing.T) {
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		random := rand.New(rand.NewPCG(7, 7))
		build, probe := jointest.Workloads["duplicates"].Relations(random, [2]int{60, 200}, 4, [2][]int{{4}, {8}})
		wants := slices.Sorted(maps.Keys(jointest.Wants))
		for i, a := range []graphics.Algorithm{{}, graphics.Forced(0, 0, 0, 1), graphics.Forced(2, 8, 32, 0)} {
			for j, name := range wants {
				if devicetest.Turn(i+j, 3) {
					jointest.CheckFailures(t, lane, runnable(t, a), build, probe, jointest.Wants[name], jointest.Options{}, name)
				}
			}
			jointest.CheckErrors(t, lane, a)
		}
	})
}

// A device that does not draw says so.
func TestRejected(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		f := operator.Facts{Rows: [2]uint64{10, 10}, KeyBytes: 4}
		f.On(lane.Device())
		plan, err := graphics.Algorithm{}.Plan(&f, operator.Want{Pairs: true})
		require.NoError(t, err)
		if lane.Device().Info().Backend == "host" {
			require.ErrorIs(t, plan.Reject, backend.ErrUnsupported)
			require.ErrorContains(t, plan.Reject, "does not draw")
		} else {
			require.NoError(t, plan.Reject)
		}
	})
}

// Images are as large as the device allows, and no larger.
func TestImageBytes(t *testing.T) {
	for _, keyBytes := range []int{4, 8} {
		for log2 := 30; log2 < 33; log2++ {
			f := operator.Facts{Rows: [2]uint64{1 << 24, 1 << 24}, KeyBytes: keyBytes}
			f.Raster = backend.RasterLimits{MaxWidth: 1 << 14, MaxHeight: 1 << 14, MaxImageBytes: 1<<log2 + 1}
			plan, err := graphics.Algorithm{}.Plan(&f, operator.Want{Pairs: true})
			require.NoError(t, err)
			require.NoError(t, plan.Reject)
			most := uint64(0)
			for _, spec := range graphics.Images(plan) {
				bytes := uint64(spec.Width) * uint64(spec.Height) * uint64(spec.Layers) * spec.Format.PixelBytes()
				most = max(most, bytes)
			}
			require.LessOrEqual(t, most, f.Raster.MaxImageBytes)
			require.Greater(t, 8*most, min(f.Raster.MaxImageBytes, uint64(keyBytes)<<28))
		}
	}
}

// Joins take no more memory than their plans say, even without the slack in them, with stacks that are low, high or
// flattened.
func TestMemory(t *testing.T) {
	wants := slices.Sorted(maps.Keys(jointest.Wants))
	drawing(t, func(t *testing.T, lane *exec.Lane) {
		for n, c := range devicetest.Combinations(t, len(wants), 3, 2) {
			want, a, workload := jointest.Wants[wants[c[0]]], graphics.Forced(0, 0, 0, uint32(1+99*c[1])), "duplicates"
			if c[1] == 2 {
				a, workload = graphics.Algorithm{}, "primary and foreign"
			}
			build, probe := jointest.Workloads[workload].Relations(rand.New(rand.NewPCG(1, uint64(n))),
				[2]int{9000, 17_000}, 4+4*c[2], [2][]int{{}, {}})
			a = runnable(t, a)
			facts := jointest.FactsOf(lane, build, probe, jointest.Options{})
			p, err := a.Plan(&facts, want)
			require.NoError(t, err)
			sizeBytes := operator.Within(p.PeakBytes)
			require.NoError(t, jointest.CheckMemory(t, lane, a, build, probe, want, jointest.Options{}, sizeBytes),
				"%s, %s, %v: %d bytes", wants[c[0]], workload, c, sizeBytes)
		}
	})
}
