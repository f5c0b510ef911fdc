package hmg_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// TestSort sorts sides of every distribution in 1 to 9 chunksets, by every sort: with row numbers of the side, or with
// those that the devices make.
func TestSort(t *testing.T) {
	names := slices.Sorted(maps.Keys(keysBy))
	onGroups(t, func(t *testing.T, c hmg.Config) {
		for _, at := range devicetest.Combinations(t, len(names), 5, 4, 2, 2) {
			c.Sort = hmg.Sorting(at[2])
			keys := keysBy[names[at[0]]](rand.New(rand.NewPCG(uint64(at[0]), uint64(at[1]))), 2600)
			sets := []int{1, 2, 3, 4, 9}[at[1]]
			c.ChunkRows = uint64(max(1, (len(keys)+sets*len(c.Lanes)-1)/(sets*len(c.Lanes))))
			what := fmt.Sprintf("%s, %d chunksets, sort %s, numbered %t", names[at[0]], sets, c.Sort, at[3] == 0)
			if at[4] == 0 {
				checkSort[uint32](t, &c, keys, at[3] == 0, what)
			} else {
				checkSort[uint64](t, &c, keys, at[3] == 0, what)
			}
		}
	})
}

// checkSort sorts keys and compares the rows with those of the simplest sort. Rows with equal keys may be in any order.
func checkSort[K runs.Word](t *testing.T, c *hmg.Config, keys []uint64, numbered bool, what string) {
	t.Helper()
	type row struct {
		key    K
		number uint32
	}
	var want, got []row
	for i, key := range keys {
		number := uint32(3*i + 1)
		if numbered {
			number = uint32(i)
		}
		want = append(want, row{K(key), number})
	}
	b, err := hmg.Sort(t.Context(), c, bufferOf[K](c, keys, numbered), numbered)
	require.NoError(t, err, what)
	defer b.Free()
	require.True(t, slices.IsSorted(b.Keys), what)
	for i, key := range b.Keys {
		got = append(got, row{key, b.Rows[i]})
	}
	for _, rows := range [][]row{want, got} {
		slices.SortFunc(rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
		})
	}
	if !slices.Equal(want, got) {
		t.Fatalf("wrong rows: %s", what)
	}
}

// TestChunkBytes: chunks fit the memory that is planned for them, and chunks that fill a device fit it.
func TestChunkBytes(t *testing.T) {
	devicetest.ShortOnHost(t)
	keys := keysBy["many"](rand.New(rand.NewPCG(1, 2)), 40_000)
	for _, size := range devicetest.Short([]int{1, 3}, []int{1, 2, 3}) {
		devicetest.ForEachGroup(t, size, func(t *testing.T, devices []*backend.Device) {
			for _, capBytes := range []uint64{1 << 20, 4 << 20, 1 << 30} {
				for sort := hmg.SortRadix; sort <= hmg.SortAlone; sort++ {
					rows := min(hmg.ChunkRows(capBytes, 8), uint64(len(keys)/size+1))
					c := hmg.Config{Alloc: &offheap.Shared, Cores: 2, Links: peers.NewLinks(nil), Sort: sort, ChunkRows: rows}
					chunkBytes, err := hmg.ChunkBytes(opsOf(t, devices[0]).Tuning(), rows, 8)
					require.NoError(t, err)
					if !jointest.Instrumented(t) { // small tiles take more scratch; the least chunk takes 4.1 MiB on an H200
						require.LessOrEqual(t, chunkBytes, max(capBytes, 5<<20))
					}
					need := exec.Need{Device: make(map[*backend.Device]uint64)}
					for _, device := range devices {
						need.Device[device] = chunkBytes
					}
					budget := exec.NewBudget(exec.Need{Host: exec.Unlimited, Device: need.Device})
					grant, err := budget.Acquire(t.Context(), need)
					require.NoError(t, err)
					for _, device := range devices {
						c.Lanes = append(c.Lanes, exec.NewLane(t.Context(), opsOf(t, device), grant))
					}
					checkSort[uint64](t, &c, keys, true, fmt.Sprint(capBytes, sort))
					require.NoError(t, c.Links.Close())
					grant.Release()
					require.Equal(t, need.Device, budget.Free().Device, "all device memory is released")
				}
			}
		})
	}
}

// TestSortCancelled: a sort that is cancelled leaves nothing behind but the side.
func TestSortCancelled(t *testing.T) {
	devicetest.ShortOnHost(t)
	keys := keysBy["few"](rand.New(rand.NewPCG(1, 2)), 3000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	onGroups(t, func(t *testing.T, c hmg.Config) {
		for _, c.ChunkRows = range []uint64{300, 6000} {
			b, err := hmg.Sort(ctx, &c, bufferOf[uint64](&c, keys, true), true)
			require.ErrorIs(t, err, backend.ErrCancelled)
			require.Len(t, b.Keys, len(keys))
			b.Free()
		}
	})
}
