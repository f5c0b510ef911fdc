package join

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/join/plan"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// Engine runs joins on one device. Safe for concurrent use; concurrent joins share the caps of the device.
type Engine struct {
	Ops       *primitive.Ops
	Allocator memory.Allocator // of the record batches that results deliver
	// MemoryLimitBytes is the cap of host memory: inputs, batches in flight, and all device memory where the device
	// lives in host memory. 0 is no limit.
	MemoryLimitBytes uint64
}

// Plan is what a join will do, ready to run. It refers to both tables and must be used while they live.
type Plan struct {
	Spec   Spec
	Layout *Layout
	// Alternatives are the ways to join, the best first, which is the one that runs. Those that cannot run are last,
	// and say why.
	Alternatives []Alternative

	engine   *Engine
	tables   [2]arrow.Table
	keys     *relation.KeyPlan
	rates    *plan.Rates // nil where none were measured on such a device
	sort     ranges.Plan
	progress *exec.Progress
}

// Plan checks a join against its tables and the limits, and decides how it will run. It reads the key columns once, to
// learn the range of their values, and some rows of them again, to learn how they match. It moves nothing to the
// device.
//
// Errors: backend.ErrInvalidInput, backend.ErrUnsupported, backend.ErrDeviceMemory or ErrHostMemory with what the join
// needs, ErrCancelled.
func (e *Engine) Plan(ctx context.Context, left, right arrow.Table, spec Spec) (*Plan, error) {
	layout, err := NewLayout(left.Schema(), right.Schema(), spec)
	if err != nil {
		return nil, err
	}
	return e.PlanLayout(ctx, layout, left, right)
}

// PlanLayout is Plan for a layout that was made before, from schemas that may have had more columns: the tables must
// have those in layout.Needed.
func (e *Engine) PlanLayout(ctx context.Context, layout *Layout, left, right arrow.Table) (_ *Plan, err error) {
	spec := layout.Spec
	if spec.How != Inner || spec.Validate != Any || spec.Order != Unordered || spec.Indicator != "" ||
		spec.BuildSide != BuildAuto {
		return nil, fmt.Errorf("%w: %s with these options", backend.ErrUnsupported, spec.How.noun())
	}
	p := &Plan{Spec: spec, Layout: layout, engine: e, tables: [2]arrow.Table{left, right}}
	for side, table := range p.tables {
		for _, name := range layout.Needed[side] {
			if err := relation.CheckColumn(table.Schema(), relation.Side(side), name); err != nil {
				return nil, err
			}
		}
	}
	p.progress = exec.NewProgress(spec.Progress)
	p.progress.Start("plan", 0)
	if p.keys, err = relation.PlanKeys(ctx, left, right, spec.LeftOn, spec.RightOn); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, backend.ContextError(ctx)
	}
	p.sort, err = ranges.NewPlan(e.Ops.Tuning(), ranges.Problem{
		Rows:     [2]uint64{p.keys.Rows(relation.Left), p.keys.Rows(relation.Right)},
		HasIDs:   [2]bool{p.keys.HasNulls(relation.Left), p.keys.HasNulls(relation.Right)},
		KeyBytes: p.keys.KeyBytes(), KeyBits: p.keys.KeyBits(),
		CountOnly: spec.Output == Count,
	})
	if err != nil {
		return nil, err
	}
	if p.rates, err = plan.RatesFor(e.Ops.Device().Info()); err != nil {
		return nil, err
	}
	return p, p.choose()
}

// fit chooses the rows of a batch of an alternative and holds it against the caps. The error says what is needed, as
// need does in bytes.
func (p *Plan) fit(a *Alternative) (need uint64, err error) {
	device := p.engine.Ops.Device()
	info, capBytes := device.Info(), device.Options().DeviceMemoryBytes
	streamed := p.Spec.Output == Rows || p.Spec.Output == Pairs
	least := min(minBatchRows, p.Spec.BatchRows)
	fixed := tableBytes(p.tables[0]) + tableBytes(p.tables[1])
	if !a.batchwise() {
		if a.Reject != nil {
			if a.PeakBytes <= capBytes {
				return math.MaxUint64, a.Reject // more memory would not help
			}
			return a.PeakBytes, a.Reject
		}
		if info.CPULike() {
			fixed += a.PeakBytes
		}
	} else {
		if err := p.sort.Check(capBytes, &info.Limits); err != nil {
			return p.sort.PeakBytes, err
		}
		if streamed {
			// The row numbers of one piece are on the device beside the matches.
			free := capBytes - min(capBytes, p.sort.HeldBytes+pieceSlackBytes)
			a.batch = int(min(uint64(a.batch), free/pairBytes, info.Limits.MaxBlockBytes/(pairBytes/2)))
			if a.batch < least {
				need := p.sort.HeldBytes + pieceSlackBytes + minBatchRows*pairBytes
				return need, &backend.OpError{Op: "plan join", Device: info.Name, Err: backend.ErrDeviceMemory,
					Detail: fmt.Sprintf(
						"the matches and the smallest batch need %d bytes, the limit is %d; raise device_memory", need,
						capBytes)}
			}
		}
		if info.CPULike() {
			fixed += max(p.sort.PeakBytes, p.sort.HeldBytes+uint64(a.batch)*pairBytes+pieceSlackBytes)
		}
		if p.Spec.Output == Ranges { // what KeyRanges downloads, and the ranges that it makes of it
			fixed += p.sort.HeldBytes + rangeBytes*min(p.sort.Rows[0], p.sort.Rows[1])
		}
	}
	limit := p.engine.MemoryLimitBytes
	if limit == 0 {
		return 0, nil
	}
	rowBytes := p.outputRowBytes() + pairBytes
	if streamed {
		room := limit - min(limit, fixed)
		a.batch = int(min(uint64(a.batch), max(room/(rowBytes*pieces), 1)))
		fixed += rowBytes * pieces * min(uint64(a.batch), minBatchRows)
		if a.batch < least {
			fixed = max(fixed, limit+1)
		}
	}
	if fixed > limit {
		return fixed, &backend.OpError{Op: "plan join", Device: info.Name, Err: backend.ErrHostMemory,
			Detail: fmt.Sprintf(
				"tables, device memory in host memory and the smallest batch need %d bytes, the limit is %d; raise "+
					"memory_limit", fixed, limit)}
	}
	return 0, nil
}

const (
	pieces          = 4       // pieces of output on the host: being made, handed over, being encoded, encoded
	pairBytes       = 8       // of a pair of row numbers
	rangeBytes      = 16      // of a ranges.KeyRange
	minBatchRows    = 1 << 10 // fewer rows at a time would cost more in launches than in work
	pieceSlackBytes = 1 << 20
)

// tableBytes is the memory of a table's columns.
func tableBytes(table arrow.Table) (sizeBytes uint64) {
	for i := range int(table.NumCols()) {
		sizeBytes += columnBytes(table.Column(i).Data())
	}
	return sizeBytes
}

// columnBytes is the memory of a column. Chunks that are slices of one array share its buffers, which count once.
func columnBytes(column *arrow.Chunked) (sizeBytes uint64) {
	seen := make(map[*memory.Buffer]bool)
	var add func(data arrow.ArrayData)
	add = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil && !seen[b] {
				seen[b] = true
				sizeBytes += uint64(b.Len())
			}
		}
		for _, child := range data.Children() {
			add(child)
		}
		if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
			add(dictionary)
		}
	}
	for _, chunk := range column.Chunks() {
		add(chunk.Data())
	}
	return sizeBytes
}

// outputRowBytes estimates the memory of one row of output from the mean row of each column.
func (p *Plan) outputRowBytes() uint64 {
	var sum uint64
	for _, c := range p.Layout.Columns {
		column := p.column(c)
		sum += columnBytes(column)/uint64(max(1, column.Len())) + 1
	}
	return sum
}

func (p *Plan) column(c OutputColumn) *arrow.Chunked {
	table := p.tables[c.Side]
	return table.Column(table.Schema().FieldIndices(c.Source)[0]).Data()
}
