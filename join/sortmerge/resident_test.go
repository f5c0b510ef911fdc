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
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/join/resident"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/primitive"
)

func TestJoin(t *testing.T) {
	names := slices.Sorted(maps.Keys(jointest.Workloads))
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		tuning := jointest.Tuning(t)
		ops, err := primitive.New(device, tuning)
		require.NoError(t, err)
		for n, c := range devicetest.Combinations(t, len(jointest.Sizes), len(jointest.Payloads), len(names), 4, 2) {
			if tuning != nil && n%5 > 0 {
				continue // instrumented pipelines take seconds to compile
			}
			size, keyBytes := jointest.Sizes[c[0]], 4+4*c[4]
			random := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[2])))
			o := sortmerge.Options{Untransformed: c[3]&1 == 1, OneByOne: c[3]&2 == 2}
			left, right := &jointest.Relation{KeyBytes: keyBytes, Payload: jointest.Payloads[c[1]][0]}, &jointest.Relation{KeyBytes: keyBytes, Payload: jointest.Payloads[c[1]][1]}
			left.Keys, right.Keys = jointest.Workloads[names[c[2]]].Draw(random, size[0], size[1], keyBytes*8)
			jointest.Check(t, ops, left, right, fmt.Sprintf("%s %v, keys of %d bytes, payload %v, %+v", names[c[2]], size, keyBytes, jointest.Payloads[c[1]], o),
				func(left, right resident.Relation) (*resident.Result, error) {
					return sortmerge.Join(context.Background(), ops, left, right, o, nil)
				})
		}
	})
}
