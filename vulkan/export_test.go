package vulkan

import (
	"errors"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

// Lose makes a device behave as if the driver had reported its loss. Nothing runs on a device that is lost, so it waits
// for what was submitted: a driver crashes where memory is freed under commands that run.
func Lose(lost backend.Driver) error {
	d := lost.(*driver)
	err := d.check(deviceLost, "test", "planted")
	d.life.Lock()
	defer d.life.Unlock()
	return errors.Join(err, failure(result(vk.DeviceWaitIdle(d.device)), "test", d.info.Name, "coming to rest"))
}

// Leak makes an object of the device and forgets it.
func Leak(d backend.Driver) error {
	_, err := newTimeline(d.(*driver), "leaked", &queue{}, 0)
	return err
}

// CachePath is the file of a device's pipeline cache.
func CachePath(d backend.Driver) string { return d.(*driver).cache.path }

// CacheLoaded is the size of what a device found in that file.
func CacheLoaded(d backend.Driver) int { return len(d.(*driver).cache.loaded) }

// MostCacheBytes is the size of the largest cache file that is read.
const MostCacheBytes = mostCacheBytes

// HasDMABuf reports whether a driver exports and imports memory of buffers as dma-bufs.
func HasDMABuf(d backend.Driver) bool { return d.(*driver).p.dmaBuf.works }

// OpenFD opens a file descriptor as a block of sizeBytes, as if it were the memory of a shared block of the device.
func OpenFD(d backend.Driver, fd int, like backend.Block, sizeBytes uint64) error {
	original := like.(*block)
	return d.(*driver).openFD(&block{d: d.(*driver), sizeBytes: sizeBytes}, original.exports, fd, original)
}
