package hash

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/primitive"
)

// Only drivers that end long loops have units of few probe rows, for each of which a table is built.
func TestUnitsOfSoftwareDrivers(t *testing.T) {
	devicetest.HostTest(t)
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

// All kernels of hj take their tiles from the tuning.
func TestTilesOfTables(t *testing.T) {
	devicetest.HostTest(t)
	info := recorded.Plain()
	asked := map[string]backend.Config{}
	driver, err := host.Simulate(&info, func(spec *backend.KernelSpec, config backend.Config) {
		if strings.HasPrefix(spec.Name, "table_") {
			asked[spec.Name] = config
		}
	})
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	defer func() { require.NoError(t, device.Close()) }()
	lane := jointest.Lane(t, device, primitive.Override(backend.Config{"workgroup": 128, "items": 3}, "table_join"))
	for n, want := range []string{"inner", "count", "semi both"} {
		d := draw(rand.New(rand.NewPCG(uint64(n), 1)), workloads()["duplicates"], [2]int{500, 700}, want)
		jointest.CheckRun(t, lane, hj, d.build, d.probe, d.want, d.options, want)
	}
	require.Len(t, asked, 4)
	for name, config := range asked {
		require.Equal(t, uint32(128), config["workgroup"], name)
		require.Equal(t, uint32(3), config["items"], name)
	}
}
