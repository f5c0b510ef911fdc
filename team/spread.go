package team

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/planner"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
)

// If bytes go from device to device without the host, each device may load only its range of the rows of the build side
// and get the other rows from the other devices. Rows then cross the links to the host once, however many devices there
// are.
//
//	device 0: load rows 0..n/2 ─┐           ┌─► all rows
//	device 1: load rows n/2..n ─┴── copies ─┴─► all rows

// LeastSpreadBytes is the least size of a build side for which this is worth the rounds of an exchange.
const LeastSpreadBytes = 16 << 20

// MaySpread reports whether the devices of the query can load the build side once, and whether it is large enough. All
// must have the same columns, and it must fit the memory that is planned.
func MaySpread(q *query.Query) bool {
	e, f := q.Engine, &q.Alternatives[0].Facts
	if len(q.Others) == 0 || q.Empty != "" || q.Scattered {
		return false
	}
	for _, of := range append([]*query.Query{q}, q.Others...) {
		a := &of.Alternatives[0]
		same := slices.Equal(a.Facts.Payload[operator.Build], f.Payload[operator.Build])
		if !same || a.Compare == query.CompareDevice || mirroredBytes(&a.Facts) > a.PeakBytes && !e.Spread {
			return false
		}
		if of.Engine.Device().Info().Unified && !e.Spread { // which loads nothing over a link
			return false
		}
	}
	return e.Spread || f.Rows[operator.Build]*f.RowBytes(operator.Build) >= LeastSpreadBytes
}

// Direct reports whether there are links between all devices of the query that are known not to go through the host:
// making them takes longer than most joins ([query.Engine.Connect]).
func Direct(q *query.Query) bool {
	all := append([]*query.Query{q}, q.Others...)
	for _, from := range all {
		for _, to := range all {
			if from == to {
				continue
			}
			if _, direct := q.Engine.Links().Rate(from.Engine.Device(), to.Engine.Device()); !direct {
				return false
			}
		}
	}
	return true
}

// spread builds on all lanes, each of which loads its range of rows.
func spread(ctx context.Context, all []*query.Lane) error {
	return peers.RunRanks(ctx, all[0].Query.Engine.Links(), lanesOf(all), nil,
		func(ctx context.Context, p *peers.Rank) error {
			l := all[p.Rank()]
			return l.Build(ctx, func(ctx context.Context) (*relation.Chunk, error) { return mirror(ctx, l.Built(), p) })
		})
}

// lanesOf are the lanes of the build sides.
func lanesOf(all []*query.Lane) (lanes []*exec.Lane) {
	for _, l := range all {
		lanes = append(lanes, l.Built().Lane())
	}
	return lanes
}

// mirror loads the rank's range of the build side into its place among all rows, piece by piece, and copies each piece
// to the same place on the other devices, while the next one is loaded. It returns all rows.
func mirror(ctx context.Context, b *query.Built, me *peers.Rank) (*relation.Chunk, error) {
	s := b.Scan()
	whole, columns := allRows(b)
	if err := b.Memory().Err(); err != nil {
		return nil, err
	}
	offer, err := me.Offer(ctx, "build side", columns)
	if err != nil {
		return nil, err
	}
	from, _ := mine(me, 0, int(s.Table.NumRows()))
	at := s.Keys.RowsIn(s.Side, 0, from)
	load := func(ctx context.Context) iter.Seq2[*piece, error] { return pieces(ctx, b, me) }
	for p, err := range exec.Ahead(exec.FlowOf(ctx), "load piece", load) {
		if err != nil {
			return nil, err
		}
		err = mirrorPiece(ctx, b.Lane(), me, offer, columns, p.Chunk, at)
		at += p.Rows
		p.Release()
		if err != nil {
			return nil, err
		}
	}
	return whole, peers.Barrier(ctx, me, "mirrored")
}

// allRows allocates the columns of all rows of the build side.
func allRows(b *query.Built) (whole *relation.Chunk, columns []backend.Range) {
	s := b.Scan()
	var all []relation.Values
	for _, bytes := range append([]int{s.Keys.KeyBytes()}, s.Payload()...) {
		data := b.Memory().New(s.Rows()*uint64(bytes), s.Side.String()+" rows").All()
		all, columns = append(all, relation.Values{Data: data, Bytes: bytes}), append(columns, data)
	}
	return &relation.Chunk{Rows: s.Rows(), Keys: all[0], Payload: all[1:]}, columns
}

// mirrorPiece copies the rows of a piece to all devices, from row at on.
func mirrorPiece(ctx context.Context, lane *exec.Lane, me *peers.Rank, offer peers.Offer, columns []backend.Range,
	p *relation.Chunk, at uint64) error {
	if p.Rows == 0 {
		return nil
	}
	flow, list := exec.NewFlow(ctx), lane.List("copy rows")
	defer flow.Stop()
	for i, values := range p.Columns() {
		bytes := uint64(values.Bytes)
		rows := values.Data.Part(0, p.Rows*bytes)
		for there := range me.Size() {
			if there == me.Rank() {
				continue
			}
			flow.Go(fmt.Sprintf("copy to %d", there), func(ctx context.Context) error {
				return offer.Put(ctx, there, i, at*bytes, rows)
			})
		}
		if err := lane.Copy(list, columns[i].Part(at*bytes, rows.SizeBytes), rows); err != nil {
			return err
		}
	}
	if err := lane.Submit(ctx, list); err != nil {
		return err
	}
	return flow.Wait()
}

// mirroredBytes is the device memory of a build side with these facts that devices load in this way: all rows, and the
// pieces on their way.
func mirroredBytes(f *operator.Facts) uint64 {
	rows := f.Rows[operator.Build] * f.RowBytes(operator.Build)
	need := rows + 3*rows/planner.SpreadPieces/2
	return need + operator.Slack(need)
}
