package recorded_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/shaders"
)

// TestOpenCL: on each GPU that is described for OpenCL every primitive, joins by all algorithms, joins of tables and
// groups find kernels within its limits, with subgroup operations only where it has them. A described device refuses
// other kernels.
func TestOpenCL(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(recorded.OpenCL())) {
		info := recorded.OpenCL()[name]
		roomy, used := info, false
		roomy.Heaps, roomy.Limits.MaxBlockBytes = recorded.H200().Heaps, recorded.H200().Limits.MaxBlockBytes
		roomy.Limits.MaxAllocationBytes, roomy.Limits.MaxBufferBytes = roomy.Limits.MaxBlockBytes, roomy.Limits.MaxBlockBytes
		check := func(t *testing.T, record string) {
			for _, k := range dispatches(t, record) {
				code, err := shaders.SPIRV(kernel.SPIRVName(k.spec, k.config))
				require.NoError(t, err)
				used = used || shaders.UsesSubgroups(code)
				require.False(t, used && !info.Subgroups, k.text)
			}
		}
		t.Run(name, func(t *testing.T) {
			for _, c := range primitiveCases {
				if strings.HasPrefix(c.name, "plain/") { // of more rows than some of these devices have room for
					check(t, recordPrimitiveOn(t, roomy, c))
				}
			}
			for n, c := range joinCases {
				if folder, of, _ := strings.Cut(c.name, "/"); folder == "plain" && devicetest.Turn(n+i, 3) {
					c.name = name + "/" + of
					check(t, recordJoin(t, c, 2))
				}
			}
			c := tableCases[len(tableCases)-1]
			c.name = name
			check(t, recordTables(t, c, 2))
			for _, aggregates := range [][]groupby.Aggregate{
				{{Func: groupby.Count}, {Func: groupby.Sum, Column: "a"}}, {{Func: groupby.Avg, Column: "b"}},
			} {
				for _, by := range []string{"c", "k"} {
					check(t, recordGroups(t, info, groupby.Spec{By: []string{by}, Aggregates: aggregates}))
				}
			}
			require.Equal(t, info.Subgroups, used)
		})
	}
}

// recordGroups groups the right table of [tableCase] on a described device.
func recordGroups(t *testing.T, info backend.DeviceInfo, spec groupby.Spec) string {
	device := recorded.Open(t, info, backend.DeviceOptions{}, 2)
	_, right := (&tableCase{}).tables(t, memory.DefaultAllocator)
	engine := groupby.Engine{Engine: query.NewEngine(opsOf(t, device, nil), memory.DefaultAllocator, 0)}
	defer engine.Close()
	recorder, stop := recorded.Record(device)
	defer stop()
	result, err := engine.Group(background, right, spec)
	require.NoError(t, err)
	defer result.Close()
	require.NotZero(t, result.Rows())
	return recorder.String()
}

// TestTuningForOpenCL pins what GPUs get that no row names and on which nothing was measured: the safe rows, in the
// shape without subgroup operations unless the device has them, and joins by the decision tree. So does any device
// between the least and the largest limits.
func TestTuningForOpenCL(t *testing.T) {
	all := slices.Collect(maps.Values(recorded.OpenCL()))
	for _, invocations := range []uint32{256, 320, 384, 512, 1024} {
		for _, localKiB := range []uint32{16, 24, 32, 48, 64} {
			for _, subgroup := range []uint32{1, 4, 8, 16, 32, 64, 128} {
				info := recorded.OpenCL()["the least"]
				info.Limits.MaxInvocations, info.Limits.MaxSharedBytes = invocations, localKiB<<10
				info.Subgroups, info.SubgroupSize = subgroup > 1, subgroup
				all = append(all, info)
			}
		}
	}
	for _, info := range all {
		tuning, err := primitive.TuningFor(&info)
		require.NoError(t, err)
		require.NoError(t, tuning.Check(&info), info.Name)
		for name, rows := range tuning {
			for _, row := range rows {
				require.Equal(t, "any", row.Device, "%s on %s", name, info.Name)
				require.EqualValues(t, 256, row.Config["workgroup"], "%s on %s", name, info.Name)
				require.Zero(t, row.Config["serial"]+row.Config["lookback"]+row.Config["walk"])
				if slices.Contains(primitive.Settings(name), "shared") {
					require.Equal(t, !info.Subgroups, row.Config["shared"] == 1, "%s on %s", name, info.Name)
				}
			}
		}
		require.Nil(t, planner.RatesFor(&info), info.Name)
	}
}
