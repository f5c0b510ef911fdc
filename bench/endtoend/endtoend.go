// Package endtoend measures joins from where their tables are to where their rows go: from memory to record batches, or
// from file to file, phase by phase, beside the rates of the machine that bound them. Each answer is verified before it
// is timed.
package endtoend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/engine"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// Way says where the tables of a join are and where its rows go.
type Way struct {
	Name, Title string
	pinned      bool           // tables are in memory of the engine's allocator
	format      tableio.Format // of the files; Auto: tables are in memory
}

// Ways returns all ways.
func Ways() []Way {
	return []Way{
		{Name: "memory", Title: "tables in ordinary memory to record batches"},
		{Name: "pinned", Title: "tables in memory of the engine's allocator to record batches", pinned: true},
		{Name: "parquet", Title: "Parquet to Parquet", format: tableio.Parquet},
		{Name: "arrow", Title: "Arrow file to Arrow file", format: tableio.ArrowFile},
		{Name: "csv", Title: "CSV to CSV", format: tableio.CSV},
	}
}

// Names returns the names of all ways.
func Names() (names []string) {
	for _, w := range Ways() {
		names = append(names, w.Name)
	}
	return names
}

// Find returns ways by name, all for none.
func Find(names []string) ([]Way, error) {
	if len(names) == 0 {
		return Ways(), nil
	}
	return measure.Find("way", Ways(), func(w Way) string { return w.Name }, names)
}

// inFiles reports whether the tables and the rows are in files.
func (w *Way) inFiles() bool { return w.format != tableio.Auto }

// Sweep says what to measure.
type Sweep struct {
	Ways             []Way
	Spec             workload.PKFKSpec // rows that are 0 are chosen by the device, and by the other side's
	How              string            // of [joins.Hows]; R is on the left
	Algorithm        string            // of [join.AlgorithmNames]; empty: the one predicted to be fastest
	MemoryLimitBytes uint64            // of the engine; 0: none
	Dir              string            // where a folder for files is made, and removed; empty: os.TempDir
	Repeat           int
	Warm             time.Duration
	CSV              string // path of a file for the results; empty: none
	Command          string // recorded in the file
}

// Validate returns an error for a sweep that cannot be measured.
func (s *Sweep) Validate() error {
	if _, err := s.spec(); err != nil {
		return err
	}
	if _, err := join.ParseAlgorithm(s.Algorithm); s.Algorithm != "" && err != nil {
		return err
	}
	return s.Spec.Validate()
}

// spec is the join of R and S. Those that [joins.Hows] counts have the name of a kind behind "count-".
func (s *Sweep) spec() (join.Spec, error) {
	spec := join.Spec{LeftOn: []string{"r_key"}, RightOn: []string{"s_key"}, Algorithm: s.Algorithm}
	want, err := joins.Want(s.How)
	if err != nil {
		return spec, err
	}
	how := s.How
	if want.Count {
		spec.Output = join.Count
		if _, how, _ = strings.Cut(how, "-"); how == "" {
			how = "inner"
		}
	}
	spec.How, err = join.ParseHow(how)
	return spec, err
}

// complete chooses the rows that are not given: 32 M x 128 M on a GPU, 2 M x 8 M where the host's cores are the device.
func (s *Sweep) complete(info *backend.DeviceInfo) {
	if s.Spec.RRows == 0 {
		s.Spec.RRows = 32 << 20
		if info.CPULike() {
			s.Spec.RRows = 2 << 20
		}
	}
	if s.Spec.SRows == 0 {
		s.Spec.SRows = 4 * s.Spec.RRows
	}
}

// Run measures on a device with the user's rows of its tables, prints the rates of the machine and what each way takes,
// and writes the file. A way that does not fit is skipped; the first wrong answer ends the sweep, and leaves no file.
func (s Sweep) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	s.complete(device.Info())
	if err := s.Validate(); err != nil {
		return err
	}
	file, err := measure.Create(s.CSV, s.Command, device.Info(), fileColumns)
	if err != nil {
		return err
	}
	defer file.Abort()
	folder, remove, err := tableio.TemporaryFolder(s.Dir, "spirjoin-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = remove() }()
	out.Println(measure.DeviceText(device.Info()))
	out.Println(s.Spec.String() + " how=" + s.How)
	out.Enter("measure the machine")
	rates, err := measureRates(ctx, device, user, folder)
	if err != nil {
		return err
	}
	rates.print(out)
	b, err := newBed(&s, device, user, folder)
	if err != nil {
		return err
	}
	defer b.close()
	for _, way := range s.Ways {
		out.Println("\n" + way.Name + ": " + way.Title)
		r, err := b.measure(ctx, way, out.Enter)
		if measure.DoesNotFit(err) {
			out.Println("skipped: " + text.OneLine(err.Error()))
			file.Add(append(s.texts(way), "", "no", text.OneLine(err.Error()), "", ""), s.numbers(), nil)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", way.Name, err)
		}
		r.rates = rates
		r.print(out)
		r.addTo(file, &s, way)
	}
	return file.Commit(ctx)
}

// newBed opens an engine on a device.
func newBed(s *Sweep, device *backend.Device, user primitive.Tuning, folder string) (*bed, error) {
	ops, err := primitive.New(device, user)
	if err != nil {
		return nil, err
	}
	b := &bed{Sweep: s, folder: folder, allocator: relation.AllocatorFor(device, s.MemoryLimitBytes)}
	b.spec, err = s.spec()
	b.engine = engine.NewEngine(ops, b.allocator, s.MemoryLimitBytes)
	return b, err
}
