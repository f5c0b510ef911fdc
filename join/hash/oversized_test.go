package hash

import (
	"context"
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
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// What is oversized, because a key is hot or because keys collide, is sorted, in as many parts as the plan has memory
// for: told that a key is hot or not.
func TestDevicesOversized(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for n, c := range []struct {
			workload string
			want     string
			rows     [2]int
		}{
			{"collisions", "inner", [2]int{700, 900}}, {"one key", "inner", [2]int{700, 900}},
			{"hot keys", "full", [2]int{700, 900}}, {"collisions", "semi both", [2]int{700, 900}},
			{"collisions", "count", [2]int{700, 900}}, {"one key", "count full", [2]int{700, 900}},
			{"primary and foreign", "inner", [2]int{8000, 900}}, {"duplicates", "full", [2]int{8000, 900}}, // all partitions
			{"collisions", "full", [2]int{9000, 10_000}}, {"collisions", "semi and anti", [2]int{9000, 10_000}},
		} {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for k, keyBytes := range []int{4, 8} {
				if !devicetest.Turn(n+k, 2) {
					continue
				}
				build, probe := workloads()[c.workload].Relations(random, c.rows, keyBytes, [2][]int{{4, 8, 4}, {8, 4}})
				for i, o := range []jointest.Options{{}, {Granule: 300}, {Window: 2100},
					{Facts: func(f *operator.Facts) { f.Hottest = [2]float64{} }}} {
					if !devicetest.Turn(n/2+i, 2) {
						continue
					}
					if o.Granule > 0 {
						o.Granule = uint64(len(probe.Keys))/3 + 1
					}
					own, stages := profiled(t, lane)
					describe := fmt.Sprintf("%s, %s, keys of %d bytes, %+v", c.workload, c.want, keyBytes, o)
					want := jointest.Wants[c.want]
					want.Keys = !want.Count
					out := jointest.CheckRun(t, own, peels, build, probe, want, o, describe)
					require.Contains(t, stages(), "peel", describe)
					if o.Window > 0 && out.Count == 150_000 && !want.Count {
						require.Greater(t, out.Windows, 40, describe)
					}
				}
			}
		}
	})
}

// Peeled rows take no more memory than the plan says, also beside columns that would otherwise move later.
func TestDevicesOversizedMemory(t *testing.T) {
	devicetest.ShortOnHost(t)
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		force := force{bits: bitsOf(5), table: 100}
		for turn, c := range []struct {
			want string
			hot  [2]int
			keys uint64 // that are hot
		}{{"inner", [2]int{20_000, 60}, 1}, {"full", [2]int{1000, 1500}, 1}, {"count", [2]int{20_000, 15_000}, 1},
			{"inner", [2]int{20_000, 2}, 1}, {"semi both", [2]int{5000, 30_000}, 1}, {"count", [2]int{80_000, 40_000}, 8},
			{"anti both", [2]int{40_000, 80_000}, 9}} {
			for n, a := range []Partitioned{{}, {OneByOne: true}, {Untransformed: true}} {
				build, probe := hot(c.hot[0], 9000), hot(c.hot[1], 11_000)
				if c.hot[1] == 2 {
					probe.Keys = append(probe.Keys[:2], hot(0, 20_000).Keys[9000:]...) // few pairs
				}
				for _, r := range []*jointest.Relation{build, probe} {
					r.KeyBytes, r.Payload = 4+4*(n%2), []int{8, 8, 8, 8, 8}
					for i := range r.Keys {
						if r.Keys[i] == 7 {
							r.Keys[i] += uint64(i) % c.keys
						}
					}
					rand.New(rand.NewPCG(1, 1)).Shuffle(len(r.Keys), func(i, j int) { // all granules are alike
						r.Keys[i], r.Keys[j] = r.Keys[j], r.Keys[i]
					})
				}
				a.force = force
				for i, o := range []jointest.Options{{}, {Window: 1 << 14}, {Granule: 9000, Window: 1 << 14}} {
					if !devicetest.Turn(turn+n+i, 3) {
						continue
					}
					want := jointest.Wants[c.want]
					want.Keys = !want.Count
					facts := jointest.FactsOf(lane, build, probe, o)
					p, err := a.Plan(&facts, want)
					require.NoError(t, err)
					sizeBytes := booked(p) * 9 / 8
					require.NoError(t, jointest.CheckMemory(t, lane, a, build, probe, want, o, sizeBytes),
						"%s by %+v, %+v: %d bytes", c.want, a, o, sizeBytes)
				}
			}
		}
	})
}

// Rows are peeled in as many parts as the memory asks for.
func TestDevicesOversizedCaps(t *testing.T) {
	devicetest.ShortOnHost(t)
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		build, probe := collisions.Relations(rand.New(rand.NewPCG(1, 1)), [2]int{9000, 20_000}, 4, [2][]int{{4, 4}, {4}})
		for _, want := range []string{"inner", "full", "semi both", "count"} {
			checkCaps(t, lane, peels, build, probe, jointest.Wants[want])
		}
	})
}

// Spans that come together have no more rows of a side than asked for, and every row of a span meets each one of the
// span that belongs to it, once.
func TestTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var pairs [][2]ranges.Span
		var at [2]uint64
		met, all := map[[2]uint64]int{}, 0
		for range random.IntN(12) {
			var pair [2]ranges.Span
			for side := range pair {
				first := at[side] + random.Uint64N(3)
				pair[side] = ranges.Span{First: first, End: first + 1 + random.Uint64N(20)}
				at[side] = pair[side].End
			}
			pairs = append(pairs, pair)
			all += int((pair[0].End - pair[0].First) * (pair[1].End - pair[1].First))
		}
		partition := func(side int, row uint64) int {
			return slices.IndexFunc(pairs, func(p [2]ranges.Span) bool { return p[side].First <= row && row < p[side].End })
		}
		most := [2]uint64{1 + random.Uint64N(30), 1 + random.Uint64N(30)}
		for some := range together(pairs, most) {
			var rows [2][]uint64
			for side, spans := range some {
				for _, s := range spans {
					for row := s.First; row < s.End; row++ {
						rows[side] = append(rows[side], row)
					}
				}
				require.LessOrEqual(t, uint64(len(rows[side])), most[side])
			}
			for _, l := range rows[0] {
				for _, r := range rows[1] {
					if partition(0, l) == partition(1, r) { // they may have the same key
						met[[2]uint64{l, r}]++
					}
				}
			}
		}
		require.Len(t, met, all)
		for pair, times := range met {
			require.Equal(t, 1, times, pair)
		}
	}
}

// Keys with few different upper halves of their mixes: those that a table tells apart by its chains, its tags or only
// by the keys themselves.
func TestDevicesSimilarKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	similar := func(rows int) (keys []uint64) {
		for range rows {
			keys = append(keys, uint64(kernel.Unmix(uint32(random.IntN(3)<<16|random.IntN(1<<16)), partitionSeed)))
		}
		return keys
	}
	build := &jointest.Relation{KeyBytes: 4, Keys: similar(2000), Payload: []int{4}}
	probe := &jointest.Relation{KeyBytes: 4, Keys: similar(3000), Payload: []int{4}}
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		for _, bits := range []int{1, 3, 4, 5, 6} {
			for _, want := range []string{"inner", "semi both", "count"} {
				a := Partitioned{force: force{bits: bitsOf(bits)}}
				jointest.CheckRun(t, lane, a, build, probe, jointest.Wants[want], jointest.Options{},
					fmt.Sprintf("%s, %d bits", want, bits))
			}
		}
	})
}

// Of keys with one high word only low words move, also where tables have room for more of those and one partition would
// do; the output has whole keys. Chunks that are not narrow, though the plan was told so, are an error.
func TestDevicesNarrow(t *testing.T) {
	onEach(t, func(t *testing.T, lane *exec.Lane) {
		ctx := context.Background()
		small := jointest.Small(lane.Device().Info())["partition_join"][0]
		few, many := small, small
		few.Config, many.Config = maps.Clone(small.Config), maps.Clone(small.Config)
		few.Variant, few.Config["table"], many.Config["table"] = backend.Config{"key_bits": 64}, 100, 300
		lane = jointest.Lane(t, lane.Device(), primitive.Tuning{"partition_join": {many, few}})
		random := rand.New(rand.NewPCG(1, 1))
		for _, rows := range []int{10, 150, 230, 250, 2000} {
			build, probe := jointest.Workloads["one high word"].Relations(random, [2]int{rows, 2 * rows}, 8,
				[2][]int{{4}, {8, 4, 4}})
			for w, name := range slices.Sorted(maps.Keys(jointest.Wants)) {
				want := jointest.Wants[name]
				want.Keys = !want.Count
				for i, a := range []Partitioned{om, um, peels} {
					if !devicetest.Turn(w+i, 3) {
						continue
					}
					out := jointest.CheckRun(t, lane, a, build, probe, want, jointest.Options{},
						fmt.Sprintf("%d rows, %s, %+v", rows, name, a))
					s := out.Plan.Detail.(shape)
					require.Equal(t, rows > 80 || a.force.bits != nil, s.narrow)
					require.Equal(t, s.narrow, s.bits > 0)
				}
			}
		}

		build, probe := jointest.Workloads["one high word"].Relations(random, [2]int{500, 900}, 8, [2][]int{{4}, {4}})
		wide := *probe
		wide.Keys = slices.Clone(probe.Keys)
		wide.Keys[333] ^= 1 << 40
		want := operator.Want{Rest: [2]bool{true, false}}
		facts := jointest.FactsOf(lane, build, probe, jointest.Options{})
		for _, c := range []struct{ build, probe *jointest.Relation }{{build, &wide}, {&wide, build}, {&wide, nil}} {
			p, err := om.Plan(&facts, want)
			require.NoError(t, err)
			o := om.Open(ctx, lane, p)
			chunk, release := c.build.Chunk(t, lane)
			chunk.HighWord = 0xabcdef01
			if err = o.Build(ctx, chunk); err == nil && c.probe != nil {
				other, releaseOther := c.probe.Chunk(t, lane)
				err = o.Probe(ctx, lane, other, new(operator.Counter))
				releaseOther()
			}
			if err == nil {
				err = o.Finish(ctx, new(operator.Counter))
			}
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, "high words")
			o.Close()
			release()
		}
	})
}

// hot are n rows of one key among others.
func hot(n, others int) *jointest.Relation {
	r := &jointest.Relation{KeyBytes: 4, Keys: slices.Repeat([]uint64{7}, n), Payload: []int{4}}
	for i := range others {
		r.Keys = append(r.Keys, uint64(i+100))
	}
	return r
}

// sameSlots are rows of few keys, each there so often as keyRows says, that all have the same slots in tables of hj.
func sameSlots(keys, keyRows, keyBytes int) *jointest.Relation {
	r := &jointest.Relation{KeyBytes: keyBytes, Payload: []int{4, 8, 4}}
	for i := range keys * keyRows {
		if n := i % keys; keyBytes == 8 {
			r.Keys = append(r.Keys, kernel.Unmix(uint64(n)<<20|9, tableSeed))
		} else {
			r.Keys = append(r.Keys, uint64(kernel.Unmix(uint32(n)<<20|9, tableSeed)))
		}
	}
	return r
}
