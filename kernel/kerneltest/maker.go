package kerneltest

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// Distributions are the distributions of keys, values and counts. "few" and "extreme" include 0 and the greatest value.
var Distributions = []string{"random", "equal", "sorted", "few", "extreme"}

// maker makes cases and benchmarks of one kernel.
type maker struct {
	*rand.Rand
	spec         *backend.KernelSpec
	config       backend.Config
	rows         int
	distribution string
	constants    Constants
}

// onePipeline is set where each pipeline takes many seconds to compile.
var onePipeline = os.Getenv("SPIRJOIN_TEST_VALIDATION") == "gpu"

// draw gives the configuration of a case another constant, one of some values; the first where pipelines are dear.
func (m *maker) draw(name string, values ...uint32) uint32 {
	value := values[m.IntN(len(values))]
	switch {
	case onePipeline:
		value = values[0]
	case m.constants == OnePipeline:
		value = values[m.turn()%len(values)]
	}
	return m.set(name, value)
}

// drawDear does the same for kernels that take long to compile: by the shape unless all constants are drawn.
func (m *maker) drawDear(name string, values ...uint32) uint32 {
	switch m.constants {
	case Drawn:
		return m.draw(name, values...)
	case Configured:
		return m.config[name]
	}
	return m.set(name, values[m.turn()%len(values)])
}

// turn is a number of the shape.
func (m *maker) turn() int { return int(m.config["workgroup"]+m.config["items"]) / 3 }

// byShape gives the configuration of a case another constant, one of two values, by its shape.
func (m *maker) byShape(name string, value, other uint32) uint32 {
	if m.constants == Configured {
		return m.config[name]
	}
	if (m.config["workgroup"]+m.config["items"])%3 == 2 {
		value = other
	}
	return m.set(name, value)
}

func (m *maker) set(name string, value uint32) uint32 {
	m.config = maps.Clone(m.config)
	m.config[name] = value
	return value
}

// tileRows, tiles, groups and tileGroups follow from the configuration. There is at least one tile and tileGroup.
func (m *maker) tileRows() int { return int(kernel.TileRows(kernel.Named(m.config))) }

func (m *maker) tiles() uint32 { return max(1, kernel.Tiles(kernel.Named(m.config), uint64(m.rows))) }

func (m *maker) groups() uint32 { return m.groupsFor(m.rows) }

func (m *maker) groupsFor(rows int) uint32 {
	return kernel.Groups(kernel.Named(m.config), uint64(rows))
}

func (m *maker) tileGroups() uint32 { return max(1, m.groups()) }

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

// ids draws row numbers below n.
func (m *maker) ids(n int) []uint32 { return narrow(m.column(m.rows, 32, uint64(n))) }

// serials are distinct payload values, so that the order of equal keys shows.
func (m *maker) serials(n int) []uint64 {
	values := make([]uint64, n)
	first := m.Uint64()
	for i := range values {
		values[i] = first + uint64(i)*0x9e3779b97f4a7c15
	}
	return values
}

// someBound bounds keys of rows rows so that about half of them are equal to others, or not at all.
func (m *maker) someBound(rows int) uint64 {
	if m.IntN(2) == 0 {
		return 0
	}
	return uint64(rows)/2 + 2
}

// payloadOf are the arguments of a payload of given width: none where it is 0.
func payloadOf(bits uint32, before, after []uint64) (payloadIn, payloadOut argument) {
	if bits == 0 {
		return argument{}, argument{}
	}
	return inOf(bits, before), outOf(bits, after)
}

// bitmap draws n bits, none, few, about half, nearly all or all of them set, and more behind them.
func (m *maker) bitmap(n int) (bits []bool, words []uint32) {
	bits, words = make([]bool, n), make([]uint32, (n+31)/32)
	often := []int{0, 1, 2, 50, 98, 99, 100}[m.IntN(7)]
	for i := range len(words) * 32 {
		if set := m.IntN(100) < often; set {
			words[i/32] |= 1 << (i % 32)
			if i < n {
				bits[i] = true
			}
		}
	}
	return bits, words
}

// in is an input.
func in[T uint32 | uint64](column []T) argument {
	return argument{before: backend.AsBytes(append(slices.Clone(column), 0))} // one more: no rows are an argument too
}

// inOf is an input of words of a given width.
func inOf(bits uint32, column []uint64) argument {
	if bits == 64 {
		return in(column)
	}
	return in(narrow(column))
}

// out is an output by what it holds afterwards.
func out[T uint32 | uint64](column []T) argument {
	after := slices.Concat(backend.AsBytes(column), guard)
	return argument{slices.Repeat([]byte{marker}, len(after)), after}
}

func outOf(bits uint32, column []uint64) argument {
	if bits == 64 {
		return out(column)
	}
	return out(narrow(column))
}

// changed is an argument that a kernel reads and writes.
func changed[T uint32 | uint64](before, after []T) argument {
	return argument{slices.Concat(backend.AsBytes(before), guard), slices.Concat(backend.AsBytes(after), guard)}
}

var guard = slices.Repeat([]byte{marker}, guardBytes)

func narrow(column []uint64) []uint32 {
	narrowed := make([]uint32, len(column))
	for i, v := range column {
		narrowed[i] = uint32(v)
	}
	return narrowed
}

// The contents of columns of benchmarks.

// words is a column of n words of a width.
func words(n int, bits uint32, word func(i int) uint64) []byte {
	if bits == 64 {
		column := make([]uint64, n)
		for i := range column {
			column[i] = word(i)
		}
		return backend.AsBytes(column)
	}
	column := make([]uint32, n)
	for i := range column {
		column[i] = uint32(word(i))
	}
	return backend.AsBytes(column)
}

func zeros(n int, bits uint32) []byte {
	return backend.AsBytes(make([]uint64, (n*int(bits)+63)/64))[:n*int(bits)/8]
}

func number(i int) uint64 { return uint64(i) }

// spread are distinct values all over 64 bits.
func spread(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 }

func (m *maker) random(n int, bits uint32) []byte {
	return words(n, bits, func(int) uint64 { return m.Uint64() })
}

// payload makes columns for a payload of given width, none where it is 0.
func (m *maker) payload(bits uint32) (in, out []byte) {
	if bits == 0 {
		return nil, nil
	}
	return m.random(m.rows, bits), zeros(m.rows, bits)
}

// ascending draws n sorted keys, multiples of 3 below 3*different.
func (m *maker) ascending(n, different int, bits uint32) []byte {
	counts := make([]int, different)
	for range n {
		counts[m.IntN(different)]++
	}
	keys := make([]uint64, 0, n)
	for i, count := range counts {
		for range count {
			keys = append(keys, 3*uint64(i))
		}
	}
	if bits == 64 {
		return backend.AsBytes(keys)
	}
	return backend.AsBytes(narrow(keys))
}

func (m *maker) randomIDs() []byte {
	return words(m.rows, 32, func(int) uint64 { return m.Uint64N(uint64(m.rows)) })
}
