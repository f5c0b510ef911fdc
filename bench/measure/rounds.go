package measure

import (
	"fmt"
	"time"
)

// Repeat runs until it is warm, and then the given number of times. It returns these runs.
func Repeat[R any](times int, warm time.Duration, run func() (R, error)) (runs []R, err error) {
	if err := warmUp(warm, func() error { _, err := run(); return err }); err != nil {
		return nil, err
	}
	for range times {
		r, err := run()
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// Contender is one of several ways to do the same.
type Contender[R any] struct {
	Name   string
	Verify func() error // runs once and looks at the answer
	Run    func() (R, error)
}

// Rounds verifies contenders and then times them, in rounds that run each once, so that other load on a shared machine
// affects all of them alike. It calls enter before it verifies a contender, and before the rounds. It returns the runs
// of each contender, and why one was skipped: the first error that skips accepts. Other errors end the measurement.
func Rounds[R any](contenders []Contender[R], times int, warm time.Duration, enter func(what string),
	skips func(error) bool) (runs [][]R, skipped []error, err error) {
	skipped = make([]error, len(contenders))
	each := func(step func(i int, c *Contender[R]) error) error {
		for i := range contenders {
			c := &contenders[i]
			if skipped[i] != nil {
				continue
			}
			if err := step(i, c); err != nil && skips(err) {
				skipped[i] = err
			} else if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		return nil
	}
	if err := each(func(_ int, c *Contender[R]) error {
		enter("verify " + c.Name)
		return c.Verify()
	}); err != nil {
		return nil, nil, err
	}
	enter("time")
	rounds, err := Repeat(times, warm, func() ([]R, error) {
		round := make([]R, len(contenders))
		return round, each(func(i int, c *Contender[R]) (err error) {
			round[i], err = c.Run()
			return err
		})
	})
	if err != nil {
		return nil, nil, err
	}
	runs = make([][]R, len(contenders))
	for i := range contenders {
		for _, round := range rounds {
			if skipped[i] == nil {
				runs[i] = append(runs[i], round[i])
			}
		}
	}
	return runs, skipped, nil
}
