// Package team joins on several devices together. A team is the lanes of one query, one on each device. Either each
// device has the whole build side and they share the parts of the probe side ([apart]), or rows of both sides with
// equal keys meet on one of the devices ([scattered]), or the devices sort both sides together, so that each has a
// range of the keys ([sorted]).
//
//	parts ─┬─► lane of device 0: build side, operator ─┬─► pieces of output
//	       └─► lane of device 1: build side, operator ─┘
package team

import (
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/query"
)

// Stream joins the parts of a probe side, which come from a pipe of the flow, on the devices that the query was planned
// for; see [query.Query.Stream].
func Stream(flow *exec.Flow, q *query.Query, parts *exec.Pipe[*query.Part]) (*query.Result, error) {
	if len(q.Others) == 0 {
		return q.Stream(flow, parts)
	}
	return query.Start(flow, append([]*query.Query{q}, q.Others...), func(lanes []*query.Lane) query.Team {
		if q.Scattered {
			return newScattered(lanes, parts)
		}
		return newApart(flow, lanes, parts)
	})
}

// marks reports whether the output depends on marks of the build side.
func marks(l *query.Lane) bool { return l.Taken().Output.Marks(operator.Build) }
