package jointest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// TestSmallFitsEveryDevice: workgroups of the small kernels consist of whole subgroups, whatever their size. A subgroup
// of a GPU has 32 or 64 invocations.
func TestSmallFitsEveryDevice(t *testing.T) {
	for subgroup, sharedBytes := range map[uint32]uint32{4: 16 << 10, 8: 32 << 10, 16: 32 << 10, 32: 48 << 10,
		64: 64 << 10} {
		info := backend.DeviceInfo{Type: backend.Discrete, Subgroups: true, SubgroupSize: subgroup}
		info.Limits.MaxInvocations, info.Limits.MaxSharedBytes = 256, sharedBytes
		require.NoError(t, Small(&info).Check(&info), "subgroups of %d", subgroup)
	}
}
