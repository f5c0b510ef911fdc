package task

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/runs"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/join/hmg"
	"github.com/spirjoin/spirjoin/query"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// codedSides is the memory of key codes on the host, and what goes with it.
type codedSides struct {
	flow   *exec.Flow // has the grant, so that tasks may have others
	grant  *exec.Grant
	held   exec.Need     // of the codes of both sides, while tasks run
	free   []func()      // frees the codes
	tables []arrow.Table // made for the tasks
}

// close frees all. It may be called before acquire.
func (c *codedSides) close() {
	for _, free := range c.free {
		free()
	}
	c.free = nil
	if c.flow != nil {
		c.flow.Stop()
	}
	c.grant.Release()
}

// settle returns the memory that only the preparation needs.
func (c *codedSides) settle() { c.grant.Shrink(c.held) }

// fit chooses the rows of chunks and of tasks that the devices have room for.
func (p *keyRanges) fit() {
	weakest := uint64(math.MaxUint64)
	for device, n := range p.perDevice() {
		weakest = min(weakest, device.Options().DeviceMemoryBytes/n)
	}
	p.KeyRanges = p.fitted(p.keys.Rows(relation.Left), p.keys.Rows(relation.Right), p.keys.KeyBytes(),
		uint64(len(p.devices)), weakest)
}

// fitted is r with the rows of chunks and of tasks for which devices have room, the weakest of which has capBytes.
func (r KeyRanges) fitted(leftRows, rightRows uint64, keyBytes int, devices, capBytes uint64) KeyRanges {
	if r.ChunkRows == 0 {
		r.ChunkRows = hmg.ChunkRows(capBytes, keyBytes)
	}
	r.ChunkRows = max(1, min(r.ChunkRows, (max(leftRows, rightRows)+devices-1)/devices))
	if r.TaskRows == 0 {
		lines := uint64(r.Lines)
		r.TaskRows = min(hmg.ChunkRows(capBytes/lines, keyBytes),
			max((leftRows+rightRows)/(tasksPerLine*lines*devices), leastTaskRows))
	}
	r.TaskRows = max(2, r.TaskRows)
	return r
}

// tasksPerLine is how many tasks there are at least for a line, so that lines end at about the same time, unless tasks
// would have fewer than leastTaskRows.
const (
	tasksPerLine  = 3
	leastTaskRows = 1 << 18
)

// perDevice is how many of the engines are on each device.
func (p *keyRanges) perDevice() map[*backend.Device]uint64 {
	n := make(map[*backend.Device]uint64)
	for _, e := range p.devices {
		n[e.Device()]++
	}
	return n
}

// merges reports whether sides that are not in order are sorted in chunksets.
func (p *keyRanges) merges(rows uint64) bool {
	return p.Way == RangesMerge || p.Way == RangesRoundTrip && rows <= p.ChunkRows*uint64(len(p.devices))
}

// acquire acquires the memory of the codes, with a copy of the longest side while it is divided, and, if sides may be
// sorted, of the devices. Tasks wait for memory while the codes are held. If host memory is limited, the grant is
// therefore open: only one join at a time may hold such memory.
func (c *codedSides) acquire(ctx context.Context, p *keyRanges) (err error) {
	longestBytes := uint64(0)
	hold := func(plan *keys.Plan, side relation.Side) {
		sizeBytes := plan.Rows(side) * uint64(plan.KeyBytes()+4)
		c.held.Host, longestBytes = c.held.Host+sizeBytes, max(longestBytes, sizeBytes)
	}
	for side := range relation.Right + 1 {
		if hold(p.keys, side); p.proves(side) {
			hold(p.unique[side], side)
		}
	}
	limited := p.HostCapBytes() != exec.Unlimited
	if limited {
		c.held.Shared = relation.SharedBytes(p.part.Sources[0].Table(), p.part.Sources[1].Table())
	}
	need := exec.Need{Host: c.held.Host + longestBytes, Shared: c.held.Shared}
	if p.Way == RangesMerge || p.Way == RangesRoundTrip {
		need.Device = make(map[*backend.Device]uint64)
		for _, e := range p.devices {
			chunkBytes, err := hmg.ChunkBytes(e.Ops.Tuning(), p.ChunkRows, p.keys.KeyBytes())
			if err != nil {
				return err
			}
			need.Device[e.Device()] += chunkBytes
		}
	}
	c.flow = exec.NewFlow(ctx)
	if !limited {
		c.grant, err = p.Budget().Acquire(c.flow.Context(), need)
		return err
	}
	all, limit := need.Host, p.HostCapBytes()
	for _, tableBytes := range need.Shared {
		all += tableBytes
	}
	if all > limit {
		return p.HostMemoryError("tables and codes of their keys", all, limit)
	}
	if c.grant, err = p.Budget().Open(c.flow.Context()); err != nil {
		return err
	}
	return c.grant.Await(c.flow.Context(), need)
}

// codedSide is the rows of a side that have a key, as codes beside row numbers.
type codedSide[K runs.Word] struct {
	*hmg.Buffer[K]
	numbered bool // row numbers are 0, 1, 2, ... and not written
	sorted   bool // the codes are in ascending order
}

// encode makes the codes of a side.
func encode[K runs.Word](ctx context.Context, p *keyRanges, plan *keys.Plan, side relation.Side) (
	s *codedSide[K], err error) {
	defer exec.Begin(ctx, "encode keys").Rows(plan.Rows(side)).End()
	start := time.Now()
	s = &codedSide[K]{Buffer: runs.NewBuffer[K, uint32](p.Allocator, plan.Rows(side)), numbered: !plan.LeavesOut(side)}
	p.coded.free = append(p.coded.free, func() { s.Free() })
	if err = plan.Encode(ctx, side, backend.AsBytes(s.Keys), s.Rows); err == nil {
		s.sorted, err = isSorted(ctx, s.Keys)
	}
	p.prepared.EncodeSeconds += time.Since(start).Seconds()
	return s, err
}

// isSorted reports whether keys are in order; it ends at the first that is not.
func isSorted[K runs.Word](ctx context.Context, keys []K) (bool, error) {
	const checkRows = 1 << 20
	for first := 0; first < len(keys); first += checkRows {
		if ctx.Err() != nil {
			return false, backend.ContextError(ctx)
		}
		if !slices.IsSorted(keys[max(first-1, 0):min(first+checkRows, len(keys))]) {
			return false, nil
		}
	}
	return true, nil
}

// of returns a selection of rows of the side.
func (s *codedSide[K]) of(rows runs.Span) *query.Selection {
	of := &query.Selection{Rows: rows.Rows(), Codes: backend.AsBytes(s.Keys[rows.First:rows.End]), Sorted: s.sorted}
	if of.First = uint32(rows.First); !s.numbered {
		of.Numbers = s.Buffer.Rows[rows.First:rows.End]
	}
	return of
}

// divideRanges divides both sides.
func divideRanges[K runs.Word](ctx context.Context, p *keyRanges) (err error) {
	var both [2]*codedSide[K]
	inOrder, longest := true, uint64(0)
	for side := range both {
		if both[side], err = encode[K](ctx, p, p.keys, relation.Side(side)); err != nil {
			return err
		}
		if !both[side].sorted {
			inOrder, longest = false, max(longest, uint64(len(both[side].Keys)))
		}
	}
	if p.how = "as both sides are in order"; !inOrder && p.merges(longest) {
		if err := sortSides(ctx, p, both, longest); err != nil {
			return err
		}
		inOrder = true
	}
	var pairs []runs.Pair
	if inOrder {
		pairs, err = cutSorted(p, both)
	} else {
		pairs, err = scatter(ctx, p, both, p.TaskRows)
		p.how = "segments of both sides, divided by the host"
	}
	for _, pair := range pairs {
		p.add(both[0].of(pair.R), both[1].of(pair.S))
	}
	return err
}

// sortSides sorts the sides that are not in order, in chunksets.
func sortSides[K runs.Word](ctx context.Context, p *keyRanges, both [2]*codedSide[K], longest uint64) (err error) {
	c := &hmg.Config{Links: p.Links(), Alloc: p.Allocator, Sort: p.Sort, ChunkRows: p.ChunkRows,
		Cores: runtime.GOMAXPROCS(0)}
	for _, e := range p.devices {
		c.Lanes = append(c.Lanes, exec.NewLane(ctx, e.Ops, p.coded.grant))
	}
	for _, s := range both {
		if s.sorted {
			continue
		}
		if s.Buffer, err = hmg.Sort(ctx, c, s.Buffer, s.numbered); err != nil {
			return err
		}
		s.numbered, s.sorted = false, true
	}
	p.how = "sorted on the devices in " + text.Plural(c.Chunksets(longest), "chunkset")
	if c.Chunksets(longest) > 1 {
		p.how += ", merged by the host"
	}
	for _, lane := range c.Lanes {
		lane.Device().MemoryUse(backend.DeviceLocal) // records finished work in the profile
		for _, stage := range lane.Profile.Stages() {
			p.prepared.StageSeconds[stage.Stage] += stage.Time.Seconds()
		}
	}
	return nil
}

// cutSorted cuts both sides, which are in order, by the merge path, into at least three tasks for each device (HMG
// 3.3.1). A key with rows on both sides of a boundary is a task of its own.
func cutSorted[K runs.Word](p *keyRanges, both [2]*codedSide[K]) ([]runs.Pair, error) {
	var run [2]runs.Run[K, uint32]
	rows := uint64(0)
	for side, s := range both {
		var err error
		if run[side], err = runs.NewRun(s.Block); err != nil {
			return nil, err
		}
		rows += run[side].Len()
	}
	tasks, whole := runs.Partition(run[0], run[1],
		max(tasksPerLine*uint64(len(p.devices)), (rows+p.TaskRows-1)/p.TaskRows))
	return append(tasks, whole...), nil
}

// scatter divides both sides by the same key ranges into segments, and moves the rows of those that are not in order
// there.
func scatter[K runs.Word](ctx context.Context, p *keyRanges, both [2]*codedSide[K], mostRows uint64) (
	pairs []runs.Pair, err error) {
	var keys [2]runs.Keys[K]
	for side, s := range both {
		keys[side] = runs.Keys[K]{Keys: s.Keys, Sorted: s.sorted}
	}
	d, err := runs.Divide(ctx, keys, mostRows, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	for side, s := range both {
		if s.sorted {
			continue
		}
		from := s.Block
		if s.numbered {
			from.Rows = nil
		}
		moved := runs.NewBuffer[K, uint32](p.Allocator, uint64(len(from.Keys)))
		if err := runs.Scatter(ctx, d, side, moved.Block, from); err != nil {
			moved.Free()
			return nil, err
		}
		s.Free()
		s.Buffer, s.numbered = moved, false
	}
	for _, segment := range d.Segments {
		pairs = append(pairs, segment.Pair)
	}
	return pairs, nil
}

// proves reports whether keys of a side must be unique, and the codes of the join do not tell whether they are: some of
// its rows have a key that the other side cannot have.
func (p *keyRanges) proves(side relation.Side) bool {
	return p.unique[side] != nil && p.unique[side] != p.keys
}

// proofs adds ranges in which keys of a side are only checked to be unique.
func proofs[K runs.Word](ctx context.Context, p *keyRanges, side relation.Side) error {
	plan := p.unique[side]
	s, err := encode[K](ctx, p, plan, side)
	if err != nil {
		return err
	}
	pairs, err := scatter(ctx, p, [2]*codedSide[K]{s, {Buffer: new(hmg.Buffer[K]), sorted: true}}, p.TaskRows)
	for _, pair := range pairs {
		r := p.none()
		r.Unique[side], r.Proofs[side] = plan, s.of(pair.R)
		p.ranges = append(p.ranges, r)
	}
	return err
}
