package ranks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/source"
)

// Forecast is what the streams of the sides of a join would carry.
type Forecast struct {
	Way     Way
	HotKeys int
	Sent    [][]cluster.Traffic // from each rank to each
}

// Forecast computes what [Engine.Join] would send, without moving rows or joining them. It is collective, like Join:
// the ranks agree on the join, sample its keys, and divide their shares. The sizes of messages are computed, not
// measured; see [shuffle.Forecast]. It covers the streams of both sides: rounds of agreement are not counted, nor are
// reports of output rows under MaxOutputRows. Shares are read once, so a source that is no table cannot be joined
// afterwards.
//
// Errors are as for Join, and end the job.
func (e *Engine) Forecast(ctx context.Context, job cluster.Job, left, right source.Source, spec join.Spec) (
	f *Forecast, err error) {
	r := e.newRun(ctx, job, left, right)
	defer r.Close()
	defer func() {
		if err != nil {
			err = r.fail(err)
		}
	}()
	if err := r.plan(ctx, layoutOf(left, right, spec)); err != nil {
		return nil, err
	}
	r.sent = make([]cluster.Traffic, job.Size())
	if r.Way != Stay {
		if err := r.begin(ctx); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(r.sent)
	if err != nil {
		return nil, err
	}
	said, err := job.Gather(ctx, "join forecast", text)
	if err != nil {
		return nil, err
	}
	f = &Forecast{r.Way, r.HotKeys, make([][]cluster.Traffic, len(said))}
	for rank, text := range said {
		if err := json.Unmarshal(text, &f.Sent[rank]); err != nil {
			return nil, fmt.Errorf("%w: rank %d sent no forecast: %w", backend.ErrInvalidInput, rank, err)
		}
	}
	r.ended = true
	return f, nil
}
