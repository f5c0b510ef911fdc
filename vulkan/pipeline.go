package vulkan

import (
	"fmt"
	"unsafe"

	vk "github.com/vulkan-go/vulkan"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/shaders"
)

/*
#include "shim.h"
*/
import "C"

// maxPushWords bounds the arguments and parameters of a dispatch, whatever a device allows.
const maxPushWords = 64

// embedded are the shaders of the catalogue.
type embedded struct{}

func (embedded) Find(spec *backend.KernelSpec, config backend.Config) ([]byte, error) {
	return shaders.SPIRV(kernel.SPIRVName(spec, config))
}

func (embedded) FindDraw(spec *backend.DrawSpec, config backend.Config, stage string) ([]byte, error) {
	return shaders.SPIRV(kernel.DrawSPIRVName(spec, config, stage))
}

func (embedded) Hash() string { return shaders.Hash() }

// program is a compute pipeline; it lives until its device is closed.
type program struct {
	d        *driver
	spec     *backend.KernelSpec
	pipeline vk.Pipeline
	layout   vk.PipelineLayout
	feedback uint32 // SJ_FEEDBACK_ bits
}

var _ backend.CachedProgram = (*program)(nil)

// Cached implements [backend.CachedProgram], where the driver has VK_EXT_pipeline_creation_feedback.
func (p *program) Cached() (cached, known bool) {
	return p.feedback&C.SJ_FEEDBACK_CACHE_HIT != 0, p.feedback&C.SJ_FEEDBACK_VALID != 0
}

// Compile implements [backend.Driver]. ErrUnsupported where there is no shader for the configuration or the device's
// limits are too small for it, ErrInvalidInput for a configuration that is not complete.
func (d *driver) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	if err := d.enter("compile"); err != nil {
		return nil, err
	}
	defer d.leave()
	code, constants, err := d.shader(spec, config)
	if err != nil {
		return nil, err
	}
	layout, err := d.layout(argumentBytes(spec))
	if err != nil {
		return nil, err
	}
	p := &program{d: d, spec: spec, layout: layout}
	var pipeline C.uint64_t
	var feedback *C.uint32_t
	if d.p.extensions[extFeedback] {
		feedback = new(C.uint32_t)
	}
	r := result(C.sj_create_pipeline(d.shim, raw(d.cache.handle), raw(layout), unsafe.Pointer(unsafe.SliceData(code)),
		C.uint64_t(len(code)), unsafe.SliceData(constants), C.uint32_t(len(constants)), &pipeline, feedback))
	if err := d.check(r, "compile", "kernel %s %v", spec.Name, config); err != nil {
		return nil, err
	}
	p.pipeline = handleOf[vk.Pipeline](pipeline)
	if feedback != nil {
		p.feedback = uint32(*feedback)
	}
	if cached, _ := p.Cached(); !cached {
		d.cache.grown.Store(true)
	}
	d.mu.Lock()
	d.pipes = append(d.pipes, p.pipeline)
	d.mu.Unlock()
	return p, nil
}

// argumentBytes is the size of the push constants of a kernel.
func argumentBytes(spec *backend.KernelSpec) uint32 {
	return uint32(8*len(spec.Args) + 4*len(spec.Params) + 8)
}

// shader returns the code of a kernel for a configuration, and the values of its constants.
func (d *driver) shader(spec *backend.KernelSpec, config backend.Config) (code []byte, constants []C.uint32_t,
	err error) {
	fail := func(sentinel error, format string, a ...any) ([]byte, []C.uint32_t, error) {
		return nil, nil, &backend.OpError{Op: "compile", Kernel: spec.Name, Device: d.info.Name, Err: sentinel,
			Detail: fmt.Sprintf(format, a...)}
	}
	pushBytes := argumentBytes(spec)
	if limit := min(d.info.Limits.MaxArgumentBytes, 4*maxPushWords); pushBytes > limit {
		return fail(backend.ErrUnsupported,
			"%d arguments and %d parameters take %d bytes of push constants, the limit is %d", len(spec.Args),
			len(spec.Params), pushBytes, limit)
	}
	if len(spec.Constants) > C.SJ_MAX_CONSTANTS {
		return fail(backend.ErrUnsupported, "%d constants, the limit is %d", len(spec.Constants), C.SJ_MAX_CONSTANTS)
	}
	for _, axis := range spec.Axes {
		if _, ok := config[axis.Name]; !ok {
			return fail(backend.ErrInvalidInput, "no value for axis %s", axis.Name)
		}
	}
	// capacity of at least one, so that the first has an address
	constants = make([]C.uint32_t, len(spec.Constants), len(spec.Constants)+1)
	for i, constant := range spec.Constants {
		value, ok := config[constant.Name]
		if !ok {
			return fail(backend.ErrInvalidInput, "no value for constant %s", constant.Name)
		}
		if i == 0 && (value == 0 || value > d.info.Limits.MaxInvocations) {
			return fail(backend.ErrUnsupported, "%s=%d, the device allows 1 to %d", constant.Name, value,
				d.info.Limits.MaxInvocations)
		}
		if i == 0 && value%d.fullSubgroups() != 0 {
			return fail(backend.ErrUnsupported,
				"%s=%d: under GPU-assisted validation this driver ends loops after one trip in subgroups that are "+
					"not full; it must be a multiple of %d", constant.Name, value, d.fullSubgroups())
		}
		constants[i] = C.uint32_t(value)
	}
	if spec.SharedBytes != nil {
		if need, limit := spec.SharedBytes(config), d.info.Limits.MaxSharedBytes; need > limit {
			return fail(backend.ErrUnsupported, "%v takes %d bytes of shared memory, the device has %d", config, need,
				limit)
		}
	}
	if code, err = d.backend.options.Shaders.Find(spec, config); err != nil {
		return fail(backend.ErrUnsupported, "%v: %v", config, err)
	}
	if !isSPIRV(code) {
		return fail(backend.ErrInvalidInput, "%v: %d bytes that are not SPIR-V", config, len(code))
	}
	if !d.info.Subgroups && shaders.UsesSubgroups(code) {
		return fail(backend.ErrUnsupported, "%v: the kernel has subgroup operations, the device has none for it", config)
	}
	return code, constants, nil
}

func isSPIRV(code []byte) bool {
	return len(code) >= 20 && len(code)%4 == 0 && backend.Words(code[:4])[0] == 0x07230203
}

// fullSubgroups is what the number of invocations must be a multiple of: 1, but for lavapipe (seen in Mesa 22.3), which
// runs instrumented shaders wrongly in subgroups that are not full.
func (d *driver) fullSubgroups() uint32 {
	if d.backend.options.Validation == GPUAssisted && d.info.Driver == "llvmpipe" {
		return d.info.SubgroupSize
	}
	return 1
}

// layout is the pipeline layout for a number of bytes of push constants.
func (d *driver) layout(pushBytes uint32) (vk.PipelineLayout, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if layout, ok := d.layouts[pushBytes]; ok {
		return layout, nil
	}
	var made C.uint64_t
	if err := d.check(result(C.sj_create_layout(d.shim, C.uint32_t(pushBytes), &made)), "compile",
		"making a layout of %d bytes of push constants", pushBytes); err != nil {
		return vk.NullPipelineLayout, err
	}
	layout := handleOf[vk.PipelineLayout](made)
	d.layouts[pushBytes] = layout
	return layout, nil
}
