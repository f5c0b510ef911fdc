package scaling

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
)

// opened opens host devices, and notes their limits.
type opened struct {
	options host.Options
	limits  []uint64
}

func (o *opened) open(_ context.Context, name string, deviceMemoryBytes uint64) (*primitive.Ops, error) {
	if name != "host" {
		return nil, backend.ErrNoDevice
	}
	driver, err := host.New(o.options).Open("host:cpu")
	if err != nil {
		return nil, err
	}
	o.limits = append(o.limits, deviceMemoryBytes)
	return primitive.New(backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: deviceMemoryBytes}), nil)
}

func output(b *bytes.Buffer) measure.Output {
	return measure.Output{Writer: b, Phase: func(string, uint64, uint64) {}}
}

// results are the lines of a file, and their values by the names of the columns.
type results struct {
	t    *testing.T
	rows [][]string
}

func readResults(t *testing.T, path string) *results {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return &results{t, rows}
}

func (r *results) text(row int, column string) string {
	at := slices.Index(r.rows[0], column)
	require.GreaterOrEqual(r.t, at, 0, column)
	return r.rows[1+row][at]
}

func (r *results) number(row int, column string) uint64 {
	n, err := strconv.ParseUint(r.text(row, column), 10, 64)
	require.NoError(r.t, err, column)
	return n
}

func (r *results) len() int { return len(r.rows) - 1 }

func figures(t *testing.T, all []Figure, names ...string) []Figure {
	found, err := Find(all, names)
	require.NoError(t, err)
	return found
}

// All devices join, whatever is predicted.
func TestEngineOn(t *testing.T) {
	devicetest.HostTest(t)
	var devices []*device
	for range 2 {
		d, err := Open(new(opened).open).device(t.Context(), "host", 0, 0)
		require.NoError(t, err)
		devices = append(devices, d)
	}
	one, two := engineOn(devices[:1], 0), engineOn(devices, 0)
	require.False(t, one.Together)
	require.True(t, two.Together)
	require.Len(t, two.Engines(), 2)
	one.Close()
	two.Close()
	require.NoError(t, closeAll(devices))
}

// Every number of devices joins every cell to every output, many rows and few.
func TestMultiGPU(t *testing.T) {
	devicetest.HostTest(t)
	names, scales := []string{"in host memory", "discrete"}, []int{18, 11}
	for _, c := range devicetest.Product(t, len(names), len(scales), len(Strategies())) {
		discrete, scale, strategy := c[0] == 1, scales[c[1]], Strategies()[c[2]]
		t.Run(fmt.Sprint(names[c[0]], scale, strategy.Name), func(t *testing.T) {
			checkMultiGPU(t, &opened{options: host.Options{Discrete: discrete}}, strategy, scale)
		})
	}
}

func checkMultiGPU(t *testing.T, o *opened, strategy Strategy, scale int) {
	sweep := MultiGPU{Devices: []string{"host", "host", "host"}, Counts: []int{2, 1}, Strategies: []Strategy{strategy},
		Options: Options{Figures: figures(t, MultiGPUFigures(), "hmg-18"), Cell: "f=1.5", Scale: scale, Repeat: 2,
			Outputs: []Output{join.Count, join.Pairs, join.Rows}, CSV: filepath.Join(t.TempDir(), "r.csv")}}
	var report bytes.Buffer
	require.NoError(t, sweep.Run(t.Context(), o.open, output(&report)))
	r := readResults(t, sweep.CSV)
	require.Equal(t, 6, r.len())
	rows := uint64(1_500_000_000) >> scale
	for i := range r.len() {
		require.Equal(t, "yes", r.text(i, "verified"))
		require.Equal(t, []string{"count", "pairs", "rows"}[i/2], r.text(i, "output"))
		require.EqualValues(t, 1+i%2, r.number(i, "devices"))
		require.EqualValues(t, 1+i%2, r.number(i, "devices_at_work"))
		require.EqualValues(t, rows, r.number(i, "output_rows"))
		require.EqualValues(t, 2, r.number(i, "runs"))
		for _, column := range []string{"median_ns", "join_ns", "cpu_ns", "bound_ns", "needed_up_bytes",
			"device_memory_bytes", "device_peak_bytes"} {
			require.Positive(t, r.number(i, column), column)
		}
		require.Equal(t, i >= 2, r.number(i, "needed_down_bytes") > 0)
		if i%2 == 0 || strategy.Name != "broadcast" { // others share no rows of the probe side
			continue
		}
		joined := uint64(0)
		for _, n := range strings.Split(r.text(i, "probe_rows_by_device"), ";") {
			probed, err := strconv.ParseUint(n, 10, 64)
			require.NoError(t, err)
			joined += probed
		}
		require.EqualValues(t, rows, joined)
	}
	alone := regexp.MustCompile(`(?m)^B f=1.5  ` + strategy.Name + ` +(count|pairs|rows ) +1  .* 1\.00x +\S+ [mu]?s +\d+%$`)
	require.Len(t, alone.FindAllString(report.String(), -1), 3, report.String())
	if strategy.Name != "broadcast" {
		return
	}
	words := strings.Join(strings.Fields(report.String()), " ")
	require.Equal(t, 3, strings.Count(words, "rows of S by device"))
}

// A figure is joined by all devices, or by each number of them.
func TestCounts(t *testing.T) {
	s := MultiGPU{Devices: []string{"a", "a", "b"}}
	require.Equal(t, []int{3}, s.counts(Figure{}))
	require.Equal(t, []int{1, 2, 3}, s.counts(Figure{growing: true}))
	s.Counts = []int{2, 1, 2}
	require.NoError(t, s.Validate())
	require.Equal(t, []int{1, 2}, s.counts(Figure{}))
	s.Counts = []int{4}
	require.ErrorContains(t, s.Validate(), "4 devices are to join, 3 are named")
}

// Devices that one of several cannot join are said to be idle.
func TestOneDeviceAlone(t *testing.T) {
	devicetest.HostTest(t)
	onFirst := func(ctx context.Context, e *engine.Engine, tables [2]arrow.Table, spec join.Spec) (*engine.Result, error) {
		plan, err := e.Plan(ctx, tables[0], tables[1], spec)
		if err != nil {
			return nil, err
		}
		return plan.Run(ctx) // which counts on one device
	}
	sweep := MultiGPU{Devices: []string{"host", "host"}, Strategies: []Strategy{{"one", "the first device", onFirst}},
		Options: Options{Figures: figures(t, MultiGPUFigures(), "hmg-19"), Cell: "match=0.5", Scale: 18, Repeat: 1,
			Outputs: []Output{join.Count}}}
	var report bytes.Buffer
	require.NoError(t, sweep.Run(t.Context(), new(opened).open, output(&report)))
	require.Contains(t, report.String(), "; one device joined alone")
}

// The memory of the device shrinks with the limit, or stays as rows grow; what does not fit is divided, and the folder
// is empty after that.
func TestOutOfCore(t *testing.T) {
	devicetest.HostTest(t)
	dir, all, lines := t.TempDir(), OutOfCoreFigures(), 10*2*2+6*2+6*2
	sweep := OutOfCore{Device: "host", Dir: dir, Options: Options{Figures: all, Scale: 12, Repeat: 1,
		Outputs: []Output{join.Count, join.Rows}, CSV: filepath.Join(t.TempDir(), "r.csv")}}
	var report bytes.Buffer
	o := new(opened)
	require.NoError(t, sweep.Run(t.Context(), o.open, output(&report)))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	r := readResults(t, sweep.CSV)
	require.Equal(t, lines, r.len())
	divided := map[string]bool{}
	limits := map[string]uint64{} // the first ones
	for i := range r.len() {
		figure, share := r.text(i, "figure"), r.text(i, "limit")
		if r.text(i, "verified") == "no" {
			require.NotEqual(t, "rt-14", figure, r.text(i, "skipped"))
			continue
		}
		require.EqualValues(t, r.number(i, "s_rows"), r.number(i, "output_rows"))
		if r.number(i, "parts") > 1 {
			if divided[figure] = true; figure != "memory-limit" { // parts are in memory
				require.Zero(t, r.number(i, "disk_bytes"))
			}
		}
		if share == noLimit {
			require.Zero(t, r.number(i, "memory_limit_bytes"))
			continue
		}
		kind, fraction := "device_memory_bytes", uint64(1)
		if figure == "memory-limit" {
			kind = "memory_limit_bytes"
		}
		limit := r.number(i, kind)
		if _, err := fmt.Sscanf(share, "1/%d", &fraction); figure != "rt-14" {
			require.NoError(t, err)
		}
		way := figure + r.text(i, "output")
		if figure == "rt-14" {
			way += r.text(i, "algorithm")
		}
		if limits[way] == 0 {
			require.EqualValues(t, 1, fraction)
			limits[way] = limit
		}
		require.EqualValues(t, limits[way]/fraction, limit)
		if figure != "memory-limit" {
			require.LessOrEqual(t, r.number(i, "device_peak_bytes"), limit)
			require.Contains(t, o.limits, limit)
		}
	}
	require.True(t, divided["device-memory"])
	require.Contains(t, report.String(), " 1/16 ")
	require.Contains(t, report.String(), "  none  ")
}

// A wrong answer ends the sweep, whatever the output, and nothing is timed.
func TestWrongAnswer(t *testing.T) {
	devicetest.HostTest(t)
	cell := Cell{Spec: workload.DefaultPKFK(1000, 4000)}
	b, err := newBed(t.Context(), cell)
	require.NoError(t, err)
	defer b.release()
	d, err := Open(new(opened).open).device(t.Context(), "host", 0, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.close()) }()
	engine := engineOn([]*device{d}, 0)
	defer engine.Close()
	right := b.answer
	for _, change := range []func(*workload.PKFKSpec){
		func(s *workload.PKFKSpec) { s.SRows++ },
		func(s *workload.PKFKSpec) { s.Seed++ }, // as many rows, of other keys and payload
	} {
		spec := cell.Spec
		change(&spec)
		r, s, err := workload.PKFK(t.Context(), spec)
		require.NoError(t, err)
		b.answer, err = joins.NewAnswer(t.Context(), r, s, "inner")
		require.NoError(t, err)
		r.Release()
		s.Release()
		for _, output := range []Output{join.Count, join.Pairs, join.Rows} {
			contenders := []*contender{{Way: Way{Output: output, Devices: 1}, engine: engine, begin: broadcast}}
			var steps []string
			enter := func(step string) { steps = append(steps, step) }
			_, err = b.measure(t.Context(), contenders, &Options{Repeat: 1}, enter)
			if output == join.Count && spec.SRows == cell.Spec.SRows {
				require.NoError(t, err, "the number is right")
				continue
			}
			require.ErrorIs(t, err, measure.ErrWrong, output)
			require.Len(t, steps, 1)
			b.answer, right = right, b.answer
			_, err = b.measure(t.Context(), contenders, &Options{Repeat: 1}, enter)
			require.NoError(t, err)
			b.answer, right = right, b.answer
		}
	}
}

// Tables for which there is no memory, and joins that do not fit, are skipped with the reason.
func TestSkipped(t *testing.T) {
	devicetest.HostTest(t)
	huge := MultiGPU{Devices: []string{"host"}, Strategies: Strategies(), Options: Options{Repeat: 1,
		Outputs: []Output{join.Count}, CSV: filepath.Join(t.TempDir(), "r.csv"),
		Figures: []Figure{{Name: "huge", Axis: factor, Cells: []Cell{workloadB(1e6)}}}}}
	var report bytes.Buffer
	require.NoError(t, huge.Run(t.Context(), new(opened).open, output(&report)))
	require.Regexp(t, `B f=1e\+06  broadcast  count +1  skipped: .*tables and their check need .* scale the rows`,
		report.String())
	r := readResults(t, huge.CSV)
	require.Equal(t, "no", r.text(0, "verified"))
	require.Empty(t, r.text(0, "median_ns"))
	require.Equal(t, "1000000000000000", r.text(0, "r_rows"))

	defer func() { freeMemory = hostMemoryAvailable }()
	freeMemory = func() uint64 { return math.MaxUint64 }
	report.Reset()
	require.NoError(t, huge.Run(t.Context(), new(opened).open, output(&report)))
	require.Contains(t, report.String(), "the check takes keys below 2^32, there are 1000000000000000; scale the rows")

	tight := MultiGPU{Devices: []string{"host"}, Strategies: Strategies(), Options: Options{Repeat: 1, Scale: 15,
		Outputs: []Output{join.Count}, DeviceMemoryBytes: 4096, Cell: "skew=0.5",
		Figures: figures(t, MultiGPUFigures(), "hmg-19")}}
	report.Reset()
	require.NoError(t, tight.Run(t.Context(), new(opened).open, output(&report)))
	require.Contains(t, report.String(), "skipped: ")
	require.ErrorIs(t, MultiGPU{Devices: []string{"none"}}.Run(t.Context(), new(opened).open, output(&report)),
		backend.ErrNoDevice)
}

// A sweep ends with its context, and leaves neither a file nor a folder.
func TestInterrupted(t *testing.T) {
	devicetest.HostTest(t)
	dir := t.TempDir()
	for _, phase := range []string{"measure the machine", "make ", "learn ", "verify ", "time "} {
		ctx, cancel := context.WithCancel(t.Context())
		out := output(new(bytes.Buffer))
		out.Phase = func(now string, _, _ uint64) {
			if strings.HasPrefix(now, phase) {
				cancel()
			}
		}
		options := Options{Repeat: 1, Scale: 14, Outputs: []Output{join.Rows}, CSV: filepath.Join(dir, "r.csv")}
		options.Figures = figures(t, OutOfCoreFigures(), "device-memory")
		require.Error(t, OutOfCore{Options: options, Device: "host", Dir: dir}.Run(ctx, new(opened).open, out), phase)
		if phase != "learn " {
			ctx, cancel = context.WithCancel(t.Context())
			options.Figures = figures(t, MultiGPUFigures(), "hmg-16")
			require.Error(t, MultiGPU{Options: options, Devices: []string{"host", "host"}, Strategies: Strategies()}.
				Run(ctx, new(opened).open, out), phase)
		}
		cancel()
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, phase)
	}
}
