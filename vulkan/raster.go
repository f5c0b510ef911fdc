package vulkan

import (
	"fmt"
	"strings"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// formats are the VkFormats of the formats.
var formats = map[backend.Format]vk.Format{
	backend.R32UInt:    98,
	backend.RG32UInt:   101,
	backend.RGBA16UInt: 95,
	backend.RGBA32UInt: 107,
	backend.R32Float:   100,
}

// Features of formats and usages of images.
const (
	formatSampled = 0x1
	formatTarget  = 0x80
	formatBlend   = 0x100
	formatSource  = 0x4000
	rasterBits    = C.SJ_VERTEX_STORES | C.SJ_INDEPENDENT_BLEND
)

// rasterSupport says what a device draws.
type rasterSupport struct {
	limits backend.RasterLimits
	lacks  []string // what draws need and the device has not
}

// readRaster asks what a device draws, if it is to be opened for that.
func (p *physical) readRaster(limits *vk.PhysicalDeviceLimits) {
	if !p.graphics {
		return
	}
	s := &p.raster
	if p.features&C.SJ_VERTEX_STORES == 0 {
		s.lacks = append(s.lacks, "vertexPipelineStoresAndAtomics")
	}
	if p.features&C.SJ_INDEPENDENT_BLEND == 0 {
		s.lacks = append(s.lacks, "independentBlend")
	}
	s.limits = backend.RasterLimits{
		MaxWidth: min(limits.MaxImageDimension2D, limits.MaxFramebufferWidth, limits.MaxViewportDimensions[0]),
		MaxHeight: min(limits.MaxImageDimension2D, limits.MaxFramebufferHeight,
			limits.MaxViewportDimensions[1]),
		MaxLayers:     limits.MaxImageArrayLayers,
		MaxImageBytes: p.info.Limits.MaxAllocationBytes,
		MaxTargets: int(min(limits.MaxColorAttachments, limits.MaxFragmentOutputAttachments,
			C.SJ_MAX_TARGETS)),
		MaxTextures: int(min(limits.MaxBoundDescriptorSets, limits.MaxPerStageDescriptorSampledImages,
			C.SJ_MAX_TEXTURES)),
	}
	for format := backend.R32UInt; format <= backend.R32Float; format++ {
		p.readFormat(format)
	}
}

// readFormat notes what a format lacks and how it limits images.
func (p *physical) readFormat(format backend.Format) {
	s := &p.raster
	var properties vk.FormatProperties
	vk.GetPhysicalDeviceFormatProperties(p.handle, formats[format], &properties)
	properties.Deref()
	defer properties.Free()
	need := map[uint32]string{formatSampled: "textures", formatTarget: "targets", formatSource: "read-back"}
	if format == backend.R32Float {
		need[formatBlend] = "blending"
	}
	for _, bit := range []uint32{formatSampled, formatTarget, formatBlend, formatSource} {
		if what, ok := need[bit]; ok && uint32(properties.OptimalTilingFeatures)&bit == 0 {
			s.lacks = append(s.lacks, fmt.Sprintf("%s of format %v", what, format))
		}
	}
	var image vk.ImageFormatProperties
	r := result(vk.GetPhysicalDeviceImageFormatProperties(p.handle, formats[format], vk.ImageType2d,
		vk.ImageTilingOptimal, C.SJ_IMAGE_USAGE, 0, &image))
	if r != success {
		s.lacks = append(s.lacks, fmt.Sprintf("images of format %v", format))
		return
	}
	image.Deref()
	image.MaxExtent.Deref()
	defer image.Free()
	l := &s.limits
	l.MaxWidth, l.MaxHeight = min(l.MaxWidth, image.MaxExtent.Width), min(l.MaxHeight, image.MaxExtent.Height)
	l.MaxLayers = min(l.MaxLayers, image.MaxArrayLayers)
	l.MaxImageBytes = min(l.MaxImageBytes, uint64(image.MaxResourceSize))
}

// enabled are the features that a device is opened with. They include features for draws only if a graphics queue is
// opened.
func (p *physical) enabled() C.uint32_t {
	if p.graphics {
		return p.features
	}
	return p.features &^ rasterBits
}

// CanRaster implements [backend.Rasterizer].
func (d *driver) CanRaster() error {
	var lacks string
	switch {
	case !d.p.graphics:
		lacks = "the device was not opened for draws (--algo graphics, vulkan.Options.Graphics)"
	case d.lines[backend.Graphics] == nil:
		lacks = "the device has no graphics queue"
	case len(d.p.raster.lacks) > 0:
		lacks = "the device lacks " + strings.Join(d.p.raster.lacks, ", ")
	default:
		return nil
	}
	return &backend.OpError{Op: "draw", Device: d.info.Name, Err: backend.ErrUnsupported, Detail: lacks}
}

// RasterLimits implements [backend.Rasterizer].
func (d *driver) RasterLimits() backend.RasterLimits { return d.p.raster.limits }

// CheckPass implements [backend.PassChecker].
func (d *driver) CheckPass(role backend.Role, run any) error {
	if err := d.CanRaster(); err != nil {
		return err
	}
	if role != backend.Graphics {
		return &backend.OpError{Op: "submit", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("draws and read-backs run on the graphics queue, not on that of %v", role)}
	}
	switch run := run.(type) {
	case *backend.Draw:
		if p, ok := run.Program.Program.(*drawProgram); !ok || p.d != d {
			return d.misuse("submit", "draw %s was compiled for another device", run.Program.Spec.Name)
		}
	case *backend.ReadBack:
	default:
		return &backend.OpError{Op: "submit", Device: d.info.Name, Err: backend.ErrUnsupported,
			Detail: fmt.Sprintf("a pass of type %T", run)}
	}
	return nil
}

// passKey describes a render pass: formats of its targets, and which it clears.
type passKey struct {
	formats [C.SJ_MAX_TARGETS]backend.Format
	targets int
	clears  uint32 // bit i: target i
}

// drawLayout describes a pipeline layout of draws.
type drawLayout struct {
	pushBytes uint32
	textures  int
}

// raster is what draws of a device share, made when it is first needed. Guarded by d.mu.
type raster struct {
	passes      map[passKey]vk.RenderPass
	drawLayouts map[drawLayout]vk.PipelineLayout
	textures    vk.DescriptorSetLayout
}

func newRaster() raster {
	return raster{passes: make(map[passKey]vk.RenderPass), drawLayouts: make(map[drawLayout]vk.PipelineLayout)}
}

func (r *raster) destroy(device vk.Device) {
	for _, pass := range r.passes {
		vk.DestroyRenderPass(device, pass, nil)
	}
	for _, layout := range r.drawLayouts {
		vk.DestroyPipelineLayout(device, layout, nil)
	}
	vk.DestroyDescriptorSetLayout(device, r.textures, nil)
}

// renderPass is the render pass for targets.
func (d *driver) renderPass(key passKey) (vk.RenderPass, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if pass, ok := d.passes[key]; ok {
		return pass, nil
	}
	var list [C.SJ_MAX_TARGETS]C.uint32_t
	for i, format := range key.formats {
		list[i] = C.uint32_t(formats[format])
	}
	var made C.uint64_t
	r := result(C.sj_create_render_pass(d.shim, &list[0], C.uint32_t(key.targets), C.uint32_t(key.clears), &made))
	if err := d.check(r, "draw", "making a render pass"); err != nil {
		return vk.NullRenderPass, err
	}
	pass := handleOf[vk.RenderPass](made)
	d.passes[key] = pass
	return pass, nil
}

// textureLayout is the layout of the descriptor set of a texture. d.mu is held.
func (d *driver) textureLayout() (vk.DescriptorSetLayout, error) {
	if d.textures != vk.NullDescriptorSetLayout {
		return d.textures, nil
	}
	var made C.uint64_t
	err := d.check(result(C.sj_create_texture_layout(d.shim, &made)), "draw", "making a layout of textures")
	d.textures = handleOf[vk.DescriptorSetLayout](made)
	return d.textures, err
}

// drawLayout is the pipeline layout of draws.
func (d *driver) drawLayout(key drawLayout) (vk.PipelineLayout, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if layout, ok := d.drawLayouts[key]; ok {
		return layout, nil
	}
	set, err := d.textureLayout()
	if err != nil {
		return vk.NullPipelineLayout, err
	}
	var made C.uint64_t
	r := result(C.sj_create_draw_layout(d.shim, C.uint32_t(key.pushBytes), raw(set), C.uint32_t(key.textures), &made))
	if err := d.check(r, "compile", "making a layout of %d bytes of push constants", key.pushBytes); err != nil {
		return vk.NullPipelineLayout, err
	}
	layout := handleOf[vk.PipelineLayout](made)
	d.drawLayouts[key] = layout
	return layout, nil
}

// closeImages destroys the images that are left and reports those that were not freed.
func (d *driver) closeImages() error {
	n, bytes := len(d.images), uint64(0)
	for i := range d.images {
		bytes += i.sizeBytes
		i.destroy()
	}
	if n == 0 {
		return nil
	}
	return d.misuse("close", "%d images of %d bytes in all were not freed", n, bytes)
}
