package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"
)

// Access is what a kernel does to one of its arguments.
type Access uint8

const (
	Read       Access = iota
	Write             // writes without reading; need not write all of it
	ReadWrite         // reads and writes
	Accumulate        // only commutative atomics: accumulating dispatches need no order among themselves
)

// ArgSpec is one buffer argument of a kernel.
type ArgSpec struct {
	Name   string
	Access Access
}

// Comparison says how the output of a kernel is compared with the output of its reference.
type Comparison uint8

const (
	Exact     Comparison = iota // word by word
	Multiset                    // rows in any order
	Predicate                   // by the test of the kernel
)

// Axis is a property with a list of values; each combination of values is a variant of the kernel, compiled from source
// separately.
type Axis struct {
	Name   string
	Values []uint32
}

// Constant is a property that is set when a device compiles a variant, see [Driver.Compile]. Shaders identify it by its
// position; the one at position 0 is "workgroup", the number of invocations.
type Constant struct {
	Name    string
	Default uint32
}

// Config holds the values of the axes and constants of a kernel by name.
type Config map[string]uint32

// String lists the settings sorted by name; equal configurations give equal strings.
func (c Config) String() string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%d", name, c[name])
	}
	return b.String()
}

// KernelSpec is a catalogue entry: everything a backend needs to run the kernel, and everything hazard tracking needs
// to order it. Arguments are read-only buffers first, then outputs, then status; parameters are 32-bit words. A device
// receives the arguments, the parameters, and two words that this package fills: the first workgroup of the dispatch
// and the end of the range of workgroups.
type KernelSpec struct {
	Name      string
	HostOnly  bool // has no shader: only the host backend runs it
	Args      []ArgSpec
	Params    []string
	Axes      []Axis
	Constants []Constant
	Compare   Comparison
	// SharedBytes is the shared memory of a workgroup in a complete configuration. It is nil if a workgroup of up to
	// 1024 invocations never takes more than 16 KiB, whatever the other constants.
	SharedBytes func(config Config) uint32
	// Reference is the kernel in plain Go for a complete configuration.
	Reference func(config Config) Reference
}

// Reference prepares a dispatch; buffers and parameters are in the order of the catalogue, and nil is an absent
// argument. It returns a function that does the work of workgroup number group. Workgroups run concurrently.
type Reference func(buffers [][]byte, params []uint32) (run func(group uint32))

// Complete returns config restricted to the axes and constants of the kernel, with defaults for missing constants. An
// axis without a value, or with a value that is not in its list, is ErrInvalidInput.
func (s *KernelSpec) Complete(config Config) (Config, error) {
	return config.complete(s.Name, s.Axes, s.Constants)
}

func (c Config) complete(name string, axes []Axis, constants []Constant) (Config, error) {
	full := make(Config, len(axes)+len(constants))
	for _, axis := range axes {
		value, ok := c[axis.Name]
		if !ok || !slices.Contains(axis.Values, value) {
			return nil, &OpError{Op: "configure", Kernel: name, Err: ErrInvalidInput,
				Detail: fmt.Sprintf("%s=%d, must be one of %v", axis.Name, value, axis.Values)}
		}
		full[axis.Name] = value
	}
	for _, constant := range constants {
		full[constant.Name] = constant.Default
		if value, ok := c[constant.Name]; ok {
			full[constant.Name] = value
		}
	}
	return full, nil
}

// Words views a slice of bytes as 32-bit words, and Longs as 64-bit ones; the length is rounded down. The slice must be
// aligned to its element, as every argument is.
func Words(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func Longs(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// AsBytes returns the bytes of a slice of fixed-size values, without a copy.
func AsBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
