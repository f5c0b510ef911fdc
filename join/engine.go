package join

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/join/sortmerge"
	"github.com/spirjoin/spirjoin/primitive"
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

	engine *Engine
	tables [2]arrow.Table
	keys   *relation.KeyPlan
	sort   sortmerge.Plan
	batch  int // rows of a batch
}

// Plan checks a join against its tables and the limits, and decides how it will run. It reads the key columns once, to
// learn the range of their values, and moves nothing to the device.
//
// Errors: backend.ErrInvalidInput, backend.ErrUnsupported, backend.ErrDeviceMemory or ErrHostMemory with what the join needs, ErrCancelled.
func (e *Engine) Plan(ctx context.Context, left, right arrow.Table, spec Spec) (*Plan, error) {
	layout, err := NewLayout(left.Schema(), right.Schema(), spec)
	if err != nil {
		return nil, err
	}
	return e.PlanLayout(ctx, layout, left, right)
}

// PlanLayout is Plan for a layout that was made before, from schemas that may have had more columns: the tables must have
// those in layout.Needed.
func (e *Engine) PlanLayout(ctx context.Context, layout *Layout, left, right arrow.Table) (_ *Plan, err error) {
	spec := layout.Spec
	p := &Plan{Spec: spec, Layout: layout, engine: e, tables: [2]arrow.Table{left, right}}
	for side, table := range p.tables {
		for _, name := range layout.Needed[side] {
			if err := relation.CheckColumn(table.Schema(), relation.Side(side), name); err != nil {
				return nil, err
			}
		}
	}
	spec.Progress("plan", 0, 0)
	if p.keys, err = relation.PlanKeys(ctx, left, right, spec.LeftOn, spec.RightOn); err != nil {
		return nil, err
	}
	p.sort, err = sortmerge.NewPlan(e.Ops.Tuning(), sortmerge.Problem{
		Rows:     [2]uint64{p.keys.Rows(relation.Left), p.keys.Rows(relation.Right)},
		HasIDs:   [2]bool{p.keys.HasNulls(relation.Left), p.keys.HasNulls(relation.Right)},
		KeyBytes: p.keys.KeyBytes(), KeyBits: p.keys.KeyBits(),
		CountOnly: spec.Output == Count,
	})
	if err != nil {
		return nil, err
	}
	return p, p.fit()
}

// fit chooses the rows of a batch and holds the plan against the caps.
func (p *Plan) fit() error {
	device := p.engine.Ops.Device()
	capBytes := device.Options().DeviceMemoryBytes
	if err := p.sort.Check(capBytes, &device.Info().Limits); err != nil {
		return err
	}
	p.batch = int(min(uint64(p.Spec.BatchRows), primitive.MaxRows))
	least := min(minBatchRows, p.batch)
	if p.Spec.Output == Rows || p.Spec.Output == Pairs {
		// The row numbers of one piece are on the device beside the matches.
		free := capBytes - min(capBytes, p.sort.HeldBytes+pieceSlackBytes)
		p.batch = int(min(uint64(p.batch), free/pairBytes, device.Info().Limits.MaxBlockBytes/(pairBytes/2)))
		if p.batch < least {
			need := p.sort.HeldBytes + pieceSlackBytes + minBatchRows*pairBytes
			return &backend.OpError{Op: "plan join", Device: device.Info().Name, Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
				"the matches and the smallest batch need %d bytes, the limit is %d; raise device_memory", need, capBytes)}
		}
	}
	limit := p.engine.MemoryLimitBytes
	if limit == 0 {
		return nil
	}
	fixed := tableBytes(p.tables[0]) + tableBytes(p.tables[1])
	if device.Info().CPULike() {
		fixed += max(p.sort.PeakBytes, p.sort.HeldBytes+uint64(p.batch)*pairBytes+pieceSlackBytes)
	}
	if p.Spec.Output == Ranges { // what KeyRanges downloads, and the ranges that it makes of it
		fixed += p.sort.HeldBytes + rangeBytes*min(p.sort.Rows[0], p.sort.Rows[1])
	}
	rowBytes := p.outputRowBytes() + pairBytes
	if p.Spec.Output == Rows || p.Spec.Output == Pairs {
		room := limit - min(limit, fixed)
		p.batch = int(min(uint64(p.batch), max(room/(rowBytes*pieces), 1)))
		fixed += rowBytes * pieces * min(uint64(p.batch), minBatchRows)
		if p.batch < least {
			fixed = max(fixed, limit+1)
		}
	}
	if fixed > limit {
		return &backend.OpError{Op: "plan join", Device: device.Info().Name, Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
			"tables, device memory in host memory and the smallest batch need %d bytes, the limit is %d; raise memory_limit", fixed, limit)}
	}
	return nil
}

const (
	pieces          = 2       // pieces of output on the host: one being made, one being used
	pairBytes       = 8       // of a pair of row numbers
	rangeBytes      = 16      // of a sortmerge.KeyRange
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

// String explains the plan.
func (p *Plan) String() string {
	info := p.engine.Ops.Device().Info()
	var b strings.Builder
	fmt.Fprintf(&b, "%s join of %d x %d rows, output %s\n", p.Spec.How, p.tables[0].NumRows(), p.tables[1].NumRows(), p.Spec.Output)
	fmt.Fprintf(&b, "device       %s (%s, %s)\n", info.Name, info.Backend, info.Type)
	for line := range strings.Lines(p.keys.String()) {
		fmt.Fprintf(&b, "key          %s\n", strings.TrimRight(line, "\n"))
	}
	b.WriteString("algorithm    sort-merge (the only one in this version)\n")
	b.WriteString(p.sort.String())
	if p.Spec.Output == Rows {
		device, host := p.places()
		if len(device) > 0 {
			fmt.Fprintf(&b, "gather       on the device: %s\n", strings.Join(device, ", "))
		}
		if len(host) > 0 {
			fmt.Fprintf(&b, "gather       on the host: %s\n", strings.Join(host, ", "))
		}
	}
	if p.Spec.Output == Rows || p.Spec.Output == Pairs {
		fmt.Fprintf(&b, "output       in batches of at most %d rows\n", p.batch)
	}
	return b.String()
}

// places lists the output columns by where they are gathered.
func (p *Plan) places() (device, host []string) {
	onDevice := p.gatheredOnDevice()
	for i, field := range p.Layout.Schema.Fields() {
		if onDevice[i] {
			device = append(device, field.Name)
		} else {
			host = append(host, field.Name)
		}
	}
	return device, host
}

// gatheredOnDevice decides for each output column whether its values move to the device: columns of 4 and 8 bytes, as
// long as they fit beside the matches. Where the device is the host's own cores, that would copy every column to save nothing.
func (p *Plan) gatheredOnDevice() []bool {
	device := p.engine.Ops.Device()
	on := make([]bool, len(p.Layout.Columns))
	if p.Spec.Materialize == MaterializeHost || p.Spec.Materialize == MaterializeAuto && device.Info().CPULike() {
		return on
	}
	free := device.Options().DeviceMemoryBytes
	free -= min(free, p.sort.HeldBytes+uint64(p.batch)*pairBytes+pieceSlackBytes)
	for i, c := range p.Layout.Columns {
		if need := relation.DeviceColumnBytes(p.column(c), uint64(p.batch)); need > 0 && need <= min(free, device.Info().Limits.MaxBlockBytes) {
			free -= need
			on[i] = true
		}
	}
	return on
}

// Run executes the plan up to the matches and returns the result, from which the output is drawn. The caller closes it.
//
// Errors: those of the device, and backend.ErrLimit when there are more pairs than MaxOutputRows.
func (p *Plan) Run(ctx context.Context) (*Result, error) {
	r := &Result{Plan: p, Device: *p.engine.Ops.Device().Info(), started: time.Now()}
	device := p.engine.Ops.Device()
	device.ResetPeak()
	load := func(ctx context.Context, side int, keys, ids backend.Range) error {
		p.Spec.Progress("sort "+relation.Side(side).String(), 0, 0)
		start := time.Now()
		defer func() { r.encode += time.Since(start) }()
		return p.keys.Load(ctx, device, relation.Side(side), keys, ids)
	}
	approve := func(total uint64) error {
		if p.Spec.MaxOutputRows > 0 && total > p.Spec.MaxOutputRows {
			return fmt.Errorf("join: %w: %d rows, max_output_rows allows %d", backend.ErrLimit, total, p.Spec.MaxOutputRows)
		}
		return nil
	}
	matches, err := sortmerge.Match(ctx, p.engine.Ops, p.sort, load, approve, &r.profile)
	if err != nil {
		return nil, err
	}
	r.matches, r.Rows, r.matched = matches, matches.Total, time.Since(r.started)
	return r, nil
}
