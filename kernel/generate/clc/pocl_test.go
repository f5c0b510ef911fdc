package clc

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// opencl is as much of OpenCL as these tests need, on a CPU device, without the backend that uses the translations.
type opencl struct {
	device, context, queue uintptr

	getPlatformIDs func(entries uint32, platforms *uintptr, count *uint32) int32
	getDeviceIDs   func(platform uintptr, kind uint64, entries uint32, devices *uintptr, count *uint32) int32
	createContext  func(properties uintptr, count uint32, devices *uintptr, notify, data uintptr,
		status *int32) uintptr
	createCommandQueue      func(context, device uintptr, properties uint64, status *int32) uintptr
	createProgramWithSource func(context uintptr, count uint32, texts *uintptr, lengths *uintptr, status *int32) uintptr
	buildProgram            func(program uintptr, count uint32, devices *uintptr, options string, notify,
		data uintptr) int32
	getProgramBuildInfo  func(program, device uintptr, name uint32, size uintptr, value *byte, returned *uintptr) int32
	createKernel         func(program uintptr, name string, status *int32) uintptr
	setKernelArg         func(kernel uintptr, index uint32, size uintptr, value unsafe.Pointer) int32
	createBuffer         func(context uintptr, flags uint64, size uintptr, memory unsafe.Pointer, status *int32) uintptr
	enqueueNDRangeKernel func(queue, kernel uintptr, dimensions uint32, offset, global, local *uintptr,
		waits uint32, list, event uintptr) int32
	enqueueReadBuffer func(queue, buffer uintptr, blocking uint32, offset, size uintptr,
		memory unsafe.Pointer, waits uint32, list, event uintptr) int32
	releaseMemObject func(buffer uintptr) int32
	releaseKernel    func(kernel uintptr) int32
	releaseProgram   func(program uintptr) int32
}

const (
	clDeviceTypeCPU   = 1 << 1
	clMemCopyHostPtr  = 1 << 5
	clProgramBuildLog = 0x1183
)

// pocl opens the first CPU device; a test is skipped where there is none.
func pocl(t testing.TB) *opencl {
	cl, err := openCPU()
	if err != nil {
		t.Skipf("SKIPPED, NOTHING RAN: no OpenCL for the CPU (tools/setup.sh test installs PoCL): %v", err)
	}
	return cl
}

var openCPU = sync.OnceValues(func() (*opencl, error) {
	lib, err := purego.Dlopen("libOpenCL.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	cl := &opencl{}
	for name, f := range map[string]any{
		"clGetPlatformIDs": &cl.getPlatformIDs, "clGetDeviceIDs": &cl.getDeviceIDs, "clCreateContext": &cl.createContext,
		"clCreateCommandQueue": &cl.createCommandQueue, "clCreateProgramWithSource": &cl.createProgramWithSource,
		"clBuildProgram": &cl.buildProgram, "clGetProgramBuildInfo": &cl.getProgramBuildInfo,
		"clCreateKernel": &cl.createKernel, "clSetKernelArg": &cl.setKernelArg, "clCreateBuffer": &cl.createBuffer,
		"clEnqueueNDRangeKernel": &cl.enqueueNDRangeKernel, "clEnqueueReadBuffer": &cl.enqueueReadBuffer,
		"clReleaseMemObject": &cl.releaseMemObject, "clReleaseKernel": &cl.releaseKernel,
		"clReleaseProgram": &cl.releaseProgram,
	} {
		purego.RegisterLibFunc(f, lib, name)
	}
	platforms, count := make([]uintptr, 16), uint32(0)
	if status := cl.getPlatformIDs(16, &platforms[0], &count); status != 0 {
		return nil, fmt.Errorf("clGetPlatformIDs: %d", status)
	}
	for _, platform := range platforms[:min(count, 16)] {
		if cl.getDeviceIDs(platform, clDeviceTypeCPU, 1, &cl.device, nil) != 0 {
			continue
		}
		var status int32
		if cl.context = cl.createContext(0, 1, &cl.device, 0, 0, &status); status != 0 {
			return nil, fmt.Errorf("clCreateContext: %d", status)
		}
		if cl.queue = cl.createCommandQueue(cl.context, cl.device, 0, &status); status != 0 {
			return nil, fmt.Errorf("clCreateCommandQueue: %d", status)
		}
		return cl, nil
	}
	return nil, fmt.Errorf("%d platforms, none has a CPU device", count)
})

// compiled is a kernel of a program for one configuration.
type compiled struct {
	cl              *opencl
	program, kernel uintptr
	workgroup       uint32
}

// compile builds a source for a complete configuration.
func (cl *opencl) compile(t testing.TB, spec *backend.KernelSpec, config backend.Config, source string) *compiled {
	var status int32
	text := append([]byte(source), 0)
	at := uintptr(unsafe.Pointer(&text[0]))
	c := &compiled{cl: cl, workgroup: config["workgroup"]}
	c.program = cl.createProgramWithSource(cl.context, 1, &at, nil, &status)
	runtime.KeepAlive(text)
	require.Zero(t, status, "clCreateProgramWithSource")
	if status = cl.buildProgram(c.program, 1, &cl.device, options(spec, config), 0, 0); status != 0 {
		log := make([]byte, 1<<16)
		cl.getProgramBuildInfo(c.program, cl.device, clProgramBuildLog, uintptr(len(log)), &log[0], nil)
		t.Fatalf("clBuildProgram: %d\n%s\n%s", status, strings.TrimRight(string(log), "\x00"), source)
	}
	c.kernel = cl.createKernel(c.program, spec.Name, &status)
	require.Zero(t, status, "clCreateKernel")
	t.Cleanup(func() {
		cl.releaseKernel(c.kernel)
		cl.releaseProgram(c.program)
	})
	return c
}

// options are those that a driver builds a variant with.
func options(spec *backend.KernelSpec, config backend.Config) string {
	var b strings.Builder
	b.WriteString("-cl-std=CL1.2")
	for _, axis := range spec.Axes {
		fmt.Fprintf(&b, " -D%s=%d", strings.ToUpper(axis.Name), config[axis.Name])
	}
	for _, constant := range spec.Constants {
		fmt.Fprintf(&b, " -D%s=%du", strings.ToUpper(constant.Name), config[constant.Name])
	}
	return b.String()
}

// run runs the workgroups first to end-1 on copies of the arguments and returns these.
func (c *compiled) run(t testing.TB, args [][]byte, params []uint32, first, end uint32) [][]byte {
	cl := c.cl
	var status int32
	buffers := make([]uintptr, len(args))
	scalars := make([]uint32, 2*len(args)) // offsets of 0
	for i, arg := range args {
		if arg != nil {
			memory := make([]byte, max(len(arg), 1))
			copy(memory, arg)
			buffers[i] = cl.createBuffer(cl.context, clMemCopyHostPtr, uintptr(len(memory)), unsafe.Pointer(&memory[0]), &status)
			require.Zero(t, status, "clCreateBuffer")
			defer cl.releaseMemObject(buffers[i])
		}
		require.Zero(t, cl.setKernelArg(c.kernel, uint32(i), 8, unsafe.Pointer(&buffers[i])), "clSetKernelArg")
	}
	scalars = append(append(scalars, params...), first, end)
	if len(args) > 0 && len(scalars)%2 == 1 { // a structure of 64-bit words
		scalars = append(scalars, 0)
	}
	require.Zero(t, cl.setKernelArg(c.kernel, uint32(len(args)), uintptr(4*len(scalars)), unsafe.Pointer(&scalars[0])),
		"clSetKernelArg of the scalars")
	local := uintptr(c.workgroup)
	global := uintptr(end-first) * local
	require.Zero(t, cl.enqueueNDRangeKernel(cl.queue, c.kernel, 1, nil, &global, &local, 0, 0, 0),
		"clEnqueueNDRangeKernel")
	after := make([][]byte, len(args))
	for i, arg := range args {
		if arg != nil {
			after[i] = make([]byte, len(arg))
			if len(arg) > 0 {
				require.Zero(t, cl.enqueueReadBuffer(cl.queue, buffers[i], 1, 0, uintptr(len(arg)),
					unsafe.Pointer(&after[i][0]), 0, 0, 0), "clEnqueueReadBuffer")
			}
		}
	}
	return after
}
