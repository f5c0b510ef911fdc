package primitive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/bench/measure"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// Tables tunes tables and stores improvements in the user's tuning file.
type Tables struct {
	Names []string // none: all that can be tuned
	Rows  uint64   // of each case; 0: enough to keep the device busy
	Options
	File string // the tuning file; empty: nothing is stored
}

// Run tunes on a device with the user's rows of its tables and prints the candidates of each problem. Candidates that
// give a wrong result are refused, and named in the returned ErrWrong after all problems are done.
func (t Tables) Run(ctx context.Context, device *backend.Device, user primitive.Tuning, out measure.Output) error {
	if t.Rows == 0 {
		t.Rows = measure.DefaultRows(device.Info())
	}
	problems, err := Problems(t.Names, t.Rows)
	if err != nil {
		return err
	}
	rig, err := NewRig(device, user, t.Options)
	if err != nil {
		return err
	}
	var wrong []string
	kept := 0
	for _, problem := range problems {
		choice, err := tuneOne(ctx, rig, device.Info(), problem, out)
		if err != nil {
			return err
		}
		writeChoice(out, &choice)
		for _, trial := range choice.Trials {
			if errors.Is(trial.Fault, measure.ErrWrong) {
				wrong = append(wrong, fmt.Sprintf("%s %v", problem.Table, trial.Config))
			}
		}
		if t.File == "" {
			continue
		}
		if err := keep(t.File, &choice, device.Info()); err != nil {
			return err
		}
		if choice.Better {
			kept++
		}
	}
	if kept > 0 {
		fmt.Fprintf(out, "%s kept in %s\n", text.Plural(kept, "row"), text.Printable(t.File))
	}
	if len(wrong) > 0 {
		return measure.Wrongf("refused were %s", strings.Join(wrong, "; "))
	}
	return nil
}

func tuneOne(ctx context.Context, rig *Rig, info *backend.DeviceInfo, p Problem, out measure.Output) (Choice, error) {
	candidates, err := Candidates(p, info)
	if err != nil {
		return Choice{}, err
	}
	return rig.Tune(ctx, p, candidates, func(done, total int) {
		out.Phase("tune "+p.Table+" "+p.Variant.String(), uint64(done), uint64(total))
	})
}

// keep reads the file again, because it may have changed since.
func keep(path string, choice *Choice, info *backend.DeviceInfo) error {
	rows, err := spirjoin.ReadTuning(path)
	if err != nil {
		return err
	}
	revised := choice.Revise(rows, info, time.Now().UTC().Format(time.DateOnly))
	if !choice.Better && len(revised) == len(rows) {
		return nil
	}
	return spirjoin.WriteTuning(path, revised)
}

// writeChoice prints the candidates of a problem, the fastest first.
func writeChoice(w io.Writer, c *Choice) {
	fmt.Fprintf(w, "%s, by %v\n", strings.TrimSpace(c.Table+" "+c.Variant.String()), c.Case)
	rows := [][]string{{"CANDIDATE", "MEDIAN", "SPREAD", "ROWS/S", "OF COPY", ""}}
	for _, trial := range c.Trials {
		if trial.Fault != nil {
			fault := text.Shorten(text.OneLine(trial.Fault.Error()), text.ReportColumns)
			rows = append(rows, []string{trial.Config.String(), "-", "-", "-", "-", "refused: " + fault})
			continue
		}
		remark := ""
		switch {
		case maps.Equal(trial.Config, c.Best.Config) && c.Better:
			remark = fmt.Sprintf("chosen: again %s, the present %s",
				text.Duration(c.Best.Times.Median), text.Duration(c.Present.Times.Median))
		case maps.Equal(trial.Config, c.Present.Config) && c.Better:
			remark = "present"
		case maps.Equal(trial.Config, c.Best.Config) && !maps.Equal(trial.Config, c.Present.Config):
			remark = "not better by more than the spread"
		case maps.Equal(trial.Config, c.Present.Config):
			remark = "present, stays"
		}
		rows = append(rows, []string{trial.Config.String(), text.Duration(trial.Times.Median),
			text.Duration(trial.Times.Spread),
			text.Rate(trial.RowsPerSecond(), ""), fmt.Sprintf("%.0f%%", 100*trial.CopyShare()), remark})
	}
	text.WriteTable(w, []text.Align{text.Left, text.Right, text.Right, text.Right, text.Right, text.Left}, rows)
	fmt.Fprintln(w)
}
