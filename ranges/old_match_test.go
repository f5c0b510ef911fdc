package ranges_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Key codes that come sorted are not sorted again; row numbers that come with them stay with their rows.
func TestMatchSorted(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		for sorted := range 4 {
			for _, countOnly := range []bool{false, true} {
				random := rand.New(rand.NewPCG(uint64(sorted), 3))
				var keys, ids [2][]uint32
				problem := ranges.Problem{
					Rows: [2]uint64{900, 2000}, HasIDs: [2]bool{true, false}, KeyBytes: 4, KeyBits: 10,
					CountOnly: countOnly,
				}
				total := 0
				rowsOf := [2]map[uint32][]uint32{{}, {}}
				for side, rows := range problem.Rows {
					for i := range rows {
						keys[side], ids[side] = append(keys[side], random.Uint32N(1000)), append(ids[side], uint32(i))
					}
					if sorted>>side&1 == 1 {
						slices.Sort(keys[side])
					}
					if problem.HasIDs[side] {
						for i := range ids[side] {
							ids[side][i] = 3 * uint32(i)
						}
					}
					for i, key := range keys[side] {
						rowsOf[side][key] = append(rowsOf[side][key], ids[side][i])
					}
				}
				for key, rows := range rowsOf[0] {
					total += len(rows) * len(rowsOf[1][key])
				}
				plan, err := ranges.NewPlan(ops.Tuning(), problem)
				require.NoError(t, err)
				lane := exec.NewLane(context.Background(), ops, nil)
				load := func(ctx context.Context, side relation.Side, to, toIDs backend.Range) error {
					_, err := device.Upload(ctx, to, backend.AsBytes(keys[side]))
					if err == nil && toIDs.Buffer != nil {
						_, err = device.Upload(ctx, toIDs, backend.AsBytes(ids[side]))
					}
					return err
				}
				m, err := ranges.Match(context.Background(), lane, plan, load, func(uint64) error { return nil })
				require.NoError(t, err)
				require.EqualValues(t, total, m.Total)
				if !countOnly {
					found, left, right, err := m.Ranges(context.Background())
					require.NoError(t, err)
					for _, r := range found {
						key := keys[0][left[r.LeftBegin]/3]
						require.ElementsMatch(t, rowsOf[0][key], left[r.LeftBegin:][:r.LeftCount])
						require.ElementsMatch(t, rowsOf[1][key], right[r.RightBegin:][:r.RightCount])
					}
				}
				m.Release()
				if sorted&1 == 1 {
					require.NotContains(t, lane.Profile.String(), "sort left")
				} else {
					require.Contains(t, lane.Profile.String(), "sort left")
				}
			}
		}
	})
}
