package vulkan

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/internal/cache"
)

// pipelineCache is a VkPipelineCache that is kept in a file named after the driver, the device's cache format and the
// shaders. The file is the magic, the SHA-256 of the data and the data, because drivers check no more than the header of
// what they are given and may crash on the rest. A file that is damaged, of another version or too large counts as
// missing. Processes that end at the same time merge what they have, one after the other.
type pipelineCache struct {
	d      *driver
	handle vk.PipelineCache
	path   string      // empty: not kept
	loaded []byte      // data of the file when it was opened
	grown  atomic.Bool // a pipeline was compiled that is not known to have been in loaded
}

var cacheMagic = []byte("spirjoin pipelines 1\n")

// A file beyond mostCacheBytes is started anew. The folder keeps the mostCacheFiles files that were written last,
// because files of former drivers and shaders are useless.
const (
	mostCacheBytes = 64 << 20
	mostCacheFiles = 16
)

// openCache makes the cache of a device from its file, if there is one.
func openCache(d *driver) (*pipelineCache, error) {
	c := &pipelineCache{d: d}
	options := &d.backend.options
	dir := options.CacheDir
	if dir == "" {
		dir = "off"
		if path, err := cache.Path("pipelines"); err == nil {
			dir = path
		}
	}
	if dir != "off" {
		sum := sha256.Sum256([]byte(options.Shaders.Hash()))
		c.path = filepath.Join(dir, d.p.driverUUID+"."+d.p.cacheUUID+"."+uuid(sum[:16]))
		c.loaded = readCache(c.path)
	}
	handle, err := c.create(c.loaded)
	c.handle = handle
	return c, err
}

// create makes a cache in the driver; data may be empty.
func (c *pipelineCache) create(data []byte) (handle vk.PipelineCache, err error) {
	info := vk.PipelineCacheCreateInfo{SType: vk.StructureTypePipelineCacheCreateInfo}
	if len(data) > 0 {
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(&data[0])
		info.InitialDataSize, info.PInitialData = uint(len(data)), unsafe.Pointer(&data[0])
	}
	r := result(vk.CreatePipelineCache(c.d.device, &info, nil, &handle))
	info.Free()
	return handle, c.d.check(r, "open", "making a pipeline cache of %d bytes", len(data))
}

// readCache returns the data of a cache file; nil when there is none that is whole and small enough.
func readCache(path string) []byte {
	if info, err := os.Stat(path); err != nil || info.Size() > mostCacheBytes {
		return nil
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	rest, ok := bytes.CutPrefix(file, cacheMagic)
	if !ok || len(rest) < sha256.Size {
		return nil
	}
	sum, data := rest[:sha256.Size], rest[sha256.Size:]
	if is := sha256.Sum256(data); !bytes.Equal(sum, is[:]) {
		return nil
	}
	return data
}

// save writes the cache if it holds something new, together with what others wrote meanwhile. The file changes as a whole.
func (c *pipelineCache) save() error {
	if c.path == "" || !c.grown.Load() {
		return nil
	}
	defer cache.Lock(filepath.Dir(c.path))()
	present := readCache(c.path)
	if len(present) > 0 && !bytes.Equal(present, c.loaded) {
		other, err := c.create(present)
		if err != nil {
			return err
		}
		r := result(vk.MergePipelineCaches(c.d.device, c.handle, 1, []vk.PipelineCache{other}))
		vk.DestroyPipelineCache(c.d.device, other, nil)
		if err := c.d.check(r, "close", "merging pipeline caches"); err != nil {
			return err
		}
	}
	data, err := c.data()
	if err != nil || len(data) == 0 || bytes.Equal(data, present) {
		return err
	}
	sum := sha256.Sum256(data)
	err = cache.WriteFile(c.path, bytes.Join([][]byte{cacheMagic, sum[:], data}, nil))
	cache.KeepNewest(filepath.Dir(c.path), "*-*-*-*-*.*-*-*-*-*.*-*-*-*-*", mostCacheFiles)
	return err
}

func (c *pipelineCache) data() ([]byte, error) {
	for {
		var size uint
		if err := c.d.check(result(vk.GetPipelineCacheData(c.d.device, c.handle, &size, nil)), "close", "reading the pipeline cache"); err != nil || size == 0 {
			return nil, err
		}
		data := make([]byte, size)
		r := result(vk.GetPipelineCacheData(c.d.device, c.handle, &size, unsafe.Pointer(&data[0])))
		if r != incomplete { // otherwise it grew in between
			return data[:size], c.d.check(r, "close", "reading the pipeline cache")
		}
	}
}

func (c *pipelineCache) destroy() {
	if c != nil {
		vk.DestroyPipelineCache(c.d.device, c.handle, nil)
	}
}
