package ranks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/ranks"
	"github.com/spirjoin/spirjoin/source"
)

// dropped adds up the rows of a side that all ranks dropped.
func dropped(found []outcome, side int) (rows uint64) {
	for _, of := range found[0].totals.Exchanged {
		rows += of[side].DroppedRows
	}
	return rows
}

// TestFilterKinds: joins of all kinds return the same rows if rows without a partner are dropped before they move, with
// keys of several types, NULLs, hot keys, empty sides and shares. Nothing is dropped whose rows are in the output
// without a partner.
func TestFilterKinds(t *testing.T) {
	devicetest.SkipRace(t)
	shapes := [][2]shape{
		{{150, 600, 0, 0.1}, {200, 600, 0, 0.1}},
		{{900, 600, 0.5, 0}, {30, 600, 0.1, 0}}, // one key has half of the left rows
		{{0, 1, 0, 0}, {60, 20, 0, 0.1}},
		{{60, 20, 0, 0.2}, {0, 1, 0, 0}},
		{{90, 200, 0, 0.1}, {80, 200, 0, 1}}, // all right keys are NULL
	}
	sizes := []int{1, 2, 3, 5}
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		for _, how := range kinds[:len(kinds)-1] {
			for _, c := range devicetest.Combinations(t, len(keyTypes), len(shapes), len(sizes), 3, 2) {
				build := []join.BuildSide{join.BuildLeft, join.BuildRight}[c[4]]
				spec := join.Spec{How: how, On: [][]string{{"k"}, {"k", "t"}, {"k"}}[c[3]], BuildSide: build}
				switch {
				case how == join.NotIn:
					spec.On, spec.BuildSide = []string{"k"}, join.BuildRight
				case c[3] == 2:
					spec.NullsEqual = []string{"k"}
				}
				probe := 1 - int(spec.BuildSide.Side())
				types, of := keyTypes[c[0]], shapes[c[1]]
				left, right := table(t, 1, types[0], of[0]), table(t, 2, types[1], of[1])
				s := setup{size: sizes[c[2]],
					knobs: ranks.Knobs{Owners: true, Filtering: ranks.FilterAll, BlockBytes: 700}}
				name := fmt.Sprintf("%s/%s-%s/on=%d/shape=%d/ranks=%d/build=%s", how, types[0].Name(), types[1].Name(),
					c[3], c[1], s.size, spec.BuildSide)
				if !t.Run(name, func(t *testing.T) {
					layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
					require.NoError(t, err)
					if layout.CheckStream(spec.BuildSide) != nil {
						t.Skip("no stream")
					}
					found := check(t, device, s, left, right, spec)
					may := s.size > 1 && how != join.NotIn && (probe == 0 && slices.Contains(rightKept, how) ||
						probe == 1 && slices.Contains(leftKept, how) || how == join.Inner)
					some := c[1] == 0 || c[1] == 4 && probe == 0
					require.Zero(t, dropped(found, 1-probe), "of the build side")
					switch n := dropped(found, probe); {
					case !may:
						require.Zero(t, n)
					case some:
						require.NotZero(t, n)
					}
				}) {
					return
				}
			}
		}
	})
}

// Kinds whose output has no left row, or no right row, that has no partner.
var (
	rightKept = []join.How{join.Right, join.Semi, join.RightSemi, join.RightAnti}
	leftKept  = []join.How{join.Left, join.Semi, join.Anti, join.RightSemi, join.Mark}
)

// TestFilterForms: counts, pairs, unique keys, memory limits and estimated sizes of joins with a filter. The side whose
// keys must be unique is not filtered.
func TestFilterForms(t *testing.T) {
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		left, right := table(t, 1, int64s, shape{400, 4000, 0, 0.1}), numbered(t, 2, 300, func(i int) int64 {
			return int64(i * 5)
		})
		knobs := ranks.Knobs{Owners: true, Filtering: ranks.FilterAll, BlockBytes: 1000}
		for _, s := range []setup{{size: 3, knobs: knobs}, {size: 2, knobs: knobs, limitBytes: 256 << 20}} {
			for _, spec := range []join.Spec{{On: onK, Output: join.Count}, {On: onK, Output: join.Pairs},
				{On: onK, Validate: join.ManyToOne, How: join.Semi}} {
				spec.BuildSide = join.BuildRight
				require.NotZero(t, dropped(check(t, device, s, left, right, spec), 0))
			}
			spec := join.Spec{On: onK, Validate: join.OneToMany}
			require.Zero(t, dropped(check(t, device, s, right, left, spec), 0))
			twice := numbered(t, 3, 97, func(i int) int64 { return int64(i % 90) })
			requireFails(t, run(t, device, s, twice, numbered(t, 4, 1, func(int) int64 { return 1000 }), spec),
				backend.ErrInvalidInput, "keys of the left table must be unique")
		}
		found := runEach(t, device, setup{size: 3, knobs: knobs}, func(rank int) (l, r source.Source, _ join.Spec) {
			l, r = unknown(share(left, rank, 3)), unknown(share(right, rank, 3))
			r.Rows = 10 // too few
			return l, r, join.Spec{On: onK, Output: join.Count, BuildSide: join.BuildRight}
		})
		require.NoError(t, found[0].err)
		plain := check(t, device, setup{size: 1}, left, right, join.Spec{On: onK, Output: join.Count})
		require.Equal(t, plain[0].totals.AllRows(), found[0].totals.AllRows())
	})
}

// TestFilterAuto: rows are dropped if a sample says that most have no partner, and not if it says that all have one, if
// the keys with partners are hot, or if sizes are unknown.
func TestFilterAuto(t *testing.T) {
	devicetest.SkipRace(t)
	const rows = 400_000
	spread := func(values int) func(int) int64 {
		return func(i int) int64 { return int64(uint64(i) * 0x9e3779b97f4a7c15 >> 20 % uint64(values)) }
	}
	devicetest.ForEachHost(t, func(t *testing.T, device *backend.Device) {
		few := numbered(t, 2, 1000, func(i int) int64 { return int64(i) })
		spec := join.Spec{On: onK, BuildSide: join.BuildRight}
		s := setup{size: 5, nodeRanks: 2, knobs: ranks.Knobs{Owners: true}}
		for name, c := range map[string]struct {
			key           func(int) int64
			unknown, want bool
			nodeRanks     int
		}{
			"a twentieth has partners": {spread(20_000), false, true, 2},
			"one node":                 {spread(20_000), false, false, 0},
			"all have partners":        {spread(1000), false, false, 2},
			"the hot key has partners": {func(i int) int64 { return int64(min(1, i%100/70) * (1000 + i)) }, false, false,
				2},
			"unknown sizes": {spread(20_000), true, false, 2},
		} {
			s.unknown, s.nodeRanks = c.unknown, c.nodeRanks
			left, partners := numbered(t, 1, rows, c.key), uint64(0)
			for i := range rows {
				if c.key(i) < 1000 {
					partners++
				}
			}
			found := run(t, device, s, left, few, spec)
			require.NoError(t, found[0].err, name)
			require.Equal(t, partners, found[0].totals.AllRows(), name)
			if n := dropped(found, 0); c.want {
				require.Greater(t, n, uint64(rows)*9/10, name)
			} else {
				require.Zero(t, n, name)
			}
		}
	})
}
