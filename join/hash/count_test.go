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
)

// TestCount compares the count with the rows of the join, and lets the rows be refused before memory is taken for them.
func TestCount(t *testing.T) {
	workloads := maps.Clone(jointest.Workloads)
	workloads["collisions"] = collisions
	names := slices.Sorted(maps.Keys(workloads))
	forced := []force{{}, {bits: new(int)}, {bits: bitsOf(5), table: 70}, {bits: bitsOf(4), table: 20, ranges: 3},
		{bits: bitsOf(5), table: 8, ranges: 1}}
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		shapes := bothShapes(t, device)
		for n, c := range devicetest.Combinations(t, len(jointest.Sizes), len(names), len(forced)+1, 2) {
			ops := shapes[n%2]
			size, workload, keyBytes := jointest.Sizes[c[0]], workloads[names[c[1]]], 4+4*c[3]
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
			left, right := &jointest.Relation{KeyBytes: keyBytes, Payload: []int{4}},
				&jointest.Relation{KeyBytes: keyBytes, Payload: []int{8, 4, 4}}
			left.Keys, right.Keys = workload.Draw(random, size[0], size[1], keyBytes*8)
			o := Options{Unpartitioned: c[2] == len(forced)}
			if !o.Unpartitioned {
				o.force = forced[c[2]]
			}
			describe := fmt.Sprintf("%s %v, keys of %d bytes, %+v", names[c[1]], size, keyBytes, o)
			jointest.Check(t, ops, left, right, describe,
				func(left, right resident.Relation) (*resident.Result, error) {
					o.OutputRows = 1
					r, err := Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right, o)
					count, countErr := Count(context.Background(), exec.NewLane(context.Background(), ops, nil), left,
						right, o)
					require.NoError(t, countErr, describe)
					if o.Unpartitioned && errors.Is(err, backend.ErrLimit) { // a key that is too frequent for a table
						r, err := Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right,
							Options{})
						require.NoError(t, err, describe)
						require.Equal(t, r.Rows, count, describe)
						return r, nil
					}
					require.NoError(t, err, describe)
					require.Equal(t, r.Rows, count, describe)
					if r.Rows > 0 {
						refusal, seen := errors.New("too many"), uint64(0)
						o.Approve = func(rows uint64) error { seen = rows; return refusal }
						_, err = Join(context.Background(), exec.NewLane(context.Background(), ops, nil), left, right,
							o)
						require.ErrorIs(t, err, refusal, describe)
						require.Equal(t, r.Rows, seen, describe)
					}
					return r, nil
				})
		}
	})
}
