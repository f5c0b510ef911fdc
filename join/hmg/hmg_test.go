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

func bufferOf[K runs.Word](c *hmg.Config, keys []uint64, numbered bool) *hmg.Buffer[K] {
	b := runs.NewBuffer[K, uint32](c.Alloc, uint64(len(keys)))
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
	run := func(output hmg.Output, put func(context.Context, *hmg.Found) error) {
		buffers := [2]*hmg.Buffer[K]{bufferOf[K](c, keys[0], numbered), bufferOf[K](c, keys[1], numbered)}
		sides, err := hmg.Prepare(t.Context(), c, buffers, [2]bool{numbered, numbered}, output)
		require.NoError(t, err)
		defer sides.Free()
		how = sides.How
		for i := range buffers {
			if how[i].InPlace {
				require.Equal(t, simplestKeys[K](keys[i]), buffers[i].Keys, "sorted keys stay on the devices")
			}
		}
		_, err = sides.Match(t.Context(), func(ctx context.Context, f *hmg.Found) error {
			defer f.Release()
			mu.Lock()
			defer mu.Unlock()
			return put(ctx, f)
		})
		require.NoError(t, err)
	}
	run(hmg.OutputCount, func(_ context.Context, f *hmg.Found) error {
		count += f.Rows
		return nil
	})
	run(hmg.OutputPairs, func(ctx context.Context, f *hmg.Found) error {
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
	slices.SortFunc(pairs, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	return pairs, count, how
}

func simplestKeys[K runs.Word](keys []uint64) (all []K) {
	for _, key := range keys {
		all = append(all, K(key))
	}
	return all
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

// TestJoin joins sides of every distribution in place, and in 1 to 9 chunksets and more.
func TestJoin(t *testing.T) {
	names := []string{"all equal", "few", "many", "zipf 1", "zipf 2", "sorted", "none"}
	onGroups(t, func(t *testing.T, c hmg.Config) {
		for _, at := range devicetest.Combinations(t, len(names), len(names), 5, 3, 2, 2, 4, 2, 2) {
			c.Sort, c.Beyond, c.Within = hmg.Sorting(at[6]), hmg.Beyond(at[7]), hmg.Within(at[8])
			sets, taskRows, numbered := []int{0, 1, 2, 4, 9}[at[2]], []uint64{100_000, 1000, 70}[at[3]], at[4] == 0
			random := rand.New(rand.NewPCG(uint64(at[0]), uint64(at[1])))
			keys := [2][]uint64{keysBy[names[at[0]]](random, 2600), keysBy[names[at[1]]](random, 3500)}
			c.ChunkRows, c.TaskRows = 6100, taskRows
			if sets > 0 {
				c.ChunkRows = uint64((2600 + sets*len(c.Lanes) - 1) / (sets * len(c.Lanes)))
			}
			what := fmt.Sprintf("%s x %s, %d chunksets, tasks of %d rows, sort %s, %s, %s, numbered %t", names[at[0]],
				names[at[1]], sets, taskRows, c.Sort, c.Within, c.Beyond, numbered)
			if at[5] == 0 {
				check[uint32](t, c, keys, numbered, what)
			} else {
				check[uint64](t, c, keys, numbered, what)
			}
		}
	})
}

func check[K runs.Word](t *testing.T, c hmg.Config, keys [2][]uint64, numbered bool, what string) (
	how [2]hmg.Prepared) {
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
	inPlace := c.Within == hmg.WithinPlace && len(keys[0])+len(keys[1]) <= setRows &&
		(len(c.Lanes) == 1 || c.Sort != hmg.SortAlone) && !(how[0].Presorted && how[1].Presorted)
	for i, side := range how {
		require.Equal(t, inPlace, side.InPlace || side.NoRoom, what)
		require.False(t, side.InPlace && side.NoRoom, what)
		switch {
		case side.InPlace:
			require.Zero(t, side.Chunksets+side.Runs+side.Segments, what)
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
	return how
}

// TestInPlace joins sides in place by every sort, of which none, one, or the other is in order, has one key, or no row.
func TestInPlace(t *testing.T) {
	sides := [][2]string{{"few", "many"}, {"few", "few"}, {"zipf 1", "zipf 2"}, {"sorted", "few"}, {"zipf 2", "sorted"},
		{"all equal", "few"}, {"few", "none"}}
	if devicetest.RaceDetector {
		sides = sides[2:5]
	}
	onGroups(t, func(t *testing.T, c hmg.Config) {
		random := rand.New(rand.NewPCG(1, uint64(len(c.Lanes))))
		c.ChunkRows, c.TaskRows = 10_000, 500
		for c.Sort = hmg.SortRadix; c.Sort < hmg.SortAlone; c.Sort++ {
			for i, names := range sides {
				keys := [2][]uint64{keysBy[names[0]](random, 2000), keysBy[names[1]](random, 3000)}
				how := check[uint64](t, c, keys, i%2 == 0, fmt.Sprint(names, c.Sort))
				require.True(t, how[0].InPlace && how[1].InPlace, names)
			}
		}
	})
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
		buffers := [2]*hmg.Buffer[uint64]{bufferOf[uint64](&c, keys[0], true), bufferOf[uint64](&c, keys[1], true)}
		sides, err := hmg.Prepare(t.Context(), &c, buffers, [2]bool{true, true}, hmg.OutputCount)
		require.NoError(t, err)
		defer sides.Free()
		how, err := sides.Match(t.Context(), func(context.Context, *hmg.Found) error { return nil })
		require.NoError(t, err)
		require.Equal(t, 1, how.Whole)
		require.Less(t, how.Tasks, sides.How[0].Segments-3)
	})
}

// counted counts the memory that an allocator has given.
type counted struct {
	runs.Allocator
	mu        sync.Mutex
	now, most int
}

func (c *counted) count(sizeBytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += sizeBytes
	c.most = max(c.most, c.now)
}

func (c *counted) Allocate(sizeBytes int) []byte {
	c.count(sizeBytes)
	return c.Allocator.Allocate(sizeBytes)
}

func (c *counted) Free(b []byte) {
	c.count(-len(b))
	c.Allocator.Free(b)
}

// fitted runs a test with lanes that have exactly the memory that Fit asks for, for sides with these numbers of rows on
// devices with a cap. It checks that the host memory is as planned.
func fitted(t *testing.T, devices []*backend.Device, c hmg.Config, capBytes uint64, rows [2]uint64,
	test func(c hmg.Config)) {
	c.Alloc, c.Cores, c.Links = &counted{Allocator: &offheap.Shared}, 2, peers.NewLinks(nil)
	defer c.Links.Close()
	d := hmg.Device{Count: len(devices), CapBytes: capBytes, Tuning: opsOf(t, devices[0]).Tuning()}
	needBytes, err := c.Fit(d, 8, rows)
	require.NoError(t, err)
	if !jointest.Instrumented(t) { // small tiles take more scratch; the least chunk takes 4.1 MiB on an H200
		require.LessOrEqual(t, needBytes, max(capBytes, 5<<20))
	}
	need := exec.Need{Host: exec.Unlimited, Device: make(map[*backend.Device]uint64)}
	for _, device := range devices {
		need.Device[device] = needBytes
	}
	budget := exec.NewBudget(need)
	grant, err := budget.Acquire(t.Context(), exec.Need{Device: need.Device})
	require.NoError(t, err)
	for _, device := range devices {
		c.Lanes = append(c.Lanes, exec.NewLane(t.Context(), opsOf(t, device), grant))
	}
	test(c)
	grant.Release()
	require.Equal(t, need.Device, budget.Free().Device, "all device memory is released")
	require.LessOrEqual(t, uint64(c.Alloc.(*counted).most), c.HostBytes(d, 8, rows))
	require.Zero(t, c.Alloc.(*counted).now)
}

// TestFit: what is planned for devices fits them, and small sides take no more than they need.
func TestFit(t *testing.T) {
	devicetest.ShortOnHost(t)
	var keys [2][]uint64
	random := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		keys[i] = keysBy["many"](random, 40_000)
	}
	sizes, caps := []int{1, 2, 3}, []uint64{1 << 20, 4 << 20, 1 << 30}
	if devicetest.RaceDetector {
		sizes = sizes[1:2]
	}
	sorts := int(hmg.SortAlone-hmg.SortRadix) + 1
	cases := devicetest.Product(t, len(sizes), len(caps), sorts, 2)
	for n, size := range sizes {
		devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
			for _, of := range cases {
				if of[0] != n {
					continue
				}
				capBytes, sort, i := caps[of[1]], hmg.SortRadix+hmg.Sorting(of[2]), of[3]
				c := hmg.Config{Sort: sort, Beyond: hmg.Beyond(i), Within: hmg.Within(i)}
				if capBytes == 1<<30 {
					c.TaskRows = 5_000 // which take less memory than a sort
				}
				fitted(t, devices, c, capBytes, [2]uint64{40_000, 40_000}, func(c hmg.Config) {
					how := check[uint64](t, c, keys, true, fmt.Sprint(capBytes, c.Sort, c.Beyond))
					inPlace := i == 0 && (size == 1 || sort != hmg.SortAlone)
					require.True(t, how[0].InPlace == inPlace || capBytes < 1<<30, "%d: %s", capBytes, sort)
				})
			}
		})
	}
}

// TestNoRoom: a key that most rows have does not fit in the memory that devices have for equal shares of both sides.
// These are then sorted one by one, with the same result.
func TestNoRoom(t *testing.T) {
	devicetest.SkipRace(t)
	random := rand.New(rand.NewPCG(1, 2))
	keys := [2][]uint64{keysBy["few"](random, 500), draw(40_000, func() uint64 {
		if random.IntN(20) > 0 {
			return 7
		}
		return random.Uint64N(400)
	})}
	devicetest.ForEachGroup(t, 8, func(t *testing.T, devices []*backend.Device) {
		if jointest.Instrumented(t) {
			return // see onGroups
		}
		for sort := hmg.SortRadix; sort < hmg.SortAlone; sort++ {
			fitted(t, devices, hmg.Config{Sort: sort, TaskRows: 2_000}, 1<<30, [2]uint64{500, 40_000}, func(c hmg.Config) {
				how := check[uint64](t, c, keys, true, sort.String())
				if sort != hmg.SortMerge { // which does not sort or merge again what it has made whole
					require.True(t, how[0].NoRoom && how[1].NoRoom, sort)
					require.Equal(t, [2]int{1, 1}, [2]int{how[0].Chunksets, how[1].Chunksets})
				}
			})
		}
	})
}

// TestErrors: an error ends all strands, and nothing is left.
func TestErrors(t *testing.T) {
	devicetest.ShortOnHost(t)
	planted := errors.New("planted")
	onGroups(t, func(t *testing.T, c hmg.Config) {
		keys := keysBy["few"](rand.New(rand.NewPCG(1, 2)), 3000)
		c.TaskRows = 100
		for _, c.ChunkRows = range []uint64{300, 6000} {
			for _, c.Beyond = range []hmg.Beyond{hmg.BeyondSegments, hmg.BeyondMerge} {
				prepare := func(ctx context.Context) (*hmg.Sides[uint64], error) {
					buffers := [2]*hmg.Buffer[uint64]{bufferOf[uint64](&c, keys, true), bufferOf[uint64](&c, keys, true)}
					return hmg.Prepare(ctx, &c, buffers, [2]bool{true, true}, hmg.OutputPairs)
				}
				match := func(ctx context.Context, put error) error {
					sides, err := prepare(t.Context())
					require.NoError(t, err)
					defer sides.Free()
					require.Equal(t, c.ChunkRows == 6000, sides.How[1].InPlace)
					_, err = sides.Match(ctx, func(_ context.Context, f *hmg.Found) error {
						f.Release()
						return put
					})
					return err
				}
				require.ErrorIs(t, match(t.Context(), planted), planted)
				sides, err := prepare(t.Context())
				require.NoError(t, err)
				sides.Free() // without a match
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.ErrorIs(t, match(ctx, nil), backend.ErrCancelled)
				_, err = prepare(ctx)
				require.ErrorIs(t, err, backend.ErrCancelled)
			}
		}
	})
}
