package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/joins"
	benchmark "github.com/spirjoin/spirjoin/bench/primitive"
	"github.com/spirjoin/spirjoin/bench/workload"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

func (s *session) benchJoinsCommand() *cli.Command {
	const load, figures, run, output = "Workload", "Figures", "Run", "Output"
	return &cli.Command{
		Name: "joins", Usage: "joins of relations that are on the device", UsageText: "spirjoin bench joins [ALGORITHM...] [flags]",
		Description: "   Joins primary with foreign keys and returns the key and all payload columns of both sides, or\n" +
			"   repeats the sweeps of figures. Each answer is verified before it is timed; a wrong one ends the\n" +
			"   command with code 6. Times are those of the device. Without an ALGORITHM a figure takes its own;\n" +
			"   otherwise, and with all, these are measured:\n   " + text.Fold(strings.Join(joins.Names(), ", "), reportColumns-4, "\n   "),
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "r-rows", Aliases: []string{"r"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with primary keys; default: 2^27 or 2^20"},
			&cli.GenericFlag{Name: "s-rows", Aliases: []string{"s"}, Category: load, Value: new(rowsValue), Usage: "`ROWS` with foreign keys; default: twice as many"},
			&cli.IntFlag{Name: "payloads", Category: load, Value: 1, Usage: "payload `COLUMNS` of each side; default: 1"},
			&cli.IntFlag{Name: "key-bytes", Category: load, Value: 4, Usage: "`BYTES` of a key: 4 or 8; default: 4"},
			&cli.StringSliceFlag{Name: "payload-bytes", Category: load, Usage: "`BYTES` of a payload: 4, 8, or 4,8 in turn; default: 4"},
			&cli.Float64Flag{Name: "match-ratio", Category: load, Value: 1, Usage: "`SHARE` of the primary keys that rows refer to; default: 1"},
			&cli.Float64Flag{Name: "zipf", Category: load, Usage: "`FACTOR` of the skew of foreign keys; default: 0"},
			&cli.Uint64Flag{Name: "seed", Category: load, Value: 1, Usage: "`NUMBER` that all random values follow from; default: 1"},

			&cli.StringSliceFlag{Name: "figure", Category: figures, Usage: "repeat the sweeps of `FIGURES`: gftr-8,rt-7 or all; list shows them"},
			&cli.StringFlag{Name: "cell", Category: figures, Usage: "only cells whose place on the axis contains `TEXT`, as in zipf=1"},
			&cli.IntFlag{Name: "scale", Category: figures, Usage: "divide rows by 2 to the `POWER`; default: 0, on a CPU 8"},
			&cli.StringFlag{Name: "tpch", Category: figures, Usage: "take the joins of TPC-H in gftr-17 from the files of gen tpch in `DIR`"},

			&cli.StringFlag{Name: "device", Category: run, Value: "auto", Usage: "`DEVICE`: its index, name, id or backend; default: auto"},
			&cli.GenericFlag{Name: "device-memory", Category: run, Value: new(sizeValue), Usage: "use at most `SIZE` on the device, as in 512MiB; default: 80%"},
			&cli.IntFlag{Name: "repeat", Category: run, Value: 7, Usage: "time each join `TIMES` times, in turn; default: 7, for figures 3"},
			&cli.DurationFlag{Name: "warm", Category: run, Value: time.Second, Usage: "run the joins for a `TIME` before; default: 1s, for figures 50ms"},

			&cli.StringFlag{Name: "csv", Category: output, Usage: "write the results to `FILE`, which appears whole or not at all"},
		},
		Action: func(c *cli.Context) error {
			if slices.Equal(c.StringSlice("figure"), []string{"list"}) {
				s.listFigures()
				return nil
			}
			o, err := joinsOptionsOf(c)
			if err != nil {
				return err
			}
			return s.benchJoins(c.Context, o)
		},
	}
}

// joinsOptions are the flags of `bench joins`, checked.
type joinsOptions struct {
	deviceOptions
	algorithms   []joins.Algorithm // none: those of the figure
	figures      []joins.Figure
	cell         string // part of the place on the axis
	scale        int    // -1: by the device
	tpch         string
	repeat       int
	warm         time.Duration
	csv, command string
}

func joinsOptionsOf(c *cli.Context) (o joinsOptions, err error) {
	f := &joinFlags{Context: c}
	o = joinsOptions{deviceOptions: deviceOptionsOf(c), cell: c.String("cell"), scale: -1, tpch: c.String("tpch"),
		repeat: c.Int("repeat"), warm: c.Duration("warm"), csv: c.String("csv"), command: commandText(c)}
	if o.figures, err = joins.FindFigures(f.list("figure")); err != nil {
		return o, err
	}
	others := []string{"r-rows", "s-rows", "payloads", "key-bytes", "payload-bytes", "match-ratio", "zipf", "seed"}
	if len(o.figures) == 0 {
		others = []string{"cell", "scale", "tpch"}
	}
	for _, name := range others {
		switch {
		case !c.IsSet(name):
		case len(o.figures) > 0:
			f.fault("--%s is no flag for figures, which have their workloads", name)
		default:
			f.fault("--%s needs --figure", name)
		}
	}
	if len(o.figures) == 0 || c.Args().Present() {
		if o.algorithms, err = joins.Find(c.Args().Slice()); err != nil {
			return o, err
		}
	}
	if c.IsSet("scale") {
		if o.scale = c.Int("scale"); o.scale < 0 || o.scale > 62 {
			f.fault("--scale is %d, must be 0 to 62", o.scale)
		}
	}
	if o.repeat < 1 {
		f.fault("--repeat must be at least 1")
	}
	if len(o.figures) > 0 {
		if !c.IsSet("repeat") {
			o.repeat = 3
		}
		if !c.IsSet("warm") {
			o.warm = 50 * time.Millisecond
		}
	} else {
		spec := workload.DefaultPKFK(int64(*c.Generic("r-rows").(*rowsValue)), int64(*c.Generic("s-rows").(*rowsValue)))
		widths := f.ints("payload-bytes")
		if len(widths) == 0 {
			widths = []int{4}
		}
		if spec.RPayloads, err = payloadColumns("payloads", c.Int("payloads"), widths); err != nil {
			return o, err
		}
		spec.SPayloads, spec.KeyBytes = spec.RPayloads, c.Int("key-bytes")
		spec.MatchRatio, spec.Zipf, spec.Seed = c.Float64("match-ratio"), c.Float64("zipf"), c.Uint64("seed")
		o.figures, o.scale = []joins.Figure{{Cells: []joins.Cell{{Spec: spec}}}}, 0
	}
	if len(f.faults) > 0 {
		return o, usageError(strings.Join(f.faults, "; "))
	}
	return o, nil
}

func (s *session) listFigures() {
	for _, f := range joins.Figures() {
		about := fmt.Sprintf("%s; %s", f.Title, text.Plural(len(f.Cells), "cell"))
		if f.Note != "" {
			about += ". " + f.Note + "."
		}
		fmt.Fprintf(s.stdout, "%-8s %s\n", f.Name, text.Fold(about, reportColumns-9, "\n"+strings.Repeat(" ", 9)))
	}
}

func (s *session) benchJoins(ctx context.Context, o joinsOptions) (err error) {
	device, user, closeAll, err := s.openDevice(ctx, o.deviceOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	if o.scale < 0 {
		o.scale = 0
		if device.Info().CPULike() {
			o.scale = 8
		}
	}
	if spec := &o.figures[0].Cells[0].Spec; o.figures[0].Name == "" {
		if spec.RRows == 0 {
			spec.RRows = int64(defaultRows(device.Info()))
		}
		if spec.SRows == 0 {
			spec.SRows = 2 * spec.RRows
		}
		if err := spec.Validate(); err != nil {
			return usageError(err.Error())
		}
	}
	file, err := createBenchFile(o.csv, o.command, device.Info(), joinColumns)
	if err != nil {
		return err
	}
	defer file.abort()
	w := &sweep{session: s, joinsOptions: o, device: device, user: user, file: file, progress: s.newProgress(false), known: map[string]joins.Result{}}
	defer w.progress.close()
	fmt.Fprintln(s.stdout, text.Printable(fmt.Sprintf("%s, %s %s", device.Info().Name, device.Info().Driver, device.Info().DriverVersion)))
	for _, figure := range o.figures {
		if err := w.figure(ctx, figure); err != nil {
			return err
		}
	}
	return file.commit(ctx)
}

// sweep measures cells, each algorithm of a cell once, whatever the figures that have it.
type sweep struct {
	*session
	joinsOptions
	device   *backend.Device
	user     primitive.Tuning
	file     *benchFile
	progress *progress
	known    map[string]joins.Result // by workload and algorithm
}

func (w *sweep) figure(ctx context.Context, f joins.Figure) error {
	algorithms := w.algorithms
	if len(algorithms) == 0 {
		var err error
		if algorithms, err = joins.Find(f.Algorithms); err != nil {
			return err
		}
	}
	var cells []joins.Cell
	places := []string{""}
	for _, c := range f.Cells {
		if c.Query != "" {
			c.Folder = w.tpch
		}
		if c = c.Scaled(w.scale); f.Axis == nil || strings.Contains(f.Axis(c), w.cell) {
			cells = append(cells, c)
		}
	}
	if f.Axis != nil {
		fmt.Fprintln(w.stdout, "\n"+f.Name+": "+f.Title)
		places = nil
		for _, c := range cells {
			places = append(places, f.Axis(c))
		}
	} else {
		fmt.Fprintln(w.stdout, cells[0])
	}
	table := newJoinTable(places, algorithms)
	fmt.Fprintln(w.stdout, table.head())
	for i, c := range cells {
		if err := w.measure(ctx, f.Name, places[i], c, algorithms, table); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a line for each algorithm of a cell.
func (w *sweep) measure(ctx context.Context, figure, place string, c joins.Cell, algorithms []joins.Algorithm, table *joinTable) error {
	key := func(algorithm string) string { return c.String() + " " + algorithm }
	var unknown []joins.Algorithm
	for _, a := range algorithms {
		if _, known := w.known[key(a.Name)]; !known {
			unknown = append(unknown, a)
		}
	}
	results, err := w.run(ctx, c, unknown)
	w.progress.clearLine()
	if err != nil {
		return err
	}
	for _, r := range results {
		w.known[key(r.Algorithm)] = r
	}
	for _, a := range algorithms {
		r := w.known[key(a.Name)]
		fmt.Fprintln(w.stdout, table.line(place, &r))
		w.file.addJoin(figure, place, c, &r)
	}
	return nil
}

func (w *sweep) run(ctx context.Context, c joins.Cell, algorithms []joins.Algorithm) (results []joins.Result, err error) {
	if len(algorithms) == 0 {
		return nil, nil
	}
	w.progress.enter("make " + c.String())
	bed, err := joins.NewBed(ctx, w.device, w.user, c)
	if benchmark.DoesNotFit(err) {
		for _, a := range algorithms {
			results = append(results, joins.Result{Algorithm: a.Name, Skipped: err})
		}
		return results, nil
	}
	if err != nil {
		return nil, err
	}
	defer bed.Release()
	return bed.Measure(ctx, algorithms, w.repeat, w.warm, func(what string) { w.progress.enter(what + " " + c.String()) })
}

// joinTable prints measured joins, each followed by its stages.
type joinTable struct{ widths []int }

var (
	joinHead   = []string{"CELL", "ALGORITHM", "MEDIAN", "MIN", "MAX", "TUPLES/S", "MEMORY", "OUTPUT ROWS"}
	joinAligns = []text.Align{text.Left, text.Left, text.Right, text.Right, text.Right, text.Right, text.Right, text.Right}
)

// newJoinTable has no column for cells where their only place is "".
func newJoinTable(places []string, algorithms []joins.Algorithm) *joinTable {
	t := &joinTable{widths: []int{0, len(joinHead[1]), numberColumns, numberColumns, numberColumns, numberColumns, len("1023.9 MiB"), len(joinHead[7])}}
	for _, p := range places {
		if p != "" {
			t.widths[0] = max(t.widths[0], len(p), len(joinHead[0]))
		}
	}
	for _, a := range algorithms {
		t.widths[1] = max(t.widths[1], len(a.Name))
	}
	return t
}

func (t *joinTable) cells(cells []string) string {
	from := 0
	if t.widths[0] == 0 {
		from = 1
	}
	return text.TableLine(joinAligns[from:], t.widths[from:len(cells)], cells[from:])
}

func (t *joinTable) head() string { return t.cells(joinHead) }

func (t *joinTable) line(place string, r *joins.Result) string {
	if r.Skipped != nil {
		return t.cells([]string{place, r.Algorithm}) + text.Gap + "skipped: " + text.OneLine(r.Skipped.Error())
	}
	line := t.cells([]string{place, r.Algorithm, text.Duration(r.Times.Median), text.Duration(r.Times.Min), text.Duration(r.Times.Max),
		text.Rate(r.TuplesPerSecond(), ""), text.Bytes(r.PeakBytes), text.Rows(r.Rows)})
	if len(r.Stages) > 0 {
		line += "\n   " + text.Fold(stagesText(r.Stages), reportColumns-4, "\n   ")
	}
	return line
}

// stagesText lists the stages of a join with their times on the device.
func stagesText(stages []backend.StageTime) string {
	var texts []string
	for _, stage := range stages {
		texts = append(texts, fmt.Sprintf("%s %s", stage.Stage, text.Duration(stage.Time)))
	}
	return strings.Join(texts, ", ")
}

var joinColumns = benchColumns{
	texts: []string{"figure", "cell", "workload", "algorithm", "r_payload", "s_payload", "multiplicity", "self_join", "clock", "verified", "skipped", "stages"},
	numbers: []string{"seed", "joins", "key_bytes", "r_rows", "s_rows", "output_rows", "peak_bytes", "runs",
		"median_ns", "min_ns", "max_ns", "spread_ns", "wall_median_ns", "transform_ns", "match_ns", "gather_ns"},
	measures: []string{"match_ratio", "zipf", "tuples_per_second"},
}

// addJoin adds a row. Rows of what was skipped are those of the cell.
func (f *benchFile) addJoin(figure, place string, c joins.Cell, r *joins.Result) {
	spec := &c.Spec
	clock, verified, reason := clockText(r.DeviceTime), "yes", ""
	numbers, measures := []uint64{spec.Seed, uint64(max(c.Dimensions, 1)), uint64(spec.KeyBytes)}, []float64{spec.MatchRatio, spec.Zipf}
	if r.Skipped != nil {
		clock, verified, reason = "", "no", text.OneLine(r.Skipped.Error())
		numbers = append(numbers, uint64(spec.RRows), uint64(spec.SRows))
	} else {
		numbers = append(numbers, r.RRows, r.SRows, r.Rows, r.PeakBytes, uint64(r.Times.Runs))
		transform, match, gather := r.Phases()
		for _, t := range []time.Duration{r.Times.Median, r.Times.Min, r.Times.Max, r.Times.Spread, r.Wall.Median, transform, match, gather} {
			numbers = append(numbers, uint64(t.Nanoseconds()))
		}
		measures = append(measures, r.TuplesPerSecond())
	}
	var stages []string
	for _, stage := range r.Stages {
		stages = append(stages, fmt.Sprintf("%s=%d", stage.Stage, stage.Time.Nanoseconds()))
	}
	f.add([]string{figure, place, c.Kind(), r.Algorithm, workload.BytesText(spec.RPayloads, " "), workload.BytesText(spec.SPayloads, " "), spec.Multiplicity.String(),
		fmt.Sprint(spec.SelfJoin), clock, verified, reason, strings.Join(stages, ";")}, numbers, measures)
}
