// Package opencl is the backend for OpenCL 1.2 and later. Its kernels are those of the catalogue, translated from SPIR-V
// to OpenCL C (package kernels, docs/opencl.md); a kernel receives its buffers as memory objects with byte offsets.
//
// libOpenCL is opened at run time through a C shim, which declares the functions that it needs: neither a development
// package nor a linked library is required, and programs start where there is no OpenCL.
package opencl
