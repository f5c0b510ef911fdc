//go:build opencl && linux

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

	"github.com/jgillich/go-opencl/cl"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/opencl/kernels"
)

// program is a compiled kernel; it lives until its device is closed.
type program struct {
	d         *driver
	spec      *backend.KernelSpec
	program   *cl.Program
	kernel    *cl.Kernel
	workgroup uint32
	keeps     bool // binaries are kept
	cached    bool
}

var _ backend.CachedProgram = (*program)(nil)

// Cached implements [backend.CachedProgram]: whether the binary was kept by an earlier process. It is not known where
// the driver keeps binaries itself.
func (p *program) Cached() (cached, known bool) { return p.cached, p.keeps }

func (p *program) release() {
	if p.kernel != nil {
		p.kernel.Release()
	}
	if p.program != nil {
		p.program.Release()
	}
}

// text is the source of a program as the device takes it: behind the subgroup operations if it has them, or behind the
// declarations that PoCL gets instead of its header.
func (d *driver) text(source string) string {
	switch {
	case d.info.Subgroups:
		return d.p.prelude + source
	case d.declares():
		return kernels.Builtins() + source
	}
	return source
}

// declares reports whether programs declare the functions of OpenCL C that they call. PoCL (3.1 to 7.1) has clang read
// opencl-c.h before each program, 18,000 lines, even to find the program in its cache.
func (d *driver) declares() bool {
	return d.info.Driver == pocl && d.info.Type == backend.Software && !d.info.Subgroups
}

// options are the build options of a kernel in a complete configuration: a macro for each axis and constant.
func (d *driver) options(spec *backend.KernelSpec, config backend.Config) string {
	options := "-w -cl-std=CL1.2"
	switch {
	case d.info.Subgroups:
		options = "-w -DSUBGROUPS -cl-std=" + d.p.language
	case d.declares():
		options += " -D_OPENCL_H_" // the guard of opencl-c.h
	}
	if d.backend.options.Unoptimized && d.info.Type == backend.Software {
		options += " -cl-opt-disable"
	}
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
	if err := p.build(d.text(source), d.options(spec, full)); err != nil {
		p.release()
		if short := sentinelOf(err); backend.OutOfMemory(short) {
			return nil, fail(short, "%v: %v", full, err)
		}
		return nil, fail(backend.ErrUnsupported, "%v: %v", full, err)
	}
	local, err := p.finish()
	switch {
	case err != nil:
		err = fail(sentinelOf(err), "%v: %v", full, asResult(err))
	case local > uint64(limits.MaxSharedBytes):
		err = fail(backend.ErrUnsupported, "%v takes %d bytes of local memory, the device has %d", full, local,
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

// finish makes the kernel of a built program, and tells the bytes of local memory that it takes. That its workgroup is
// not too large is the compiler's promise, because the source requires its size (reqd_work_group_size):
// CL_KERNEL_WORK_GROUP_SIZE of NVIDIA's driver (580.159) is 256 for each kernel.
func (p *program) finish() (localBytes uint64, err error) {
	if p.kernel, err = p.program.CreateKernel(p.spec.Name); err != nil {
		return 0, err
	}
	local := new(C.uint64_t)
	err = check(C.sjcl_kernel_local(handle(p.kernel), handle(p.d.p.device), local))
	return uint64(*local), err
}

// restricted returns the settings of config that full has too.
func restricted(config, full backend.Config) backend.Config {
	c := maps.Clone(config)
	maps.DeleteFunc(c, func(name string, _ uint32) bool { _, known := full[name]; return !known })
	return c
}

// build compiles source, or takes its binary from the cache.
func (p *program) build(source, options string) error {
	d := p.d
	path := d.cachePath(source, options)
	p.keeps = path != ""
	if p.load(readBinary(path), options) {
		return nil
	}
	var err error
	if p.program, err = d.context.CreateProgramWithSource([]string{source}); err != nil {
		return asResult(err)
	}
	if err := p.program.BuildProgram([]*cl.Device{d.p.device}, options); err != nil {
		if log, ok := err.(cl.BuildError); ok {
			return fmt.Errorf("%v%s", buildFailure, beginning(string(log)))
		}
		return asResult(err)
	}
	if path != "" {
		keep(path, p.binary())
	}
	return nil
}

// load makes the program of a binary that was kept. A driver may refuse what it wrote itself: it was updated without a
// new version.
func (p *program) load(binary []byte, options string) (loaded bool) {
	if len(binary) == 0 {
		return false
	}
	flags := C.CString(options)
	defer C.free(unsafe.Pointer(flags))
	var program unsafe.Pointer
	if C.sjcl_load_program(handle(p.d.context), handle(p.d.p.device), (*C.uchar)(&binary[0]), C.size_t(len(binary)), flags,
		&program) != 0 {
		return false
	}
	p.program, p.cached = adopt[cl.Program](program), true
	return true
}

// logLines is how much of a log an error quotes.
const logLines = 6

// beginning returns the first lines of a build log.
func beginning(log string) string {
	lines := strings.FieldsFunc(strings.Trim(log, "\x00"), func(r rune) bool { return r == '\n' || r == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[:min(len(lines), logLines)], "; ")
}

// binary returns the compiled program; nil if the driver does not give it.
func (p *program) binary() []byte {
	program, size := handle(p.program), new(C.size_t)
	if C.sjcl_binary(program, nil, size) != 0 || *size == 0 {
		return nil
	}
	code := make([]byte, *size)
	if C.sjcl_binary(program, (*C.uchar)(&code[0]), size) != 0 {
		return nil
	}
	return code
}
