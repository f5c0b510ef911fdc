package planner

import (
	"fmt"
	"io"

	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/primitive"
)

// Report says what is written about measured cells in addition to the planner's choices.
type Report struct {
	Fit    bool // plan with rates fitted to the cells, and write these
	Errors bool // write the factors by which predictions of stages are off, if there are rates
}

// Write compares the planner with measured cells, using the rates of a device (nil: the decision tree, which cannot be
// fitted), and writes a line for each cell and the share of right choices.
func (r Report) Write(w io.Writer, cells []Cell, rates *planner.Rates, tuning primitive.Tuning) error {
	if r.Fit {
		fitted, err := Fit(cells, *rates, tuning)
		if err != nil {
			return err
		}
		rates = &fitted
	}
	verdicts, err := Check(cells, rates, tuning)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		fmt.Fprintf(w, "%5.2f  %-18s %10s  predicted %10s  best %-18s %10s  %s\n", v.Ratio(), v.Choice,
			text.Duration(v.Took), text.Duration(v.Plan), v.Best, text.Duration(v.Least), v.Cell.Name)
	}
	fmt.Fprintf(w, "%.0f%% of %s within %g of the best\n", 100*Share(verdicts),
		text.Plural(len(verdicts), "cell"), Near)
	if r.Errors && rates != nil {
		factors, err := Errors(cells, rates, tuning)
		if err != nil {
			return err
		}
		fmt.Fprint(w, factors)
	}
	if r.Fit {
		fmt.Fprintln(w, row(rates))
	}
	return nil
}
