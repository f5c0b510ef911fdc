package recorded_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/source"
)

// kernelSet are kernels in their configurations.
type kernelSet struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *kernelSet) add(spec *backend.KernelSpec, config backend.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]bool)
	}
	s.all[spec.Name+" "+config.String()] = true
}

// has reports whether there is a kernel of that name.
func (s *kernelSet) has(name string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.all)),
		func(kernel string) bool { return strings.HasPrefix(kernel, name+" ") })
}

// without returns the kernels that are not in other.
func (s *kernelSet) without(other *kernelSet) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if !other.all[name] {
			names = append(names, name)
		}
	}
	return names
}

// simulating returns the simulator of an engine whose rehearsals ask for kernels that go to a set.
func simulating(to *kernelSet) query.Simulator {
	return func(info *backend.DeviceInfo, _ func(*backend.KernelSpec, backend.Config)) (backend.Driver, error) {
		return host.Simulate(info, to.add)
	}
}

// listingEngine returns an engine on a described device that compiles kernels when they are needed, into a set. If
// pinned is set, it allocates memory that the device has imported.
func listingEngine(t *testing.T, info backend.DeviceInfo, capBytes uint64, needed *kernelSet, pinned bool) *engine.Engine {
	driver, err := host.Simulate(&info, needed.add)
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: capBytes})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	allocator := memory.Allocator(memory.DefaultAllocator)
	if pinned {
		all := relation.AllocatorFor(device, 0).(*relation.PinnedAllocator)
		t.Cleanup(all.Close)
		allocator = all
	}
	engine := engine.NewEngine(opsOf(t, device, nil), allocator, 0)
	t.Cleanup(engine.Close)
	return engine
}

func draw(t *testing.T, result *engine.Result, output join.Output) {
	defer result.Close()
	switch output {
	case join.Rows:
		for batch, err := range result.Batches(background) {
			require.NoError(t, err)
			batch.Release()
		}
	case join.Pairs:
		for _, err := range result.Pairs(background) {
			require.NoError(t, err)
		}
	}
}

// TestRehearsals: a rehearsal of a plan asks for exactly the kernels that the join needs, wherever tables and batches are.
func TestRehearsals(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		for _, c := range tableCases {
			t.Run(fmt.Sprintf("%s/pinned=%t", c.name, pinned), func(t *testing.T) {
				needed, rehearsed := rehearse(t, &c, [2]int{leftRows, rightRows}, pinned)
				require.Empty(t, needed.without(rehearsed), "needed, but not rehearsed")
				require.Empty(t, rehearsed.without(needed), "rehearsed, but not needed")
			})
		}
	}
}

// TestUnequalRehearsals: a rehearsal asks for the kernels of both sides, however many rows one has more than the other.
func TestUnequalRehearsals(t *testing.T) {
	sizes := [][2]int{{1 << 10, 1 << 19}, {3 << 20, 1 << 13}, {1 << 19, 3 << 20}}
	specs := []join.Spec{{Algorithm: "phj-om"}, {Algorithm: "phj-um", Validate: join.OneToMany}, {Algorithm: "smj-om"},
		{Algorithm: "smj-um"}, {Algorithm: "hj"}}
	for _, of := range devicetest.Product(t, len(sizes), len(specs)) {
		rows, spec := sizes[of[0]], specs[of[1]]
		t.Run(fmt.Sprintf("%dx%d/%s", rows[0], rows[1], spec.Algorithm), func(t *testing.T) {
			c := tableCase{name: "h200", spec: spec}
			c.spec.Materialize = join.MaterializeDevice
			needed, rehearsed := rehearse(t, &c, rows, false)
			require.Empty(t, needed.without(rehearsed), "needed, but not rehearsed")
		})
	}
}

// rehearse returns the kernels that the join of a case needs, and those that its rehearsal asks for.
func rehearse(t *testing.T, c *tableCase, rows [2]int, pinned bool) (needed, rehearsed *kernelSet) {
	needed, rehearsed = new(kernelSet), new(kernelSet)
	engine := listingEngine(t, infoOf(c.name), c.capBytes, needed, pinned)
	left, right := c.tablesOf(t, engine.Allocator, rows)
	spec := c.spec
	spec.On = []string{"k"}
	p, err := engine.Plan(background, left, right, spec)
	require.NoError(t, err)
	engine.Simulate = simulating(rehearsed)
	require.NoError(t, p.Rehearse(background))
	require.Empty(t, needed.all, "nothing is compiled for the device before the join")
	engine.Simulate = nil
	result, err := p.Run(background)
	require.NoError(t, err)
	draw(t, result, spec.Output)
	require.NotEmpty(t, needed.all)
	return needed, rehearsed
}

// TestRehearsalsOfStreams: a stream is rehearsed with parts in the kind of memory of its first part, whatever its
// engine allocates.
func TestRehearsalsOfStreams(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		t.Run(fmt.Sprintf("pinned=%t", pinned), func(t *testing.T) {
			var needed, rehearsed kernelSet
			engine := listingEngine(t, recorded.H200(), 0, &needed, true)
			engine.GranuleRows = rightRows / 2
			allocator := engine.Allocator
			if !pinned {
				allocator = memory.DefaultAllocator
			}
			c := tableCase{}
			left, right := c.tables(t, allocator)
			engine.Simulate = simulating(&rehearsed)
			result, err := engine.Stream(background, source.FromTable(left), source.FromTable(right),
				join.Spec{On: []string{"k"}, Algorithm: "phj-om", Columns: []string{"a", "b_right"}})
			require.NoError(t, err)
			defer result.Close()
			for batch, err := range result.Batches(background) {
				require.NoError(t, err)
				batch.Release()
			}
			require.Equal(t, pinned, needed.has("encode_keys"))
			require.Empty(t, needed.without(&rehearsed), "needed, but not rehearsed")
			require.Empty(t, rehearsed.without(&needed), "rehearsed, but not needed")
		})
	}
}

// TestRehearsedOnce: joins of one shape are rehearsed once, unless that failed.
func TestRehearsedOnce(t *testing.T) {
	c := tableCase{}
	left, right := c.tables(t, memory.DefaultAllocator)
	for _, algorithm := range []string{"phj-om", "hj", "smj-om", "smj-um"} {
		t.Run(algorithm, func(t *testing.T) {
			var needed, rehearsed kernelSet
			e := listingEngine(t, recorded.H200(), 0, &needed, false)
			rehearse := func(ctx context.Context) error {
				p, err := e.Plan(background, left, right, join.Spec{On: []string{"k"}, Algorithm: algorithm})
				require.NoError(t, err)
				return p.Rehearse(ctx)
			}
			failure := errors.New("no simulator")
			e.Simulate = func(*backend.DeviceInfo, func(*backend.KernelSpec, backend.Config)) (backend.Driver, error) {
				return nil, failure
			}
			require.ErrorIs(t, rehearse(background), failure)
			ended, cancel := context.WithCancel(background)
			cancel()
			e.Simulate = simulating(&rehearsed)
			require.ErrorIs(t, rehearse(ended), backend.ErrCancelled)
			require.NoError(t, rehearse(background))
			require.NotEmpty(t, rehearsed.all)
			clear(rehearsed.all)
			require.NoError(t, rehearse(background))
			require.Empty(t, rehearsed.all)
		})
	}
}

// TestPreparation: what is known of tables before they are read is enough to ask for the kernels that the join needs.
func TestPreparation(t *testing.T) {
	c := tableCase{}
	left, right := c.tables(t, memory.DefaultAllocator)
	expect := func(table arrow.Table) engine.Expected {
		return engine.Expected{Schema: table.Schema(), Rows: table.NumRows(), Nulls: func(string) bool { return false },
			Bounds: func(string) (int64, int64, bool) { return 0, 3*1<<16 - 1, true }}
	}
	for name, spec := range map[string]join.Spec{
		"rows": {}, "count": {Output: join.Count}, "left": {How: join.Left}, "sorted": {Algorithm: "smj-om"},
		"partitioned": {Algorithm: "phj-om", Materialize: join.MaterializeDevice},
	} {
		t.Run(name, func(t *testing.T) {
			var needed, prepared kernelSet
			e := listingEngine(t, recorded.H200(), 0, &needed, false)
			spec.On = []string{"k"}
			layout, err := join.NewLayout(left.Schema(), right.Schema(), spec)
			require.NoError(t, err)
			e.Simulate = simulating(&prepared)
			expected := [2]engine.Expected{expect(left), expect(right)}
			unknown := expected
			unknown[1].Rows = -1
			e.Prepare(background, layout, unknown)()
			require.Empty(t, prepared.all, "rows are unknown")
			e.Prepare(background, layout, expected)()
			e.Simulate = nil
			p, err := e.PlanLayout(background, layout, left, right, nil)
			require.NoError(t, err)
			result, err := p.Run(background)
			require.NoError(t, err)
			draw(t, result, spec.Output)
			require.Empty(t, needed.without(&prepared), "needed, but not prepared")
			require.Empty(t, prepared.without(&needed), "prepared, but not needed")
		})
	}
}

// TestPreparationOfLargeTables: a preparation takes the memory of a small join, whatever the size of the tables.
func TestPreparationOfLargeTables(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, nil)
	layout, err := join.NewLayout(schema, schema, join.Spec{On: []string{"k"}})
	require.NoError(t, err)
	for _, streamed := range []bool{false, true} {
		var needed, prepared kernelSet
		e := listingEngine(t, recorded.H200(), 0, &needed, false)
		e.Simulate = simulating(&prepared)
		expect := func(rows int64, streamed bool) engine.Expected {
			return engine.Expected{Schema: schema, Rows: rows, Streamed: streamed, Nulls: func(string) bool { return false },
				Bounds: func(string) (int64, int64, bool) { return 1, 32 << 20, true }}
		}
		e.Prepare(background, layout, [2]engine.Expected{expect(32<<20, false), expect(128<<20, streamed)})()
		for _, name := range []string{"encode_keys", "radix_counts", "radix_scatter", "partition_units", "partition_join"} {
			require.True(t, prepared.has(name), "%s, streamed %t: %v", name, streamed, prepared.all)
		}
		require.LessOrEqual(t, len(prepared.all), 20)
	}
}
