package recorded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// joinCase records a join of relations on a device that runs the references.
type joinCase struct {
	name     string // the folder of the device, and the file
	rows     [2]int
	keyBytes int
	keys     drawing
	payload  [2][]int // bytes of the columns
	join     joining
}

// joining joins and returns the number of output rows.
type joining func(j *joinBench) uint64

// drawing draws the keys of two sides.
type drawing func(random *rand.Rand, left, right, bits int) (l, r []uint64)

var (
	foreign   = jointest.Workloads["primary and foreign"].Draw
	duplicate = jointest.Workloads["duplicates"].Draw
	disjoint  = jointest.Workloads["no match"].Draw
	oneHigh   = jointest.Workloads["one high word"].Draw
	fewHigh   = jointest.Workloads["few high words"].Draw
)

var (
	narrow  = [2][]int{{4}, {4}}
	pairs   = [2][]int{{4, 4}, {4, 4}}
	wide    = [2][]int{{8, 8}, {8, 8}}
	several = [2][]int{{4, 8, 4}, {8, 4}}
	triples = [2][]int{{4, 4, 4}, {4, 4}}
	mixed   = [2][]int{{8}, {4}}
	small   = [2]int{1 << 16, 1 << 17}
)

var joinCases = []joinCase{
	{"h200/hash_om", small, 4, foreign, narrow, hashJoin(hash.Options{})},
	{"h200/hash_om_two_passes", [2]int{1 << 19, 1 << 20}, 4, foreign, narrow, hashJoin(hash.Options{})},
	{"h200/hash_om_pairs", small, 4, foreign, pairs, hashJoin(hash.Options{})},
	{"h200/hash_om_wide", small, 8, foreign, wide, hashJoin(hash.Options{})},
	{"h200/hash_om_several", small, 4, foreign, several, hashJoin(hash.Options{})},
	{"h200/hash_om_one_by_one", small, 4, foreign, triples, hashJoin(hash.Options{OneByOne: true})},
	{"h200/hash_um", small, 4, foreign, pairs, hashJoin(hash.Options{Untransformed: true})},
	{"h200/hash_um_several", small, 8, foreign, several, hashJoin(hash.Options{Untransformed: true})},
	{"h200/hash_keys_alone", small, 4, foreign, [2][]int{}, hashJoin(hash.Options{})},
	{"h200/hash_unique", small, 4, foreign, narrow, hashJoin(hash.Options{Unique: true})},
	{"h200/hash_count_first", small, 4, foreign, narrow, hashJoin(hash.Options{CountFirst: true})},
	{"h200/hash_paged", small, 4, foreign, pairs, hashJoin(hash.Options{PageRows: 4})},
	{"h200/hash_small_room", small, 4, foreign, narrow, hashJoin(hash.Options{OutputRows: 1000})},
	{"h200/hash_narrow", small, 8, oneHigh, mixed, hashJoin(hash.Options{})},
	{"h200/hash_not_narrow", small, 8, fewHigh, mixed, hashJoin(hash.Options{})},
	{"h200/hash_one_partition", [2]int{1500, 1 << 16}, 4, foreign, narrow, hashJoin(hash.Options{})},
	{"h200/hash_right_smaller", [2]int{1 << 17, 1 << 16}, 4, swapped(foreign), mixed, hashJoin(hash.Options{})},
	{"h200/hash_zipf", small, 4, zipf, narrow, hashJoin(hash.Options{})},
	{"h200/hash_hot_build_key", small, 4, hotBuildKey, several, hashJoin(hash.Options{})},
	{"h200/hash_collisions", small, 4, collisions, narrow, hashJoin(hash.Options{})},
	{"h200/hash_many_to_many", small, 4, duplicate, narrow, hashJoin(hash.Options{})},
	{"h200/hash_no_match", small, 4, disjoint, narrow, hashJoin(hash.Options{})},
	{"h200/hash_empty", [2]int{0, 1 << 16}, 4, foreign, narrow, hashJoin(hash.Options{})},
	{"h200/hash_count", small, 4, foreign, narrow, hashCount(hash.Options{})},
	{"h200/hash_count_hot_build_key", small, 8, hotBuildKey, narrow, hashCount(hash.Options{})},
	{"h200/hash_unpartitioned", small, 4, foreign, several, hashJoin(hash.Options{Unpartitioned: true})},
	{"h200/hash_unpartitioned_count", small, 8, foreign, narrow,
		hashCount(hash.Options{Unpartitioned: true, Unique: true})},
	{"h200/hash_table", small, 4, foreign, [2][]int{{4}, {8, 8}}, probeTwice},

	{"h200/smj_om", small, 4, foreign, narrow, mergeJoin(sortmerge.Options{})},
	{"h200/smj_om_wide", small, 8, foreign, wide, mergeJoin(sortmerge.Options{})},
	{"h200/smj_om_several", small, 4, foreign, several, mergeJoin(sortmerge.Options{})},
	{"h200/smj_om_one_by_one", small, 4, foreign, triples, mergeJoin(sortmerge.Options{OneByOne: true})},
	{"h200/smj_um", small, 4, foreign, several, mergeJoin(sortmerge.Options{Untransformed: true})},
	{"h200/smj_merge_sort", small, 4, foreign, narrow, mergeJoin(sortmerge.Options{MergeSort: true})},
	{"h200/smj_sorted", small, 4, ordered(foreign, true), pairs, mergeJoin(sortmerge.Options{})},
	{"h200/smj_um_sorted_left", small, 8, ordered(foreign, false), narrow,
		mergeJoin(sortmerge.Options{Untransformed: true})},
	{"h200/smj_count_first", small, 4, foreign, narrow, mergeJoin(sortmerge.Options{CountFirst: true})},
	{"h200/smj_small_room", small, 4, duplicate, narrow, mergeJoin(sortmerge.Options{OutputRows: 1000})},
	{"h200/smj_hot_key", [2]int{700, 900}, 4, oneKey, narrow, hotMergeJoin},
	{"h200/smj_no_match", small, 4, disjoint, narrow, mergeJoin(sortmerge.Options{})},
	{"h200/smj_empty", [2]int{1 << 16, 0}, 4, foreign, narrow, mergeJoin(sortmerge.Options{})},

	{"h200/auto", small, 4, foreign, pairs, autoJoin},
	{"h200/auto_zipf", small, 8, zipf, several, autoJoin},
	{"h200/auto_many_to_many", small, 8, duplicate, wide, autoJoin},

	{"plain/hash_om", small, 4, foreign, pairs, hashJoin(hash.Options{})},
	{"plain/hash_um", small, 8, foreign, pairs, hashJoin(hash.Options{Untransformed: true})},
	{"plain/hash_hot_build_key", small, 4, hotBuildKey, narrow, hashJoin(hash.Options{})},
	{"plain/hash_table", small, 4, foreign, narrow, probeTwice},
	{"plain/smj_om", small, 4, foreign, pairs, mergeJoin(sortmerge.Options{})},
	{"plain/smj_um", small, 8, foreign, pairs, mergeJoin(sortmerge.Options{Untransformed: true})},
	{"plain/auto", small, 4, foreign, pairs, autoJoin},
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

// joinBench is where a join is recorded.
type joinBench struct {
	t           *testing.T
	ops         *primitive.Ops
	left, right resident.Relation
	recorder    *recorded.Recorder
}

func recordJoin(t *testing.T, c joinCase, workers int) string {
	device := recorded.Open(t, infoOf(c.name), backend.DeviceOptions{}, workers)
	j := &joinBench{t: t, ops: opsOf(t, device, nil)}
	left := &jointest.Relation{KeyBytes: c.keyBytes, Payload: c.payload[0]}
	right := &jointest.Relation{KeyBytes: c.keyBytes, Payload: c.payload[1]}
	left.Keys, right.Keys = c.keys(rand.New(rand.NewPCG(1, 2)), c.rows[0], c.rows[1], c.keyBytes*8)
	for _, keys := range [][]uint64{left.Keys, right.Keys} {
		for i := range keys { // as they are uploaded
			keys[i] &= 1<<(8*c.keyBytes) - 1
		}
	}
	var release [2]func()
	j.left, release[0] = left.Upload(t, device)
	defer release[0]()
	j.right, release[1] = right.Upload(t, device)
	defer release[1]()
	var stop func()
	j.recorder, stop = recorded.Record(device)
	defer stop()
	for side, on := range map[string]resident.Relation{"left": j.left, "right": j.right} {
		j.recorder.Name(side+" keys", on.Keys.Data.Buffer)
		for i, column := range on.Payload {
			j.recorder.Name(fmt.Sprintf("%s payload %d", side, i+1), column.Data.Buffer)
		}
	}
	j.recorder.Notef("# %d x %d rows, keys of %d bytes, payload %v and %v",
		j.left.Rows, j.right.Rows, c.keyBytes, c.payload[0], c.payload[1])
	rows := c.join(j)
	require.Equal(t, matches(left.Keys, right.Keys), rows)
	j.recorder.Notef("# %d rows", rows)
	return j.recorder.String()
}

// matches is the number of pairs with equal keys.
func matches(left, right []uint64) (rows uint64) {
	counts := make(map[uint64]uint64, len(left))
	for _, key := range left {
		counts[key]++
	}
	for _, key := range right {
		rows += counts[key]
	}
	return rows
}

// lane is a lane of its own.
func (j *joinBench) lane() *exec.Lane { return exec.NewLane(background, j.ops, nil) }

// take is the number of rows of a result, which is given back.
func (j *joinBench) take(result *resident.Result, err error) uint64 {
	require.NoError(j.t, err)
	defer result.Release()
	return result.Rows
}

func hashJoin(o hash.Options) joining {
	return func(j *joinBench) uint64 { return j.take(hash.Join(background, j.lane(), j.left, j.right, o)) }
}

func hashCount(o hash.Options) joining {
	return func(j *joinBench) uint64 {
		rows, err := hash.Count(background, j.lane(), j.left, j.right, o)
		require.NoError(j.t, err)
		return rows
	}
}

func mergeJoin(o sortmerge.Options) joining {
	return func(j *joinBench) uint64 { return j.take(sortmerge.Join(background, j.lane(), j.left, j.right, o)) }
}

// hotMergeJoin joins by tiles so small that a key which is frequent on both sides makes many units.
func hotMergeJoin(j *joinBench) uint64 {
	tiles := primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 64}, "merge_join")
	j.ops = opsOf(j.t, j.ops.Device(), tiles)
	return mergeJoin(sortmerge.Options{})(j)
}

// probeTwice makes a table of the left side, counts, and probes it in both ways.
func probeTwice(j *joinBench) uint64 {
	table, err := hash.Build(background, j.lane(), j.left, true)
	require.NoError(j.t, err)
	defer table.Release()
	j.recorder.Notef("# count")
	rows, err := table.Count(background, j.lane(), j.right)
	require.NoError(j.t, err)
	for _, o := range []hash.Options{{OutputRows: rows}, {CountFirst: true}} {
		j.recorder.Notef("# probe, room for %d rows, count first %t", o.OutputRows, o.CountFirst)
		require.Equal(j.t, rows, j.take(table.Probe(background, j.lane(), j.right, o)))
	}
	return rows
}

func autoJoin(j *joinBench) uint64 {
	result, taken, err := auto.Join(background, j.lane(), j.left, j.right)
	j.recorder.Notef("# by %s", taken.Name())
	return j.take(result, err)
}

// zipf has each key once on the left. On the right, the frequency of the key of rank k falls as 1/k: the octave of a
// rank is uniform, and so is the rank within it. No floating point, so that all machines draw the same.
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

// hotBuildKey has a key on the left that fills more tables than a partition may, and comes a few times on the right.
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

// collisions has many keys on the left whose mixes end alike, so that they are in one partition.
func collisions(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	l, r = foreign(random, left, right, bits)
	const seed = 0x5bd1e995 // of the first partition (join/hash)
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

// ordered sorts the left side, and the right one where both.
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

func swapped(draw drawing) drawing {
	return func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
		r, l = draw(random, right, left, bits)
		return l, r
	}
}
