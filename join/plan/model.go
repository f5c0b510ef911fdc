package plan

import (
	"math"
	"slices"
	"time"

	"github.com/spirjoin/spirjoin/join/hash"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// model predicts one alternative. It goes through the steps of an algorithm as join/hash and join/sortmerge take them,
// and counts the work of each stage and the buffers that are held. Work is amounts by unit: a prediction is linear in
// the rates, so that rates can be fitted to measured joins.
type model struct {
	*Facts
	a      *Alternative
	rates  *Rates
	tuning primitive.Tuning
	memory memory
	stages []Stage

	columns [2][]int // bytes of the payload columns of the relations that are joined
	groups  [2][][]int
	numbers [2]bool // row numbers move with the keys, and payload is gathered from where it is
	passed  [2]bool // a side was transformed in passes; otherwise nothing moved
	moved   int     // bytes of a key that a transformation moves
	pass    unit    // of which a row in a pass is one
	plan    func(primitive.Layout) (passes int, scratchBytes uint64, err error)
}

// predict fills in the stages and the memory of an alternative. Without rates it has stages without times.
func predict(f *Facts, rates *Rates, tuning primitive.Tuning, a *Alternative) error {
	m := &model{Facts: f, a: a, rates: rates, tuning: tuning, moved: f.KeyBytes}
	m.memory.take(f.HeldBytes)
	for side := range m.columns {
		m.columns[side] = slices.Clone(f.Payload[side])
		if f.Numbers[side] {
			m.columns[side] = append(m.columns[side], 4)
		}
		m.groups[side] = groups(m.columns[side], a.OneByOne)
		if m.numbers[side] = m.untransformed(); m.numbers[side] {
			m.groups[side] = [][]int{{4}}
		}
		if f.Count {
			m.groups[side] = nil
		}
	}
	var err error
	if f.Tables && !a.Batchwise(f) {
		for side, columns := range m.columns {
			m.memory.take(m.of(side, f.KeyBytes))
			for _, bytes := range columns {
				m.memory.take(m.of(side, bytes))
			}
		}
	}
	switch {
	case f.Rows[0] == 0 || f.Rows[1] == 0:
	case a.Batchwise(f):
		err = m.ranges()
	case a.Algorithm == SMJOM || a.Algorithm == SMJUM:
		err = m.sortMerge()
	case a.Algorithm == HJ:
		err = m.table()
	default:
		err = m.partitioned()
	}
	if f.Tables {
		m.transfer()
	}
	a.PeakBytes, a.MostBytes = m.memory.peak+m.memory.peak/8+slackBytes, m.memory.most
	order := []string{Load, Transform, Match, Gather, Deliver}
	slices.SortFunc(m.stages, func(a, b Stage) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	a.Stages = m.stages
	for i := range a.Stages {
		if rates != nil {
			a.Stages[i].Time = time.Duration(rates.time(&a.Stages[i].work))
			a.Time += a.Stages[i].Time
		}
	}
	return err
}

// slackBytes, with an eighth of the sum, covers what the arena needs beyond the buffers: alignment and partly used
// blocks.
const slackBytes = 1 << 20

// memory is the account of the buffers of a join, in bytes.
type memory struct{ now, peak, most uint64 }

// take takes rows times bytes in one buffer for longer, hold some more for as long as the step takes.
func (m *memory) take(bytes uint64) {
	m.now += bytes
	m.most, m.peak = max(m.most, bytes), max(m.peak, m.now)
}

func (m *memory) hold(bytes uint64) { m.peak = max(m.peak, m.now+bytes) }
func (m *memory) free(bytes uint64) { m.now -= bytes }

// add books work for a stage.
func (m *model) add(stage string, unit unit, amount float64) {
	i := slices.IndexFunc(m.stages, func(s Stage) bool { return s.Name == stage })
	if i < 0 {
		i = len(m.stages)
		m.stages = append(m.stages, Stage{Name: stage})
	}
	m.stages[i].work[unit] += amount
}

func (m *model) n(side int) float64 { return float64(m.Rows[side]) }
func (m *model) out() float64       { return float64(m.OutputRows) }

// of is the memory of a column of a side.
func (m *model) of(side, bytes int) uint64 { return m.Rows[side] * uint64(bytes) }

func sum(bytes []int) (total int) {
	for _, b := range bytes {
		total += b
	}
	return total
}

// groups divides payload columns into groups that move together, as resident.Input does: columns of one width, as many
// as a pass takes.
func groups(columns []int, oneByOne bool) (groups [][]int) {
	most := kernel.MaxColumns
	if oneByOne {
		most = 1
	}
	for len(columns) > 0 {
		var group, rest []int
		for _, bytes := range columns {
			if bytes == columns[0] && len(group) < most {
				group = append(group, bytes)
			} else {
				rest = append(rest, bytes)
			}
		}
		groups, columns = append(groups, group), rest
	}
	return groups
}

// transform books passes over keys and a group of columns. The keys are kept the first time.
func (m *model) transform(side, group int) error {
	var columns []int
	if group < len(m.groups[side]) {
		columns = m.groups[side][group]
	}
	layout := primitive.Layout{Rows: m.Rows[side], KeyBytes: m.moved}
	if len(columns) > 0 {
		layout.Payload, layout.PayloadBytes, layout.Columns = primitive.Given, columns[0], len(columns)
	}
	passes, scratchBytes, err := m.plan(layout)
	if err != nil || passes == 0 {
		return err
	}
	m.passed[side] = true
	rows, width := float64(passes)*m.n(side), m.moved+sum(columns)
	m.add(Transform, launch, float64(2+2*passes))
	m.add(Transform, stream, m.n(side)*float64(m.KeyBytes)) // counts
	m.add(Transform, m.pass, rows)
	m.add(Transform, passByte, rows*float64(2*width)+m.n(side)*float64(m.KeyBytes-m.moved))
	m.add(Transform, passColumn, rows*float64(max(0, len(columns)-1)))
	m.memory.take(m.of(side, sum(columns)))
	keys := m.of(side, m.moved)
	if group == 0 {
		m.memory.take(keys)
		keys = 0
	}
	if passes > 1 {
		keys += m.of(side, width)
	}
	m.memory.hold(keys + scratchBytes)
	return nil
}

// partitioned is hash.Join.
func (m *model) partitioned() error {
	build, probe := int(m.Build()), int(1-m.Build())
	p, err := hash.NewPlan(m.tuning, m.Rows[build], m.KeyBytes, [2]int{m.first(build), m.first(probe)})
	if err != nil {
		return err
	}
	m.pass = partitionRow
	m.plan = func(layout primitive.Layout) (int, uint64, error) {
		if p.Bits == 0 {
			return 0, 0, nil
		}
		plan, err := primitive.PlanPartition(m.tuning, primitive.Partition{Layout: layout, Bits: p.Bits, Mixed: true})
		return 2 - plan.Result(), plan.ScratchBytes, err
	}
	switch {
	case p.Bits == 0:
		m.stay(build)
		m.stay(probe)
	case m.keyBits() <= 32:
		m.moved = 4
	}
	for side := range m.groups {
		if err := m.transform(side, 0); err != nil {
			return err
		}
	}
	// The build rows of a unit go into its table once for so many probe rows, and a partition may need several tables.
	tables := math.Ceil(m.n(build) / math.Exp2(float64(p.Bits)) / float64(p.TableRows))
	m.add(Match, launch, 4)
	m.add(Match, matchBuild, max(m.n(build), m.n(probe)/float64(p.ProbeFactor)))
	m.add(Match, matchProbe, m.n(probe)*tables)
	hot := [2]float64{m.Hottest[0] * m.n(0), m.Hottest[1] * m.n(1)}
	if hot[build] > float64(p.MostTables*p.TableRows) { // its partition is peeled and sorted
		for _, rows := range hot {
			m.add(Match, sortRow, rows*float64(m.moved))
			m.add(Match, passByte, rows*float64(m.moved*2*(m.moved+4)))
		}
		m.add(Match, expandRow, min(m.out(), hot[0]*hot[1]))
	}
	return m.materialize(m.met)
}

// first is the width of the first payload column of a side, as hash.NewPlan takes it.
func (m *model) first(side int) int {
	if len(m.columns[side]) == 0 || m.numbers[side] {
		return 4
	}
	return m.columns[side][0]
}

// untransformed reports whether row numbers move with the keys and payload is gathered from where it is. A single
// column of row numbers moves as payload does.
func (m *model) untransformed() bool {
	payload := len(m.Payload[0])+len(m.Payload[1]) > 0
	return (m.a.Algorithm == PHJUM || m.a.Algorithm == SMJUM) && (payload || !m.Tables)
}

// stay has all columns of a side stay where they are, from where a match can write any.
func (m *model) stay(side int) {
	m.groups[side], m.numbers[side] = [][]int{m.columns[side]}, false
}

// table is hash.Join without partitions: hash.Build and Table.Probe.
func (m *model) table() error {
	build, probe := int(m.Build()), int(1-m.Build())
	slots := uint64(2)
	for slots < 2*m.Rows[build] {
		slots *= 2
	}
	m.memory.take(slots * 4)
	if m.Count { // of equal build keys
		m.memory.take(m.Rows[build] * 4)
	}
	m.stay(build)
	m.stay(probe)
	far := m.beyond(float64(slots*4), m.cache()) * m.n(build)
	m.add(Transform, launch, 3)
	m.add(Transform, stream, float64(slots*4)+m.n(build)*float64(m.KeyBytes))
	m.add(Transform, buildNear, m.n(build)-far)
	m.add(Transform, buildFar, far)
	probes := max(m.n(probe), m.out()) // rows of a key are looked at one by one
	far = m.beyond(float64(slots*4+m.of(build, m.KeyBytes)), m.cache()) * probes * (1 - m.Repeats)
	m.add(Match, launch, 2)
	m.add(Match, probeNear, probes-far)
	m.add(Match, probeFar, far)
	return m.materialize(func(side int) float64 { // the output is in the order of the probe side
		if side == build {
			return m.out() * (1 - m.Repeats)
		}
		return 0
	})
}

// sortMerge is sortmerge.Join.
func (m *model) sortMerge() error {
	m.pass = sortRow
	m.plan = func(layout primitive.Layout) (int, uint64, error) {
		plan, err := primitive.PlanSort(m.tuning, primitive.Sort{Layout: layout, EndBit: m.keyBits()})
		return plan.Passes(), plan.ScratchBytes, err
	}
	for side := range m.groups {
		m.add(Transform, launch, 1) // which bits differ, and whether the keys are in order
		m.add(Transform, stream, m.n(side)*float64(m.KeyBytes))
		if m.Sorted[side] {
			m.stay(side)
		} else if err := m.transform(side, 0); err != nil {
			return err
		}
	}
	m.add(Match, launch, 5)
	m.add(Match, mergeRow, m.n(0)+m.n(1))
	return m.materialize(m.met)
}

// ranges is ranges.Match, the pairs of which are made batch by batch, with columns that are gathered from where they
// are.
func (m *model) ranges() error {
	p, err := ranges.NewPlan(m.tuning,
		ranges.Problem{Rows: m.Rows, KeyBytes: m.KeyBytes, KeyBits: m.keyBits(), CountOnly: m.Count})
	if err != nil {
		return err
	}
	numbers := 4
	if m.Count {
		numbers = 0
	}
	for side := range m.Rows {
		m.add(Transform, launch, 1) // which bits differ, and whether the keys are in order
		m.add(Transform, stream, m.n(side)*float64(m.KeyBytes))
		if m.Sorted[side] {
			continue
		}
		passes := float64((m.keyBits() + 7) / 8)
		rows := passes * m.n(side)
		m.add(Transform, launch, 2+2*passes)
		m.add(Transform, stream, m.n(side)*float64(m.KeyBytes))
		m.add(Transform, sortRow, rows)
		m.add(Transform, passByte, rows*float64(2*(m.KeyBytes+numbers)))
	}
	m.add(Match, launch, 4)
	m.add(Match, searchRow, m.n(0)+m.n(1))
	if !m.Count {
		m.add(Match, scanRow, min(m.n(0), m.n(1)))
		m.add(Match, expandRow, m.out())
	}
	m.memory.hold(p.PeakBytes)
	m.memory.take(p.HeldBytes)
	m.memory.most = max(m.memory.most, p.MostBytes)
	for side, payload := range m.Payload {
		for _, bytes := range payload {
			m.gather(bytes, m.met(side)*m.beyond(float64(m.of(side, bytes)), m.cache()))
			m.memory.take(m.of(side, bytes))
		}
	}
	return nil
}

// materialize books what a match writes: the key, and of each side two payload columns, or only the first of more; and
// the gather of the others by row numbers, which the match writes too (resident.Output). met is the number of random
// accesses to a side for columns that are gathered or written from where they are.
func (m *model) materialize(met func(side int) float64) error {
	if m.Count {
		m.add(Match, stream, float64(m.of(0, m.moved)+m.of(1, m.moved)))
		return nil
	}
	room := m.Room()
	m.memory.take(room * uint64(m.KeyBytes))
	read, write := float64(m.moved)*(m.n(0)+m.n(1)), m.KeyBytes
	var written [2]int
	var numbers [2]uint64 // bytes
	far := func(side, bytes int) float64 {
		if m.a.Algorithm != HJ && !m.numbers[side] { // in their order, or nearly
			return 0
		}
		return met(side) * m.beyond(float64(m.of(side, bytes)), m.cache())
	}
	for side, columns := range m.columns {
		if !m.numbers[side] && len(columns) > 0 {
			written[side] = 1
			if len(columns) == 2 && len(m.groups[side][0]) == 2 {
				written[side] = 2
			}
		}
		for _, bytes := range columns[:written[side]] {
			read += m.n(side) * float64(bytes)
			write += bytes
			m.add(Match, gatherFar, far(side, bytes))
			m.memory.take(room * uint64(bytes))
		}
		if len(columns) > written[side] {
			write += 4
			numbers[side] = room * 4
			m.memory.take(numbers[side])
		}
	}
	m.add(Match, matchRow, m.out())
	m.add(Match, stream, read+m.out()*float64(write))
	for side, columns := range m.columns {
		if m.passed[side] { // keys in their new order, and columns that are in the output
			m.memory.free(m.of(side, m.moved) + m.of(side, sum(columns[:written[side]])))
		}
	}
	for side, columns := range m.columns {
		groups := m.groups[side]
		if m.numbers[side] {
			groups = [][]int{columns}
		}
		for i, group := range groups {
			if i == 0 {
				group = group[written[side]:]
			} else if err := m.transform(side, i); err != nil {
				return err
			}
			for _, bytes := range group {
				m.gather(bytes, far(side, bytes))
				m.memory.take(m.OutputRows * uint64(bytes))
			}
			if m.passed[side] && !m.numbers[side] {
				m.memory.free(m.of(side, sum(group)))
			}
		}
		m.memory.free(numbers[side])
	}
	return nil
}

// gather books the gather of a column of the output, of whose values far are far.
func (m *model) gather(bytes int, far float64) {
	m.add(Gather, launch, 1)
	m.add(Gather, stream, m.out()*float64(4+2*bytes))
	m.add(Gather, gatherNear, m.out()-far)
	m.add(Gather, gatherFar, far)
}

// met is the number of random accesses of the output to the rows of a side. A repeated access to the same row does not
// count: rows of one key are near each other in the output.
func (m *model) met(side int) float64 {
	if relation.Side(side) == m.Build() {
		return min(m.n(side), m.out()*(1-m.Repeats))
	}
	return min(m.n(side)*m.MatchRatio, m.out())
}

// beyond is the share of a column or table that a cache does not hold.
func (m *model) beyond(sizeBytes, cacheBytes float64) float64 {
	return max(0, 1-cacheBytes/max(1, sizeBytes))
}

func (m *model) cache() float64 {
	if m.rates == nil {
		return 0
	}
	return m.rates.CacheBytes
}

func (m *model) keyBits() int {
	if m.KeyBits == 0 {
		return 8 * m.KeyBytes
	}
	return m.KeyBits
}

// transfer books what tables add: keys and payload on their way to the device, output on its way back, and what is
// fetched by row number for each batch.
func (m *model) transfer() {
	hostCache := 0.0
	if m.rates != nil {
		hostCache = m.rates.HostCacheBytes
	}
	m.add(Load, launch, 2)
	met := m.met
	if m.a.Algorithm == HJ {
		met = func(side int) float64 {
			if relation.Side(side) == m.Build() {
				return m.out() * (1 - m.Repeats)
			}
			return 0
		}
	}
	for side, numbers := range m.Numbers {
		m.add(Load, encodeRow, m.n(side))
		m.add(Load, uploadByte, m.n(side)*float64(sum(m.Payload[side])+sum(m.Numbered[side])))
		for _, bytes := range m.Numbered[side] {
			m.gather(bytes, met(side)*m.beyond(float64(m.of(side, bytes)), m.cache()))
		}
		m.add(Deliver, downloadByte, m.out()*float64(sum(m.Payload[side])+sum(m.Numbered[side])))
		if numbers {
			m.add(Deliver, downloadByte, m.out()*4)
		}
		const bytes = 8 // of a value, more or less
		far := met(side) * m.beyond(float64(m.of(side, bytes)), hostCache)
		m.add(Deliver, takeFar, float64(m.Host[side])*far)
		m.add(Deliver, takeNear, float64(m.Host[side])*(m.out()-far))
	}
}
