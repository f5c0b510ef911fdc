package jointest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// ForEach runs a test on each selected device, with a [Lane] on it.
func ForEach(t *testing.T, tuning primitive.Tuning, test func(t *testing.T, lane *exec.Lane)) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) { test(t, Lane(t, device, tuning)) })
}

// Lane returns a lane of a device with this tuning, which replaces its own. [Tuning] takes precedence over both.
func Lane(t testing.TB, device *backend.Device, tuning primitive.Tuning) *exec.Lane {
	ops, err := primitive.New(device, tuning.With(Tuning(t, device.Info())))
	require.NoError(t, err)
	return exec.NewLane(context.Background(), ops, nil)
}

// SmallLane is [Lane] with [Small], or with the device's own tuning where that is all that [devicetest.Shapes] has run.
func SmallLane(t testing.TB, device *backend.Device) *exec.Lane {
	ways := devicetest.Shapes(t, device.Info(), []primitive.Tuning{nil, Small(device.Info())})
	return Lane(t, device, ways[len(ways)-1])
}

// Instrumented reports whether GPU-assisted validation instruments shaders. Long shaders without loops then take
// seconds to compile. Each memory access loops over the buffers, so that long tiles, or a row with many matches, would
// exceed lavapipe's limit of 65,535 loop iterations.
func Instrumented(t testing.TB) bool { return vulkantest.Validation(t) == vulkan.GPUAssisted }

// Tuning is [Small] for instrumented shaders, and nil otherwise.
func Tuning(t testing.TB, device *backend.DeviceInfo) primitive.Tuning {
	if !Instrumented(t) {
		return nil
	}
	return Small(device)
}

// Small returns a tuning with tiles of few rows, and with pipelines that compile fast. Where the blocks of a device are
// many, instrumented shaders of longer tiles are beyond the limit that [Instrumented] describes.
func Small(device *backend.DeviceInfo) primitive.Tuning {
	workgroup := devicetest.WholeSubgroups(device, 8)
	radix := backend.Config{"serial": 1, "workgroup": workgroup, "items": 64}
	if !device.Subgroups { // the serial shape uses subgroup operations
		radix = backend.Config{"serial": 0, "workgroup": 64, "items": 5}
	}
	tuning := primitive.Override(radix, "radix_sort")
	tuning = tuning.With(primitive.Override(backend.Config{"serial": 1, "workgroup": workgroup, "items": 512},
		"compact", "merge", "reduce", "scan"))
	joins := backend.Config{"workgroup": workgroup, "items": 1, "table": 32, "heads": 64, "walk": 0}
	return tuning.With(primitive.Override(joins, "partition_join", "merge_join"))
}
