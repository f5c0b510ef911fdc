package kernel

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
)

// A kernel is declared by two structs: its arguments and its configuration.
//
//	type IotaArgsOf[B any] struct {    // B: backend.Range for callers, []byte for the reference
//		Values      B `access:"write"` // buffers first
//		Rows, First uint32             // then parameters
//	}
//	type IotaConfig struct {           // axes are compiled into the kernel, constants are set when it is
//		Tile
//	}
//
// All else follows from them: the catalogue entry that backends and tests see, the list of variants, and the
// declarations that the shader includes (shaders/include/kernels, made by go generate). Names in the catalogue and in
// shaders are the field names in snake case.

// Kernel is a catalogue entry with arguments A and configuration C.
type Kernel[A, C any] struct {
	*backend.KernelSpec
	defaults       C
	settings       []setting
	serial, shared int // indexes of these axes in settings; -1 where there is none
}

// Compiled is a kernel for one device and configuration, with arguments A.
type Compiled[A any] struct{ *backend.Kernel }

// entry is what a kernel is beside its arguments and configuration. Run is the reference: what workgroup number group
// does. Workgroups run concurrently.
type entry[V, C any] struct {
	Name     string
	Defaults C
	// SerialItems are the default rows of a tile in the serial shape.
	SerialItems uint32
	HostOnly    bool
	Compare     backend.Comparison
	SharedBytes func(config *C) uint32
	Run         func(args *V, config *C, group uint32)
}

var (
	catalogue   []*backend.KernelSpec
	serialItems = make(map[string]uint32) // by kernel
)

// Catalogue returns every kernel, sorted by name.
func Catalogue() []*backend.KernelSpec {
	return slices.SortedFunc(slices.Values(catalogue),
		func(a, b *backend.KernelSpec) int { return strings.Compare(a.Name, b.Name) })
}

// Shaders returns the kernels that have a shader, sorted by name: all but those that only the host backend runs.
func Shaders() []*backend.KernelSpec {
	return slices.DeleteFunc(Catalogue(), func(spec *backend.KernelSpec) bool { return spec.HostOnly })
}

// define adds a kernel to the catalogue. A are its arguments for callers, V the same for its reference.
func define[A, V, C any](e entry[V, C]) *Kernel[A, C] {
	spec := &backend.KernelSpec{Name: e.Name, HostOnly: e.HostOnly, Compare: e.Compare}
	spec.Args, spec.Params = argumentsOf[[]byte](reflect.TypeFor[V]())
	args, params := argumentsOf[backend.Range](reflect.TypeFor[A]())
	if !slices.Equal(args, spec.Args) || !slices.Equal(params, spec.Params) {
		panic(fmt.Sprintf("kernel %s: %v and %v differ", e.Name, reflect.TypeFor[A](), reflect.TypeFor[V]()))
	}
	k := &Kernel[A, C]{KernelSpec: spec, defaults: e.Defaults, settings: settingsOf(reflect.TypeFor[C]())}
	index := func(axis string) int {
		return slices.IndexFunc(k.settings, func(s setting) bool { return s.name == axis })
	}
	k.serial, k.shared = index("serial"), index("shared")
	defaults := valuesOf(&e.Defaults)
	for i, f := range k.settings {
		if f.values == nil {
			spec.Constants = append(spec.Constants, backend.Constant{Name: f.name, Default: defaults[i]})
		} else {
			spec.Axes = append(spec.Axes, backend.Axis{Name: f.name, Values: f.values})
		}
	}
	if len(spec.Constants) == 0 || spec.Constants[0].Name != "workgroup" {
		panic(fmt.Sprintf("kernel %s: the first constant is not the workgroup", e.Name))
	}
	if e.SharedBytes != nil {
		spec.SharedBytes = func(named backend.Config) uint32 {
			config := k.With(named)
			return e.SharedBytes(&config)
		}
	}
	spec.Reference = func(named backend.Config) backend.Reference {
		config := k.With(named)
		return func(buffers [][]byte, params []uint32) func(group uint32) {
			args := new(V)
			copy(buffersOf[[]byte](args, len(spec.Args)), buffers)
			copy(paramsOf[[]byte](args, len(spec.Args), len(spec.Params)), params)
			return func(group uint32) { e.Run(args, &config, group) }
		}
	}
	serialItems[e.Name] = e.SerialItems
	catalogue = append(catalogue, spec)
	return k
}

// With returns the default configuration, overridden by those named settings that the kernel has. Others are ignored,
// because a row of a tuning table serves all kernels of its primitive.
func (k *Kernel[A, C]) With(named backend.Config) C {
	config := k.defaults
	values := valuesOf(&config)
	for i, f := range k.settings {
		if value, ok := named[f.name]; ok {
			values[i] = value
		}
	}
	return config
}

// On returns the kernel for a device and configuration, and compiles it at its first use. Equal configurations give the
// same kernel. On a device without subgroup operations the wide shape has shared=1, where the kernel has that axis.
func (k *Kernel[A, C]) On(device *backend.Device, config C) (Compiled[A], error) {
	own := k.suited(config, device.Info().Subgroups)
	compiled, err := device.KernelFor(k.KernelSpec, own, func() backend.Config { return k.named(own) })
	return Compiled[A]{compiled}, err
}

// suited is a configuration as a device with or without subgroup operations runs it.
func (k *Kernel[A, C]) suited(config C, subgroups bool) C {
	if subgroups || k.shared < 0 {
		return config
	}
	if values := valuesOf(&config); k.serial < 0 || values[k.serial] == 0 {
		values[k.shared] = 1
	}
	return config
}

// Dispatch adds groups workgroups to a list; 0 groups add nothing. An argument that is the zero Range is absent.
func (k Compiled[A]) Dispatch(list *backend.List, groups uint32, args A) {
	k.DispatchPart(list, 0, groups, args)
}

// DispatchPart adds the workgroups from first to end-1.
func (k Compiled[A]) DispatchPart(list *backend.List, first, end uint32, args A) {
	if first >= end {
		return
	}
	spec := k.Spec
	list.DispatchPart(k.Kernel, first, end, buffersOf[backend.Range](&args, len(spec.Args)),
		paramsOf[backend.Range](&args, len(spec.Args), len(spec.Params))...)
}

// Record is [Kernel.On] and [Compiled.Dispatch]: it adds groups workgroups of the kernel for a configuration to a list.
func (k *Kernel[A, C]) Record(list *backend.List, device *backend.Device, config C, groups uint32, args A) error {
	compiled, err := k.On(device, config)
	if err == nil {
		compiled.Dispatch(list, groups, args)
	}
	return err
}

// RecordRows is [Kernel.Record] of as many workgroups as rows take ([Groups]). The configuration has a tile.
func (k *Kernel[A, C]) RecordRows(list *backend.List, device *backend.Device, config C, rows uint64, args A) error {
	return k.Record(list, device, config, Groups(any(config).(Tiled), rows), args)
}

// named returns the settings of a configuration by name.
func (k *Kernel[A, C]) named(config C) backend.Config {
	c := make(backend.Config, len(k.settings))
	values := valuesOf(&config)
	for i, f := range k.settings {
		c[f.name] = values[i]
	}
	return c
}

// buffersOf and paramsOf view the two parts of a struct of arguments as the lists that a dispatch consists of. They lie
// one behind the other without gaps, as [argumentsOf] checks.
func buffersOf[B, A any](args *A, count int) []B {
	return unsafe.Slice((*B)(unsafe.Pointer(args)), count)
}

func paramsOf[B, A any](args *A, buffers, count int) []uint32 {
	if count == 0 {
		return nil // behind the buffers lies no part of the struct
	}
	return unsafe.Slice((*uint32)(unsafe.Add(unsafe.Pointer(args), uintptr(buffers)*unsafe.Sizeof(*new(B)))), count)
}

// valuesOf views a configuration, whose fields are all 32-bit words, as their values.
func valuesOf[C any](config *C) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(config)), unsafe.Sizeof(*config)/4)
}

// flatten lists the fields of a struct that lies offset bytes into another, with their offsets there. Fields of
// embedded structs stand in place of the struct, and elements of an array x as x, x2, x3.
func flatten(t reflect.Type, offset uintptr) (fields []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		f.Offset += offset
		switch {
		case f.Anonymous:
			fields = append(fields, flatten(f.Type, f.Offset)...)
		case f.Type.Kind() == reflect.Array:
			element := f
			element.Type = f.Type.Elem()
			for n := range f.Type.Len() {
				if n > 0 {
					element.Name = fmt.Sprint(f.Name, n+1)
				}
				element.Offset = f.Offset + uintptr(n)*element.Type.Size()
				fields = append(fields, element)
			}
		default:
			fields = append(fields, f)
		}
	}
	return fields
}

var accesses = map[string]backend.Access{
	"read": backend.Read, "write": backend.Write, "readwrite": backend.ReadWrite, "accumulate": backend.Accumulate,
}

// argumentsOf lists the arguments, of type B, and the parameters that a struct declares. A declaration that does not
// follow the rules is a mistake in this package, which shows when any program with it starts.
func argumentsOf[B any](t reflect.Type) (args []backend.ArgSpec, params []string) {
	size := uintptr(0)
	for _, f := range flatten(t, 0) {
		access, ok := accesses[f.Tag.Get("access")]
		switch {
		case f.Offset != size:
			panic(fmt.Sprintf("%v: a gap before %s", t, f.Name))
		case f.Type.Kind() == reflect.Uint32:
			params = append(params, snake(f.Name))
		case f.Type != reflect.TypeFor[B]():
			panic(fmt.Sprintf("%v: %s is neither a buffer nor a uint32", t, f.Name))
		case len(params) > 0:
			panic(fmt.Sprintf("%v: buffer %s comes after a parameter", t, f.Name))
		case !ok:
			panic(fmt.Sprintf("%v: buffer %s has access %q", t, f.Name, f.Tag.Get("access")))
		default:
			args = append(args, backend.ArgSpec{Name: snake(f.Name), Access: access})
		}
		size += f.Type.Size()
	}
	return args, params
}

// setting is a field of a configuration. values are the values of an axis; nil for a constant.
type setting struct {
	name   string
	values []uint32
}

func settingsOf(t reflect.Type) (settings []setting) {
	for _, f := range flatten(t, 0) {
		if f.Type.Kind() != reflect.Uint32 {
			panic(fmt.Sprintf("%v: %s is not a uint32", t, f.Name))
		}
		s := setting{name: snake(f.Name)}
		if axis, ok := f.Tag.Lookup("axis"); ok {
			for _, text := range strings.Split(axis, ",") {
				value, err := strconv.ParseUint(text, 10, 32)
				if err != nil {
					panic(fmt.Sprintf("%v: %s: axis %q", t, f.Name, axis))
				}
				s.values = append(s.values, uint32(value))
			}
		}
		settings = append(settings, s)
	}
	return settings
}

// snake is the name of a field in the catalogue and in shaders: LeftIDs is left_ids, PayloadIn2 is payload_in_2.
func snake(name string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(name, "IDs", "Ids") {
		if i > 0 && (unicode.IsUpper(r) || unicode.IsDigit(r)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
