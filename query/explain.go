package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// String returns the explain text of the plan.
func (q *Query) String() string {
	info := q.Engine.Device().Info()
	a := &q.Alternatives[0]
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(&b, q.Title)
	line("device", "%s (%s, %s)%s", info.Name, info.Backend, info.Type, q.shareText(a))
	for _, other := range q.Others {
		info, a := other.Engine.Device().Info(), &other.Alternatives[0]
		line("  and", "%s (%s, %s)%s, by %s", info.Name, info.Backend, info.Type, other.shareText(a), a.text())
	}
	of := "way"
	if q.Strategy != "" {
		of = "strategy"
	}
	writeWays(line, of, q.Ways)
	for text := range strings.Lines(a.Scans[0].Keys.String()) {
		line("key", "%s", strings.TrimRight(text, "\n"))
	}
	if q.Product {
		line("rows", "%s, each of one table with each of the other", text.Count(q.allRows()))
	} else {
		line("sample", "%s", q.sampleText())
	}
	if q.Empty != "" {
		line("no rows", "%s", q.Empty)
	}
	line("algorithm", "%s, %s", a.text(), q.reason())
	line("  that is", "%s", q.Meanings[a.Algorithm.Name()])
	told := make(map[string]bool) // what no place of columns helps is written once
	for i := range q.Alternatives[1:] {
		if not := q.Alternatives[i+1].whyNot(); !told[not] {
			line("  instead of", "%s", not)
			told[not] = true
		}
	}
	for side, keys := range q.Unique {
		if keys != nil {
			line("validate", "keys of the %s table must be unique", relation.Side(side))
		}
	}
	for side, name := range [2]string{"build", "probe"} {
		s := a.Scans[side].String()
		if side == operator.Probe && q.Parts {
			s = a.Scans[side].describe("rows as they come")
		}
		if n := a.Facts.Granules(); side == operator.Probe && n > 1 {
			s += fmt.Sprintf("; in %s of at most %s", text.Plural(n, "granule"), text.Plural(a.Facts.Granule, "row"))
		}
		line(name, "%s", s)
	}
	line("memory", "at most %s on the device", text.Limit(a.PeakBytes))
	q.writeColumns(line, a)
	if q.Ordered {
		line("order", "that of the %s table", q.First)
	}
	switch {
	case a.Output.Count:
	case q.Consumer != nil:
		line("output", "windows, which stay on the device")
	default:
		window, pieces := "of all rows at once", "batches"
		if q.Numbers {
			pieces = "pieces"
		}
		if a.Facts.Window > 0 {
			window = "of at most " + text.Plural(a.Facts.Window, "row")
		}
		line("output", "windows %s, %s of at most %s", window, pieces, text.Plural(a.batch, "row"))
	}
	if q.Rates != nil {
		line("predicted", "%s", stagesText(a.Stages))
	}
	return b.String()
}

// Way is a way in which one device or several can run a query.
type Way struct {
	Name   string        // as "one device"
	Time   time.Duration // predicted; 0 if it was not considered
	Reason string        // why it was not considered, or not taken although it is the fastest; otherwise ""
}

// writeWays writes lines that name ways, the first of which is taken.
func writeWays(line func(name, format string, args ...any), name string, ways []Way) {
	for i, w := range ways {
		if i > 0 {
			name = "  instead of"
		}
		way := w.Name
		switch {
		case w.Time > 0:
			way += ", " + text.Duration(w.Time)
		case w.Reason != "":
			way += ", not considered"
		}
		if w.Reason != "" {
			way += ": " + w.Reason
		}
		line(name, "%s", way)
	}
}

// shareText says how many rows of the probe side a device is expected to join, as one of several.
func (q *Query) shareText(a *Alternative) string {
	if q.Among <= 1 {
		return ""
	}
	return fmt.Sprintf(", about %s of the probe side", text.Plural(a.Facts.Rows[operator.Probe], "row"))
}

// text names the alternative, with its predicted time.
func (a *Alternative) text() string {
	name := a.Algorithm.Name()
	if a.Place == "host" && a.Transfer.Host != [2]int{} {
		name += ", columns on the host"
	}
	if a.Compare == CompareDevice {
		name += ", keys compared on the device"
	}
	if t := a.Time(); t > 0 {
		name += ", " + text.Duration(t)
	}
	return name
}

// whyNot names an alternative that was not chosen, and the reason.
func (a *Alternative) whyNot() string {
	known := a.text() + ", " + text.Limit(a.PeakBytes)
	if a.PeakBytes == 0 { // it was not planned
		known = a.Algorithm.Name()
	}
	if a.Err == nil {
		return known
	}
	detail := a.Err.Error()
	var op *backend.OpError
	if errors.As(a.Err, &op) {
		detail = op.Detail
	}
	return known + ": " + detail
}

// predictedRows is the expected number of output rows.
func (q *Query) predictedRows() (rows uint64) {
	if q.Empty != "" {
		return 0
	}
	f, want := &q.Facts, &q.Trees[0].Output
	if want.Pairs {
		rows = f.OutputRows
	}
	for side, ratio := range [2]float64{operator.Build: f.BuildRatio, operator.Probe: f.MatchRatio} {
		all := float64(f.Rows[side])
		if want.Matched[side] {
			rows += uint64(all * ratio)
		}
		if want.Rest[side] {
			rows += uint64(all * (1 - ratio))
		}
		s := q.Trees[0].Scans[side]
		rows += s.keylessRows()
	}
	return rows
}

// allRows is predictedRows of all devices together.
func (q *Query) allRows() (rows uint64) {
	rows = q.predictedRows()
	for _, other := range q.Others {
		rows += other.predictedRows()
	}
	return rows
}

func (q *Query) sampleText() string {
	f, scans := &q.Facts, q.Trees[0].Scans
	sample := fmt.Sprintf("about %s of output; %.0f%% of the %s rows have a match",
		text.Plural(q.allRows(), "row"), 100*f.MatchRatio, scans[operator.Probe].Side)
	if f.Unique {
		sample += fmt.Sprintf("; keys of the %s side seem to be unique", scans[operator.Build].Side)
	}
	for side, share := range f.Hottest {
		if share >= 0.01 {
			sample += fmt.Sprintf("; %.0f%% of the %s rows have one key", 100*share, scans[side].Side)
		}
	}
	return sample
}

// reason says why the first alternative was chosen.
func (q *Query) reason() string {
	able := 0
	for i := range q.Alternatives {
		if q.Alternatives[i].Err == nil {
			able++
		}
	}
	switch {
	case q.Forced:
		return "as asked for"
	case able == 1 && len(q.Alternatives) > 1:
		return "the only one that fits"
	case q.Rates == nil:
		return "by the decision tree, as no rates are known of this device"
	}
	reason := "the fastest by the rates of " + q.Rates.Name()
	for _, a := range q.Alternatives[1:] {
		if a.Err == nil && a.Time() < q.Alternatives[0].Time() {
			return "among those near " + reason + " the best in memory and time"
		}
	}
	return reason
}

// writeColumns lists the output columns that the host fetches by row number.
func (q *Query) writeColumns(line func(name, format string, args ...any), a *Alternative) {
	var host []string
	for i, c := range a.Columns {
		if slices.ContainsFunc(c.Of[:], func(v *deliver.Value) bool { return v != nil && v.Words == nil }) {
			host = append(host, q.Schema.Field(i).Name)
		}
	}
	if len(host) > 0 {
		line("gather", "on the host: %s", strings.Join(host, ", "))
	}
}

func stagesText(stages []operator.Stage) string {
	var texts []string
	for _, stage := range stages {
		texts = append(texts, stage.Name+" "+text.Duration(stage.Time))
	}
	return strings.Join(texts, ", ")
}
