package endtoend

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
)

// Phase is a part of the way of a join. Phases overlap.
type Phase struct {
	Name  string
	Busy  time.Duration // in which anything works on it
	Bytes uint64        // that it reads or writes; 0 if that is not known
}

// Phases returns the phases of a run, in the order of the way.
func (r *Run) Phases() []Phase {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	stages := r.deviceTimes()
	return []Phase{
		{"read", r.Read, r.FilesIn},
		{"plan", r.Plan, 0},
		{"encode", seconds(r.Stats.EncodeSeconds), r.InputBytes},
		{"upload", r.Upload + stages["upload"], r.UpBytes},
		{"match", stages["match"], 0},
		{"materialize", seconds(r.Stats.GatherSeconds) + stages["materialize"], 0},
		{"download", r.Download + stages["download"], r.DownBytes},
		{"write", r.Write, r.FilesOut},
	}
}

// deviceTimes is the device time of the stages by phase.
func (r *Run) deviceTimes() map[string]time.Duration {
	times := map[string]time.Duration{}
	for stage, s := range r.Stats.StageSeconds {
		times[phaseOf(stage)] += time.Duration(s * float64(time.Second))
	}
	return times
}

// phaseOf is the phase that a stage on the device belongs to.
func phaseOf(stage string) string {
	switch {
	case stage == "unpack": // kernels that bring columns to Arrow's format and to pinned memory
		return "download"
	case stage == "encode keys": // the same in the other direction
		return "upload"
	case planner.StageOf(stage) == operator.Gather:
		return "materialize"
	}
	return "match"
}

// Resource is a part of the machine, and how long it needs at best for what a run asks of it.
type Resource struct {
	Name  string
	Bytes uint64        // moved; 0 for what is measured as time
	Rate  float64       // bytes per second; 0 for what is measured as time
	Bound time.Duration // no run is faster
}

// Resources returns the resources that a run uses. Bytes of memory are the fewest that a join with these transfers
// moves: each byte that is read, decoded, sent, received and written counts once for each time that it enters or leaves
// the memory. Where device memory is host memory, the columns are read there and the output is written there, in place
// or by the transfers; the other end of each transfer is in the same memory.
func (r *Run) Resources(rates *Rates) (used []Resource) {
	moved := func(name string, bytes uint64, rate float64) {
		if bytes > 0 && rate > 0 {
			bound := time.Duration(float64(bytes) / rate * float64(time.Second))
			used = append(used, Resource{name, bytes, rate, bound})
		}
	}
	host := r.FilesIn + r.FilesOut
	if r.FilesIn > 0 {
		host += r.InputBytes
	}
	if r.FilesOut > 0 {
		host += r.OutputBytes
	}
	hostRate, device, discrete := rates.Host, 2*(r.UpBytes+r.DownBytes), rates.discrete()
	if discrete {
		host += r.UpBytes + r.DownBytes
	} else {
		host, hostRate, device = host+r.ReadBytes+r.OutputBytes+device, max(rates.Host, rates.Device), 0
	}
	moved("files, read", r.FilesIn, rates.FileRead)
	moved("host memory", host, hostRate)
	moved("link up", r.UpBytes, rates.Up)
	moved("device memory", device, rates.Device)
	moved("link down", r.DownBytes, rates.Down)
	if r.UpBytes > 0 && r.DownBytes > 0 {
		moved("link, both directions", r.UpBytes+r.DownBytes, rates.Both)
	}
	moved("files, write", r.FilesOut, rates.FileWrite)
	stages := r.deviceTimes()
	if busy := stages["match"] + stages["materialize"]; discrete && busy > 0 {
		used = append(used, Resource{Name: "device", Bound: busy})
	}
	if cores := runtime.GOMAXPROCS(0); r.CPU > 0 {
		used = append(used, Resource{Name: text.Plural(cores, "core"), Bound: r.CPU / time.Duration(cores)})
	}
	return used
}

// fullest is the resource that is in use for the longest time.
func fullest(used []Resource) (most Resource) {
	most.Name = "none that is known"
	for _, s := range used {
		if s.Bound > most.Bound {
			most = s
		}
	}
	return most
}

func (r *Result) print(out measure.Output) {
	run := &r.Run
	var size, first string // none of a count
	if run.OutputBytes > 0 {
		size, first = " ("+text.Bytes(run.OutputBytes)+")", " first batch after "+text.Duration(run.First)+","
	}
	out.Println(fmt.Sprintf("%s%s by %s in %s (min %s),%s %s of device memory",
		text.Plural(run.Stats.OutputRows, "row"), size, run.Stats.Algorithm, text.Duration(run.Wall),
		text.Duration(r.Times.Min), first, text.Bytes(run.Stats.DevicePeakBytes)))
	of := func(t time.Duration) string { return fmt.Sprintf("%.0f%%", 100*t.Seconds()/run.Wall.Seconds()) }
	rows := [][]string{{"PHASE", "BUSY", "OF WALL", "BYTES", "WHILE BUSY"}}
	for _, p := range run.Phases() {
		if p.Busy == 0 && (p.Bytes == 0 || !r.rates.discrete()) { // a few bytes of counts, in place
			continue
		}
		row := []string{p.Name, text.Duration(p.Busy), of(p.Busy), "", ""}
		if p.Bytes > 0 {
			row[3] = text.Bytes(p.Bytes)
		}
		if p.Bytes > 0 && p.Busy > 0 {
			row[4] = text.Rate(float64(p.Bytes)/p.Busy.Seconds(), "B")
		}
		rows = append(rows, row)
	}
	aligns := []text.Align{text.Left, text.Right, text.Right, text.Right, text.Right}
	text.WriteTable(out, aligns, rows)
	if stages := measure.StagesText(measure.StagesOf(run.Stats.StageSeconds)); stages != "" {
		out.Println("on the device: " + text.Fold(stages, text.ReportColumns-15, "\n   "))
	}
	rows = [][]string{{"RESOURCE", "BYTES", "RATE", "BOUND", "FULL"}}
	used := run.Resources(r.rates)
	for _, s := range used {
		row := []string{s.Name, "", "", text.Duration(s.Bound), of(s.Bound)}
		if s.Bytes > 0 {
			row[1], row[2] = text.Bytes(s.Bytes), text.Rate(s.Rate, "B")
		}
		rows = append(rows, row)
	}
	text.WriteTable(out, aligns, rows)
	most := fullest(used)
	out.Println(fmt.Sprintf("fullest: %s, %s of %s", most.Name, of(most.Bound), text.Duration(run.Wall)))
}

var fileColumns = measure.Columns{
	Texts: []string{"way", "how", "r_payload", "s_payload", "algorithm", "verified", "skipped", "stages", "fullest"},
	Numbers: []string{"seed", "key_bytes", "r_rows", "s_rows", "output_rows", "runs", "median_ns", "min_ns", "first_ns",
		"cpu_ns", "read_ns", "plan_ns", "encode_ns", "upload_ns", "match_ns", "materialize_ns", "download_ns",
		"write_ns", "input_bytes", "output_bytes", "up_bytes", "down_bytes", "files_read_bytes", "files_written_bytes",
		"device_peak_bytes", "host_peak_bytes"},
	Measures: []string{"match_ratio", "zipf", "core_copy_rate", "cores_copy_rate", "device_copy_rate", "up_rate",
		"down_rate", "both_rate", "files_read_rate", "files_write_rate"},
}

func (s *Sweep) texts(way Way) []string {
	return []string{way.Name, s.How, workload.BytesText(s.Spec.RPayloads, " "),
		workload.BytesText(s.Spec.SPayloads, " ")}
}

func (s *Sweep) numbers() []uint64 {
	return []uint64{s.Spec.Seed, uint64(s.Spec.KeyBytes), uint64(s.Spec.RRows), uint64(s.Spec.SRows)}
}

// addTo adds a row to a file of results.
func (r *Result) addTo(f *measure.File, s *Sweep, way Way) {
	run := &r.Run
	numbers := append(s.numbers(), run.Stats.OutputRows, uint64(r.Times.Runs))
	for _, t := range []time.Duration{run.Wall, r.Times.Min, run.First, run.CPU} {
		numbers = append(numbers, uint64(t.Nanoseconds()))
	}
	for _, p := range run.Phases() {
		numbers = append(numbers, uint64(p.Busy.Nanoseconds()))
	}
	numbers = append(numbers, run.InputBytes, run.OutputBytes, run.UpBytes, run.DownBytes, run.FilesIn, run.FilesOut,
		run.Stats.DevicePeakBytes, run.Stats.HostPeakBytes)
	m := r.rates
	stages := measure.StagesField(measure.StagesOf(run.Stats.StageSeconds))
	f.Add(append(s.texts(way), run.Stats.Algorithm, "yes", "", stages,
		fullest(run.Resources(m)).Name), numbers, []float64{s.Spec.MatchRatio, s.Spec.Zipf, m.OneCore, m.Host, m.Device,
		m.Up, m.Down, m.Both, m.FileRead, m.FileWrite})
}
