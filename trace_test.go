package spirjoin

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/task"
)

// timelines is a trace as a viewer shows it.
type timelines struct {
	Events []traceEvent `json:"traceEvents"`
	Other  struct {
		Devices []struct {
			Process int     `json:"pid"`
			Clock   string  `json:"clock"`
			Error   float64 `json:"clock_error_us"`
		}
	} `json:"otherData"`

	processes map[int]string
	threads   map[[2]int]string
}

type traceEvent struct {
	Name, Cat, Ph string
	Ts, Dur       float64
	Pid, Tid      int
	Args          map[string]any
}

func (e *traceEvent) end() float64 { return e.Ts + e.Dur }

// written parses a trace and checks that it can be shown: events have names, of their threads and processes too, lie
// within the run, and within a thread nest or do not overlap.
func written(t *testing.T, trace *Trace, run time.Duration) *timelines {
	var text bytes.Buffer
	require.NoError(t, trace.Write(&text))
	w := &timelines{processes: make(map[int]string), threads: make(map[[2]int]string)}
	require.NoError(t, json.Unmarshal(text.Bytes(), w))
	by := make(map[[2]int][]traceEvent)
	for _, e := range w.Events {
		switch at := [2]int{e.Pid, e.Tid}; {
		case e.Name == "process_name":
			w.processes[e.Pid] = e.Args["name"].(string)
		case e.Name == "thread_name":
			w.threads[at] = e.Args["name"].(string)
		case e.Ph == "X":
			require.NotEmpty(t, e.Name)
			by[at] = append(by[at], e)
		}
	}
	const rounding = 0.0015 // of ts and dur, in microseconds
	slack := rounding
	for _, d := range w.Other.Devices {
		slack = max(slack, d.Error+rounding)
	}
	for at, events := range by {
		require.NotEmpty(t, w.processes[at[0]])
		require.NotEmpty(t, w.threads[at])
		slices.SortStableFunc(events, func(a, b traceEvent) int {
			if a.Ts != b.Ts {
				return int(max(-1, min(1, (a.Ts-b.Ts)*1e6)))
			}
			return int(max(-1, min(1, (b.Dur-a.Dur)*1e6)))
		})
		var around []traceEvent
		for _, e := range events {
			require.GreaterOrEqual(t, e.Ts, -slack, "%+v", e)
			require.GreaterOrEqual(t, e.Dur, 0.0, "%+v", e)
			require.LessOrEqual(t, e.end(), float64(run)/1e3+slack, "%+v", e)
			for len(around) > 0 && around[len(around)-1].end() <= e.Ts+rounding {
				around = around[:len(around)-1]
			}
			if n := len(around); n > 0 {
				require.LessOrEqual(t, e.end(), around[n-1].end()+rounding, "%s: %+v and %+v", w.threads[at], around[n-1], e)
			}
			around = append(around, e)
		}
	}
	return w
}

// in finds the complete events of threads whose name begins with a prefix, of one process.
func (w *timelines) in(process int, thread string) (found []traceEvent) {
	for _, e := range w.Events {
		if e.Ph == "X" && e.Pid == process && strings.HasPrefix(w.threads[[2]int{e.Pid, e.Tid}], thread) {
			found = append(found, e)
		}
	}
	return found
}

// named finds the events of a name.
func named(events []traceEvent, name string) (found []traceEvent) {
	for _, e := range events {
		if e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// overlap is the time in which one of some events and one of others were in progress, in microseconds.
func overlap(some, others []traceEvent) (took float64) {
	for _, a := range some {
		for _, b := range others {
			took += max(0, min(a.end(), b.end())-max(a.Ts, b.Ts))
		}
	}
	return took
}

// tracedStream joins a table with a stream in granules, and returns a number that tells its rows.
func tracedStream(t *testing.T, e *Engine, granuleRows uint64, left, right arrow.Table) (uint64, JoinStats) {
	e.join.GranuleRows = granuleRows
	reader := array.NewTableReader(right, int64(granuleRows)/2)
	defer reader.Release()
	result, err := e.JoinStream(t.Context(), FromTable(left), FromReader(reader), JoinSpec{On: []string{"k"},
		BuildSide: BuildLeft, Materialize: MaterializeDevice, BatchRows: int(granuleRows), Columns: []string{"v", "v_right"}})
	require.NoError(t, err)
	sum, err := draw(t.Context(), result, nil)
	require.NoError(t, err)
	return sum, result.Stats()
}

// TestTrace: a streamed join has the same output with a trace, which shows all stages of its profile with their times,
// uploads and downloads, on the queues of the device, and the goroutines of the flow.
func TestTrace(t *testing.T) {
	left, right := budgetTables(t, 2_000, 40_000)
	devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{})
		trace := NewTrace()
		start := time.Now()
		e, err := newEngine([]*backend.Device{device}, Options{Trace: trace})
		require.NoError(t, err)
		sum, stats := tracedStream(t, e, 1<<13, left, right)
		device.ObserveWork(nil)
		untraced, _ := tracedStream(t, e, 1<<13, left, right)
		require.Equal(t, untraced, sum)
		require.NoError(t, e.Close())
		w := written(t, trace, time.Since(start))

		require.Equal(t, map[int]string{1: "host", 2: e.Device().Name + " (" + e.Device().Backend + ")"}, w.processes)
		require.Greater(t, stats.Granules, uint64(3))
		seconds := make(map[string]float64)
		kernels := 0
		for _, event := range w.in(2, "") {
			require.Equal(t, "device", event.Cat)
			seconds[event.Name] += event.Dur / 1e6
			if event.Args["kernels"] != nil {
				kernels++
			}
		}
		require.Greater(t, kernels, int(stats.Granules))
		require.NotEmpty(t, stats.StageSeconds)
		for stage, took := range stats.StageSeconds {
			require.InEpsilon(t, took+1e-6, seconds[stage]+1e-6, 0.01, stage)
		}
		for _, way := range []string{"upload", "download"} {
			bytes := 0.0
			for _, event := range w.in(2, way) {
				require.Equal(t, way, event.Name)
				bytes += event.Args["bytes"].(float64)
			}
			require.Greater(t, bytes, 8.0*40_000*7/8, way) // a column of words, at least
		}
		for _, goroutine := range []string{"read right", "gather", "join", "deliver", "draw"} {
			require.NotEmpty(t, w.in(1, goroutine), goroutine)
		}
		rows := 0.0
		for _, event := range named(w.in(1, "join"), "join granule") {
			rows += event.Args["rows"].(float64)
		}
		require.EqualValues(t, 40_000*2, rows, "goroutines of both joins")
	})
}

// slow is a device beside the host's cores: kernels take a time in which these are free.
type slow struct{ backend.Driver }

func (d slow) Compile(spec *backend.KernelSpec, config backend.Config) (backend.Program, error) {
	slowed := *spec
	slowed.Reference = func(config backend.Config) backend.Reference {
		of := spec.Reference(config)
		return func(args [][]byte, params []uint32) func(uint32) {
			run := of(args, params)
			return func(group uint32) {
				run(group)
				if group == 0 {
					time.Sleep(2 * time.Millisecond)
				}
			}
		}
	}
	return d.Driver.Compile(&slowed, config)
}

// slowClock also tells its time.
type slowClock struct {
	slow
	backend.Clock
}

// TestTraceOverlap: where the plan loads a granule and delivers another one while one is joined, copies and kernels
// overlap in the trace, as they did; also where the clock of the device is only known by submissions.
func TestTraceOverlap(t *testing.T) {
	devicetest.HostTest(t)
	const granules, granuleRows = 8, 1 << 16
	left, right := budgetTables(t, 1<<12, granules*granuleRows)
	for _, clock := range []string{"compared with the host's", "correlated by submission and end"} {
		driver, err := host.New(host.Options{Discrete: true}).Open("host:cpu")
		require.NoError(t, err)
		slowed := backend.Driver(slow{driver})
		if strings.HasPrefix(clock, "compared") {
			slowed = slowClock{slow{driver}, driver.(backend.Clock)}
		}
		trace := NewTrace()
		start := time.Now()
		e, err := newEngine([]*backend.Device{backend.NewDevice(slowed, backend.DeviceOptions{})}, Options{Trace: trace})
		require.NoError(t, err)
		_, stats := tracedStream(t, e, granuleRows, left, right)
		require.NoError(t, e.Close())
		w := written(t, trace, time.Since(start))

		require.Equal(t, clock, w.Other.Devices[0].Clock)
		require.Less(t, w.Other.Devices[0].Error, 1000.0)
		require.EqualValues(t, granules, stats.Granules)
		loads, joins := named(w.in(1, "load"), "load granule"), named(w.in(1, "join"), "join granule")
		require.Len(t, loads, granules, "the plan says Ahead: another goroutine loads")
		during := 0 // loads of a granule while one is joined
		for _, load := range loads {
			if overlap([]traceEvent{load}, joins) > 0 {
				during++
			}
		}
		require.GreaterOrEqual(t, during, granules/2)
		kernels := w.in(2, "compute")
		require.Positive(t, overlap(w.in(2, "upload"), kernels), "while a granule is joined, the next one is loaded")
		delivered := append(w.in(2, "deliver"), w.in(2, "download")...) // by kernels if the host's memory is imported
		require.Positive(t, overlap(delivered, kernels), "and the one before is delivered")
	}
}

// tracedHMG joins a table with itself by the strategy hmg on slow devices, and returns the trace.
func tracedHMG(t *testing.T, table arrow.Table, cut task.KeyRanges, devices int) *timelines {
	var slowed []*backend.Device
	for range devices {
		driver, err := host.New(host.Options{Discrete: true}).Open("host:cpu")
		require.NoError(t, err)
		slowed = append(slowed, backend.NewDevice(slowClock{slow{driver}, driver.(backend.Clock)}, backend.DeviceOptions{}))
	}
	trace := NewTrace()
	start := time.Now()
	e, err := newEngine(slowed, Options{Trace: trace})
	require.NoError(t, err)
	e.join.ByRange = cut
	plan, err := e.join.Plan(t.Context(), table, table,
		JoinSpec{On: []string{"k"}, Output: Pairs, Strategy: StrategyHMG})
	require.NoError(t, err)
	result, err := plan.Run(t.Context())
	require.NoError(t, err)
	for _, err := range result.Pairs(t.Context()) {
		require.NoError(t, err)
	}
	require.EqualValues(t, table.NumRows(), result.Rows())
	require.Contains(t, result.Explain(), "sorted on the devices")
	result.Close()
	require.NoError(t, e.Close())
	return written(t, trace, time.Since(start))
}

// during is how many of some events one of others overlaps.
func during(some, others []traceEvent) (count int) {
	for _, event := range some {
		if overlap([]traceEvent{event}, others) > 0 {
			count++
		}
	}
	return count
}

// TestTraceHMG: while a chunkset is sorted, the next one is uploaded and the last one downloaded (HMG figure 9); while
// a task is joined, the keys of another are uploaded and the pairs of a third downloaded (figure 12). Of a single
// chunkset nothing overlaps, and of a single line of tasks next to nothing.
func TestTraceHMG(t *testing.T) {
	devicetest.HostTest(t)
	const rows, chunksets, tasks, devices = 1 << 14, 8, 24, 2
	table, _ := budgetTables(t, rows, 1)
	cut := task.KeyRanges{Way: task.RangesMerge, ChunkRows: rows / chunksets / devices, TaskRows: 2 * rows / tasks,
		Lines: 3}
	w := tracedHMG(t, table, cut, devices)
	const all = 2 * devices * chunksets // of both sides
	up, sorts, down, three := figure9(w)
	require.Equal(t, [3]int{all, all, all}, [3]int{len(up), len(sorts), len(down)})
	require.Greater(t, during(up, sorts), all/2)
	require.Greater(t, during(down, sorts), all/2)
	require.Greater(t, three, all/4, "all at the same time")
	for process := 2; process < 2+devices; process++ {
		joins, up, down := figure12(w, process)
		require.GreaterOrEqual(t, len(named(joins, "range search")), tasks/devices)
		require.Greater(t, during(up, joins), len(up)/4)
		require.Greater(t, during(down, joins), len(down)/4)
	}

	cut.ChunkRows, cut.Lines = rows/devices, 1
	w = tracedHMG(t, table, cut, devices)
	up, sorts, down, three = figure9(w)
	require.Len(t, sorts, 2*devices)
	require.Zero(t, during(up, sorts)+during(down, sorts)+three)
	for process := 2; process < 2+devices; process++ {
		joins, up, down := figure12(w, process)
		require.NotEmpty(t, joins)
		require.LessOrEqual(t, during(up, joins)+during(down, joins), (len(up)+len(down))/20)
	}
}

// figure9 is the steps of chunks on the host, and how many sorts are in progress while others are uploaded and others
// downloaded.
func figure9(w *timelines) (up, sorts, down []traceEvent, three int) {
	up, down = named(w.in(1, ""), "upload a chunk"), named(w.in(1, ""), "download a chunk")
	for _, e := range w.in(1, "rank") {
		if strings.HasPrefix(e.Name, "rank") {
			sorts = append(sorts, e)
			three += min(during([]traceEvent{e}, up), during([]traceEvent{e}, down), 1)
		}
	}
	return up, sorts, down, three
}

// figure12 is the work of tasks on a device: kernels, uploads and downloads, from the first range search on.
func figure12(w *timelines, process int) (joins, up, down []traceEvent) {
	of := func(thread string) []traceEvent { return w.in(process, thread) }
	start := math.Inf(1)
	for _, search := range named(of("compute"), "range search") {
		start = min(start, search.Ts)
	}
	before := func(e traceEvent) bool { return e.Ts < start }
	return slices.DeleteFunc(of("compute"), before), slices.DeleteFunc(of("upload"), before),
		slices.DeleteFunc(of("download"), before)
}

// TestTraceOfEngines: engines share a trace, in which each device is a process.
func TestTraceOfEngines(t *testing.T) {
	devicetest.HostTest(t)
	left, right := budgetTables(t, 100, 1_000)
	trace := NewTrace()
	start := time.Now()
	for range 2 {
		e, err := Open(t.Context(), Options{Device: HostDevice, Trace: trace})
		require.NoError(t, err)
		tracedStream(t, e, 500, left, right)
		require.NoError(t, e.Close())
	}
	w := written(t, trace, time.Since(start))
	require.Len(t, w.processes, 3)
	require.Len(t, w.Other.Devices, 2)
	first, second := w.in(2, "compute"), w.in(3, "compute")
	require.NotEmpty(t, first)
	require.NotEmpty(t, second)
	require.LessOrEqual(t, first[len(first)-1].end(), second[0].Ts, "on one clock, the engines follow one another")
}
