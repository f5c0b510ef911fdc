package hash

import (
	"context"
	"errors"
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
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// collisions are keys that differ, all in one partition.
var collisions = jointest.Workload{Unique: true, Draw: func(random *rand.Rand, left, right, bits int) (l, r []uint64) {
	collide := func(i int) uint64 {
		if bits == 64 {
			return kernel.Unmix(uint64(i)<<mostBits|9, seeds[0])
		}
		return uint64(kernel.Unmix(uint32(i)<<mostBits|9, seeds[0]))
	}
	for i := range left {
		l = append(l, collide(i))
	}
	for range right {
		r = append(r, collide(random.IntN(left+left/2+1)))
	}
	return l, r
}}

func TestJoin(t *testing.T) {
	workloads := maps.Clone(jointest.Workloads)
	workloads["collisions"] = collisions
	names, sizes, payloads := slices.Sorted(maps.Keys(workloads)), jointest.Sizes, jointest.Payloads
	forced := []force{{}, {bits: new(int)}, {bits: bitsOf(3)}, {bits: bitsOf(11), table: 40},
		{bits: bitsOf(5), table: 70}, {bits: bitsOf(2), table: 1000}, {bits: bitsOf(4), table: 20, ranges: 3},
		{bits: bitsOf(5), table: 8, ranges: 1}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t, device.Info())
		shapes := bothShapes(t, device)
		for n, c := range devicetest.Combinations(t, len(sizes), len(payloads), len(names), len(forced), 10, 2) {
			if tuning != nil && n%5 > 0 {
				continue // instrumented pipelines take seconds to compile
			}
			ops := shapes[n%2]
			size, workload, keyBytes := sizes[c[0]], workloads[names[c[2]]], 4+4*c[5]
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[2])))
			o := Options{Untransformed: c[4]&1 == 1, OneByOne: c[4]&2 == 2, CountFirst: c[4]&4 == 4,
				Unpartitioned: c[4] >= 8, force: forced[c[3]]}
			if c[1]%2 == 0 {
				o.OutputRows = 3
			}
			if c[4] == 1 || c[4] == 2 || c[4] == 9 {
				o.PageRows = 1 + n%8
			}
			least, most := min(size[0], size[1]), max(size[0], size[1])
			few, many := workload.Draw(random, least, most, keyBytes*8)
			left, right := &jointest.Relation{KeyBytes: keyBytes, Keys: few, Payload: payloads[c[1]][0]},
				&jointest.Relation{KeyBytes: keyBytes, Keys: many, Payload: payloads[c[1]][1]}
			if size[0] > size[1] {
				left.Keys, right.Keys = many, few
			}
			o.Unique = workload.Unique && size[0]%2 == 1
			describe := fmt.Sprintf("%s %v, keys of %d bytes, payload %v, %+v", names[c[2]], size, keyBytes,
				payloads[c[1]], o)
			jointest.Check(t, ops, left, right, describe,
				func(left, right resident.Relation) (*resident.Result, error) {
					r, err := Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right, o)
					if o.Unpartitioned && errors.Is(err, backend.ErrLimit) { // a key that is too frequent for a table
						o.Unpartitioned = false
						require.Contains(t, []string{"one key", "duplicates", "hot keys"}, names[c[2]])
						return Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right, o)
					}
					return r, err
				})
		}
	})
}

// Keys that collide are told apart by another partition; what is oversized then too, as hot keys are, is sorted.
func TestOversizedPartitions(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		for name, sorted := range map[string]bool{"collisions": false, "one key": true} {
			workload := collisions
			if name != "collisions" {
				workload = jointest.Workloads[name]
			}
			few, many := workload.Draw(rand.New(rand.NewPCG(1, 1)), 700, 900, 32)
			left, right := &jointest.Relation{KeyBytes: 4, Keys: few, Payload: []int{4}},
				&jointest.Relation{KeyBytes: 4, Keys: many, Payload: []int{8, 4}}
			lane := exec.NewLane(context.Background(), ops, nil)
			jointest.Check(t, ops, left, right, name, func(left, right resident.Relation) (*resident.Result, error) {
				return Join(context.Background(), lane, left, right, Options{force: force{bits: bitsOf(5), table: 20}})
			})
			require.NoError(t, device.Run(context.Background(), new(backend.List)))
			var stages []string
			for _, s := range lane.Profile.Stages() {
				stages = append(stages, s.Stage)
			}
			require.Contains(t, stages, "partition oversized left")
			require.Equal(t, sorted, slices.Contains(stages, "range search"), stages)
		}
	})
}

// Keys with few different upper halves of their mixes: those that a table tells apart by its chains, its tags or only
// by the keys themselves.
func TestSimilarKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	similar := func(rows int) (keys []uint64) {
		for range rows {
			keys = append(keys, uint64(kernel.Unmix(uint32(random.IntN(3)<<16|random.IntN(1<<16)), seeds[0])))
		}
		return keys
	}
	left, right := &jointest.Relation{KeyBytes: 4, Keys: similar(2000), Payload: []int{4}},
		&jointest.Relation{KeyBytes: 4, Keys: similar(3000), Payload: []int{4}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		for _, bits := range []int{1, 3, 4, 5, 6} {
			jointest.Check(t, ops, left, right, fmt.Sprint(bits),
				func(left, right resident.Relation) (*resident.Result, error) {
					return Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right,
						Options{force: force{bits: bitsOf(bits)}})
				})
		}
	})
}

// bothShapes are the tuned kernels, where these can be had, and small ones.
func bothShapes(t *testing.T, device *backend.Device) (shapes [2]*primitive.Ops) {
	for i, tuning := range []primitive.Tuning{jointest.Tuning(t, device.Info()), jointest.Small(device.Info())} {
		ops, err := primitive.New(device, tuning)
		require.NoError(t, err)
		shapes[i] = ops
	}
	return shapes
}

func bitsOf(n int) *int { return &n }
