package opencl

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/opencl/kernels"
)

// program is a compiled kernel; it lives until its device is closed.
type program struct {
	d         *driver
	spec      *backend.KernelSpec
	program   unsafe.Pointer
	kernel    unsafe.Pointer
	workgroup uint32
	cached    bool
}

var _ backend.CachedProgram = (*program)(nil)

// Cached implements [backend.CachedProgram]: whether the binary was kept by an earlier process.
func (p *program) Cached() (cached, known bool) { return p.cached, true }

func (p *program) release() {
	if p.kernel != nil {
		C.sjcl_release_kernel(p.kernel)
	}
	if p.program != nil {
		C.sjcl_release_program(p.program)
	}
}

// buildOptions are those of a kernel in a complete configuration: a macro for each axis and constant.
func buildOptions(spec *backend.KernelSpec, config backend.Config) string {
	options := "-cl-std=CL1.2 -w"
	for _, axis := range spec.Axes {
		options += fmt.Sprintf(" -D%s=%d", strings.ToUpper(axis.Name), config[axis.Name])
	}
	for _, constant := range spec.Constants {
		options += fmt.Sprintf(" -D%s=%du", strings.ToUpper(constant.Name), config[constant.Name])
	}
	return options
}

// Compile implements [backend.Driver]. ErrUnsupported where there is no source for the kernel, the device's limits are
// too small for it or its compiler refuses it, ErrInvalidInput for a configuration that is not complete.
func (d *driver) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	if err := d.enter("compile"); err != nil {
		return nil, err
	}
	defer d.leave()
	fail := func(sentinel error, format string, a ...any) error {
		return &backend.OpError{Op: "compile", Kernel: spec.Name, Device: d.info.Name, Err: sentinel,
			Detail: fmt.Sprintf(format, a...)}
	}
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	limits := &d.info.Limits
	argumentBytes := uint32(8*len(spec.Args) + 4*len(spec.Params) + 8)
	workgroup := full["workgroup"]
	switch {
	case !maps.Equal(full, restricted(config, full)):
		return nil, fail(backend.ErrInvalidInput, "%v has not all settings of %v", config, full)
	case argumentBytes > limits.MaxArgumentBytes:
		return nil, fail(backend.ErrLimit, "%d bytes of arguments, the device allows %d", argumentBytes,
			limits.MaxArgumentBytes)
	case workgroup == 0 || workgroup > limits.MaxInvocations:
		return nil, fail(backend.ErrUnsupported, "workgroup=%d, the device allows 1 to %d", workgroup,
			limits.MaxInvocations)
	case d.backend.faults.compiles.Add(1) == int64(d.backend.options.Faults.Compile):
		return nil, fail(backend.ErrHostMemory, "injected fault")
	}
	if spec.SharedBytes != nil {
		if need := spec.SharedBytes(full); need > limits.MaxSharedBytes {
			return nil, fail(backend.ErrUnsupported, "%v takes %d bytes of local memory, the device has %d", full, need,
				limits.MaxSharedBytes)
		}
	}
	source, err := kernels.Source(spec.Name)
	if err != nil {
		return nil, fail(backend.ErrUnsupported, "%v", err)
	}
	p := &program{d: d, spec: spec, workgroup: workgroup}
	if log, err := p.build(source, buildOptions(spec, full)); err != nil {
		p.release()
		return nil, fail(backend.ErrUnsupported, "%v: %v%s", full, err, log)
	}
	name := C.CString(spec.Name)
	defer C.free(unsafe.Pointer(name))
	most, local := new(C.size_t), new(C.uint64_t)
	r := result(C.sjcl_create_kernel(p.program, d.p.device, name, &p.kernel, most, local))
	switch {
	case r != success:
		err = fail(r.sentinel(), "%v: %v", full, r)
	case uint64(*most) < uint64(workgroup):
		err = fail(backend.ErrUnsupported, "%v: compiled for this device, the workgroup may have %d invocations", full,
			*most)
	case uint64(*local) > uint64(limits.MaxSharedBytes):
		err = fail(backend.ErrUnsupported, "%v takes %d bytes of local memory, the device has %d", full, *local,
			limits.MaxSharedBytes)
	}
	if err != nil {
		p.release()
		return nil, err
	}
	d.mu.Lock()
	d.programs = append(d.programs, p)
	d.mu.Unlock()
	return p, nil
}

// restricted returns the settings of config that full has too.
func restricted(config, full backend.Config) backend.Config {
	c := maps.Clone(config)
	maps.DeleteFunc(c, func(name string, _ uint32) bool { _, known := full[name]; return !known })
	return c
}

// build compiles source, or takes its binary from the cache. If the compiler refuses it, log is what it says.
func (p *program) build(source, options string) (log string, err error) {
	d := p.d
	path := d.cachePath(source, options)
	flags := C.CString(options)
	defer C.free(unsafe.Pointer(flags))
	if kept := readBinary(path); kept != nil {
		r := result(C.sjcl_build(d.context, d.p.device, nil, C.size_t(len(kept)), (*C.uchar)(&kept[0]), flags, &p.program))
		if p.cached = r == success; p.cached {
			return "", nil
		}
		p.release() // a driver may refuse what it wrote itself: it was updated without a new version
		p.program = nil
	}
	text := C.CString(source)
	defer C.free(unsafe.Pointer(text))
	if r := result(C.sjcl_build(d.context, d.p.device, text, C.size_t(len(source)), nil, flags, &p.program)); r != success {
		return p.log(), fmt.Errorf("%v", r)
	}
	if path != "" {
		keep(path, p.binary())
	}
	return "", nil
}

// logLines is how much of a log an error quotes.
const logLines = 6

// log returns the first lines of the build log.
func (p *program) log() string {
	if p.program == nil {
		return ""
	}
	size := C.sjcl_build_log(p.program, p.d.p.device, nil, 0)
	if size == 0 {
		return ""
	}
	text := make([]byte, size)
	C.sjcl_build_log(p.program, p.d.p.device, (*C.char)(unsafe.Pointer(&text[0])), size)
	lines := strings.FieldsFunc(strings.Trim(string(text), "\x00"), func(r rune) bool { return r == '\n' || r == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[:min(len(lines), logLines)], "; ")
}

// binary returns the compiled program; nil if the driver does not give it.
func (p *program) binary() []byte {
	size := new(C.size_t)
	if C.sjcl_binary(p.program, nil, size) != 0 || *size == 0 {
		return nil
	}
	code := make([]byte, *size)
	if C.sjcl_binary(p.program, (*C.uchar)(&code[0]), size) != 0 {
		return nil
	}
	return code
}
