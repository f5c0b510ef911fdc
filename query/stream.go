package query

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
)

// Part is a part of a probe side that comes part by part. Trees returns the trees of the query on an engine, in the
// same order, with scans of the rows of the part.
type Part struct {
	Trees func(*Engine) []Join
	Table arrow.Table // the probe table of the trees; released with the part
	First uint64      // number of its first row in the order of the source
}

// Release releases the table.
func (p *Part) Release() { p.Table.Release() }

// tree returns the tree that gathers columns in a place, or the first one.
func tree(of []Join, place string) *Join {
	return &of[max(0, slices.IndexFunc(of, func(tree Join) bool { return tree.Place == place }))]
}

// Portion is what a lane gets of the probe side at a time: all of it or, if it comes part by part, a part.
type Portion struct {
	*Join
	Part     *Part             // nil if the portion is the whole probe side
	Delivery *deliver.Delivery // of the output of the portion
}

// Portion returns a part as a portion. done is called when all its output is delivered.
func (l *Lane) Portion(part *Part, done func()) *Portion {
	return &Portion{tree(part.Trees(l.Query.Engine), l.taken.Place), part, deliver.NewDelivery(done)}
}

// Probed counts rows of the probe side that the source gave.
func (l *Lane) Probed(rows int64) { l.result.probed.Add(uint64(rows)) }

// Whole returns a source that gives the whole probe side.
func (l *Lane) Whole() func(context.Context) (*Portion, error) {
	given := false
	return func(context.Context) (*Portion, error) {
		if given {
			return nil, nil
		}
		given = true
		return &Portion{l.taken.Join, nil, deliver.NewDelivery(func() {})}, nil
	}
}

// partsOf is a source that gives the parts in a pipe.
func (l *Lane) partsOf(parts *exec.Pipe[*Part]) func(context.Context) (*Portion, error) {
	return func(ctx context.Context) (*Portion, error) {
		part, some, err := parts.Take(ctx)
		if err != nil || !some {
			return nil, err
		}
		rows := part.Table.NumRows()
		l.Probed(rows)
		return l.Portion(part, func() { l.Bring(uint64(rows)) }), nil
	}
}

// Stream is Run for a probe side that comes part by part, from a pipe of the flow. The result owns the flow from now
// on. The trees of the query have a probe table without rows. A piece of output keeps the part alive that its columns
// come from.
func (q *Query) Stream(flow *exec.Flow, parts *exec.Pipe[*Part]) (*Result, error) {
	return Start(flow, []*Query{q}, func(lanes []*Lane) Team {
		lanes[0].Source = lanes[0].partsOf(parts)
		return alone{}
	})
}

// Stream is [Built.Probe] for a probe side that comes part by part, as in [Query.Stream].
func (b *Built) Stream(flow *exec.Flow, q *Query, parts *exec.Pipe[*Part]) (*Result, error) {
	return b.probe(flow, q, func(l *Lane) { l.Source = l.partsOf(parts) })
}

// PartsRoom returns the host memory for all parts of the probe side at a time; 0: no limit. aloneBytes is what they
// could have if no other query ran.
func (q *Query) PartsRoom() (sizeBytes, aloneBytes uint64) {
	a := &q.Alternatives[0]
	return a.parts, q.aloneBytes(a)
}

// PartsRoom is [Query.PartsRoom] for a stream whose parts need wishBytes to run best. It reserves free memory for them
// until the result is closed. There is always room for [LeastPartBytes] per part.
func (b *Built) PartsRoom(wishBytes uint64) (sizeBytes, aloneBytes uint64) {
	if b.taken.parts == 0 {
		return 0, 0
	}
	more := wishBytes - min(wishBytes, b.taken.parts)
	return b.taken.parts + b.grant.ReserveHost(more), b.Query.aloneBytes(b.taken)
}

// Taken returns the alternative for which the build side was made.
func (b *Built) Taken() *Alternative { return b.taken }
