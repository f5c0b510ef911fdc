//go:build opencl && linux

package opencl

import (
	"debug/elf"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// A program that uses the binding neither needs libOpenCL to start, nor offers its functions to drivers.
func TestProgramIsNotLinkedToOpenCL(t *testing.T) {
	program, err := elf.Open("/proc/self/exe")
	require.NoError(t, err)
	defer func() { require.NoError(t, program.Close()) }()
	libraries, err := program.ImportedLibraries()
	require.NoError(t, err)
	require.NotEmpty(t, libraries)
	require.NotContains(t, strings.Join(libraries, " "), "OpenCL")
	symbols, err := program.DynamicSymbols()
	require.NoError(t, err)
	for _, symbol := range symbols {
		require.NotRegexp(t, "^cl[A-Z]", symbol.Name)
	}
}

func TestMissingLibrary(t *testing.T) {
	err := loadFirst("libspirjoin-missing.so.1", "libspirjoin-missing.so")
	require.ErrorIs(t, err, backend.ErrNoDevice)
	require.ErrorContains(t, err, "libspirjoin-missing.so.1: cannot open")
	require.ErrorContains(t, err, installHint)
	require.ErrorContains(t, loadFirst("libc.so.6"), "it has no function clGetPlatformIDs")
}

// handle and adopt rely on the first word of each type of the binding.
func TestHandleIsTheFirstWord(t *testing.T) {
	for _, object := range []any{cl.Device{}, cl.Context{}, cl.CommandQueue{}, cl.MemObject{}, cl.Program{}, cl.Kernel{},
		cl.Event{}} {
		first := reflect.TypeOf(object).Field(0)
		require.Zero(t, first.Offset)
		require.Equal(t, reflect.Pointer, first.Type.Kind(), "%T.%s", object, first.Name)
		require.Contains(t, first.Type.String(), "_cl_", "%T.%s", object, first.Name)
	}
	word := unsafe.Pointer(new(int))
	require.Equal(t, word, handle(adopt[cl.Kernel](word)))
	require.Nil(t, handle[cl.Kernel](nil))
}

func TestResults(t *testing.T) {
	for binding, want := range codes {
		text := strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(binding.Error(), "cl: "), " ", "_"))
		require.Equal(t, "CL_"+text, want.Error())
	}
	require.ErrorIs(t, failure(cl.ErrMemObjectAllocationFailure, "allocate", "d", ""), backend.ErrDeviceMemory)
	require.ErrorIs(t, failure(cl.ErrOther(-1001), "open", "d", ""), backend.ErrNoDevice)
	require.ErrorIs(t, failure(cl.ErrUnknown, "open", "d", ""), backend.ErrDeviceLost)
	require.NoError(t, failure(nil, "open", "d", ""))
}
