package endtoend

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/primitive"
)

// small is a sweep of few rows.
func small(ways ...string) Sweep {
	s := Sweep{Spec: workload.DefaultPKFK(2000, 7000), How: "inner", Repeat: 2}
	s.Spec.KeyBytes, s.Spec.RPayloads, s.Spec.SPayloads, s.Spec.MatchRatio = 8, []int{8}, []int{8, 4}, 0.5
	var err error
	if s.Ways, err = Find(ways); err != nil {
		panic(err)
	}
	return s
}

func output(b *bytes.Buffer) measure.Output {
	return measure.Output{Writer: b, Phase: func(string, uint64, uint64) {}}
}

// Every way is measured with all of its phases, to the report and to the file, and leaves no other file.
func TestRun(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		s := small()
		s.Dir = t.TempDir()
		s.CSV = filepath.Join(t.TempDir(), "results.csv")
		var report bytes.Buffer
		require.NoError(t, s.Run(t.Context(), device, jointest.Tuning(t, device.Info()), output(&report)))
		left, err := os.ReadDir(s.Dir)
		require.NoError(t, err)
		require.Empty(t, left)
		for _, way := range Ways() {
			require.Contains(t, report.String(), "\n"+way.Name+": "+way.Title+"\n")
		}
		require.Equal(t, len(Ways()), strings.Count(report.String(), "\nfullest: "))

		file, err := os.Open(s.CSV)
		require.NoError(t, err)
		defer file.Close()
		rows, err := csv.NewReader(file).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(Ways()))
		for i, way := range Ways() {
			value := func(column string) int {
				n, err := strconv.Atoi(rows[1+i][slices.Index(rows[0], column)])
				require.NoError(t, err, column)
				return n
			}
			positive := []string{"median_ns", "min_ns", "first_ns", "cpu_ns", "encode_ns", "match_ns", "materialize_ns",
				"input_bytes", "output_bytes", "down_bytes", "device_peak_bytes"}
			zero := []string{"read_ns", "write_ns", "files_read_bytes", "files_written_bytes"}
			if way.inFiles() {
				positive, zero = append(positive, zero...), []string{"plan_ns"}
			} else {
				positive = append(positive, "plan_ns")
			}
			for _, column := range positive {
				require.Positive(t, value(column), "%s: %s", way.Name, column)
			}
			for _, column := range zero {
				require.Zero(t, value(column), "%s: %s", way.Name, column)
			}
			require.Equal(t, 2, value("runs"))
			require.LessOrEqual(t, value("first_ns"), value("median_ns"))
			require.Equal(t, value("output_rows")*(8+8+8+4), value("output_bytes"))
			require.Equal(t, 2000*16+7000*20, value("input_bytes"))
		}
	})
}

// All kinds of joins pass the check, from and to memory and files, also where S has fewer rows.
func TestHow(t *testing.T) {
	devicetest.HostTest(t)
	devicetest.SkipRace(t)
	for _, how := range joins.Hows() {
		for _, rows := range [][2]int64{{2000, 7000}, {7000, 2000}} {
			s := small("pinned", "arrow", "csv")
			s.How, s.Spec.RRows, s.Spec.SRows, s.Repeat = how, rows[0], rows[1], 1
			s.Spec.KeyBytes = 4 // CSV files are read as wider integers
			var report bytes.Buffer
			require.NoError(t, s.Run(t.Context(), hostDevice(t, host.Options{}), nil, output(&report)), how)
			require.NotContains(t, report.String(), "skipped", how)
		}
	}
}

func hostDevice(t *testing.T, options host.Options) *backend.Device {
	driver, err := host.New(options).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// A wrong answer ends the sweep, wherever it comes from, and nothing is timed.
func TestWrongAnswer(t *testing.T) {
	devicetest.HostTest(t)
	for _, way := range Names() {
		for _, how := range []string{"inner", "count"} {
			s := small(way)
			s.How = how
			b, err := newBed(&s, hostDevice(t, host.Options{}), nil, t.TempDir())
			require.NoError(t, err)
			in, err := b.make(t.Context(), s.Ways[0])
			require.NoError(t, err)
			in.release()
			other := s.Spec
			other.Seed++ // other keys are referred to, and payloads differ
			other.SRows++
			r, sTable, err := workload.PKFK(t.Context(), other)
			require.NoError(t, err)
			b.answer, err = joins.NewAnswer(t.Context(), r, sTable, how)
			require.NoError(t, err)
			r.Release()
			sTable.Release()
			var steps []string
			_, err = b.measure(t.Context(), s.Ways[0], func(what string) { steps = append(steps, what) })
			require.ErrorIs(t, err, measure.ErrWrong, way)
			require.Equal(t, []string{"make " + way, "verify " + way}, steps)
			b.close()
		}
	}
}

// What does not fit is skipped, and the rest is measured.
func TestSkipped(t *testing.T) {
	devicetest.HostTest(t)
	s := small("memory")
	s.MemoryLimitBytes = 4096
	s.CSV = filepath.Join(t.TempDir(), "results.csv")
	var report bytes.Buffer
	require.NoError(t, s.Run(t.Context(), hostDevice(t, host.Options{}), nil, output(&report)))
	require.Contains(t, report.String(), "\nskipped: ")
	text, err := os.ReadFile(s.CSV)
	require.NoError(t, err)
	require.Contains(t, string(text), ",no,")
}

func TestValidate(t *testing.T) {
	devicetest.HostTest(t)
	for _, change := range []func(*Sweep){
		func(s *Sweep) { s.How = "cross" },
		func(s *Sweep) { s.Algorithm = "best" },
		func(s *Sweep) { s.Spec.KeyBytes = 3 },
	} {
		s := small()
		change(&s)
		require.Error(t, s.Run(t.Context(), hostDevice(t, host.Options{}), nil, output(new(bytes.Buffer))))
	}
	_, err := Find([]string{"orc"})
	require.ErrorContains(t, err, `no way "orc"; there are memory, pinned, parquet, arrow, csv`)
	s := Sweep{}
	s.complete(&backend.DeviceInfo{Type: backend.Discrete})
	require.Equal(t, []int64{32 << 20, 128 << 20}, []int64{s.Spec.RRows, s.Spec.SRows})
	s = Sweep{}
	s.complete(&backend.DeviceInfo{Type: backend.Host})
	require.Equal(t, []int64{2 << 20, 8 << 20}, []int64{s.Spec.RRows, s.Spec.SRows})
}

// The fullest resource is the one that the run uses for the longest time. Memory of the device is only counted where it
// is not the host's.
func TestResources(t *testing.T) {
	rates := &Rates{Host: 1000, Device: 4000, Up: 50, Down: 100, FileRead: 10, FileWrite: 5}
	r := Run{Wall: 20 * time.Second, UpBytes: 100, DownBytes: 400}
	r.Stats.StageSeconds = map[string]float64{"match": 1.5, "gather": 0.5, "number left": 1, "encode keys": 0.5,
		"unpack": 2}
	names := func() (names []string) {
		for _, s := range r.Resources(rates) {
			names = append(names, s.Name)
		}
		return names
	}
	require.Equal(t, []string{"host memory", "link up", "device memory", "link down", "device"}, names())
	most := fullest(r.Resources(rates))
	require.Equal(t, map[string]time.Duration{"upload": 500 * time.Millisecond, "match": 2500 * time.Millisecond,
		"materialize": 500 * time.Millisecond, "download": 2 * time.Second}, r.deviceTimes())
	require.Equal(t, 3*time.Second, r.Resources(rates)[4].Bound, "of the device, but for what brings rows")
	require.Equal(t, Resource{"link down", 400, 100, 4 * time.Second}, most)
	r.FilesIn, r.InputBytes, r.FilesOut, r.OutputBytes = 70, 200, 50, 300
	used := r.Resources(rates)
	require.Equal(t, "files, write", fullest(used).Name)
	require.EqualValues(t, 70+200+100+400+300+50, used[1].Bytes)
	require.EqualValues(t, 1000, used[3].Bytes, "of the device")
	require.Equal(t, "none that is known", fullest(nil).Name)
	rates.Both = 25
	require.Equal(t, []string{"files, read", "host memory", "link up", "device memory", "link down",
		"link, both directions", "files, write", "device"}, names())
	require.Equal(t, Resource{"link, both directions", 500, 25, 20 * time.Second}, fullest(r.Resources(rates)))
	r.DownBytes = 0
	require.NotContains(t, names(), "link, both directions")
	rates.Up, rates.Down, rates.Both, r.DownBytes = 0, 0, 0, 400
	require.Equal(t, []string{"files, read", "host memory", "files, write"}, names())
	r.CPU = time.Hour
	require.Contains(t, fullest(r.Resources(rates)).Name, "core")
}

// Where device memory is host memory, the host's has all that is read and written, and both ends of each copy.
func TestResourcesInHostMemory(t *testing.T) {
	bytes := func(r Run) uint64 { return r.Resources(&Rates{Host: 1000, Device: 1000})[0].Bytes }
	memory := Run{InputBytes: 300, ReadBytes: 200, OutputBytes: 400}
	require.EqualValues(t, 200+400, bytes(memory), "in place")
	count := Run{InputBytes: 80, ReadBytes: 80}
	require.EqualValues(t, 80, bytes(count))
	copied := memory
	copied.UpBytes, copied.DownBytes = 30, 50
	require.EqualValues(t, 200+400+2*(30+50), bytes(copied))
	files := memory
	files.FilesIn, files.FilesOut = 70, 90
	r := files.Resources(&Rates{Host: 1000, Device: 4000, FileRead: 1, FileWrite: 1})[1]
	require.EqualValues(t, 70+300+200+400+400+90, r.Bytes, "decoded and read; written and encoded")
	require.EqualValues(t, 4000, r.Rate, "the faster of those who use it")
}

// Only what a join reads is counted: keys, and other columns for as many rows as are output.
func TestReadBytes(t *testing.T) {
	devicetest.HostTest(t)
	const keys = 2000*8 + 7000*8
	for how, want := range map[string]struct {
		input, payloads uint64 // of all needed columns, and read at least beside the keys
		perRow          uint64 // in addition, for each row of the output
	}{
		"inner": {2000*16 + 7000*20, 2000 * 8, 12},
		"count": {keys, 0, 0},
		"semi":  {keys + 2000*8, 0, 8},
	} {
		for _, way := range []string{"memory", "arrow"} {
			s := small(way)
			s.How = how
			b, err := newBed(&s, hostDevice(t, host.Options{}), nil, t.TempDir())
			require.NoError(t, err)
			r, err := b.measure(t.Context(), s.Ways[0], func(string) {})
			require.NoError(t, err)
			require.Equal(t, want.input, r.Run.InputBytes, how)
			rows := r.Run.Stats.OutputRows
			require.Equal(t, keys+want.payloads+want.perRow*rows, r.Run.ReadBytes, how)
			if how != "count" {
				require.Less(t, r.Run.ReadBytes, r.Run.InputBytes, "half of the rows have no match")
			}
			b.close()
		}
	}
}

func TestRates(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		folder := t.TempDir()
		r, err := measureRates(t.Context(), device, jointest.Tuning(t, device.Info()), folder)
		require.NoError(t, err)
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		require.NoError(t, r.link(t.Context(), ops))
		copied, err := deviceCopy(t.Context(), ops)
		require.NoError(t, err)
		require.Greater(t, copied, 1e6)
		for _, rate := range []float64{r.OneCore, r.Host, r.Device, r.Up, r.Down, r.Both, r.FileRead, r.FileWrite} {
			require.Greater(t, rate, 1e6)
		}
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left)
		_, err = measureRates(t.Context(), device, nil, filepath.Join(folder, "missing"))
		require.Error(t, err)
	})
}

// Each byte that goes to the device or comes from it is counted once, also where the device has memory of its own.
func TestMeter(t *testing.T) {
	devicetest.HostTest(t)
	for _, options := range []host.Options{{}, {Discrete: true}} {
		device := hostDevice(t, options)
		m := NewMeter(device)
		content := make([]byte, 5<<20)
		buffer, err := device.Allocate(t.Context(), backend.DeviceLocal, uint64(len(content)), "content")
		require.NoError(t, err)
		point, err := device.Upload(t.Context(), buffer.All(), content)
		require.NoError(t, err)
		require.NoError(t, point.Wait(t.Context()))
		require.NoError(t, device.Download(t.Context(), content[:1<<20], buffer.Range(0, 1<<20)))
		require.NoError(t, device.Run(t.Context(), new(backend.List)))
		var r Run
		m.Report(&r)
		require.EqualValues(t, 5<<20, r.UpBytes)
		require.EqualValues(t, 1<<20, r.DownBytes)
		require.Positive(t, r.Upload)
		require.Positive(t, r.Download)
		m.Stop()
		require.NoError(t, device.Download(t.Context(), content, buffer.All()))
		require.EqualValues(t, 1<<20, m.down.Load(), "nothing is counted any more")
		buffer.Release()
	}
}

// Columns that kernels read where the table has them are not uploaded: there is no phase without time, and none with
// bytes of a link that does not exist.
func TestInPlaceIsNoUpload(t *testing.T) {
	devicetest.HostTest(t)
	s := small("memory", "pinned")
	s.Spec.RRows, s.Spec.SRows, s.Algorithm = 1<<16, 1<<18, "phj-um"
	b, err := newBed(&s, hostDevice(t, host.Options{}), nil, t.TempDir())
	require.NoError(t, err)
	defer b.close()
	for _, way := range s.Ways {
		r, err := b.measure(t.Context(), way, func(string) {})
		require.NoError(t, err)
		for _, p := range r.Run.Phases() {
			require.Falsef(t, p.Busy == 0 && p.Bytes > 0, "%s: %s has %d bytes and no time", way.Name, p.Name, p.Bytes)
		}
		require.Zero(t, r.Run.UpBytes, "columns are imported")
		require.Positive(t, r.Run.DownBytes, "batches are copied")
	}
}
