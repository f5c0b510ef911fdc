package vulkan

import (
	"fmt"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// image is an image with memory of its own. It is used by the graphics queue alone, so no queue family hands it over.
type image struct {
	d         *driver
	spec      backend.ImageSpec
	sizeBytes uint64
	handle    vk.Image
	store     vk.DeviceMemory
	live      bool // guarded by d.mu
	// views are made by submissions to the graphics queue, of which there is one at a time.
	views map[viewKey]view
}

// viewKey is a part of an image: a layer as a target, or an array of layers as a texture.
type viewKey struct {
	texture    bool
	first, end uint32
}

// view is a view with, for a texture, its descriptor set.
type view struct {
	handle vk.ImageView
	pool   vk.DescriptorPool
	set    C.uint64_t
}

func (i *image) SizeBytes() uint64 { return i.sizeBytes }
func (i *image) Layers() uint32    { return i.spec.Layers }

// Free releases the image; ErrInvalidInput when it was freed before, also by closing its device.
func (i *image) Free() error {
	d := i.d
	d.life.RLock()
	defer d.life.RUnlock()
	d.mu.Lock()
	live := i.live && !d.closed
	if live {
		i.live = false
		delete(d.images, i)
	}
	d.mu.Unlock()
	if !live {
		return d.misuse("free", "an image of %d bytes was freed before, or its device was closed", i.sizeBytes)
	}
	i.destroy()
	return nil
}

// destroy releases what the image holds, as far as it was made.
func (i *image) destroy() {
	for _, v := range i.views {
		v.destroy(i.d)
	}
	vk.DestroyImage(i.d.device, i.handle, nil)
	vk.FreeMemory(i.d.device, i.store, nil)
	i.handle, i.store, i.views = vk.NullImage, vk.NullDeviceMemory, nil
}

func (v view) destroy(d *driver) {
	vk.DestroyDescriptorPool(d.device, v.pool, nil)
	vk.DestroyImageView(d.device, v.handle, nil)
}

// ImageBytes implements [backend.Rasterizer].
func (d *driver) ImageBytes(spec backend.ImageSpec) (uint64, error) {
	i, _, err := d.newImage(spec)
	if err != nil {
		return 0, err
	}
	defer d.leave()
	i.destroy()
	return i.sizeBytes, nil
}

// CreateImage implements [backend.Rasterizer].
func (d *driver) CreateImage(spec backend.ImageSpec) (backend.ImageBlock, error) {
	i, types, err := d.newImage(spec)
	if err != nil {
		return nil, err
	}
	defer d.leave()
	if err := i.bind(types); err != nil {
		i.destroy()
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i.live = true
	d.images[i] = struct{}{}
	return i, nil
}

// newImage makes an image without memory and returns the bits of the memory types that it can have. Unless it fails,
// the device is entered.
func (d *driver) newImage(spec backend.ImageSpec) (i *image, types uint32, err error) {
	if err := d.CanRaster(); err != nil {
		return nil, 0, err
	}
	format, ok := formats[spec.Format]
	if !ok || spec.Width == 0 || spec.Height == 0 || spec.Layers == 0 {
		return nil, 0, d.misuse("allocate", "an image of %d layers of %dx%d pixels, format %d", spec.Layers, spec.Width,
			spec.Height, uint8(spec.Format))
	}
	l := d.p.raster.limits
	over := func(format string, a ...any) error {
		return &backend.OpError{Op: "allocate", Device: d.info.Name, Err: backend.ErrLimit,
			Detail: fmt.Sprintf(format, a...)}
	}
	if spec.Width > l.MaxWidth || spec.Height > l.MaxHeight || spec.Layers > l.MaxLayers {
		return nil, 0, over("an image of %d layers of %dx%d pixels, the device allows %d of %dx%d", spec.Layers,
			spec.Width, spec.Height, l.MaxLayers, l.MaxWidth, l.MaxHeight)
	}
	pixelBytes := uint64(spec.Width) * uint64(spec.Height) * spec.Format.PixelBytes()
	if spec.Layers > 0 && pixelBytes > l.MaxImageBytes/uint64(spec.Layers) {
		return nil, 0, over("an image of %d layers of %d bytes, the device allows %d bytes", spec.Layers, pixelBytes,
			l.MaxImageBytes)
	}
	if err := d.enter("allocate"); err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			d.leave()
		}
	}()
	i = &image{d: d, spec: spec, views: make(map[viewKey]view)}
	r := result(C.sj_create_image(d.shim, C.uint32_t(format), C.uint32_t(spec.Width), C.uint32_t(spec.Height),
		C.uint32_t(spec.Layers), (*C.uint64_t)(unsafe.Pointer(&i.handle))))
	if err := d.check(r, "allocate", "making an image"); err != nil {
		return nil, 0, err
	}
	var needs vk.MemoryRequirements
	vk.GetImageMemoryRequirements(d.device, i.handle, &needs)
	needs.Deref()
	needs.Free()
	i.sizeBytes = uint64(needs.Size)
	if i.sizeBytes > l.MaxImageBytes {
		i.destroy()
		return nil, 0, over("an image that takes %d bytes, the device allows %d", i.sizeBytes, l.MaxImageBytes)
	}
	return i, needs.MemoryTypeBits, nil
}

// bind gives the image its memory.
func (i *image) bind(types uint32) error {
	d := i.d
	kind, ok := chooseType(d.p.types, types, backend.DeviceLocal, false)
	if !ok {
		return &backend.OpError{Op: "allocate", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: "no device-local memory type for images"}
	}
	r := result(C.sj_allocate(d.shim, C.uint64_t(i.sizeBytes), C.uint32_t(kind), 0,
		(*C.uint64_t)(unsafe.Pointer(&i.store))))
	if err := d.check(r, "allocate", "%d bytes for an image", i.sizeBytes); err != nil {
		return err
	}
	return d.check(result(vk.BindImageMemory(d.device, i.handle, i.store, 0)), "allocate", "binding an image")
}

// view returns a view of the image, perhaps a new one, which lives as long as the image.
func (i *image) view(key viewKey) (view, error) {
	if v, ok := i.views[key]; ok {
		return v, nil
	}
	d := i.d
	var array C.uint32_t
	if key.texture {
		array = 1
	}
	var made, pool C.uint64_t
	r := result(C.sj_create_view(d.shim, raw(i.handle), C.uint32_t(formats[i.spec.Format]), array,
		C.uint32_t(key.first), C.uint32_t(key.end-key.first), &made))
	if err := d.check(r, "submit", "making a view of an image"); err != nil {
		return view{}, err
	}
	v := view{handle: handleOf[vk.ImageView](made)}
	if key.texture {
		d.mu.Lock()
		layout, err := d.textureLayout()
		d.mu.Unlock()
		if err == nil {
			err = d.check(result(C.sj_create_texture(d.shim, raw(layout), made, &pool, &v.set)), "submit",
				"making a descriptor set of an image")
		}
		if err != nil {
			v.destroy(d)
			return view{}, err
		}
		v.pool = handleOf[vk.DescriptorPool](pool)
	}
	i.views[key] = v
	return v, nil
}

// imageOf finds the image of a block of this device.
func (d *driver) imageOf(block backend.ImageBlock) (*image, error) {
	i, ok := block.(*image)
	if !ok || i.d != d {
		return nil, d.misuse("submit", "an image of another device")
	}
	if i.handle == vk.NullImage {
		return nil, d.misuse("submit", "an image that was freed")
	}
	return i, nil
}
