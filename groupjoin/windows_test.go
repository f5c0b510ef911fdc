package groupjoin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/groupby"
	"github.com/spirjoin/spirjoin/groupjoin"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/jointest/oracle"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/source"
)

// again is a source of a table that is read batch by batch, any number of times.
func again(table arrow.Table) source.Source {
	s := unknown(table)
	s.Again = true
	return s
}

// openSeveral opens devices that take part in every join.
func openSeveral(t testing.TB, devices []*backend.Device, limitBytes uint64) *groupjoin.Engine {
	var members []query.Member
	for _, device := range devices {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		members = append(members, query.Member{Ops: ops, Allocator: memory.DefaultAllocator})
	}
	e := engine.NewEngine(members[0].Ops, memory.DefaultAllocator, limitBytes, members[1:]...)
	t.Cleanup(e.Close)
	e.Together = true
	return &groupjoin.Engine{Join: e, Groups: &groupby.Engine{Engine: e.Engine}, HostReduces: true}
}

// reducedText is what explain texts say of rows that were grouped where they were joined.
const reducedText = "on the devices that joined the rows"

// windowsCase is a group-by of the rows of a join, of tables or of sources.
type windowsCase struct {
	left, right arrow.Table
	join        join.Spec
	groups      groupby.Spec
	source      func(arrow.Table) source.Source
	lost        bool // a device may be lost, after which rows may be grouped otherwise
}

// check compares with the oracles, and requires that rows were grouped where they were joined, if they can be.
func (c *windowsCase) check(t testing.TB, e *groupjoin.Engine) (explained string) {
	t.Helper()
	l, err := groupjoin.NewLayout(c.left.Schema(), c.right.Schema(), c.join, c.groups)
	require.NoError(t, err)
	left, right := c.source(c.left), c.source(c.right)
	r, err := e.Run(t.Context(), l, left, right)
	require.NoError(t, err)
	defer r.Close()
	var batches []arrow.RecordBatch
	for batch, err := range r.Batches(t.Context()) {
		require.NoError(t, err)
		defer batch.Release()
		batches = append(batches, batch)
	}
	oracle.RequireJoinedGroups(t, c.left, c.right, l.Join, l.Groups, batches)
	require.EqualValues(t, len(oracle.Join(c.left, c.right, l.Join.Spec)), r.Stats().GroupBy.Rows, "joined rows")
	reduced := true // on the devices; groups of streams by texts are not
	for i, name := range c.groups.By {
		text := l.Groups.Schema.Field(i).Type.ID() == arrow.STRING && name != c.join.Indicator
		reduced = reduced && (!text || left.Table() != nil)
	}
	explained = r.Explain()
	if !c.lost {
		require.Equal(t, reduced, strings.Contains(explained, reducedText), explained)
	}
	return explained
}

// everyKind groups the rows of every kind of join, with exact and with hashed keys, by keys and values of either side
// and of both, and by columns that say where a row comes from.
func everyKind(t *testing.T, e *groupjoin.Engine, from func(arrow.Table) source.Source) {
	left, right := table(t, 1, 300, 40, arrow.PrimitiveTypes.Int32), table(t, 2, 200, 50, arrow.PrimitiveTypes.Int64)
	same, none := table(t, 2, 200, 50, arrow.PrimitiveTypes.Int32), table(t, 2, 0, 10, arrow.PrimitiveTypes.Int64)
	few, ons := table(t, 1, 30, 10, arrow.PrimitiveTypes.Int32), [][]string{{"k"}, {"t"}}
	for _, c := range devicetest.Product(t, len(kinds), len(ons)) {
		how, spec, left := kinds[c[0]], join.Spec{On: ons[c[1]]}, left
		if spec.How = how; how == join.Cross {
			spec.On, left = nil, few
		}
		t.Run(fmt.Sprint(how, spec.On), func(t *testing.T) {
			bys := [][]string{{"n"}, {"t", "n"}, nil}
			values := []string{"count", "sum:own1", "avg:f", "count:t", "var:own1", "min:f"}
			switch {
			case how.Pairs():
				bys = append(bys, []string{"n_right"}, []string{"f_right", "f"})
				values = append(values, "max:own2", "count:f_right", "sum:f_right", "stddev:f_right")
				if how != join.Cross {
					other := map[string]string{"k": "t_right", "t": "k_right"}[spec.On[0]]
					spec.Indicator, values = "from", append(values, "count:"+other)
					bys = append(bys, []string{"n", other}, []string{spec.On[0], "n_right"}, []string{"from"},
						[]string{"n", "from"})
				}
			case !how.Has(0):
				values = []string{"count", "sum:own2", "max:k", "var:f", "count:t"}
			case how == join.Mark:
				bys = append(bys, []string{"mark"}, []string{"n", "mark"})
			}
			for _, right := range []arrow.Table{right, same, none} {
				for _, by := range append(bys, bys[0]) {
					c := windowsCase{left, right, spec, groupby.Spec{By: by, Aggregates: aggregates(values...)}, from, false}
					c.check(t, e)
				}
			}
		})
	}
}

// TestWindows: rows of tables are grouped on the device.
func TestWindows(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		everyKind(t, open(t, device, 0), source.FromTable)
	})
}

// TestWindowsOfStreams: so are rows of sources that are read part by part, in granules and the smallest windows.
func TestWindowsOfStreams(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		e := open(t, device, 0)
		e.Join.GranuleRows, e.Join.WindowRows = 64, 2048
		everyKind(t, e, again)
	})
}

// TestWindowsOnSeveral: so are rows that several devices join, each with the build side, or with rows of some keys.
func TestWindowsOnSeveral(t *testing.T) {
	devicetest.ShortOnHost(t)
	devicetest.SkipRace(t)
	devicetest.ForEachGroup(t, 3, func(t *testing.T, devices []*backend.Device) {
		for _, scatter := range []bool{false, true} {
			e := openSeveral(t, devices, 0)
			e.Join.GranuleRows, e.Join.Scatter = 64, scatter
			everyKind(t, e, again)
		}
	})
}

// TestWindowsOfParts: so are rows of sides that are divided into parts and blocks.
func TestWindowsOfParts(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	e := open(t, onHost(t), 1<<30)
	e.Join.Spill(t.TempDir(), 1<<30)
	e.Join.DivideBytes = 1 << 9
	everyKind(t, e, again)
}

// hostWith opens a host device.
func hostWith(t *testing.T, options host.Options, limits backend.DeviceOptions) *backend.Device {
	driver, err := host.New(options).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, limits)
	t.Cleanup(func() { _ = device.Close() })
	return device
}

// TestWindowsDivided: so are rows of tables that are divided because the device has too little memory for them. Groups
// beyond the memory of the device go to the host before the end.
func TestWindowsDivided(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	left := longs(t, 20_000, map[string]func(int) int64{"k": func(i int) int64 { return int64(i * 7 % 15_000) },
		"a": func(i int) int64 { return int64(i % 9000) }})
	right := longs(t, 30_000, map[string]func(int) int64{"k": func(i int) int64 { return int64(i * 11 % 18_000) },
		"b": func(i int) int64 { return int64(i % 11) }})
	for _, how := range []join.How{join.Inner, join.Full, join.Semi} {
		e := open(t, hostWith(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20}), 0)
		c := windowsCase{left, right, join.Spec{How: how, On: []string{"k"}},
			groupby.Spec{By: []string{"a"}, Aggregates: aggregates("count", "sum:k")}, source.FromTable, false}
		require.Contains(t, c.check(t, e), "divided ")
	}
}

// TestWindowsDrained: groups that the device has too little memory for go to the host before the end, and are merged
// there.
func TestWindowsDrained(t *testing.T) {
	devicetest.HostTest(t)
	side := longs(t, 700, map[string]func(int) int64{"a": func(i int) int64 { return int64(i) }})
	for _, aggregates := range [][]groupby.Aggregate{aggregates("count"), aggregates("sum:a", "max:a_right")} {
		e := open(t, hostWith(t, host.Options{}, backend.DeviceOptions{DeviceMemoryBytes: 8 << 20}), 0)
		c := windowsCase{side, side, join.Spec{How: join.Cross}, groupby.Spec{By: []string{"a", "a_right"},
			Aggregates: aggregates}, source.FromTable, false}
		c.check(t, e)
	}
}

// TestWindowsLost: a join of which a device is lost, at any time, begins again on the other, and no row counts twice.
// If there are groups of some rows by then, as of the tasks of a join that is divided, the host groups the rows.
func TestWindowsLost(t *testing.T) {
	devicetest.HostTest(t)
	left, right := table(t, 1, 300, 40, arrow.PrimitiveTypes.Int32), table(t, 2, 200, 50, arrow.PrimitiveTypes.Int64)
	step := devicetest.Short([]int{29}, []int{5})[0]
	for _, way := range []struct {
		from    func(arrow.Table) source.Source
		divided bool
	}{{source.FromTable, false}, {again, false}, {again, true}} {
		lost, seen := true, 0
		for n := 1; lost; n += step {
			device := hostWith(t, host.Options{Discrete: true, CloseLimit: 200 * time.Millisecond,
				Faults: host.Faults{LoseAtSubmit: n}}, backend.DeviceOptions{})
			e := openSeveral(t, []*backend.Device{hostWith(t, host.Options{}, backend.DeviceOptions{}), device}, 1<<30)
			e.Join.GranuleRows = 64
			if way.divided {
				e.Join.Spill(t.TempDir(), 1<<30)
				e.Join.DivideBytes = 1 << 10
			}
			c := windowsCase{left, right, join.Spec{How: join.Full, On: []string{"k"}},
				groupby.Spec{By: []string{"n", "n_right"}, Aggregates: aggregates("count", "sum:own1")}, way.from, true}
			explained := c.check(t, e)
			require.Equal(t, way.divided, strings.Contains(explained, "divided "), explained)
			reduced := strings.Contains(explained, reducedText)
			if lost = device.Lost() != nil; lost && reduced != way.divided {
				seen++
			}
		}
		require.NotZero(t, seen, "joins that began again where they were, or if divided, on the host")
	}
}
