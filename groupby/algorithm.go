package groupby

import (
	"fmt"
	"strings"

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
	for i := range l.Spec.Aggregates {
		a := &l.Spec.Aggregates[i]
		if a.Column == "" || kindOf(l.inputs[i].Type) != floating {
			continue
		}
		switch a.Func {
		case Sum, Avg, Var, Stddev:
			return &backend.OpError{Op: "plan group-by", Device: e.Device().Info().Name, Err: backend.ErrUnsupported,
				Detail: fmt.Sprintf("%s of %s is not drawn, because it depends on the order of the rows", a,
					l.inputs[i].Type)}
		}
	}
	return nil
}

// describeAlgorithm adds the algorithm that is forced to a text.
func (s *Spec) describeAlgorithm(b *strings.Builder) {
	if text := algorithms[s.Algorithm].text; text != "" {
		line(b, "algorithm", "%s: %s", s.Algorithm, text)
	}
}
