package join

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/internal/text"
)

// planDivided is the plan of a join of tables for which the device is too small, as short says: both are divided into
// parts, each of which is a join of its own. If the join does not allow that ([Engine.Stream]), the error is short, if
// possible with what would allow it.
func (e *Engine) planDivided(layout *Layout, tables [2]arrow.Table, short error) (*Plan, error) {
	p := &Plan{Layout: layout, engine: e, tables: tables, short: short}
	parts := layout.ofParts()
	side, _ := parts.streamBuildSide(p.sources())
	if parts.checkStream(side) != nil {
		return nil, short
	}
	if e.whole(&layout.Spec, 0) != "" {
		return nil, fmt.Errorf("%w, or set temp_dir, so that both tables can be divided", short)
	}
	return p, nil
}

// ofParts is the layout of a join whose sides are divided at once: parts come in any order, and are merged ([merge]).
func (l *Layout) ofParts() *Layout {
	fixed := *l
	fixed.Spec.Order = Unordered
	return &fixed
}

// runDivided runs the plan of tables that are divided.
func (p *Plan) runDivided(ctx context.Context) (*Result, error) {
	return p.engine.streamLayout(ctx, p.Layout, p.sources(), part{divides: true})
}

func (p *Plan) sources() [2]Source { return [2]Source{FromTable(p.tables[0]), FromTable(p.tables[1])} }

// dividedText is the text of the plan of tables that are divided.
func (p *Plan) dividedText() string {
	spec, way := &p.Layout.Spec, "into parts by hashes of the keys"
	if spec.How == Cross {
		way = "into blocks"
	}
	return fmt.Sprintf("%s\ndivided      %s, which are joined one after the other\n  because    %v\n",
		spec.title(text.Count(p.tables[0].NumRows()), text.Count(p.tables[1].NumRows())), way, p.short)
}

// title is the first line of the text of a plan.
func (s *Spec) title(leftRows, rightRows string) string {
	return fmt.Sprintf("%s join of %s x %s rows, output %s", s.How, leftRows, rightRows, s.Output)
}
