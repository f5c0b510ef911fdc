package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
)

// Whole joins on a device without subgroup operations, on which kernels that have some do not compile.
func TestJoinsWithoutSubgroups(t *testing.T) {
	devicetest.SkipRace(t)
	small := primitive.Override(backend.Config{"serial": 0, "lookback": 1, "workgroup": 64, "items": 6})
	devicetest.ForEachWithoutSubgroups(t, func(t *testing.T, device *backend.Device) {
		require.False(t, device.Info().Subgroups)
		ops, err := primitive.New(device, small)
		require.NoError(t, err)
		kind, matching := &keyKinds[2], &matchings[1]
		random := rand.New(rand.NewPCG(1, 7))
		left := randomTable(random, 3000, kind.left, kind, matching.left, "k")
		defer left.Release()
		right := randomTable(random, 5000, kind.right, kind, matching.right, "r")
		defer right.Release()
		for i, algorithm := range []string{"phj-om", "phj-um", "smj-om", "smj-um", "hj"} {
			recorder, stop := recorded.Record(device)
			check(t, ops, left, right, join.Spec{LeftOn: []string{"k0"}, RightOn: []string{"r0"}, Algorithm: algorithm,
				How: []join.How{join.Inner, join.Full}[i%2]}, [2]uint64{})
			stop()
			commands := recorder.String()
			require.NotContains(t, commands, "lookback=1", "%s", algorithm)
			require.Contains(t, commands, "shared=1", "%s", algorithm)
		}
	})
}
