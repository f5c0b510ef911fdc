// Package opencl is the backend for OpenCL 1.2 and later. Its kernels are the catalogue, translated from
// SPIR-V to OpenCL C (package kernels, docs/opencl.md); a kernel receives its buffers as memory objects with byte
// offsets.
//
// The Go binding github.com/jgillich/go-opencl makes contexts, queues, memory objects, programs and kernels; a C shim
// on their handles runs batches and does what the binding lacks. libOpenCL is opened at run time. The C declarations
// and functions that the binding refers to are this package's (pkgconfig, forward.c), so neither a development package
// nor a linked library is required, and programs start where there is no OpenCL.
//
// The package needs the build tag "opencl", and its folder pkgconfig in PKG_CONFIG_PATH; `make build` sets both.
// Without the tag, [New] returns an error.
package opencl
