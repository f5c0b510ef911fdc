package kerneltest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// entry is what is registered of a kernel.
type entry struct {
	newCase   func(m *maker) *Case
	benchmark func(m *maker) *Dispatch
}

var entries = make(map[*backend.KernelSpec]entry)

// add registers a kernel: what draws a case with about m.rows rows, and what makes the dispatch over m.rows rows that
// benchmarks measure.
func add[A, C any](k *kernel.Kernel[A, C], newCase func(m *maker) *Case, benchmark func(m *maker) *Dispatch) {
	entries[k.KernelSpec] = entry{newCase, benchmark}
}

// Missing names the kernels of the catalogue of which nothing is registered, each with the place where that belongs.
func Missing() (missing []string) {
	for _, spec := range kernel.Catalogue() {
		if _, ok := entries[spec]; !ok {
			missing = append(missing, missingEntry(spec))
		}
	}
	return missing
}

func missingEntry(spec *backend.KernelSpec) string {
	return fmt.Sprintf("kernel %s has no cases and no benchmark: add both in kernel/kerneltest/%[1]s.go", spec.Name)
}

func entryOf(spec *backend.KernelSpec) entry {
	e, ok := entries[spec]
	if !ok {
		panic(missingEntry(spec))
	}
	return e
}

// Constants says where a case takes the constants from that change what a kernel does.
type Constants uint8

const (
	Drawn       Constants = iota // they are drawn, or follow from the shape
	ByShape                      // they follow from the shape, unless pipelines compile fast
	Configured                   // they stay as configured, unless pipelines compile fast
	OnePipeline                  // all follow from the shape
)

// Options describe a case to draw. Equal options give equal cases.
type Options struct {
	Rows         int    // roughly
	Distribution string // one of [Distributions]
	Seed         uint64
	Constants    Constants
}

// NewCase draws a case of a complete configuration. It panics for a kernel of which nothing is registered.
func NewCase(spec *backend.KernelSpec, config backend.Config, options Options) *Case {
	stream := uint64(options.Rows*len(Distributions) + slices.Index(Distributions, options.Distribution))
	random := rand.New(rand.NewPCG(options.Seed, stream))
	return entryOf(spec).newCase(&maker{random, spec, config, options.Rows, options.Distribution, options.Constants})
}

// NewBenchmark is the dispatch over rows rows that benchmarks measure, on even, random data. It panics for a kernel of
// which nothing is registered.
func NewBenchmark(spec *backend.KernelSpec, config backend.Config, rows int) *Dispatch {
	m := &maker{rand.New(rand.NewPCG(1, 2)), spec, config, rows, "random", Configured}
	return entryOf(spec).benchmark(m)
}

// argument is a buffer of a case: what it holds before the dispatch, and for an output what it holds afterwards, both
// with the guard. The zero value is an absent argument.
type argument struct{ before, after []byte }

// newCase makes a case of arguments by name, such as kernel.IotaArgsOf[argument].
func (m *maker) newCase(groups uint32, args any) *Case {
	c := &Case{Dispatch: Dispatch{Spec: m.spec, Config: m.config, EndGroup: groups}}
	var arguments []argument
	arguments, c.Params = lists[argument](m.spec, args)
	for _, a := range arguments {
		c.Args, c.want = append(c.Args, a.before), append(c.want, a.after)
	}
	return c
}

// dispatch makes a dispatch that covers rows rows, of arguments by name, such as kernel.IotaArgsOf[[]byte].
func (m *maker) dispatch(rows int, args any) *Dispatch {
	return NewDispatch(m.spec, m.config, rows, args)
}

// NewDispatch makes a dispatch that covers rows rows in a complete configuration. args is the argument struct of the
// kernel, such as kernel.IotaArgsOf[[]byte]; NewDispatch panics for the struct of another kernel.
func NewDispatch(spec *backend.KernelSpec, config backend.Config, rows int, args any) *Dispatch {
	d := &Dispatch{Spec: spec, Config: config, EndGroup: kernel.Groups(kernel.Named(config), uint64(rows))}
	d.Args, d.Params = lists[[]byte](spec, args)
	return d
}

// lists returns the buffers and parameters of a struct of arguments in the order of the catalogue.
func lists[B any](spec *backend.KernelSpec, args any) (buffers []B, params []uint32) {
	var names []string
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		switch x := v.Interface().(type) {
		case B:
			buffers, names = append(buffers, x), append(names, name)
			return
		case uint32:
			params, names = append(params, x), append(names, name)
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type.Kind() != reflect.Array {
				walk(f.Name, v.Field(i))
				continue
			}
			for n := range f.Type.Len() {
				name := f.Name
				if n > 0 {
					name = fmt.Sprint(f.Name, n+1)
				}
				walk(name, v.Field(i).Index(n))
			}
		}
	}
	walk("", reflect.ValueOf(args))
	var want []string
	for _, arg := range spec.Args {
		want = append(want, arg.Name)
	}
	want = append(want, spec.Params...)
	plain := func(names []string) string {
		return strings.ToLower(strings.ReplaceAll(strings.Join(names, " "), "_", ""))
	}
	if plain(names) != plain(want) {
		panic(fmt.Sprintf("kernel %s has arguments %v, not as in %T", spec.Name, want, args))
	}
	return buffers, params
}
