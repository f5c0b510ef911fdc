package join

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/planner"
)

// TestDivideTime: a GPU divides rows as fast as its link brings them up and down at once; the host's cores take longer.
func TestDivideTime(t *testing.T) {
	devicetest.HostTest(t)
	all, err := planner.AllRates()
	require.NoError(t, err)
	gpu := &all[slices.IndexFunc(all, func(r planner.Rates) bool { return r.Device == "nvidia" })]
	const rows, sizeBytes = 1e9, 16e9 // 0.02 ns a byte and direction
	require.Equal(t, 427*time.Millisecond, divideTimeOnDevice(rows, sizeBytes, gpu).Round(time.Millisecond))

	engine := NewEngine(hostOps(t), memory.DefaultAllocator, 0)
	require.Greater(t, engine.divideTime(rows, sizeBytes, false), 2*time.Second)
	less := engine.divideTime(rows, sizeBytes, true) - engine.divideTime(rows/2, sizeBytes/2, true)
	require.InEpsilon(t, float64(engine.divideTime(rows, sizeBytes, true)-30*time.Millisecond), 2*float64(less), 0.01)
}
