package recorded_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// joinCase records an operator on a device that runs the reference kernels.
type joinCase struct {
	name     string // folder of the device, and file
	rows     [2]int // of the build and the probe side
	keyBytes int
	keys     drawing
	payload  [2][]int           // bytes per value of the columns
	by       operator.Algorithm // nil: as planned
	opening  opening
}

// opening says how an operator is planned and run.
type opening struct {
	want    string // of jointest.Wants; "" is inner
	granule int    // rows of the probe side at a time; 0: all
	window  uint64 // output rows of a window; 0: all
	short   bool   // no pairs are expected, otherwise one for each probe row
	proved  bool   // keys of the build side are unique
	tuning  primitive.Tuning
}

// drawing draws the keys of two sides.
type drawing func(random *rand.Rand, build, probe, bits int) (b, p []uint64)

var (
	foreign   = jointest.Workloads["primary and foreign"].Draw
	duplicate = jointest.Workloads["duplicates"].Draw
	disjoint  = jointest.Workloads["no match"].Draw
	oneHigh   = jointest.Workloads["one high word"].Draw
	fewHigh   = jointest.Workloads["few high words"].Draw
	half      = jointest.Workloads["half match"].Draw
)

var (
	narrow  = [2][]int{{4}, {4}}
	pairs   = [2][]int{{4, 4}, {4, 4}}
	wide    = [2][]int{{8, 8}, {8, 8}}
	several = [2][]int{{4, 8, 4}, {8, 4}}
	triples = [2][]int{{4, 4, 4}, {4, 4}}
	mixed   = [2][]int{{8}, {4}}
	small   = [2]int{1 << 16, 1 << 17}
	smaller = [2]int{1 << 13, 3 << 12}
)

var (
	phjOM = hash.Partitioned{}
	phjUM = hash.Partitioned{Untransformed: true}
	hj    = hash.Unpartitioned{}
	// smallTiles are so small that a key that is frequent on both sides makes many units.
	smallTiles = primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 64}, "merge_join")
)

var joinCases = slices.Concat([]joinCase{
	{"h200/hash_om", small, 4, foreign, narrow, phjOM, opening{}},
	{"h200/hash_om_two_passes", [2]int{1 << 19, 1 << 20}, 4, foreign, narrow, phjOM, opening{}},
	{"h200/hash_om_pairs", small, 4, foreign, pairs, phjOM, opening{}},
	{"h200/hash_om_wide", small, 8, foreign, wide, phjOM, opening{}},
	{"h200/hash_om_several", small, 4, foreign, several, phjOM, opening{}},
	{"h200/hash_om_one_by_one", small, 4, foreign, triples, hash.Partitioned{OneByOne: true}, opening{}},
	{"h200/hash_um", small, 4, foreign, pairs, phjUM, opening{}},
	{"h200/hash_um_several", small, 8, foreign, several, phjUM, opening{}},
	{"h200/hash_keys_alone", small, 4, foreign, [2][]int{}, phjOM, opening{}},
	{"h200/hash_unique", small, 4, foreign, narrow, phjOM, opening{proved: true}},
	{"h200/hash_count_first", small, 4, foreign, narrow, hash.Partitioned{CountFirst: true}, opening{}},
	{"h200/hash_paged", small, 4, foreign, pairs, hash.Partitioned{PageRows: 4}, opening{}},
	{"h200/hash_small_room", small, 4, foreign, narrow, phjOM, opening{short: true}},
	{"h200/hash_narrow", small, 8, oneHigh, mixed, phjOM, opening{}},
	{"h200/hash_not_narrow", small, 8, fewHigh, mixed, phjOM, opening{}},
	{"h200/hash_one_partition", [2]int{1500, 1 << 16}, 4, foreign, narrow, phjOM, opening{}},
	{"h200/hash_zipf", small, 4, zipf, narrow, phjOM, opening{}},
	{"h200/hash_hot_build_key", small, 4, hotBuildKey, several, phjOM, opening{}},
	{"h200/hash_collisions", small, 4, collisions, narrow, phjOM, opening{}},
	{"h200/hash_many_to_many", small, 4, duplicate, narrow, phjOM, opening{}},
	{"h200/hash_no_match", small, 4, disjoint, narrow, phjOM, opening{}},
	{"h200/hash_empty", [2]int{0, 1 << 16}, 4, foreign, narrow, phjOM, opening{}},
	{"h200/hash_count", small, 4, foreign, narrow, phjOM, opening{want: "count"}},
	{"h200/hash_count_hot_build_key", small, 8, hotBuildKey, narrow, phjOM, opening{want: "count"}},
	{"h200/hash_unpartitioned", small, 4, foreign, several, hj, opening{}},
	{"h200/hash_unpartitioned_count", small, 8, foreign, narrow, hj, opening{want: "count", proved: true}},

	{"h200/smj_om", small, 4, foreign, narrow, sortmerge.OM, opening{}},
	{"h200/smj_om_wide", small, 8, foreign, wide, sortmerge.OM, opening{}},
	{"h200/smj_om_several", small, 4, foreign, several, sortmerge.OM, opening{}},
	{"h200/smj_om_one_by_one", small, 4, foreign, triples, sortmerge.OMSingle, opening{}},
	{"h200/smj_um", small, 4, foreign, several, sortmerge.UM, opening{}},
	{"h200/smj_merge_sort", small, 4, foreign, narrow, sortmerge.OMMerge, opening{}},
	{"h200/smj_sorted", small, 4, ordered(foreign, true), pairs, sortmerge.OM, opening{}},
	{"h200/smj_um_sorted_build", small, 8, ordered(foreign, false), narrow, sortmerge.UM, opening{}},
	{"h200/smj_count_first", small, 4, foreign, narrow, sortmerge.OMCountFirst, opening{}},
	{"h200/smj_small_room", small, 4, duplicate, narrow, sortmerge.OM, opening{short: true}},
	{"h200/smj_hot_key", [2]int{700, 900}, 4, oneKey, narrow, sortmerge.OM, opening{tuning: smallTiles}},
	{"h200/smj_no_match", small, 4, disjoint, narrow, sortmerge.OM, opening{}},
	{"h200/smj_empty", [2]int{1 << 16, 0}, 4, foreign, narrow, sortmerge.OM, opening{}},

	{"h200/auto", small, 4, foreign, pairs, nil, opening{}},
	{"h200/auto_zipf", small, 8, zipf, several, nil, opening{}},
	{"h200/auto_many_to_many", small, 8, duplicate, wide, nil, opening{}},

	{"plain/hash_om", small, 4, foreign, pairs, phjOM, opening{}},
	{"plain/hash_um", small, 8, foreign, pairs, phjUM, opening{}},
	{"plain/hash_hot_build_key", small, 4, hotBuildKey, narrow, phjOM, opening{}},
	{"plain/hj_granules", small, 4, foreign, narrow, hj, opening{granule: 1 << 16}},
	{"plain/smj_om", small, 4, foreign, pairs, sortmerge.OM, opening{}},
	{"plain/smj_um", small, 8, foreign, pairs, sortmerge.UM, opening{}},
	{"plain/auto", small, 4, foreign, pairs, nil, opening{}},
}, kinds("phj_om", phjOM), kinds("hj", hj), kinds("smj_om", sortmerge.OM), kinds("smj_um", sortmerge.UM))

// kinds returns joins of all kinds by an algorithm, in which half of the rows match.
func kinds(name string, by operator.Algorithm) (cases []joinCase) {
	add := func(suffix string, o opening) {
		cases = append(cases, joinCase{"h200/" + name + "_" + suffix, smaller, 4, half, mixed, by, o})
	}
	for _, want := range []string{"left", "right", "full", "semi probe", "semi build", "anti probe", "count"} {
		add(strings.ReplaceAll(want, " ", "_"), opening{want: want})
	}
	add("granules", opening{want: "full", granule: 1 << 12})
	add("windows", opening{window: 1 << 11})
	return cases
}

func TestJoins(t *testing.T) {
	for _, c := range joinCases {
		t.Run(c.name, func(t *testing.T) {
			text := recordJoin(t, c, 2)
			require.Equal(t, text, recordJoin(t, c, 3), "a second time, on another number of cores")
			requireGolden(t, c.name, text)
		})
	}
}

func recordJoin(t *testing.T, c joinCase, workers int) string {
	device := recorded.Open(t, infoOf(c.name), backend.DeviceOptions{}, workers)
	lane := exec.NewLane(background, opsOf(t, device, c.opening.tuning), nil)
	var sides [2]*jointest.Relation
	var drawn [2][]uint64
	drawn[operator.Build], drawn[operator.Probe] = c.keys(rand.New(rand.NewPCG(1, 2)), c.rows[operator.Build],
		c.rows[operator.Probe], c.keyBytes*8)
	for side, keys := range drawn {
		for i := range keys { // as they are uploaded
			keys[i] &= 1<<(8*c.keyBytes) - 1
		}
		sides[side] = &jointest.Relation{KeyBytes: c.keyBytes, Keys: keys, Payload: c.payload[side]}
	}
	facts := jointest.FactsOf(lane, sides[operator.Build], sides[operator.Probe], jointest.Options{
		Granule: uint64(c.opening.granule), Window: c.opening.window})
	facts.Proved, facts.OutputRows, facts.MostRows = c.opening.proved, 0, facts.Rows[operator.Probe]
	if c.opening.short {
		facts.MostRows = 0
	}
	granules := [][]uint64{drawn[operator.Probe]}
	if c.opening.granule > 0 {
		granules = slices.Collect(slices.Chunk(drawn[operator.Probe], c.opening.granule))
	}
	names := map[*backend.Buffer]string{}
	chunk := func(name string, side int, keys []uint64) *relation.Chunk {
		r := *sides[side]
		r.Keys = keys
		on, release := r.Chunk(t, lane)
		t.Cleanup(release)
		if facts.Narrow && len(keys) > 0 {
			on.Narrow, on.HighWord = true, uint32(keys[0]>>32)
		}
		names[on.Keys.Data.Buffer] = name + " keys"
		for i, column := range on.Payload {
			names[column.Data.Buffer] = fmt.Sprintf("%s payload %d", name, i+1)
		}
		return on
	}
	build := chunk("build", operator.Build, drawn[operator.Build])
	var probe []*relation.Chunk
	for i, keys := range granules {
		name := "probe"
		if i > 0 {
			name = fmt.Sprintf("probe %d", i+1)
		}
		probe = append(probe, chunk(name, operator.Probe, keys))
	}
	recorder, stop := recorded.Record(device)
	defer stop()
	for b, name := range names {
		recorder.Name(name, b)
	}
	kind := cmp.Or(c.opening.want, "inner")
	recorder.Notef("# %s, %d x %d rows, keys of %d bytes, payload %v and %v", kind, c.rows[operator.Build],
		c.rows[operator.Probe], c.keyBytes, c.payload[operator.Build], c.payload[operator.Probe])
	want := jointest.Wants[kind]
	want.Keys = !want.Count
	sink := &operator.Collector{Lane: lane, Most: c.opening.window}
	defer sink.Release()
	var plan *operator.Plan
	var err error
	if c.by != nil {
		plan, err = c.by.Plan(&facts, want)
	} else {
		plan, err = choose(lane, build, probe[0], want)
		recorder.Notef("# by %s", plan.Algorithm.Name())
	}
	require.NoError(t, err)
	require.NoError(t, plan.Reject)
	op := plan.Algorithm.Open(background, lane, plan)
	defer op.Close()
	require.NoError(t, op.Build(background, build))
	for i, granule := range probe {
		if len(probe) > 1 {
			recorder.Notef("# granule %d", i+1)
		}
		require.NoError(t, op.Probe(background, lane, granule, sink))
	}
	require.NoError(t, op.Finish(background, sink))
	want.Count = true
	require.Equal(t, jointest.Oracle(sides[operator.Build], sides[operator.Probe], want).Count, sink.Rows)
	recorder.Notef("# %d rows in %d windows", sink.Rows, len(sink.Windows))
	return recorder.String()
}

// choose plans from a sample, as joins of tables do.
func choose(lane *exec.Lane, build, probe *relation.Chunk, want operator.Want) (*operator.Plan, error) {
	var facts operator.Facts
	if err := joins.Sample(background, lane, build, probe, &facts); err != nil {
		return nil, err
	}
	rates := planner.RatesFor(lane.Device().Info())
	all, err := planner.Choose(facts, want, join.Algorithms, rates, planner.Limits{})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// zipf draws each key once for the build side. On the probe side, the frequency of the key of rank k is proportional to
// 1/k: the octave of a rank is uniform, and so is the rank within it. There is no floating point, so that all machines
// draw the same keys.
func zipf(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	for i := range left {
		l = append(l, uint64(i)*0x9e3779b9)
	}
	octaves := 0
	for left>>octaves > 1 {
		octaves++
	}
	for range right {
		least := 1 << random.IntN(octaves)
		r = append(r, uint64(least-1+random.IntN(least))*0x9e3779b9)
	}
	return l, r
}

// hotBuildKey draws a key that fills more tables of the build side than a partition may have, and that a few probe rows
// have.
func hotBuildKey(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	l, r = foreign(random, left, right, bits)
	for i := range l[:3*len(l)/8] {
		l[i] = 7
	}
	for i := range r[:10] {
		r[i] = 7
	}
	return l, r
}

// collisions draws many build keys whose mixes have the same low bits, so that they are in one partition.
func collisions(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	l, r = foreign(random, left, right, bits)
	const seed = 0x5bd1e995 // seed of the first partition (join/hash)
	for i := range l[:3*len(l)/8] {
		l[i] = uint64(kernel.Unmix(uint32(i)<<8|9, seed))
	}
	for i := range r[:10] {
		r[i] = l[i]
	}
	return l, r
}

func oneKey(_ *rand.Rand, left, right, _ int) (l, r []uint64) {
	return make([]uint64, left), make([]uint64, right)
}

// ordered sorts the build side and, if both is set, the probe side.
func ordered(draw drawing, both bool) drawing {
	return func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		l, r = draw(random, left, right, bits)
		for _, keys := range [][]uint64{l, r} {
			for i := range keys {
				keys[i] &= 1<<bits - 1
			}
		}
		slices.Sort(l)
		if both {
			slices.Sort(r)
		}
		return l, r
	}
}
