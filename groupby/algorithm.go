package groupby

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/groupby/reduce"
)

// algorithms are what [Spec.Algorithm] may be.
var algorithms = map[string]struct {
	strategy reduce.Strategy
	text     string
}{
	"":         {reduce.Chosen, ""},
	"graphics": {reduce.Graphics, "hash images on the graphics pipeline, whose points are rows"},
	"sort":     {reduce.Sort, "a sort of the keys"},
}

// cannot returns why the device of an engine cannot group by the algorithm that is forced, which wraps
// backend.ErrUnsupported; nil if it can.
func (e *Engine) cannot(l *Layout) error {
	if algorithms[l.Spec.Algorithm].strategy != reduce.Graphics {
		return nil
	}
	if _, err := e.Device().Rasterizer(); err != nil {
		return err
	}
	table := l.tableOf(nil)
	defer table.Release()
	p := lower(l, table, true)
	for i := range p.columns {
		f := &p.columns[i]
		for _, state := range f.of {
			if r := p.reduction(p.requests[state]); !r.Drawn() {
				return &backend.OpError{Op: "plan group-by", Device: e.Device().Info().Name, Err: backend.ErrUnsupported,
					Detail: fmt.Sprintf("%s of %s is not drawn, because it depends on the order of the rows", f.aggregate,
						f.input.Type)}
			}
		}
	}
	return nil
}
