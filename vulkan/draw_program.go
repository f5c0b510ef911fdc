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

// drawProgram is a graphics pipeline; it lives until its device is closed.
type drawProgram struct {
	d        *driver
	spec     *backend.DrawSpec
	pipeline vk.Pipeline
	layout   vk.PipelineLayout
}

var blends = map[backend.Blend]C.int32_t{
	backend.Overwrite: C.SJ_BLEND_NONE,
	backend.Add:       C.SJ_BLEND_ADD,
	backend.Min:       C.SJ_BLEND_MIN,
	backend.Max:       C.SJ_BLEND_MAX,
}

// CompileDraw implements [backend.Rasterizer]. ErrUnsupported where there are no shaders for the configuration or there
// are too many arguments, ErrLimit beyond RasterLimits, ErrInvalidInput for a configuration that is not complete or a
// target that cannot be blended.
func (d *driver) CompileDraw(spec *backend.DrawSpec, config backend.Config) (backend.Program, error) {
	if err := d.CanRaster(); err != nil {
		return nil, err
	}
	if err := d.enter("compile"); err != nil {
		return nil, err
	}
	defer d.leave()
	constants, err := d.drawConstants(spec, config)
	if err != nil {
		return nil, err
	}
	codes, err := d.drawShaders(spec, config)
	if err != nil {
		return nil, err
	}
	key := passKey{targets: len(spec.Targets)}
	var modes [C.SJ_MAX_TARGETS]C.int32_t
	for i, t := range spec.Targets {
		mode, ok := blends[t.Blend]
		if !ok || t.Blend != backend.Overwrite && t.Format != backend.R32Float {
			return nil, d.drawError(spec, backend.ErrInvalidInput, "target %d: only %v is blended, not %v", i,
				backend.R32Float, t.Format)
		}
		modes[i], key.formats[i] = mode, t.Format
	}
	p := &drawProgram{d: d, spec: spec}
	if p.layout, err = d.drawLayout(drawLayout{pushBytes(spec), spec.Textures}); err != nil {
		return nil, err
	}
	pass, err := d.renderPass(key)
	if err != nil {
		return nil, err
	}
	var pipeline C.uint64_t
	var feedback *C.uint32_t
	if d.p.extensions[extFeedback] {
		feedback = new(C.uint32_t)
	}
	r := result(C.sj_create_draw_pipeline(d.shim, raw(d.cache.handle), raw(p.layout), raw(pass),
		unsafe.Pointer(unsafe.SliceData(codes[0])), C.uint64_t(len(codes[0])),
		unsafe.Pointer(unsafe.SliceData(codes[1])), C.uint64_t(len(codes[1])), unsafe.SliceData(constants),
		C.uint32_t(len(constants)), &modes[0], C.uint32_t(len(spec.Targets)), &pipeline, feedback))
	if err := d.check(r, "compile", "draw %s %v", spec.Name, config); err != nil {
		return nil, err
	}
	p.pipeline = handleOf[vk.Pipeline](pipeline)
	if feedback == nil || *feedback&C.SJ_FEEDBACK_CACHE_HIT == 0 {
		d.cache.grown.Store(true)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pipes = append(d.pipes, p.pipeline)
	return p, nil
}

func (d *driver) drawError(spec *backend.DrawSpec, sentinel error, format string, a ...any) error {
	return &backend.OpError{Op: "compile", Kernel: spec.Name, Device: d.info.Name, Err: sentinel,
		Detail: fmt.Sprintf(format, a...)}
}

// pushBytes is the size of the push constants of a draw.
func pushBytes(spec *backend.DrawSpec) uint32 {
	return uint32(8*len(spec.Args) + 4*len(spec.Params) + 8)
}

// drawConstants returns the values of the constants, once the draw is known to be within the limits of the device.
func (d *driver) drawConstants(spec *backend.DrawSpec, config backend.Config) ([]C.uint32_t, error) {
	if size, limit := pushBytes(spec), min(d.info.Limits.MaxArgumentBytes, 4*maxPushWords); size > limit {
		return nil, d.drawError(spec, backend.ErrUnsupported,
			"%d arguments and %d parameters take %d bytes of push constants, the limit is %d", len(spec.Args),
			len(spec.Params), size, limit)
	}
	if len(spec.Constants) > C.SJ_MAX_CONSTANTS {
		return nil, d.drawError(spec, backend.ErrUnsupported, "%d constants, the limit is %d", len(spec.Constants),
			C.SJ_MAX_CONSTANTS)
	}
	if l := d.p.raster.limits; len(spec.Targets) > l.MaxTargets || spec.Textures > l.MaxTextures {
		return nil, d.drawError(spec, backend.ErrLimit, "%d targets and %d textures, the device allows %d and %d",
			len(spec.Targets), spec.Textures, l.MaxTargets, l.MaxTextures)
	}
	// capacity of at least one, so that the first has an address
	constants := make([]C.uint32_t, len(spec.Constants), len(spec.Constants)+1)
	for i, constant := range spec.Constants {
		value, ok := config[constant.Name]
		if !ok {
			return nil, d.drawError(spec, backend.ErrInvalidInput, "no value for constant %s", constant.Name)
		}
		constants[i] = C.uint32_t(value)
	}
	return constants, nil
}

// drawShaders finds the vertex shader and, if there are targets, the fragment shader.
func (d *driver) drawShaders(spec *backend.DrawSpec, config backend.Config) (codes [2][]byte, err error) {
	shaders, ok := d.backend.options.Shaders.(DrawShaders)
	if !ok {
		return codes, d.drawError(spec, backend.ErrUnsupported, "no shaders of draws")
	}
	for i, stage := range []string{"vert", "frag"} {
		if i == 1 && len(spec.Targets) == 0 {
			break
		}
		if codes[i], err = shaders.FindDraw(spec, config, stage); err != nil {
			return codes, d.drawError(spec, backend.ErrUnsupported, "%v: %v", config, err)
		}
		if !isSPIRV(codes[i]) {
			return codes, d.drawError(spec, backend.ErrInvalidInput, "%v: %d bytes that are not SPIR-V", config,
				len(codes[i]))
		}
	}
	return codes, nil
}
