package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// TestDivideTime: a GPU divides rows as fast as its link brings them up and down at once; the host's cores take longer.
func TestDivideTime(t *testing.T) {
	devicetest.HostTest(t)
	all := planner.AllRates()
	gpu := &all[slices.IndexFunc(all, func(r planner.Rates) bool { return r.Device == "nvidia" })]
	const rows, sizeBytes = 1e9, 16e9 // 0.02 ns a byte and direction
	require.Equal(t, 427*time.Millisecond, divideTimeOnDevice(rows, sizeBytes, gpu).Round(time.Millisecond))

	e := NewEngine(hostOps(t), memory.DefaultAllocator, 0)
	require.Greater(t, e.divideTime(rows, sizeBytes, false), 2*time.Second)
	less := e.divideTime(rows, sizeBytes, true) - e.divideTime(rows/2, sizeBytes/2, true)
	require.InEpsilon(t, float64(e.divideTime(rows, sizeBytes, true)-30*time.Millisecond), 2*float64(less), 0.01)
}

// hostOps returns primitives of the host backend, valid until the test ends.
func hostOps(t *testing.T) *primitive.Ops {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	return ops
}
