// Package devicetest runs tests and benchmarks on every selected device: the host backend with default options, the
// host backend with shuffled order and memory that the host cannot access, and the devices that packages vulkantest and
// opencltest select. SPIRJOIN_TEST_DEVICES lists devices by name, "host" among them. For tests only.
package devicetest

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/opencl/opencltest"
	"github.com/spirjoin/spirjoin/vulkan"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// hostOptions are the options of the host backend in tests.
var hostOptions = map[string]host.Options{
	"host":          {},
	"host shuffled": {Shuffle: 7, Poison: true, Discrete: true},
}

// ForEach runs test once on each device; under go test -short the host runs it only shuffled, since lavapipe runs it in
// order. When it returns, the device must close cleanly: an unreleased buffer, a
// message of the validation layer, a leaked object or a leaked goroutine fails the test.
func ForEach(t *testing.T, test func(t *testing.T, device *backend.Device)) {
	t.Helper()
	ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		test(t, device)
	})
}

// ForEachWithoutSubgroups is [ForEach] on the Vulkan devices alone, opened as if they had no subgroup operations. It
// skips the test under GPU-assisted validation: instrumented shaders take many seconds to compile.
func ForEachWithoutSubgroups(t *testing.T, test func(t *testing.T, device *backend.Device)) {
	t.Helper()
	if vulkantest.Validation(t) == vulkan.GPUAssisted {
		t.Skip("instrumented shaders take many seconds to compile")
	}
	for _, driver := range vulkantest.OpenWithoutSubgroups(t) {
		t.Run(driver.Info().Driver, func(t *testing.T) {
			device := backend.NewDevice(driver, backend.DeviceOptions{})
			t.Cleanup(func() { require.NoError(t, device.Close()) })
			test(t, device)
		})
	}
}

// ForEachDriver is [ForEach] for a test that opens and closes the device itself.
func ForEachDriver(t *testing.T, run func(t *testing.T, driver backend.Driver)) {
	t.Helper()
	forEach(t, func(t *testing.T, open func(t *testing.T) backend.Driver) { run(t, open(t)) })
}

// ForEachGroup runs test once on each device, opened size times: logical devices of one backend, as several GPUs are,
// with links of small chunks, which are sooner proved. When it returns, all of them must close cleanly, as after
// [ForEach].
func ForEachGroup(t *testing.T, size int, test func(t *testing.T, devices []*backend.Device)) {
	t.Helper()
	forEach(t, func(t *testing.T, open func(t *testing.T) backend.Driver) {
		devices := make([]*backend.Device, size)
		for i := range devices {
			devices[i] = backend.NewDevice(open(t), backend.DeviceOptions{LinkChunkBytes: backend.LeastChunkBytes})
			t.Cleanup(func() { require.NoError(t, devices[i].Close()) })
		}
		test(t, devices)
	})
}

// OneOfEach opens a device of each backend, with links of small chunks: Vulkan, OpenCL and the host. At the end of the
// test they must close cleanly. The test is skipped unless the environment names one of each.
func OneOfEach(t *testing.T) []*backend.Device {
	t.Helper()
	if os.Getenv("SPIRJOIN_TEST_DEVICES") == "" || !hostSelected() || !vulkantest.Named() || !opencltest.Named() {
		t.Skip("SPIRJOIN_TEST_DEVICES does not name a Vulkan device, an OpenCL device and the host")
	}
	leak.Check(t)
	cpu, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	drivers := []backend.Driver{vulkantest.OpenDevice(t, vulkantest.Devices(t)[0].ID),
		opencltest.Open(t, opencltest.Devices(t)[0].ID), cpu}
	devices := make([]*backend.Device, len(drivers))
	for i, driver := range drivers {
		devices[i] = backend.NewDevice(driver, backend.DeviceOptions{LinkChunkBytes: backend.LeastChunkBytes})
		t.Cleanup(func() { require.NoError(t, devices[i].Close()) })
	}
	return devices
}

// forEach calls run for each device, with a function that opens it, also several times.
func forEach(t *testing.T, run func(t *testing.T, open func(t *testing.T) backend.Driver)) {
	t.Helper()
	if hostSelected() {
		forEachHost(t, "host shuffled", run)
	}
	t.Run("vulkan", func(t *testing.T) {
		for _, info := range vulkantest.Devices(t) {
			t.Run(info.Driver, func(t *testing.T) {
				leak.Check(t)
				run(t, func(t *testing.T) backend.Driver { return vulkantest.OpenDevice(t, info.ID) })
			})
		}
	})
	for _, info := range opencltest.Devices(t) {
		t.Run("opencl/"+info.Driver, func(t *testing.T) {
			leak.Check(t)
			run(t, func(t *testing.T) backend.Driver { return opencltest.Open(t, info.ID) })
		})
	}
}

// forEachHost runs only the host with the given name under go test -short, and only the shuffled one under the race
// detector, because the goroutines of both do the same.
func forEachHost(t *testing.T, short string, run func(t *testing.T, open func(t *testing.T) backend.Driver)) {
	if RaceDetector {
		short = "host shuffled"
	}
	for name, options := range hostOptions {
		if name != short && (RaceDetector || testing.Short()) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			b := host.New(options)
			run(t, func(t *testing.T) backend.Driver {
				driver, err := b.Open("host:cpu")
				require.NoError(t, err)
				return driver
			})
		})
	}
}

// WholeSubgroups returns the smallest number of invocations, at least the given one, that consists of whole subgroups
// of a device: a workgroup size that every kernel accepts there.
func WholeSubgroups(device *backend.DeviceInfo, invocations uint32) uint32 {
	size := max(1, device.SubgroupSize)
	return (invocations + size - 1) / size * size
}

// ForEachHost is [ForEach] for a [HostTest]. Under go test -short the host runs it only in order.
func ForEachHost(t *testing.T, test func(t *testing.T, device *backend.Device)) {
	t.Helper()
	HostTest(t)
	forEachHost(t, "host", func(t *testing.T, open func(t *testing.T) backend.Driver) {
		device := backend.NewDevice(open(t), backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		test(t, device)
	})
}

// HostTest skips a test of the host backend, or one without a device, in a run for other devices.
func HostTest(t testing.TB) {
	t.Helper()
	if !hostSelected() {
		t.Skip("SPIRJOIN_TEST_DEVICES does not name the host, and nothing else runs here")
	}
}

// Bench calls run for each device, for benchmarks: the host with default options, and the selected Vulkan devices.
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
	for _, info := range opencltest.Devices(b) {
		on(opencltest.Open(b, info.ID), info.Driver)
	}
	for _, info := range vulkantest.Devices(b) { // skips what follows if none is named
		on(vulkantest.OpenDevice(b, info.ID), info.Driver)
	}
}

// BenchGroup runs a benchmark on size devices of each driver, as [Bench] does on one. A driver with fewer devices has
// some of them opened several times.
func BenchGroup(b *testing.B, size int, run func(devices []*backend.Device, name string)) {
	on := func(name string, open func(i int) backend.Driver) {
		devices := make([]*backend.Device, size)
		for i := range devices {
			devices[i] = backend.NewDevice(open(i), backend.DeviceOptions{})
		}
		run(devices, name)
		for _, d := range devices {
			require.NoError(b, d.Close())
		}
	}
	if hostSelected() {
		of := host.New(host.Options{})
		on("host", func(int) backend.Driver {
			driver, err := of.Open("host:cpu")
			require.NoError(b, err)
			return driver
		})
	}
	byDriver := func(infos []backend.DeviceInfo, open func(t testing.TB, id string) backend.Driver) {
		for len(infos) > 0 {
			name := infos[0].Driver
			var ids []string
			infos = slices.DeleteFunc(infos, func(info backend.DeviceInfo) bool {
				if info.Driver == name {
					ids = append(ids, info.ID)
				}
				return info.Driver == name
			})
			on(name, func(i int) backend.Driver { return open(b, ids[i%len(ids)]) })
		}
	}
	byDriver(opencltest.Devices(b), opencltest.Open)
	byDriver(vulkantest.Devices(b), vulkantest.OpenDevice) // skips what follows if none is named
}

// Rows returns the number in an environment variable, or otherwise if that is not set, for the size of a benchmark.
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

// SkipRace skips a test of many plans or much data, which is slow under the race detector and runs nothing concurrently
// that other tests do not. The host stage of tools/test.sh runs it.
func SkipRace(t *testing.T) {
	t.Helper()
	if RaceDetector {
		t.Skip("not under the race detector; stage host runs it")
	}
}

// ShortOnHost is [HostTest] under go test -short: what the test calls has been tested on drivers by itself, and joins
// and group-bys of tables by others.
func ShortOnHost(t *testing.T) {
	t.Helper()
	if testing.Short() {
		HostTest(t)
	}
}

// SkipShort skips a test that takes long for what it alone finds. make test-full runs it.
func SkipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short; make test-full runs it")
	}
}
