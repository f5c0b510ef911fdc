package hmg_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/offheap"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/primitive"
)

// onGroups runs a test on one to four logical devices of every backend, or on one and two where shaders are
// instrumented: they loop over the blocks of a device, of which links between four have too many for lavapipe
// ([jointest.Instrumented]).
func onGroups(t *testing.T, test func(t *testing.T, c hmg.Config)) {
	most := 4
	if jointest.Instrumented(t) {
		most = 2
	}
	for size := 1; size <= most; size++ {
		t.Run(fmt.Sprintf("devices=%d", size), func(t *testing.T) {
			devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
				c := hmg.Config{Alloc: &offheap.Shared, Cores: 2, Links: peers.NewLinks(nil)}
				t.Cleanup(func() { require.NoError(t, c.Links.Close()) })
				for _, d := range devices {
					c.Lanes = append(c.Lanes, exec.NewLane(t.Context(), opsOf(t, d), nil))
				}
				test(t, c)
			})
		})
	}
}

func opsOf(t *testing.T, device *backend.Device) *primitive.Ops {
	ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
	require.NoError(t, err)
	return ops
}

// keysBy are the distributions of keys.
var keysBy = map[string]func(random *rand.Rand, rows int) []uint64{
	"all equal": func(_ *rand.Rand, rows int) []uint64 { return slices.Repeat([]uint64{5}, rows/16) },
	"few": func(random *rand.Rand, rows int) []uint64 {
		return draw(rows, func() uint64 { return random.Uint64N(400) })
	},
	"many":   func(random *rand.Rand, rows int) []uint64 { return draw(rows, random.Uint64) },
	"zipf 1": func(random *rand.Rand, rows int) []uint64 { return zipf(random, rows, 1.001) },
	"zipf 2": func(random *rand.Rand, rows int) []uint64 { return zipf(random, rows/4, 2) },
	"sorted": func(random *rand.Rand, rows int) []uint64 {
		keys := draw(rows, func() uint64 { return random.Uint64N(uint64(rows)) })
		slices.Sort(keys)
		return keys
	},
	"none": func(*rand.Rand, int) []uint64 { return nil },
}

func draw(rows int, next func() uint64) []uint64 {
	keys := make([]uint64, rows)
	for i := range keys {
		keys[i] = next()
	}
	return keys
}

func zipf(random *rand.Rand, rows int, theta float64) []uint64 {
	z := rand.NewZipf(random, theta, 1, uint64(rows))
	return draw(rows, z.Uint64)
}

func bufferOf[K runs.Word](keys []uint64, numbered bool) *hmg.Buffer[K] {
	b := runs.NewBuffer[K, uint32](&offheap.Shared, uint64(len(keys)))
	for i, key := range keys {
		b.Keys[i], b.Rows[i] = K(key), uint32(3*i+1)
		if numbered {
			b.Rows[i] = 1 << 31 // is not read
		}
	}
	return b
}

// joined prepares and matches two sides, for pairs and for a count, and returns the pairs, sorted, and their number by
// the count.
func joined[K runs.Word](t *testing.T, c *hmg.Config, keys [2][]uint64, numbered bool) (pairs [][2]uint32, count uint64,
	how [2]hmg.Prepared) {
	var mu sync.Mutex
	for _, output := range []hmg.Output{hmg.OutputPairs, hmg.OutputCount} {
		buffers := [2]*hmg.Buffer[K]{bufferOf[K](keys[0], numbered), bufferOf[K](keys[1], numbered)}
		sides, err := hmg.Prepare(t.Context(), c, buffers, [2]bool{numbered, numbered}, output)
		require.NoError(t, err)
		defer sides.Free()
		how = sides.How
		_, err = sides.Match(t.Context(), output, func(ctx context.Context, f *hmg.Found) error {
			defer f.Release()
			mu.Lock()
			defer mu.Unlock()
			if output == hmg.OutputCount {
				count += f.Rows
				return nil
			}
			if f.Pairs.Len() != f.Rows {
				return fmt.Errorf("%d pairs instead of %d", f.Pairs.Len(), f.Rows)
			}
			out := [2][]uint32{make([]uint32, f.Rows), make([]uint32, f.Rows)}
			if err := f.Pairs.Write(ctx, 0, out[f.Probe], out[1-f.Probe], 2); err != nil {
				return err
			}
			for i := range out[0] {
				pairs = append(pairs, [2]uint32{out[0][i], out[1][i]})
			}
			return nil
		})
		require.NoError(t, err)
	}
	slices.SortFunc(pairs, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	return pairs, count, how
}

// simplest is the pairs of a hash join, sorted.
func simplest[K runs.Word](keys [2][]uint64, numbered bool) (pairs [][2]uint32) {
	number := func(i int) uint32 {
		if numbered {
			return uint32(i)
		}
		return uint32(3*i + 1)
	}
	right := make(map[K][]int)
	for j, key := range keys[1] {
		right[K(key)] = append(right[K(key)], j)
	}
	for i, key := range keys[0] {
		for _, j := range right[K(key)] {
			pairs = append(pairs, [2]uint32{number(i), number(j)})
		}
	}
	return pairs
}

// TestJoin joins sides of every distribution in 1 to 9 chunksets and more.
func TestJoin(t *testing.T) {
	names := []string{"all equal", "few", "many", "zipf 1", "zipf 2", "sorted", "none"}
	onGroups(t, func(t *testing.T, c hmg.Config) {
		for _, at := range devicetest.Combinations(t, len(names), len(names), 4, 3, 2, 4, 2) {
			c.Sort, c.Beyond = hmg.Sorting(at[5]), hmg.Beyond(at[6])
			sets, taskRows, numbered := []int{1, 2, 4, 9}[at[2]], []uint64{100_000, 1000, 70}[at[3]], at[4] == 0
			random := rand.New(rand.NewPCG(uint64(at[0]), uint64(at[1])))
			keys := [2][]uint64{keysBy[names[at[0]]](random, 2600), keysBy[names[at[1]]](random, 3500)}
			c.ChunkRows, c.TaskRows = uint64((2600+sets*len(c.Lanes)-1)/(sets*len(c.Lanes))), taskRows
			what := fmt.Sprintf("%s x %s, %d chunksets, tasks of %d rows, sort %s, %s", names[at[0]], names[at[1]],
				sets, taskRows, c.Sort, c.Beyond)
			if at[4] == 0 {
				check[uint32](t, c, keys, numbered, what)
			} else {
				check[uint64](t, c, keys, numbered, what)
			}
		}
	})
}

func check[K runs.Word](t *testing.T, c hmg.Config, keys [2][]uint64, numbered bool, what string) {
	pairs, count, how := joined[K](t, &c, keys, numbered)
	want := simplest[K](keys, numbered)
	require.EqualValues(t, len(want), count, what)
	if !slices.Equal(want, pairs) {
		t.Fatalf("wrong pairs: %s", what)
	}
	setRows := int(c.ChunkRows) * len(c.Lanes)
	beyond := false
	for i, side := range how {
		beyond = beyond || !side.Presorted && len(keys[i]) > setRows
	}
	for i, side := range how {
		switch {
		case beyond && c.Beyond == hmg.BeyondSegments:
			require.Greater(t, side.Segments, 1, what)
			require.Zero(t, side.Chunksets, what)
		case !side.Presorted:
			require.Equal(t, (len(keys[i])+setRows-1)/setRows, side.Chunksets, what)
			wantRuns := side.Chunksets
			if c.Sort == hmg.SortAlone {
				wantRuns *= len(c.Lanes)
			}
			require.Equal(t, wantRuns, side.Runs, what)
		}
	}
}

// TestSegments divides sides that take 1 to 9 chunksets on 1 to 8 devices into segments: of every skew, with keys that
// have more rows than a segment, and with the least and greatest keys.
func TestSegments(t *testing.T) {
	keysBy := maps.Clone(keysBy)
	keysBy["hot"] = func(random *rand.Rand, rows int) []uint64 {
		return draw(rows/4, func() uint64 { return []uint64{3, 3, 3, 4, random.Uint64N(200)}[random.IntN(5)] })
	}
	keysBy["extremes"] = func(random *rand.Rand, rows int) []uint64 {
		return draw(rows/8, func() uint64 { return random.Uint64N(10) - 5 })
	}
	names := slices.Sorted(maps.Keys(keysBy))
	for _, size := range []int{1, 2, 3, 5, 8} {
		t.Run(fmt.Sprintf("devices=%d", size), func(t *testing.T) {
			devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
				for _, at := range devicetest.Combinations(t, len(names), len(names), 9, 2, 2) {
					c := hmg.Config{Alloc: &offheap.Shared, Cores: 2}
					for _, d := range devices {
						c.Lanes = append(c.Lanes, exec.NewLane(t.Context(), opsOf(t, d), nil))
					}
					random := rand.New(rand.NewPCG(uint64(at[0]), uint64(at[1])))
					keys := [2][]uint64{keysBy[names[at[0]]](random, 1300), keysBy[names[at[1]]](random, 1900)}
					most := max(len(keys[0]), len(keys[1]), 1)
					c.Sort, c.ChunkRows, c.TaskRows = hmg.SortAlone, uint64(most/(size*(at[2]+1))+1), 1000
					what := fmt.Sprintf("%s x %s, %d chunksets", names[at[0]], names[at[1]], at[2]+1)
					if at[3] == 0 {
						check[uint32](t, c, keys, at[4] == 0, what)
					} else {
						check[uint64](t, c, keys, at[4] == 0, what)
					}
				}
			})
		})
	}
}

// TestSegmentsOfHotKeys: a key that has more rows than fit a device is paired without a device, beside segments that
// fit, and segments without rows of one side are not sent to devices.
func TestSegmentsOfHotKeys(t *testing.T) {
	onGroups(t, func(t *testing.T, c hmg.Config) {
		c.ChunkRows = 200
		var keys [2][]uint64
		for i := range keys {
			keys[i] = append(slices.Repeat([]uint64{7}, 600), keysBy["few"](rand.New(rand.NewPCG(1, 2)), 1000)...)
		}
		keys[1] = slices.DeleteFunc(keys[1], func(key uint64) bool { return key > 100 })
		check[uint64](t, c, keys, true, "hot")
		buffers := [2]*hmg.Buffer[uint64]{bufferOf[uint64](keys[0], true), bufferOf[uint64](keys[1], true)}
		sides, err := hmg.Prepare(t.Context(), &c, buffers, [2]bool{true, true}, hmg.OutputCount)
		require.NoError(t, err)
		defer sides.Free()
		how, err := sides.Match(t.Context(), hmg.OutputCount, func(context.Context, *hmg.Found) error { return nil })
		require.NoError(t, err)
		require.Equal(t, 1, how.Whole)
		require.Less(t, how.Tasks, sides.How[0].Segments-3)
	})
}

// TestFit: what is planned for a device fits it, and small sides take no more than they need.
func TestFit(t *testing.T) {
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		var keys [2][]uint64
		random := rand.New(rand.NewPCG(1, 2))
		for i := range keys {
			keys[i] = keysBy["many"](random, 40_000)
		}
		links := peers.NewLinks(nil)
		defer links.Close()
		for i, capBytes := range []uint64{1 << 20, 4 << 20, 1 << 30, 1 << 20, 1 << 20, 1 << 20, 1 << 20} {
			c := hmg.Config{Alloc: &offheap.Shared, Cores: 2, Links: links, Sort: hmg.Sorting(i % 4),
				Beyond: hmg.Beyond(min(i%6, 1))}
			needBytes, err := c.Fit(hmg.Device{Count: 2, CapBytes: capBytes, Tuning: opsOf(t, devices[0]).Tuning()}, 8,
				[2]uint64{40_000, 40_000})
			require.NoError(t, err)
			require.LessOrEqual(t, needBytes, max(capBytes, 1<<22))
			budget := exec.NewBudget(exec.Need{Host: exec.Unlimited,
				Device: map[*backend.Device]uint64{devices[0]: needBytes, devices[1]: needBytes}})
			grant, err := budget.Acquire(t.Context(), budget.Most())
			require.NoError(t, err)
			for _, d := range devices {
				c.Lanes = append(c.Lanes, exec.NewLane(t.Context(), opsOf(t, d), grant))
			}
			check[uint64](t, c, keys, true, fmt.Sprint(capBytes, c.Sort))
			grant.Release()
		}
	})
}

// TestErrors: an error ends all strands, and nothing is left.
func TestErrors(t *testing.T) {
	planted := errors.New("planted")
	onGroups(t, func(t *testing.T, c hmg.Config) {
		c.ChunkRows, c.TaskRows = 300, 100
		keys := keysBy["few"](rand.New(rand.NewPCG(1, 2)), 3000)
		for _, c.Beyond = range []hmg.Beyond{hmg.BeyondSegments, hmg.BeyondMerge} {
			prepare := func(ctx context.Context) (*hmg.Sides[uint64], error) {
				buffers := [2]*hmg.Buffer[uint64]{bufferOf[uint64](keys, true), bufferOf[uint64](keys, true)}
				return hmg.Prepare(ctx, &c, buffers, [2]bool{true, true}, hmg.OutputPairs)
			}
			sides, err := prepare(t.Context())
			require.NoError(t, err)
			defer sides.Free()
			_, err = sides.Match(t.Context(), hmg.OutputPairs, func(_ context.Context, f *hmg.Found) error {
				f.Release()
				return planted
			})
			require.ErrorIs(t, err, planted)

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = sides.Match(ctx, hmg.OutputPairs, func(_ context.Context, f *hmg.Found) error {
				f.Release()
				return nil
			})
			require.ErrorIs(t, err, backend.ErrCancelled)
			_, err = prepare(ctx)
			require.ErrorIs(t, err, backend.ErrCancelled)
		}
	})
}
