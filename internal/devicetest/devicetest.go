// Package devicetest runs tests on every device that is asked for: the host backend as it is, and in shuffled order with
// memory that the host cannot see; and the Vulkan devices that package vulkantest selects. SPIRJOIN_TEST_DEVICES lists devices by name, "host" among them.
package devicetest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

// ForEach runs test once on each device. When it returns, the device must close cleanly: a buffer that was not released, a
// message of the validation layer or a leaked object fails the test.
func ForEach(t *testing.T, test func(t *testing.T, device *backend.Device)) {
	t.Helper()
	run := func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		test(t, device)
	}
	if names := os.Getenv("SPIRJOIN_TEST_DEVICES"); names == "" || strings.Contains(names, "host") {
		for name, options := range map[string]host.Options{
			"host":          {},
			"host shuffled": {Shuffle: 7, Poison: true, Discrete: true},
		} {
			t.Run(name, func(t *testing.T) {
				b := host.New(options)
				driver, err := b.Open("host:cpu")
				require.NoError(t, err)
				run(t, driver)
			})
		}
	}
	t.Run("vulkan", func(t *testing.T) {
		for _, info := range vulkantest.Devices(t) {
			t.Run(info.Driver, func(t *testing.T) { run(t, vulkantest.OpenDevice(t, info.ID)) })
		}
	})
}
