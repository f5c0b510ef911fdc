package graphics

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/internal/leak"
	"github.com/spirjoin/spirjoin/tableio"
	"github.com/spirjoin/spirjoin/vulkan/vulkantest"
)

func TestMain(m *testing.M) {
	vulkantest.Graphics = true
	leak.Main(m)
}

// forEach runs a test with each device in both places.
func forEach(t *testing.T, test func(t *testing.T, on [2]*opened)) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		if jointest.Instrumented(t) {
			t.Skip("lavapipe ends instrumented loops of vertex shaders after one trip")
		}
		o, err := newOpened(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		test(t, [2]*opened{o, o})
	})
}

func output() (measure.Output, *bytes.Buffer) {
	printed := new(bytes.Buffer)
	return measure.Output{Writer: printed, Phase: func(string, uint64, uint64) {}}, printed
}

// Every figure is measured, in the table, the file and the chart. What a device cannot draw is skipped, and nothing
// else.
func TestFiguresAreMeasured(t *testing.T) {
	forEach(t, func(t *testing.T, on [2]*opened) {
		dir := filepath.Join(t.TempDir(), "new")
		out, printed := output()
		sweep := Sweep{Figures: Figures(), Scale: 15, Repeat: 1, Out: dir}
		require.NoError(t, sweep.run(context.Background(), on, out))
		require.Regexp(t, `(?m)^keys counted by a kernel with atomics: [\d.]+ [kMG]/s$`, printed.String())
		if on[drawing].draws == nil {
			require.Regexp(t, `(?m)^points into an image: [\d.]+ [kMG]/s$`, printed.String())
		} else {
			require.Regexp(t, `(?m)^points into an image: none, .*does not draw`, printed.String())
		}
		for _, f := range Figures() {
			f = f.on(&sweep)
			rows := readCSV(t, filepath.Join(dir, f.Name+".csv"))
			require.Len(t, rows, len(f.cells)*len(f.Methods), f.Name)
			for _, row := range rows {
				draws := strings.HasPrefix(row["method"], "graphics")
				if draws && on[drawing].draws != nil {
					require.Equal(t, "no", row["verified"])
					require.Contains(t, row["skipped"], "does not draw")
					continue
				}
				require.Equal(t, "yes", row["verified"], row)
				require.NotEmpty(t, row["median_ns"])
				require.NotEqual(t, "0", row["output_rows"])
				require.Equal(t, row["method"] == "auto", row["chosen"] != "")
			}
			svg, err := os.ReadFile(filepath.Join(dir, f.Name+".svg"))
			require.NoError(t, err)
			require.Contains(t, string(svg), ">"+f.Name+": "+f.Title+"<")
			require.Contains(t, printed.String(), "\n"+f.Name+": "+f.Title+"\n")
		}
	})
}

func readCSV(t *testing.T, path string) (rows []map[string]string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// What has no room is skipped, rates too.
func TestRatesThatDoNotFit(t *testing.T) {
	devicetest.ForEachDriver(t, func(t *testing.T, driver backend.Driver) {
		device := backend.NewDevice(driver, backend.DeviceOptions{DeviceMemoryBytes: 1 << 10})
		t.Cleanup(func() { require.NoError(t, device.Close()) })
		o, err := newOpened(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		figures, err := FindFigures([]string{"garuda-6.2", "garuda-8a", "garuda-12b"})
		require.NoError(t, err)
		out, printed := output()
		require.NoError(t, Sweep{Figures: figures, Scale: 12, Repeat: 1}.run(context.Background(), [2]*opened{o, o}, out))
		require.Regexp(t, `(?m)^keys counted by a kernel with atomics: skipped: .*out of device memory`, printed.String())
		if o.draws == nil {
			require.Regexp(t, `(?m)^points into an image: skipped: .*out of device memory`, printed.String())
		}
		require.Regexp(t, `(?m)^uniform  compute   skipped: .*out of device memory`, printed.String())
		require.Regexp(t, `(?m)^\|R\|=256   auto               skipped: .*out of device memory`, printed.String())
		require.Regexp(t, `(?m)^groups=256   compute   skipped: .*out of device memory`, printed.String())
	})
}

// Before anything is measured, it is known that there are cells, files of TPC-H, and files to write. Nothing is left
// behind.
func TestSweepsThatCannotRun(t *testing.T) {
	forEach(t, func(t *testing.T, on [2]*opened) {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, nil, 0o666))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", "garuda-8b.svg"), 0o777))
		figures, err := FindFigures([]string{"garuda-8a", "garuda-8b"})
		require.NoError(t, err)
		for about, c := range map[string]struct {
			sweep Sweep
			is    error
		}{
			`no cell contains "JO7"; there are |R|=32, |R|=128, |R|=512, |R|=2^11, JO1, JO2, JO3, JO4`: {
				Sweep{Cell: "JO7"}, backend.ErrInvalidInput},
			"orders.parquet":                     {Sweep{TPCH: dir, Out: filepath.Join(dir, "new")}, tableio.ErrInput},
			"file: not a directory":              {Sweep{Out: file}, tableio.ErrOutput},
			"file/new: not a directory":          {Sweep{Out: filepath.Join(file, "new")}, tableio.ErrOutput},
			"garuda-8b.svg: this is a directory": {Sweep{Out: filepath.Join(dir, "taken")}, tableio.ErrOutput},
		} {
			out, printed := output()
			out.Phase = func(phase string, _, _ uint64) { t.Errorf("%s: %s", about, phase) }
			c.sweep.Figures, c.sweep.Scale, c.sweep.Repeat = figures, 15, 1
			err := c.sweep.run(context.Background(), on, out)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, about)
			require.Empty(t, printed.String())
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Equal(t, []string{file, filepath.Join(dir, "taken")}, left)
		left, err = filepath.Glob(filepath.Join(dir, "taken", "*"))
		require.NoError(t, err)
		require.Len(t, left, 1)

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		out, _ := output()
		sweep := Sweep{Figures: figures, Scale: 15, Repeat: 1, Out: filepath.Join(dir, "new", "er")}
		require.ErrorIs(t, sweep.run(ctx, on, out), context.Canceled)
		require.NoDirExists(t, filepath.Join(dir, "new"))
	})
}

// Titles have the sizes that are measured, and cells that have become equal are one.
func TestFigureOnSweep(t *testing.T) {
	titles := func(s Sweep) map[string]string {
		titles := map[string]string{}
		for _, f := range Figures() {
			f = f.on(&s)
			titles[f.Name] = f.Title
			require.NotContains(t, f.Title, "%")
		}
		return titles
	}
	full, scaled, files := titles(Sweep{}), titles(Sweep{Scale: 8}), titles(Sweep{Scale: 8, TPCH: "."})
	for name, want := range map[string][3]string{
		"garuda-6.2":   {"2^25 keys, 2^24 bins", "2^17 keys, 2^16 bins", "2^17 keys"},
		"garuda-8b":    {"TPC-H, SF 10", "TPC-H, SF 0.0391", "TPC-H, from files"},
		"garuda-10a":   {"2^24 rows", "2^16 rows", "2^16 rows"},
		"garuda-10b":   {"2^24 rows", "2^16 rows", "2^16 rows"},
		"garuda-3.4.4": {"2^21 rows", "2^13 rows", "2^13 rows"},
		"garuda-12a":   {"TPC-H, SF 10", "TPC-H, SF 0.0391", "TPC-H, from files, partsupp SF 0.0391"},
		"garuda-12b":   {"2^26 rows", "2^18 rows", "2^18 rows"},
		"garuda-13":    {"TPC-H, SF 10", "TPC-H, SF 0.0391", "TPC-H, from files"},
	} {
		require.Contains(t, full[name], want[0])
		require.Contains(t, scaled[name], want[1])
		require.Contains(t, files[name], want[2])
	}
	places := func(name string, s Sweep) (places []string) {
		figures, err := FindFigures([]string{name})
		require.NoError(t, err)
		for _, c := range figures[0].on(&s).cells {
			places = append(places, c.place())
		}
		return places
	}
	require.Equal(t, []string{"groups=1", "groups=4", "groups=64"}, places("garuda-12b", Sweep{Scale: 18}))
	require.Equal(t, []string{"|R|=1"}, places("garuda-8a", Sweep{Scale: 26}))
	require.Equal(t, []string{"JO1", "JO2", "JO3", "JO4"}, places("garuda-8b", Sweep{Scale: 62}), "other places")
	require.Equal(t, []string{"JO2"}, places("garuda-8b", Sweep{Cell: "2"}))

	figures, err := FindFigures([]string{"garuda-11"})
	require.NoError(t, err)
	tooSmall := figures[0].on(&Sweep{Scale: 20, Cell: "JO5"}).cells[0]
	results, err := tooSmall.measure(context.Background(), &run{}, stackOf)
	require.NoError(t, err)
	require.Len(t, results, len(stackOf))
	for _, r := range results {
		require.ErrorIs(t, r.Skipped, workload.ErrSpec)
	}
}

// A cell that two figures share is measured once, and only cells that are asked for are.
func TestKnownCells(t *testing.T) {
	forEach(t, func(t *testing.T, on [2]*opened) {
		figures, err := FindFigures([]string{"garuda-8b", "garuda-15"})
		require.NoError(t, err)
		out, _ := output()
		var made int
		out.Phase = func(phase string, _, _ uint64) {
			if strings.HasPrefix(phase, "make ") {
				made++
			}
		}
		require.NoError(t, Sweep{Figures: figures, Scale: 15, Repeat: 1, Cell: "JO4"}.run(context.Background(), on, out))
		require.Equal(t, 1, made)
	})
}

// Wrong counts end a sweep.
func TestHistogramIsChecked(t *testing.T) {
	forEach(t, func(t *testing.T, on [2]*opened) {
		out, _ := output()
		r := &run{Sweep: Sweep{Repeat: 1}, on: on, out: out}
		for _, order := range []string{uniformKeys, orderedKeys, skewedKeys} {
			c := histogramCell{order, 5000, 9}
			keys, want, err := c.make(context.Background())
			require.NoError(t, err)
			for _, method := range countBy {
				if method == drawn && on[drawing].draws != nil {
					continue
				}
				require.NoError(t, c.count(context.Background(), r, on[drawing], keys, want, &Result{Method: method}))
				want[511]++
				err := c.count(context.Background(), r, on[drawing], keys, want, &Result{Method: method})
				require.ErrorIs(t, err, measure.ErrWrong)
				require.ErrorContains(t, err, "bin 511 has")
				want[511]--
			}
		}
	})
}

func TestGroupsAreChecked(t *testing.T) {
	batch := func(keys, days []int32, sums []int64) arrow.RecordBatch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
			{Name: "orderkey", Type: arrow.PrimitiveTypes.Int32}, {Name: "orderdate", Type: arrow.PrimitiveTypes.Int32},
			{Name: "sum", Type: arrow.PrimitiveTypes.Int64}}, nil))
		b.Field(0).(*array.Int32Builder).AppendValues(keys, nil)
		b.Field(1).(*array.Int32Builder).AppendValues(days, nil)
		b.Field(2).(*array.Int64Builder).AppendValues(sums, nil)
		return b.NewRecordBatch()
	}
	want := []groupOf{{keys: [2]int64{70}, rows: 2, sum: 5}, {}, {keys: [2]int64{71}, rows: 1, sum: 9}}
	check := func(batches ...arrow.RecordBatch) error {
		c := groupCheck{want: want, missing: 2, keys: 2, met: make([]bool, len(want))}
		for _, b := range batches {
			if err := c.add(b); err != nil {
				return err
			}
		}
		return c.end()
	}
	require.NoError(t, check(batch([]int32{2, 0}, []int32{71, 70}, []int64{9, 5})))
	require.NoError(t, check(batch([]int32{2}, []int32{71}, []int64{9}), batch([]int32{0}, []int32{70}, []int64{5})))
	for about, wrong := range map[string]arrow.RecordBatch{
		"group 0 has 6, not 5":              batch([]int32{2, 0}, []int32{71, 70}, []int64{9, 6}),
		"key column 1 of group 0 is 71":     batch([]int32{2, 0}, []int32{71, 71}, []int64{9, 5}),
		"group 1 is unknown or comes twice": batch([]int32{2, 1}, []int32{71, 70}, []int64{9, 5}),
		"group 2 is unknown or comes twice": batch([]int32{2, 2}, []int32{71, 71}, []int64{9, 9}),
		"1 group missing":                   batch([]int32{2}, []int32{71}, []int64{9}),
	} {
		err := check(wrong)
		require.ErrorIs(t, err, measure.ErrWrong)
		require.ErrorContains(t, err, about)
	}
}

// Every figure of the paper's section 6 has an entry, whose cells can be made at any scale.
func TestFigures(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Figures() {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		require.NotEmpty(t, f.cells)
		for _, scale := range []int{0, 8, 15} {
			for _, c := range f.cells {
				scaled := c.on(&Sweep{Scale: scale})
				require.NotEmpty(t, scaled.place())
				if j, ok := scaled.(joinCell); ok {
					require.NoError(t, j.Validate(), "%s: %v", f.Name, c)
				}
			}
		}
		for _, method := range f.Methods {
			_, joins := joinMethods[method]
			require.True(t, joins || method == compute, method)
			require.Contains(t, styles, method)
		}
	}
	for n := 8; n <= 15; n++ {
		found := false
		for name := range names {
			found = found || strings.HasPrefix(name, fmt.Sprintf("garuda-%d", n))
		}
		require.True(t, found, n)
	}
	_, err := FindFigures([]string{"garuda-7"})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}

// A chart has the names of its places and methods, and says what was skipped.
func TestChart(t *testing.T) {
	result := func(method string, ms int) Result {
		return Result{Method: method, Sample: measure.SampleOf([]measure.Timed{{Wall: time.Duration(ms) * time.Millisecond}})}
	}
	c := chart{figure: &Figure{Name: "f", Title: "t", Methods: []string{"graphics", "phj-um"}, joined: true},
		device: "a device"}
	c.add("here", "here: a query", []Result{{Method: "graphics", Skipped: backend.ErrUnsupported}, result("phj-um", 3)})
	c.add("there", "", []Result{{Method: "graphics", Skipped: backend.ErrUnsupported}, result("phj-um", 70)})
	var svg bytes.Buffer
	require.NoError(t, c.write(&svg))
	for _, text := range []string{">here<", ">there<", ">a device<", "graphics (skipped)", ">phj-um", ">50<",
		">here: a query<"} {
		require.Contains(t, svg.String(), text)
	}
	require.NotContains(t, svg.String(), "NaN")
	require.NotContains(t, svg.String(), ">100<", "an axis ends where its values do")
}

// Figures say what their queries are.
func TestQueriesAreExplained(t *testing.T) {
	about := map[string]string{}
	for _, f := range Figures() {
		for _, c := range f.on(&Sweep{Scale: 20}).cells {
			about[c.place()] = c.about()
		}
	}
	require.Equal(t, "JO1: c_custkey = o_custkey, with c_acctbal, o_totalprice", about["JO1"])
	require.Equal(t, "MGO1: sum of extendedprice, or count, by orderkey, orderdate", about["MGO1 count"])
	for place, text := range about {
		query := strings.ContainsRune("JSM", rune(place[0])) && !strings.Contains(place, "=")
		require.Equal(t, query, text != "", place)
	}
}
