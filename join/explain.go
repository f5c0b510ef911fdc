package join

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/relation"
)

// String explains the plan.
func (p *Plan) String() string {
	info := p.engine.Ops.Device().Info()
	a := &p.Alternatives[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s join of %d x %d rows, output %s\n", p.Spec.How, p.tables[0].NumRows(), p.tables[1].NumRows(),
		p.Spec.Output)
	fmt.Fprintf(&b, "device       %s (%s, %s)\n", info.Name, info.Backend, info.Type)
	for line := range strings.Lines(p.keys.String()) {
		fmt.Fprintf(&b, "key          %s\n", strings.TrimRight(line, "\n"))
	}
	if p.Spec.Output != Ranges {
		fmt.Fprintf(&b, "sample       %s\n", p.sampleText(&a.facts))
	}
	fmt.Fprintf(&b, "algorithm    %s, %s\n", a.text(), p.reason())
	for i := range p.Alternatives[1:] {
		other := &p.Alternatives[i+1]
		fmt.Fprintf(&b, "  not        %s\n", p.whyNot(other))
	}
	if a.batchwise() {
		b.WriteString(p.sort.String())
	} else {
		p.writeRelations(&b, a)
	}
	p.writeColumns(&b, a)
	if p.Spec.Output == Rows || p.Spec.Output == Pairs {
		fmt.Fprintf(&b, "output       in batches of at most %d rows\n", a.batch)
	}
	if p.rates != nil {
		fmt.Fprintf(&b, "predicted    %s\n", stagesText(a.Stages))
	}
	return b.String()
}

// text names the alternative, with what is predicted for it.
func (a *Alternative) text() string {
	name := a.Name()
	if a.Place == MaterializeHost && a.facts.Host != [2]int{} {
		name += ", columns on the host"
	}
	if a.Time > 0 {
		name += ", " + text.Duration(a.Time)
	}
	return name
}

func (p *Plan) sampleText(f *plan.Facts) string {
	probe := 1 - f.Build()
	text := fmt.Sprintf("about %d rows of output; %.0f%% of the %s rows have a match", f.OutputRows, 100*f.MatchRatio,
		probe)
	if f.Unique {
		text += fmt.Sprintf("; keys of the %s side seem to be unique", f.Build())
	}
	for side, share := range f.Hottest {
		if share >= 0.01 {
			text += fmt.Sprintf("; %.0f%% of the %s rows have one key", 100*share, relation.Side(side))
		}
	}
	return text
}

// reason is why the first alternative is taken.
func (p *Plan) reason() string {
	able := 0
	for i := range p.Alternatives {
		if p.Alternatives[i].Err == nil {
			able++
		}
	}
	switch {
	case p.Spec.Output == Ranges:
		return "the only one with key ranges"
	case p.Spec.Algorithm != plan.Auto:
		return "as asked for"
	case able == 1 && len(p.Alternatives) > 1:
		return "the only one that fits"
	case p.rates == nil:
		return "by the decision tree, as no rates are known of this device"
	}
	reason := "the fastest by the rates of " + p.rates.Device
	for _, a := range p.Alternatives[1:] {
		if a.Err == nil && a.Time < p.Alternatives[0].Time {
			return "among those near " + reason + " the one that needs the least memory"
		}
	}
	return reason
}

// whyNot names an alternative that was not taken, and why.
func (p *Plan) whyNot(a *Alternative) string {
	known := a.text() + ", " + text.Mebibytes(a.PeakBytes)
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

// writeRelations lists what goes to the device as relations.
func (p *Plan) writeRelations(b *strings.Builder, a *Alternative) {
	for side, rows := range a.facts.Rows {
		columns := []string{fmt.Sprintf("keys of %d bytes", a.facts.KeyBytes)}
		for i, c := range p.Layout.Columns {
			if int(c.Side) == side && p.method(i, a.Place) == asPayload {
				columns = append(columns, p.Layout.Schema.Field(i).Name)
			}
		}
		if a.facts.Numbers[side] {
			columns = append(columns, "row numbers")
		}
		fmt.Fprintf(b, "relation     %s, %d rows: %s\n", relation.Side(side), rows, strings.Join(columns, ", "))
	}
	fmt.Fprintf(b, "memory       at most %s on the device\n", text.Mebibytes(a.PeakBytes))
}

// writeColumns lists the output columns that are fetched by row number, by where.
func (p *Plan) writeColumns(b *strings.Builder, a *Alternative) {
	var device, host []string
	onDevice := p.gatheredOnDevice(a)
	for i, field := range p.Layout.Schema.Fields() {
		switch {
		case onDevice[i]:
			device = append(device, field.Name)
		case a.batchwise() || p.method(i, a.Place) == byHost:
			host = append(host, field.Name)
		}
	}
	if len(device) > 0 {
		fmt.Fprintf(b, "gather       on the device: %s\n", strings.Join(device, ", "))
	}
	if len(host) > 0 {
		fmt.Fprintf(b, "gather       on the host: %s\n", strings.Join(host, ", "))
	}
}

func stagesText(stages []plan.Stage) string {
	var texts []string
	for _, stage := range stages {
		texts = append(texts, stage.Name+" "+text.Duration(stage.Time))
	}
	return strings.Join(texts, ", ")
}
