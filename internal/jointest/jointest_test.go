package jointest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// Workgroups of the small kernels consist of whole subgroups, whatever their size: GPUs have 32 and 64 invocations in one.
func TestSmallFitsEveryDevice(t *testing.T) {
	for subgroup := uint32(4); subgroup <= 128; subgroup *= 2 {
		info := backend.DeviceInfo{Type: backend.Discrete, SubgroupSize: subgroup}
		info.Limits.MaxInvocations, info.Limits.MaxSharedBytes = 256, 16<<10
		require.NoError(t, Small(&info).Check(&info), "subgroups of %d", subgroup)
	}
}
