package join_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// Whole joins in the wide shape without subgroup operations: of all kernels that they run only those that join have
// subgroups.
func TestJoinsWithoutSubgroups(t *testing.T) {
	devicetest.SkipRace(t)
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("instrumented shaders take many seconds to compile")
	}
	shared := primitive.Override(backend.Config{"serial": 0, "shared": 1, "workgroup": 64, "items": 6})
	delete(shared, "partition_join")
	delete(shared, "merge_join")
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, shared)
		require.NoError(t, err)
		kind, matching := &keyKinds[2], &matchings[1]
		random := rand.New(rand.NewPCG(1, 7))
		left := randomTable(random, 3000, kind.left, kind, matching.left, "k")
		defer left.Release()
		right := randomTable(random, 5000, kind.right, kind, matching.right, "r")
		defer right.Release()
		for _, algorithm := range []string{"phj-om", "phj-um", "smj-om", "smj-um"} {
			recorder, stop := recorded.Record(device)
			check(t, ops, left, right,
				join.Spec{LeftOn: []string{"k0"}, RightOn: []string{"r0"}, Algorithm: algorithm}, [2]uint64{})
			stop()
			commands := recorder.String()
			require.NotContains(t, commands, "shared=0", "%s", algorithm)
			require.NotContains(t, commands, "lookback=1", "%s", algorithm)
			require.Contains(t, commands, "shared=1", "%s", algorithm)
		}
	})
}
