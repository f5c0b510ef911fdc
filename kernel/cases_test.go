package kernel_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// dispatch is one as the reference sees it.
type dispatch struct {
	Args   [][]byte
	Params []uint32
	Config backend.Config
}

// prepare returns what runs a workgroup of the call.
func (c *dispatch) prepare(spec *backend.KernelSpec) func(group uint32) {
	return spec.Reference(c.Config)(c.Args, c.Params)
}

// A kernelCase is one dispatch of a kernel: arguments as they are before it, parameters and workgroups.
type kernelCase struct {
	spec   *backend.KernelSpec
	call   dispatch
	groups uint32
	// The case runs workgroups firstGroup to groups-1.
	firstGroup uint32
	want       [][]byte // by argument: what the oracle says an output holds afterwards, guard included; nil for inputs
	// Where the order of output rows is open, brings arguments into one order.
	canonical func(args [][]byte)
}

const (
	marker     = 0xa5 // every byte of an output before the dispatch
	guardBytes = 256  // behind each output: must keep the marker
)

// distributions of keys, values and counts. All of them reach 0 and the greatest value where the width allows.
var distributions = []string{"random", "equal", "sorted", "few", "extreme"}

// maker makes cases of one kernel.
type maker struct {
	*rand.Rand
	config       backend.Config
	rows         int
	distribution string
}

// newCase makes a case of a complete configuration with about rows rows.
func newCase(spec *backend.KernelSpec, config backend.Config, rows int, distribution string, seed uint64) *kernelCase {
	m := &maker{rand.New(rand.NewPCG(seed, 1)), config, rows, distribution}
	make := map[string]func(*maker) *kernelCase{
		"block_sort": (*maker).blockSort, "merge_count": (*maker).mergeCount, "merge_join": (*maker).mergeJoin, "merge_mark": (*maker).mergeMark, "merge_walk": (*maker).mergeJoin,
		"merge_partition": (*maker).mergePartition, "merge_tiles": (*maker).mergeTiles, "merge_units": (*maker).mergeUnits,
		"compact": (*maker).compact, "compact_count": (*maker).compactCount, "copy": (*maker).copy, "gather": (*maker).gather,
		"gather_bits": (*maker).gatherBits, "histogram": (*maker).histogram, "iota": (*maker).iota,
		"partition_count": (*maker).partitionCount, "partition_join": (*maker).partitionJoin, "partition_mark": (*maker).partitionMark, "partition_walk": (*maker).partitionJoin,
		"partition_pieces": (*maker).partitionPieces, "partition_starts": (*maker).partitionStarts,
		"partition_units": (*maker).partitionUnits, "radix_counts": (*maker).radixCounts, "radix_histogram": (*maker).radixHistogram, "radix_scatter": (*maker).radixScatter,
		"radix_starts": (*maker).radixStarts,
		"range_expand": (*maker).rangeExpand, "range_search": (*maker).rangeSearch,
		"reduce": (*maker).reduce, "scan_lookback": (*maker).scanLookback, "scan_tiles": (*maker).scanTiles, "scatter": (*maker).scatter,
		"segmented_scan": (*maker).segmentedScan, "table_build": (*maker).tableBuild, "table_count": (*maker).tableCount, "table_mark": (*maker).tableMark, "table_probe": (*maker).tableProbe,
		"unmix": (*maker).unmix, "varying_bits": (*maker).varyingBits,
	}[spec.Name]
	if make == nil {
		panic("no cases for kernel " + spec.Name)
	}
	c := make(m)
	c.spec, c.call.Config = spec, m.config
	return c
}

// inputs and outputs make a case; an output is given by what it holds afterwards.
func (m *maker) newCase(groups uint32, params []uint32, args ...any) *kernelCase {
	c := &kernelCase{call: dispatch{Params: params}, groups: groups}
	for _, arg := range args {
		var before, after []byte
		switch a := arg.(type) {
		case nil:
		case []uint32:
			before = backend.AsBytes(append(a, 0)) // one more, so that no rows are still an argument
		case []uint64:
			before = backend.AsBytes(append(a, 0))
		case output:
			after = append(slices.Clone(a), slices.Repeat([]byte{marker}, guardBytes)...)
			before = slices.Repeat([]byte{marker}, len(after))
		case changed:
			guard := slices.Repeat([]byte{marker}, guardBytes)
			before, after = append(slices.Clone(a.before), guard...), append(slices.Clone(a.after), guard...)
		}
		c.call.Args, c.want = append(c.call.Args, before), append(c.want, after)
	}
	return c
}

type output []byte

// changed is an argument that a kernel reads and writes.
type changed struct{ before, after output }

// fewPipelines is set where a pipeline takes seconds to compile.
var fewPipelines = os.Getenv("SPIRJOIN_TEST_VALIDATION") == "gpu"

// set gives the configuration of a case another constant, one of some values; the first where pipelines are dear.
func (m *maker) set(name string, values ...uint32) uint32 {
	value := values[m.IntN(len(values))]
	if fewPipelines {
		value = values[0]
	}
	m.config = maps.Clone(m.config)
	m.config[name] = value
	return value
}

// setByShape does the same by the shape, for kernels that take seconds to compile on some devices.
func (m *maker) setByShape(name string, values ...uint32) uint32 {
	value := values[0]
	if (m.config["workgroup"]+m.config["items"])%3 == 2 {
		value = values[1]
	}
	m.config = maps.Clone(m.config)
	m.config[name] = value
	return value
}

func out[T uint32 | uint64](column []T) output { return backend.AsBytes(column) }

// out64 is an output of words of a given width.
func outOf(bits uint32, column []uint64) output {
	if bits == 64 {
		return out(column)
	}
	return out(narrow(column))
}

func inOf(bits uint32, column []uint64) any {
	if bits == 64 {
		return slices.Clone(column)
	}
	return narrow(column)
}

func narrow(column []uint64) []uint32 {
	narrowed := make([]uint32, len(column))
	for i, v := range column {
		narrowed[i] = uint32(v)
	}
	return narrowed
}

// column draws words of a width; bound, if not 0, is above all of them.
func (m *maker) column(n int, bits uint32, bound uint64) []uint64 {
	greatest := ^uint64(0) >> (64 - bits)
	if bound > 0 {
		greatest = bound - 1
	}
	draw := func() uint64 {
		if greatest == ^uint64(0) {
			return m.Uint64()
		}
		return m.Uint64N(greatest + 1)
	}
	column := make([]uint64, n)
	same := draw()
	few := []uint64{0, draw(), draw(), draw(), greatest}
	for i := range column {
		switch m.distribution {
		case "equal":
			column[i] = same
		case "few":
			column[i] = few[m.IntN(len(few))]
		case "extreme":
			column[i] = [2]uint64{0, greatest}[m.IntN(2)]
		default:
			column[i] = draw()
		}
	}
	if m.distribution == "sorted" {
		slices.Sort(column)
	}
	return column
}

func (m *maker) tiles() uint32 { return max(1, kernel.Tiles(kernel.Named(m.config), uint64(m.rows))) }

// tileGroups is the number of workgroups for at least one tile.
func (m *maker) tileGroups() uint32 {
	return max(1, kernel.Groups(kernel.Named(m.config), uint64(m.rows)))
}

// check compares the outputs of a dispatch with the oracle, and the inputs with what they were.
func (c *kernelCase) check(after [][]byte) error {
	wanted := c.want
	if c.canonical != nil {
		wanted, after = clones(wanted), clones(after)
		c.canonical(wanted)
		c.canonical(after)
	}
	for i, arg := range c.spec.Args {
		want := wanted[i]
		if want == nil {
			want = c.call.Args[i]
		}
		if slices.Equal(want, after[i]) {
			continue
		}
		at := 0
		for want[at] == after[i][at] {
			at++
		}
		at &^= 3
		return fmt.Errorf("%s %v params %v: %s differs first at byte %d of %d + %d: want % x, got % x", c.spec.Name, c.call.Config, c.call.Params,
			arg.Name, at, len(want)-guardBytes, guardBytes, want[at:at+4], after[i][at:at+4])
	}
	return nil
}

func clones(columns [][]byte) [][]byte {
	columns = slices.Clone(columns)
	for i, column := range columns {
		columns[i] = slices.Clone(column)
	}
	return columns
}

// runReference runs a case on copies of its arguments and returns them.
func (c *kernelCase) runReference() [][]byte {
	call := c.call
	call.Args = make([][]byte, len(c.call.Args))
	for i, arg := range c.call.Args {
		if arg != nil {
			call.Args[i] = backend.AsBytes(slices.Clone(backend.Longs(append(slices.Clone(arg), make([]byte, 8)...))))[:len(arg)]
		}
	}
	run := call.prepare(c.spec)
	for group := c.firstGroup; group < c.groups; group++ {
		run(group)
	}
	return call.Args
}
