// Package devicetest runs tests and benchmarks on every selected device: the host backend as it is, the host backend in
// shuffled order with memory that the host cannot see, and the Vulkan devices that package vulkantest selects.
// SPIRJOIN_TEST_DEVICES lists devices by name, "host" among them.
package devicetest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// ForEach runs test once on each device. When it returns, the device must close cleanly: an unreleased buffer, a
// message of the validation layer, a leaked object or a leaked goroutine fails the test.
func ForEach(t *testing.T, test func(t *testing.T, device *backend.Device)) {
	t.Helper()
	ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		test(t, device)
	})
}

// ForEachDriver is ForEach for a test that opens the device, and closes it.
func ForEachDriver(t *testing.T, run func(t *testing.T, driver backend.Driver)) {
	t.Helper()
	if hostSelected() {
		for name, options := range map[string]host.Options{
			"host":          {},
			"host shuffled": {Shuffle: 7, Poison: true, Discrete: true},
		} {
			t.Run(name, func(t *testing.T) {
				leak.Check(t)
				driver, err := host.New(options).Open("host:cpu")
				require.NoError(t, err)
				run(t, driver)
			})
		}
	}
	t.Run("vulkan", func(t *testing.T) {
		for _, info := range vulkantest.Devices(t) {
			t.Run(info.Driver, func(t *testing.T) {
				leak.Check(t)
				run(t, vulkantest.OpenDevice(t, info.ID))
			})
		}
	})
}

// WholeSubgroups is the least number of invocations, from a number on, that consists of whole subgroups of a device: a
// workgroup that every kernel accepts there.
func WholeSubgroups(device *backend.DeviceInfo, invocations uint32) uint32 {
	size := max(1, device.SubgroupSize)
	return (invocations + size - 1) / size * size
}

// HostTest skips a test of the host backend, or of no device at all, in a run for other devices.
func HostTest(t testing.TB) {
	t.Helper()
	if !hostSelected() {
		t.Skip("SPIRJOIN_TEST_DEVICES does not name the host, and nothing else runs here")
	}
}

// Bench runs run on each device, for benchmarks: the host as it is, and the selected Vulkan devices.
func Bench(b *testing.B, run func(device *backend.Device, name string)) {
	on := func(driver backend.Driver, name string) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		run(device, name)
		require.NoError(b, device.Close())
	}
	if hostSelected() {
		driver, err := host.New(host.Options{}).Open("host:cpu")
		require.NoError(b, err)
		on(driver, "host")
	}
	for _, info := range vulkantest.Devices(b) {
		on(vulkantest.OpenDevice(b, info.ID), info.Driver)
	}
}

// Rows is the number in an environment variable, for benchmarks of another size than the default.
func Rows(b *testing.B, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	rows, err := strconv.Atoi(text)
	require.NoError(b, err)
	return rows
}

func hostSelected() bool {
	names := os.Getenv("SPIRJOIN_TEST_DEVICES")
	return names == "" || strings.Contains(names, "host")
}

// SkipRace skips a test of what plans say, over and over, which the race detector makes slow and of which it learns
// nothing: stage host of tools/test.sh runs it.
func SkipRace(t *testing.T) {
	t.Helper()
	if RaceDetector {
		t.Skip("not under the race detector; stage host runs it")
	}
}
