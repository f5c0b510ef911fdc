package hash

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Only drivers that end long loops get units of few probe rows, for each of which a table is built.
func TestUnitsOfSoftwareDrivers(t *testing.T) {
	limits := backend.Limits{MaxInvocations: 1024, MaxSharedBytes: 64 << 10}
	for _, c := range []struct {
		info  backend.DeviceInfo
		batch bool // units are cut so that no invocation makes too many trips
	}{
		{backend.DeviceInfo{Backend: "opencl", Type: backend.Software, SubgroupSize: 1, Limits: limits}, false},
		{backend.DeviceInfo{Backend: "vulkan", Type: backend.Software, Subgroups: true, SubgroupSize: 8, Limits: limits}, true},
	} {
		tuning, err := primitive.TuningFor(&c.info)
		require.NoError(t, err)
		s := Partitioned{}.shape(&operator.Facts{Rows: [2]uint64{2e6, 8e6}, KeyBytes: 4, KeyBits: 21, OutputRows: 8e6,
			Unique: true, Tuning: tuning, ShortLoops: operator.ShortLoops(&c.info), SubgroupSize: int(c.info.SubgroupSize)},
			operator.Want{Count: true})
		require.True(t, s.walk)
		invocation := s.probeRows / s.config.Workgroup
		if c.batch {
			require.LessOrEqual(t, 2*(s.tableRows+1)*invocation, uint32(mostTrips), c.info.Backend)
		} else {
			require.InDelta(t, probeFactor*s.tableRows, s.probeRows, float64(s.config.Items), c.info.Backend)
		}
	}
}
