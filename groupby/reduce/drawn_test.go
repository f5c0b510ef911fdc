package reduce

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
)

// onDrawing runs a test on each device that draws.
func onDrawing(t *testing.T, test func(t *testing.T, lane *exec.Lane)) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		if _, err := lane.Device().Rasterizer(); err != nil {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			t.Skip(err)
		}
		test(t, lane)
	})
}

// drawnReductions are all that are drawn.
func drawnReductions() []Reduction {
	return slices.DeleteFunc(allReductions(), func(r Reduction) bool {
		return r.Func == Moments || r.Func == Sum && r.Value.Kind == Float
	})
}

// TestDrawn draws groups of all distributions of keys, in images of few pixels, too, so that most keys collide.
func TestDrawn(t *testing.T) {
	names, sizes, sides := slices.Sorted(maps.Keys(keys)), [][]int{{1}, {0, 33}, {1500}, {700, 0, 300, 64}},
		[]uint64{0, 1, 8}
	onDrawing(t, func(t *testing.T, lane *exec.Lane) {
		for _, c := range devicetest.Product(t, len(names), len(sizes), 2, len(sides)) {
			t.Run(fmt.Sprint(names[c[0]], sizes[c[1]], c[2], sides[c[3]]), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
				facts := Facts{KeyBytes: 4 << c[2], Payload: payloadBytes, Tuning: lane.Tuning(), Strategy: Graphics}
				var chunks []*rows
				for _, n := range sizes[c[1]] {
					if sides[c[3]] == 1 { // one pixel: an image for each group
						n = min(n, 200)
					}
					chunks = append(chunks, draw(random, n, facts.KeyBytes, names[c[0]], true))
					facts.Rows = max(facts.Rows, uint64(n))
				}
				checkForced(t, lane, chunks, facts, drawnReductions(), force{drawnSide: sides[c[3]]})
			})
		}
	})
}

// TestDrawnSums adds numbers whose sums carry into every word, in both directions, to few groups and to one.
func TestDrawnSums(t *testing.T) {
	onDrawing(t, func(t *testing.T, lane *exec.Lane) {
		for _, groups := range []uint64{1, 3} {
			random := rand.New(rand.NewPCG(groups, 8))
			r := &rows{keyBytes: 8, payload: make([][]uint64, len(payloadBytes))}
			for i := range 4000 {
				r.keys = append(r.keys, random.Uint64N(groups)*math.MaxUint64/3)
				low, high := uint64(math.MaxUint64), uint64(math.MaxUint64)
				switch i % 4 {
				case 0:
					low, high = 1, 0
				case 1:
					low, high = 1<<63, 1<<63
				case 2:
					high = math.MaxInt64
				}
				for c, word := range []uint64{low, low, high, math.MaxUint32, 0, math.MaxUint32} {
					r.payload[c] = append(r.payload[c], word)
				}
			}
			check(t, lane, []*rows{r}, Facts{Rows: 4000, KeyBytes: 8, Payload: payloadBytes, Tuning: lane.Tuning(),
				Strategy: Graphics}, drawnReductions())
		}
	})
}

// TestDrawnUnsupported says what is not drawn, and on which device.
func TestDrawnUnsupported(t *testing.T) {
	jointest.ForEach(t, nil, func(t *testing.T, lane *exec.Lane) {
		f := Facts{Rows: 10, KeyBytes: 4, Payload: payloadBytes, Tuning: lane.Tuning(), Strategy: Graphics}
		_, f.CannotDraw = lane.Device().Rasterizer()
		_, err := NewPlan(f, nil)
		if name := lane.Device().Info().Backend; name == "host" || name == "opencl" {
			require.ErrorIs(t, err, backend.ErrUnsupported)
			require.ErrorContains(t, err, "does not draw")
			return
		}
		require.NoError(t, err)
		for _, r := range []Reduction{{Sum, values[4]}, {Moments, values[0]}} {
			_, err := NewPlan(f, []Reduction{r})
			require.ErrorIs(t, err, backend.ErrUnsupported)
			require.ErrorContains(t, err, "not sums of floats and variances")
		}
	})
}

// TestDrawnRows refuses rows whose numbers pixels have no room for.
func TestDrawnRows(t *testing.T) {
	onDrawing(t, func(t *testing.T, lane *exec.Lane) {
		plan, err := NewPlan(Facts{Rows: 101, KeyBytes: 4, Payload: payloadBytes, Tuning: lane.Tuning(),
			Strategy: Graphics}, drawnReductions())
		require.NoError(t, err)
		plan.force.drawnRows = 100
		for _, n := range []int{100, 101} {
			o := plan.Open(t.Context(), lane)
			defer o.Close()
			c, release := draw(rand.New(rand.NewPCG(1, 1)), n, 4, "few", false).chunk(t, lane)
			err := o.Add(t.Context(), lane, c, 0)
			release()
			if n == 100 {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, backend.ErrLimit)
			require.ErrorContains(t, err, "31 bits")
		}
	})
}

// TestDrawnCancelled leaves nothing behind.
func TestDrawnCancelled(t *testing.T) {
	onDrawing(t, func(t *testing.T, lane *exec.Lane) {
		plan, err := NewPlan(Facts{Rows: 500, KeyBytes: 4, Payload: payloadBytes, Tuning: lane.Tuning(),
			Strategy: Graphics}, drawnReductions())
		require.NoError(t, err)
		o := plan.Open(t.Context(), lane)
		defer o.Close()
		c, release := draw(rand.New(rand.NewPCG(2, 2)), 500, 4, "pairs", false).chunk(t, lane)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, o.Add(ctx, lane, c, 0))
	})
}
