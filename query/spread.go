package query

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/peers"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// Where bytes go from device to device without the host, each device loads only its range of the rows of the build
// side, and gets the others from the other devices: they cross the links to the host once, however many devices there
// are.
//
//	device 0: load rows 0..n/2 ─┐           ┌─► all rows
//	device 1: load rows n/2..n ─┴── copies ─┴─► all rows

// leastSpreadBytes is the size of a build side for which that is worth the rounds of an exchange.
const leastSpreadBytes = 16 << 20

// spreads reports whether the build side of the strands is loaded once. All must have the same columns, and the links
// must be there: to make them takes longer than most joins ([Engine.Connect]). It must fit the memory that is planned.
func (r *Result) spreads() bool {
	e, f := r.Query.Engine, &r.taken.Facts
	if len(r.strands) == 1 || r.Query.Empty != "" {
		return false
	}
	sizeBytes := f.Rows[operator.Build] * rowBytes(f, operator.Build)
	for _, s := range r.strands {
		same := slices.Equal(s.taken.Facts.Payload[operator.Build], f.Payload[operator.Build])
		if !same || s.taken.Compare == CompareDevice || mirroredBytes(&s.taken.Facts) > s.taken.PeakBytes && !e.Spread {
			return false
		}
		if s.Query.Engine.Device().Info().Unified && !e.Spread { // which loads nothing over a link
			return false
		}
	}
	if e.Spread || sizeBytes < leastSpreadBytes {
		return e.Spread
	}
	for _, from := range r.strands {
		for _, to := range r.strands {
			if from != to && !e.links.Direct(from.Query.Engine.Device(), to.Query.Engine.Device()) {
				return false
			}
		}
	}
	return true
}

// spread builds on all strands, each of which loads its range of rows.
func (r *Result) spread(ctx context.Context) error {
	lanes, weights := make([]*exec.Lane, len(r.strands)), make([]uint32, len(r.strands))
	for i, s := range r.strands {
		lanes[i], weights[i] = s.built.lane, 1
	}
	return peers.RunRanks(ctx, r.Query.Engine.links, lanes, weights, func(ctx context.Context, p *peers.Rank) error {
		s := r.strands[p.Rank()]
		return s.built.fill(ctx, s.proved(), &r.encode, &rank{of: p})
	})
}

// mirror loads the rank's range of the build side into its place among all rows, piece by piece, and copies each piece
// to the same place on the other devices, while the next one is loaded. It returns all rows.
func (b *Built) mirror(ctx context.Context, rank *rank) (*relation.Chunk, error) {
	s := b.held.Scans[operator.Build]
	whole, columns := b.allRows(s)
	if err := b.memory.Err(); err != nil {
		return nil, err
	}
	offer, err := rank.of.Offer(ctx, "build side", columns)
	if err != nil {
		return nil, err
	}
	from, _ := rank.mine(0, int(s.Table.NumRows()))
	at := s.Keys.RowsIn(s.Side, 0, from)
	load := func(ctx context.Context) iter.Seq2[*piece, error] { return b.pieces(ctx, rank) }
	for p, err := range exec.Ahead(exec.FlowOf(ctx), "load piece", load) {
		if err != nil {
			return nil, err
		}
		err = b.mirrorPiece(ctx, rank.of, offer, columns, p.Chunk, at)
		at += p.Rows
		p.Release()
		if err != nil {
			return nil, err
		}
	}
	return whole, peers.Barrier(ctx, rank.of, "mirrored")
}

// allRows allocates the columns of all rows of a scan.
func (b *Built) allRows(s *Scan) (whole *relation.Chunk, columns []backend.Range) {
	whole = &relation.Chunk{Rows: s.Rows()}
	column := func(bytes int) relation.Values {
		v := relation.Values{Data: b.memory.New(whole.Rows*uint64(bytes), s.Side.String()+" rows").All(), Bytes: bytes}
		columns = append(columns, v.Data)
		return v
	}
	whole.Keys = column(s.Keys.KeyBytes())
	for _, bytes := range s.Payload() {
		whole.Payload = append(whole.Payload, column(bytes))
	}
	return whole, columns
}

// mirrorPiece copies the rows of a piece to all devices, from row at on.
func (b *Built) mirrorPiece(ctx context.Context, me *peers.Rank, offer peers.Offer, columns []backend.Range,
	p *relation.Chunk, at uint64) error {
	if p.Rows == 0 {
		return nil
	}
	flow, list := exec.NewFlow(ctx), b.lane.List("copy rows")
	defer flow.Stop()
	for i, values := range append([]relation.Values{p.Keys}, p.Payload...) {
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
		if err := b.lane.Copy(list, columns[i].Part(at*bytes, rows.SizeBytes), rows); err != nil {
			return err
		}
	}
	if err := b.lane.Submit(ctx, list); err != nil {
		return err
	}
	return flow.Wait()
}

// mirroredBytes is the device memory of a build side of these facts that is loaded so: all rows, and the pieces on
// their way.
func mirroredBytes(f *operator.Facts) uint64 {
	rows := f.Rows[operator.Build] * rowBytes(f, operator.Build)
	need := rows + 3*rows/scatteredPieces/2
	return need + operator.Slack(need)
}
