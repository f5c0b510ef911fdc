package groupby

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Plan describes a group-by before it runs.
type Plan struct {
	Layout *Layout
	engine *Engine
	keys   *keys.Plan
	rows   int64
}

// Plan measures the keys of a table. Errors: as for [Engine.Group], as far as they are known before it runs.
func (e *Engine) Plan(ctx context.Context, layout *Layout, table arrow.Table) (*Plan, error) {
	if err := e.cannot(layout); err != nil {
		return nil, fmt.Errorf("group by: %w", err)
	}
	memory := e.memory()
	defer memory.Release()
	keys, err := keys.PlanGroups(ctx, table, layout.Spec.By, false, roomIn(memory))
	if err != nil {
		return nil, fmt.Errorf("group by: %w", err)
	}
	return &Plan{layout, e, keys, table.NumRows()}, nil
}

// String returns the text of the plan.
func (p *Plan) String() string {
	var b strings.Builder
	p.Layout.describe(&b, uint64(p.rows), p.engine.Device().Info(), p.keys)
	return b.String()
}

func (s *Spec) keys() string {
	if len(s.By) == 0 {
		return "nothing"
	}
	return strings.Join(s.By, ", ")
}

// describe adds the rows, the device, the keys and the aggregates to a text. plan is nil for keys of several plans.
func (l *Layout) describe(b *strings.Builder, rows uint64, device *backend.DeviceInfo, plan *keys.Plan) {
	fmt.Fprintf(b, "group %d rows by %s\n", rows, l.Spec.keys())
	line(b, "device", "%s (%s, %s)", device.Name, device.Backend, device.Type)
	if text := algorithms[l.Spec.Algorithm].text; text != "" {
		line(b, "algorithm", "%s: %s", l.Spec.Algorithm, text)
	}
	if len(l.Spec.By) == 0 {
		line(b, "key", "none: all rows are one group")
	}
	for i, name := range l.Spec.By {
		of := ""
		if plan != nil {
			of = plan.Range(i)
		}
		line(b, "key", "%s %s%s", name, l.types[name], of)
	}
	switch {
	case plan == nil:
	case !plan.Exact():
		line(b, "codes", "hashes of 64 bits; each row is compared with the first one of its group")
	case len(l.Spec.By) > 0:
		line(b, "codes", "%d bits", plan.KeyBits())
	}
	l.describeAggregates(b)
}

func (l *Layout) describeAggregates(b *strings.Builder) {
	for i := range l.Spec.Aggregates {
		field := l.Schema.Field(len(l.Spec.By) + i)
		line(b, "aggregate", "%s %s = %s", field.Name, field.Type, &l.Spec.Aggregates[i])
	}
}

// String returns the text of what is known before there are rows.
func (l *Layout) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "by %s\n", l.Spec.keys())
	for _, name := range l.Spec.By {
		line(&b, "key", "%s %s", name, l.types[name])
	}
	l.describeAggregates(&b)
	return b.String()
}

func line(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
}
