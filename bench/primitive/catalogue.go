package primitive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/workload"
)

// Benchmark is a primitive that can be measured, with what it offers on each axis; the first distribution is the default.
type Benchmark struct {
	Name          string
	Table         string // of its tuning; empty where it has none
	Keys          []int  // widths of keys or values, in bits
	Payloads      []int  // widths of what travels along, or of sums, in bits; 0 for nothing
	Distributions []workload.Distribution

	tunes   bool                                  // the table is tuned by this benchmark
	offered func(key, payload int) bool           // of their combinations; nil for all
	variant func(key, payload int) backend.Config // of its tuning rows
	set     func(b *bed) experiment
}

// Benchmarks returns all of them, sorted by name.
func Benchmarks() []Benchmark {
	all := []Benchmark{
		cascadeDecodeBenchmark, cascadeEncodeBenchmark, compactBenchmark, compareTextsBenchmark, copyBenchmark, copyEngine, stridedBenchmark, encodeBenchmark,
		expandBenchmark, gatherBenchmark, hashTextsBenchmark, iotaBenchmark, mergeBenchmark, mergeJoinBenchmark,
		mergeSortBenchmark, packBenchmark, partitionBenchmark, partitionJoinBenchmark, reduceBenchmark, scanBenchmark,
		searchBenchmark, sortBenchmark, tableJoinBenchmark, unpackBenchmark, varyingBenchmark,
	}
	slices.SortFunc(all, func(a, b Benchmark) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names returns the names of all benchmarks, sorted.
func Names() (names []string) {
	for _, b := range Benchmarks() {
		names = append(names, b.Name)
	}
	return names
}

func find(name string) (*Benchmark, error) {
	for _, b := range Benchmarks() {
		if b.Name == name {
			return &b, nil
		}
	}
	return nil, fmt.Errorf("%w: no primitive %q; there are %s", backend.ErrInvalidInput, name, strings.Join(Names(), ", "))
}

// Axes are the values wanted on each axis. Of the names, none means all; of widths and distributions, none means all widths and
// the default distribution. A primitive with one value on an axis of widths has no choice there and is not filtered by it.
type Axes struct {
	Names          []string
	Keys, Payloads []int
	Rows           []uint64
	Distributions  []workload.Distribution
}

// Cases lists the cases that the axes span, by name, widths, distribution and rows. ErrInvalidInput where a primitive that was
// named offers none.
func Cases(a Axes) (cases []Case, err error) {
	for _, name := range a.Names {
		if _, err := find(name); err != nil {
			return nil, err
		}
	}
	for _, b := range Benchmarks() {
		if len(a.Names) > 0 && !slices.Contains(a.Names, b.Name) {
			continue
		}
		distributions := b.Distributions[:1]
		if len(a.Distributions) > 0 && len(b.Distributions) > 1 {
			distributions = both(b.Distributions, a.Distributions)
		}
		before := len(cases)
		for _, key := range wanted(b.Keys, a.Keys) {
			for _, payload := range wanted(b.Payloads, a.Payloads) {
				if b.offered != nil && !b.offered(key, payload) {
					continue
				}
				for _, distribution := range distributions {
					for _, rows := range a.Rows {
						cases = append(cases, Case{b.Name, key, payload, rows, distribution})
					}
				}
			}
		}
		if len(cases) == before && len(a.Names) > 0 && len(a.Rows) > 0 {
			return nil, fmt.Errorf("%w: %s offers key=%v payload=%v distribution=%v", backend.ErrInvalidInput, b.Name, b.Keys, b.Payloads, b.Distributions)
		}
	}
	return cases, nil
}

func wanted(offered, asked []int) []int {
	if len(asked) == 0 || len(offered) == 1 {
		return offered
	}
	return both(offered, asked)
}

// both keeps what is offered and asked for.
func both[T comparable](offered, asked []T) []T {
	return slices.DeleteFunc(slices.Clone(offered), func(v T) bool { return !slices.Contains(asked, v) })
}

var (
	none       = []int{0}
	narrowWide = []int{32, 64}
	only       = []workload.Distribution{workload.Uniform} // for what does not look at its values
)

func noVariant(int, int) backend.Config { return nil }

func setting(name string, bits int) backend.Config { return backend.Config{name: uint32(bits)} }

// keys returns the keys of the case, drawn from a seed of their own for each purpose.
func (b *bed) keys(rows uint64, bits int, purpose uint64) *workload.Keys {
	k, err := workload.NewKeys(b.Distribution, rows, bits, b.seed+purpose)
	b.fail(err)
	return k
}
