package ranks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Filtering says whether rows of the probe side that have no partner are dropped before they move.
type Filtering uint8

const (
	FilterAuto  Filtering = iota // if there are several nodes, and a sample says that it pays
	FilterNever                  // for measurements
	FilterAll                    // if the join allows it, whatever the sample says
)

func (f Filtering) String() string { return []string{"auto", "never", "all"}[f] }

// prefilter drops rows of the probe side that have no partner before they move. The build side is exchanged first. Each
// owner puts the keys that it gets in its part of a filter, and looks up sampled keys of the probe sides of all ranks.
// If enough of them have no partner, all ranks get all parts of the filter, and the probe sides begin to move.
//
//	rank 0   build rows of rank 0 ─► part 0 ─┐ of 512 sampled keys 40 are known   ─┐ parts ─► filter ─► probe rows
//	rank 1   build rows of rank 1 ─► part 1 ─┘ of 488 sampled keys 51 are known   ─┘ parts ─► filter ─► probe rows
//
// Rows of hot keys are not looked up: their partners are not on the owners, and the key would be known anyway.
type prefilter struct {
	*run
	filter  *exchange.Filter
	hashes  *keys.Hashes
	samples []sample // by rank
	hot     []hotKey
	ready   chan struct{} // closed when it is known whether rows are dropped, and which
}

// Limits of a filter.
const (
	mostFilterBytes = 256 << 20
	filterShare     = 32 // inverse of the share of the memory limit that the parts of all ranks take at most
)

// mayFilter reports whether rows of a side that have no partner do not change the output. A side whose keys must be
// unique is never the probe side.
func mayFilter(spec *join.Spec, probe relation.Side) bool {
	return !spec.How.Keeps(probe) && spec.How != join.NotIn
}

// planFilter returns the size of the part of the filter that each rank makes; 0 if there is none. All ranks choose
// alike.
func (f Filtering) planFilter(spec *join.Spec, probe relation.Side, t totals) (partBytes uint64) {
	rows := t.rows[1-probe]
	if f == FilterNever || rows < 0 || !mayFilter(spec, probe) {
		return 0
	}
	partBytes = exchange.FilterBytes(uint64(rows), t.ranks)
	sizeBytes := partBytes * uint64(t.ranks)
	if sizeBytes > min(mostFilterBytes, t.limitBytes/filterShare) ||
		f == FilterAuto && (t.nodes == 1 || !pays(t, probe, partBytes, float64(t.rows[probe]))) {
		return 0
	}
	return partBytes
}

// What a filter costs, as bytes that a rank could divide, send and join meanwhile.
const (
	testBytes   = 8       // the test of a row
	roundsBytes = 1 << 20 // both rounds
)

// pays reports whether dropping so many rows of the probe side saves more bytes than the parts of a filter, which each
// rank sends to all others, and the tests of all rows cost. It does not if sizes are unknown.
func pays(t totals, probe relation.Side, partBytes uint64, droppedRows float64) bool {
	if t.bytes[probe] < 0 || t.rows[probe] <= 0 {
		return false
	}
	rows, others := float64(t.rows[probe]), float64(t.ranks-1)
	savedBytes := droppedRows / rows * float64(t.bytes[probe]) * others / float64(t.ranks)
	return savedBytes > float64(partBytes)*float64(t.ranks)*others+rows*testBytes+roundsBytes
}

// filterHeldBytes is the memory of a filter while it is made: what all ranks send, and as much in the transport.
func (r *run) filterHeldBytes() uint64 { return 2 * r.partBytes * uint64(r.job.Size()) }

// newPrefilter returns the filter of a join that has one.
func (r *run) newPrefilter(d *exchange.Divider, samples []sample, hot []hotKey) *prefilter {
	return &prefilter{run: r, hashes: d.Hashes, samples: samples, hot: hot,
		filter: d.NewFilter(r.job.Rank(), r.partBytes), ready: make(chan struct{})}
}

// use has a side that is about to move add its keys, or wait for the keys of the other one.
func (p *prefilter) use(o *shuffle.Options) {
	if o.Side == p.probe {
		o.Divider.Filter, o.Seen, o.Await = p.filter, nil, p.await
		return
	}
	o.Await = nil
	o.Seen = func(ctx context.Context, rows arrow.RecordBatch) error {
		table := array.NewTableFromRecords(rows.Schema(), []arrow.RecordBatch{rows})
		defer table.Release()
		hashed, err := p.hashes.Bind(ctx, 1-p.probe, table)
		if err != nil {
			return err
		}
		return p.filter.Add(ctx, hashed)
	}
}

func (p *prefilter) await(ctx context.Context) error {
	defer exec.BeginWait(ctx, "wait for the filter").End()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
}

// share waits until this rank has its build rows, and then lets all ranks have the filter if it pays. Its rounds are
// the only ones while the join runs. They end when the job does, not with the flow, like calls of streams.
func (p *prefilter) share(ctx context.Context) error {
	select {
	case <-p.sides[1-p.probe].AllSeen():
	case <-ctx.Done():
		return backend.ContextError(ctx)
	}
	rounds := context.WithoutCancel(ctx)
	if p.Filtering == FilterAuto {
		dropped, err := p.estimate(rounds)
		if err != nil {
			return err
		}
		if !pays(p.totals, p.probe, p.partBytes, dropped) {
			close(p.ready)
			return nil
		}
	}
	parts, err := p.job.Gather(rounds, "join filter", p.filter.Part())
	if err != nil {
		return err
	}
	if err := p.filter.SetParts(parts); err != nil {
		return err
	}
	close(p.ready)
	return nil
}

// estimate returns how many rows of the probe side have no partner, by the samples of all ranks.
func (p *prefilter) estimate(ctx context.Context) (rows float64, err error) {
	known := make([]int, len(p.samples)) // of the sampled keys of each rank, those that this one owns and knows
	for rank := range p.samples {
		known[rank] = p.filter.Known(p.cold(rank))
	}
	text, err := json.Marshal(known)
	if err != nil {
		return 0, err
	}
	said, err := p.job.Gather(ctx, "join sample", text)
	if err != nil {
		return 0, err
	}
	all := make([]int, len(p.samples)) // known by any rank
	for from, text := range said {
		var theirs []int
		if json.Unmarshal(text, &theirs) != nil || len(theirs) != len(all) {
			return 0, fmt.Errorf("%w: rank %d sent no counts of sampled keys", backend.ErrInvalidInput, from)
		}
		for rank, n := range theirs {
			all[rank] += n
		}
	}
	for rank := range p.samples {
		if s := &p.samples[rank]; s.Tested > 0 {
			dropped := s.Tested - len(s.Hashes) + len(p.cold(rank)) - all[rank]
			rows += float64(dropped) / float64(s.Tested) * s.Rows[p.probe]
		}
	}
	return rows, nil
}

// cold are the sampled hashes of a rank that are not those of hot keys.
func (p *prefilter) cold(rank int) (hashes []uint64) {
	isHot := make(map[uint64]bool)
	for _, h := range p.hot {
		isHot[h.hash] = true
	}
	for _, hash := range p.samples[rank].Hashes {
		if !isHot[hash] {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}
