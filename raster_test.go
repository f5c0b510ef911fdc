package spirjoin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// A device is opened for draws if it was measured, with this driver, and would join fastest in that way. A file with an
// error opens none, and is reported by engines on devices that draw.
func TestDrawsWhereMeasured(t *testing.T) {
	infos := vulkantest.Devices(t)
	t.Setenv("SPIRJOIN_TUNING", filepath.Join(t.TempDir(), "folder", "tuning.json"))
	options := vulkan.Options{Validation: vulkantest.Validation(t), CacheDir: "off"}
	engine := func(info *backend.DeviceInfo, options vulkan.Options) *Engine {
		e, err := Open(t.Context(), Options{Device: info.ID, System: SystemOptions{Vulkan: options}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	}
	draws := func(info *backend.DeviceInfo) bool {
		_, err := engine(info, options).devices[0].Rasterizer()
		return err == nil
	}
	for _, info := range infos {
		require.False(t, draws(&info), "not measured")
		row := RasterRow{info.Name, info.Backend, info.Driver, info.DriverVersion, 0.001, 0.001}
		require.NoError(t, row.Keep())
		require.True(t, draws(&info))
		row.DriverVersion = "of yesterday"
		require.NoError(t, row.Keep())
		require.False(t, draws(&info), row.DriverVersion)
		row.DriverVersion, row.PointNs, row.VertexNs = info.DriverVersion, 1e4, 1e4
		require.NoError(t, row.Keep())
		require.False(t, draws(&info), "slow")
	}
	rows, err := ReadRaster(RasterFile())
	require.NoError(t, err)
	require.Len(t, rows, len(infos), "a row for each device")

	require.NoError(t, os.WriteFile(RasterFile(), []byte("[{"), 0o666))
	require.False(t, draws(&infos[0]))
	options.Graphics = true
	problems := engine(&infos[0], options).TuningProblems()
	require.Len(t, problems, 1)
	require.ErrorContains(t, problems[0], RasterFile())
	t.Setenv("SPIRJOIN_TUNING", "off")
	require.Empty(t, RasterFile())
	require.Empty(t, engine(&infos[0], options).TuningProblems())
}
