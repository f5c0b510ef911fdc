package sortmerge_test

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
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/primitive"
)

// options are those of the combination with number n.
func options(n int) sortmerge.Options {
	o := sortmerge.Options{Untransformed: n&1 == 1, MergeSort: n&2 == 2, OneByOne: n&4 == 4, CountFirst: n&8 == 8}
	if n%3 == 0 {
		o.OutputRows = 3
	}
	return o
}

// tilings are what a unit of work takes: tuned, tiles of many rows with short pieces, and the other way round.
var tilings = []primitive.Tuning{
	nil,
	primitive.Override(backend.Config{"workgroup": 128, "items": 3, "table": 10}, "merge_join"),
	primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 700}, "merge_join"),
}

func TestJoin(t *testing.T) {
	names := slices.Sorted(maps.Keys(jointest.Workloads))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t, device.Info())
		for n, c := range devicetest.Combinations(t, len(jointest.Sizes), len(jointest.Payloads), len(names), 16,
			len(tilings), 4, 2) {
			if tuning != nil && n%5 > 0 {
				continue // instrumented pipelines take seconds to compile
			}
			ops, err := primitive.New(device, tilings[c[4]].With(tuning))
			require.NoError(t, err)
			size, keyBytes, o := jointest.Sizes[c[0]], 4+4*c[6], options(c[3])
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[2])))
			left, right := &jointest.Relation{KeyBytes: keyBytes, Payload: jointest.Payloads[c[1]][0]},
				&jointest.Relation{KeyBytes: keyBytes, Payload: jointest.Payloads[c[1]][1]}
			left.Keys, right.Keys = jointest.Workloads[names[c[2]]].Draw(random, size[0], size[1], keyBytes*8)
			for side, r := range []*jointest.Relation{left, right} {
				for i := range r.Keys { // as they are uploaded
					r.Keys[i] &= 1<<(8*keyBytes) - 1
				}
				if c[5]>>side&1 == 1 {
					slices.Sort(r.Keys)
				}
			}
			jointest.Check(t, ops, left, right,
				fmt.Sprintf("%s %v, sorted %02b, keys of %d bytes, payload %v, tiling %d, %+v", names[c[2]], size, c[5],
					keyBytes, jointest.Payloads[c[1]], c[4], o),
				func(left, right resident.Relation) (*resident.Result, error) {
					return sortmerge.Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left,
						right, o)
				})
		}
	})
}

// A side that is sorted is not sorted again, whatever the options; one that is not is, be it by one row.
func TestSortedSides(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		for sorted := range 4 {
			for n := range 16 {
				random := rand.New(rand.NewPCG(uint64(sorted), uint64(n)))
				left, right := &jointest.Relation{KeyBytes: 4, Payload: []int{4, 4, 8}},
					&jointest.Relation{KeyBytes: 4, Payload: []int{8}}
				left.Keys, right.Keys = jointest.Workloads["half match"].Draw(random, 3000, 7000, 32)
				for side, r := range []*jointest.Relation{left, right} {
					slices.Sort(r.Keys)
					if sorted>>side&1 == 0 {
						r.Keys[len(r.Keys)-1] = 0
					}
				}
				lane := exec.NewLane(context.Background(), ops, nil)
				jointest.Check(t, ops, left, right, fmt.Sprintf("sorted %02b, %+v", sorted, options(n)),
					func(left, right resident.Relation) (*resident.Result, error) {
						return sortmerge.Join(context.Background(), lane, left, right, options(n))
					})
				for side, name := range []string{"sort left", "sort right"} {
					took := slices.ContainsFunc(lane.Profile.Stages(),
						func(s backend.StageTime) bool { return s.Stage == name })
					require.Equal(t, sorted>>side&1 == 0, took, "%s, sorted %02b, %+v: %v", name, sorted, options(n),
						lane.Profile)
				}
				if jointest.Tuning(t, device.Info()) != nil {
					return
				}
			}
		}
	})
}

// Keys that are frequent on both sides are counted before they are joined: too many pairs are an error before anything
// is written, and as many as there may be find room at once.
func TestHotKeys(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		if jointest.Tuning(t, device.Info()) != nil {
			t.Skip("instrumented pipelines take seconds to compile; TestJoin runs the same ones")
		}
		ops, err := primitive.New(device,
			primitive.Override(backend.Config{"workgroup": 128, "items": 1, "table": 10}, "merge_join"))
		require.NoError(t, err)
		side := func(rows int) *jointest.Relation {
			return &jointest.Relation{KeyBytes: 8, Keys: slices.Repeat([]uint64{^uint64(0)}, rows), Payload: []int{4}}
		}
		lane := exec.NewLane(context.Background(), ops, nil)
		join := func(left, right resident.Relation) (*resident.Result, error) {
			return sortmerge.Join(context.Background(), lane, left, right, sortmerge.Options{})
		}
		jointest.Check(t, ops, side(400), side(500), "hot on both sides", join)
		require.Contains(t, lane.Profile.String(), "range search")

		lane = exec.NewLane(context.Background(), ops, nil)
		left, releaseLeft := side(66_000).Upload(t, device)
		defer releaseLeft()
		right, releaseRight := side(67_000).Upload(t, device)
		defer releaseRight()
		_, err = join(left, right)
		require.ErrorIs(t, err, backend.ErrLimit)
		require.ErrorContains(t, err, fmt.Sprint(66_000*67_000))
		require.NotContains(t, lane.Profile.String(), "match")
	})
}
