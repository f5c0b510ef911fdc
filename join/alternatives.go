package join

import (
	"cmp"
	"slices"

	"github.com/spirjoin/spirjoin/join/auto"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
)

// Algorithm is a way to join; see [plan.Algorithm].
type Algorithm = plan.Algorithm

// Alternative is a way to join two tables, with what is predicted for it.
//
// All but smj-um bring the payload columns that the device can gather, those of 4 or 8 bytes without nulls, to the
// device as payload of relations, make the whole output there, and bring it back piece by piece; other columns are
// fetched by row numbers, which are payload too. With Place MaterializeHost row numbers are all payload there is.
// smj-um finds ranges of matches and makes the output piece by piece from the columns as they are, so that it needs the
// least memory and is what remains where others do not fit.
type Alternative struct {
	plan.Alternative
	Place Materialize // where columns that the device can gather are put together
	Err   error       // why it cannot run; nil where it can

	facts plan.Facts
	batch int // rows
}

func (a *Alternative) batchwise() bool { return a.Batchwise(&a.facts) }

// choose lists the alternatives. The error is that of the one which lacks the least, where none can run.
func (p *Plan) choose() error {
	sampled := p.sample()
	for _, place := range p.placements() {
		facts := p.facts(sampled, place)
		all, err := plan.Choose(facts, p.rates, p.engine.Ops.Tuning(), auto.LimitsOf(p.engine.Ops.Device()))
		if err != nil {
			return err
		}
		for _, a := range all {
			p.Alternatives = append(p.Alternatives, Alternative{Alternative: a, Place: place, facts: facts,
				batch: int(min(uint64(p.Spec.BatchRows), primitive.MaxRows))})
		}
	}
	p.keepWanted()
	var least uint64
	var reason error
	for i := range p.Alternatives {
		a := &p.Alternatives[i]
		need, err := p.fit(a)
		if a.Err = err; err != nil && (reason == nil || need < least) {
			least, reason = need, err
		}
	}
	// without rates as they are
	slices.SortStableFunc(p.Alternatives, func(a, b Alternative) int { return cmp.Compare(a.Time, b.Time) })
	able := slices.DeleteFunc(slices.Clone(p.Alternatives), func(a Alternative) bool { return a.Err != nil })
	if p.Spec.Output == Rows && p.engine.Ops.Device().Info().Unified {
		frugalFirst(able)
	}
	p.Alternatives = append(able,
		slices.DeleteFunc(p.Alternatives, func(a Alternative) bool { return a.Err == nil })...)
	if p.Alternatives[0].Err != nil {
		return reason
	}
	return nil
}

// frugalFirst brings the alternative to the front that needs the least memory of those that are predicted to take at
// most a quarter more time than the first, which is less than predictions are off by. Where device memory is host
// memory, it is what tables and batches lack.
func frugalFirst(byTime []Alternative) {
	frugal := 0
	for i := range byTime {
		if byTime[i].Time <= byTime[0].Time*5/4 && byTime[i].PeakBytes < byTime[frugal].PeakBytes {
			frugal = i
		}
	}
	if frugal > 0 {
		taken := byTime[frugal]
		copy(byTime[1:frugal+1], byTime[:frugal])
		byTime[0] = taken
	}
}

// keepWanted drops what the specification rules out. An algorithm that is the same as another one for this output goes
// by the name of that: where no payload moves, om and um do not differ.
func (p *Plan) keepWanted() {
	keep := func(wanted Algorithm) bool {
		is := func(a Alternative) bool { return a.Algorithm == wanted }
		if !slices.ContainsFunc(p.Alternatives, is) {
			return false
		}
		p.Alternatives = slices.DeleteFunc(p.Alternatives, func(a Alternative) bool { return !is(a) })
		return true
	}
	switch {
	case p.Spec.Output == Ranges:
		keep(plan.SMJUM)
	case p.Spec.Algorithm == plan.Auto || keep(p.Spec.Algorithm):
	case p.Spec.Algorithm == plan.SMJOM:
		keep(plan.SMJUM)
	case !keep(plan.PHJUM):
		keep(plan.PHJOM)
	}
}

// placements are where columns may be put together: on the device, where that is possible for one, and on the host.
func (p *Plan) placements() []Materialize {
	possible := slices.ContainsFunc(p.Layout.Columns,
		func(c OutputColumn) bool { return relation.DeviceValueBytes(p.column(c).DataType()) > 0 })
	switch {
	case !possible || p.Spec.Materialize == MaterializeHost:
		return []Materialize{MaterializeHost}
	case p.Spec.Materialize == MaterializeDevice:
		return []Materialize{MaterializeDevice}
	}
	return []Materialize{MaterializeDevice, MaterializeHost}
}

// sample learns of the keys how they match.
func (p *Plan) sample() plan.Facts {
	f := plan.Facts{Rows: p.sort.Rows, KeyBytes: p.keys.KeyBytes(), KeyBits: max(1, p.keys.KeyBits()), Tables: true,
		Count: p.Spec.Output == Count}
	if p.Spec.Output != Ranges {
		build := f.Build()
		f.Sample(p.keys.Sample(1-build, plan.SampleRows, 1), p.keys.Sample(build, plan.ScanRows, 64))
	}
	return f
}

// facts adds what follows from where columns are put together.
func (p *Plan) facts(f plan.Facts, place Materialize) plan.Facts {
	f.Numbers = [2]bool{p.Spec.Output == Pairs, p.Spec.Output == Pairs}
	batch := min(uint64(p.Spec.BatchRows), max(f.Room(), minBatchRows), primitive.MaxRows)
	for i, c := range p.Layout.Columns {
		column := p.column(c)
		bytes := relation.DeviceValueBytes(column.DataType())
		switch p.method(i, place) {
		case byHost:
			f.Host[c.Side]++
			f.Numbers[c.Side] = true
		case byNumber:
			f.Numbered[c.Side] = append(f.Numbered[c.Side], bytes)
			f.Numbers[c.Side] = true
			f.HeldBytes += relation.DeviceColumnBytes(column, batch)
		default:
			f.Payload[c.Side] = append(f.Payload[c.Side], bytes)
		}
	}
	if len(f.Numbered[0])+len(f.Numbered[1]) > 0 {
		f.HeldBytes += batch * pairBytes
	}
	return f
}

// method is how an output column gets its values where the whole output is made on the device.
type method uint8

const (
	asPayload method = iota // it is a payload column of the relation
	byNumber                // the device fetches it by row number for each piece: columns with nulls
	byHost                  // the host does
)

func (p *Plan) method(i int, place Materialize) method {
	column := p.column(p.Layout.Columns[i])
	switch {
	case place == MaterializeHost || relation.DeviceValueBytes(column.DataType()) == 0:
		return byHost
	case column.NullN() > 0:
		return byNumber
	}
	return asPayload
}

// gatheredOnDevice tells for each output column whether the device fetches its values by row number for each piece:
// with smj-um those that fit beside the matches, otherwise the columns with nulls.
func (p *Plan) gatheredOnDevice(a *Alternative) []bool {
	on := make([]bool, len(p.Layout.Columns))
	device := p.engine.Ops.Device()
	free := device.Options().DeviceMemoryBytes
	free -= min(free, p.sort.HeldBytes+uint64(a.batch)*pairBytes+pieceSlackBytes)
	for i, c := range p.Layout.Columns {
		if !a.batchwise() {
			on[i] = p.method(i, a.Place) == byNumber
			continue
		}
		if need := relation.DeviceColumnBytes(p.column(c), uint64(a.batch)); a.Place == MaterializeDevice && need > 0 &&
			need <= min(free, device.Info().Limits.MaxBlockBytes) {
			free -= need
			on[i] = true
		}
	}
	return on
}

// fitRows holds an alternative against the caps again, with more rows of output than were expected.
func (p *Plan) fitRows(a *Alternative, rows uint64) error {
	facts := a.facts
	facts.OutputRows = rows
	all, err := plan.Choose(facts, p.rates, p.engine.Ops.Tuning(), auto.LimitsOf(p.engine.Ops.Device()))
	if err != nil {
		return err
	}
	for _, b := range all {
		if b.Algorithm == a.Algorithm && b.OneByOne == a.OneByOne {
			_, err = p.fit(&Alternative{Alternative: b, Place: a.Place, facts: facts, batch: a.batch})
		}
	}
	return err
}

// smaller is the alternative that needs the least memory and can run, for when the output turned out to be more than
// was expected; nil where there is none but a.
func (p *Plan) smaller(a *Alternative) *Alternative {
	for i := range p.Alternatives {
		if b := &p.Alternatives[i]; b.Err == nil && b.batchwise() && !a.batchwise() {
			return b
		}
	}
	return nil
}
