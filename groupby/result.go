package groupby

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/relation"
)

// Result is the groups of a table. One goroutine may draw them, once. The owner closes it.
type Result struct {
	Layout *Layout
	Device backend.DeviceInfo

	engine  *Engine
	flow    *exec.Flow
	grant   *exec.Grant
	lane    *exec.Lane
	program *program
	groups  *groups    // of the division that is drawn
	stream  *streaming // nil: of a table
	before  uint64     // groups of the divisions before
	stats   Stats
	drawn   bool
	windows bool // rows were grouped where the join made them
}

// Stats are measurements of a group-by.
type Stats struct {
	Device       string  `json:"device"`
	Backend      string  `json:"backend"`
	Driver       string  `json:"driver"`
	Rows         uint64  `json:"rows"`          // of the input
	Groups       uint64  `json:"groups"`        // rows of the output
	GroupSeconds float64 `json:"group_seconds"` // until the groups were on the host
	DrawSeconds  float64 `json:"draw_seconds"`  // in which output columns were made
}

// Rows returns the number of output rows; of groups that were divided because memory has no room for them, the number of
// those that were merged so far.
func (r *Result) Rows() uint64 { return r.before + uint64(r.groups.rows) }

// Counted reports whether Rows is the number of all output rows: unless the groups were divided, or when the last
// division is drawn.
func (r *Result) Counted() bool {
	return r.stream == nil || !r.stream.divided || r.stream.next == divisions
}

// Schema returns the schema of the record batches.
func (r *Result) Schema() *arrow.Schema { return r.Layout.Schema }

// Stats returns the measurements so far.
func (r *Result) Stats() Stats {
	s := r.stats
	s.Device, s.Backend, s.Driver, s.Groups = r.Device.Name, r.Device.Backend, r.Device.Driver, r.Rows()
	return s
}

// batchRows is the default of Spec.BatchRows.
const batchRows = 1 << 20

// Batches yields the groups as record batches of at most BatchRows rows, in any order of the groups. The receiver
// releases each batch. Nothing follows an error. Without groups there is no batch.
func (r *Result) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if r.drawn {
			yield(nil, &backend.OpError{Op: "group by", Err: backend.ErrInvalidInput,
				Detail: "the result was drawn before"})
			return
		}
		r.drawn = true
		most := r.Layout.Spec.BatchRows
		if most == 0 {
			most = batchRows
		}
		held := r.engine.memory()
		defer held.Release()
		most = r.outputRows(held, r.engine.HostCapBytes(), most)
		for from := 0; from < r.groups.rows || r.another(ctx, &from, yield); {
			to := min(from+most, r.groups.rows)
			start := time.Now()
			batch, err := r.batch(ctx, from, to)
			r.stats.DrawSeconds += time.Since(start).Seconds()
			if errors.Is(err, relation.ErrBatchTooLarge) && to-from > 1 {
				most = (to - from) / 2
				continue
			}
			if !yield(batch, err) || err != nil {
				return
			}
			from = to
		}
	}
}

// another makes the groups of the next division those that are drawn, from the first one on. It is false if there are
// none, and after an error, which it yields.
func (r *Result) another(ctx context.Context, from *int, yield func(arrow.RecordBatch, error) bool) bool {
	if r.stream == nil {
		return false
	}
	start, before := time.Now(), r.groups
	r.before += uint64(before.rows)
	before.release()
	r.groups = &groups{keys: before.keys, hashes: before.hashes, by: before.by, first: before.first,
		strips: before.strips}
	g, err := r.stream.draw(ctx)
	r.stats.DrawSeconds += time.Since(start).Seconds()
	if err != nil {
		yield(nil, fmt.Errorf("group by: %w", failure(err, r.flow.Context(), ctx)))
		return false
	}
	if g == nil {
		return false
	}
	r.groups, *from = g, 0
	return true
}

// batch makes the output columns of the groups [from, to), all at once.
func (r *Result) batch(ctx context.Context, from, to int) (arrow.RecordBatch, error) {
	keys := len(r.groups.by)
	columns := make([]arrow.Array, keys+len(r.program.columns))
	defer func() { relation.ReleaseAll(columns) }()
	if r.groups.none {
		return r.nothing()
	}
	all, ctx := errgroup.WithContext(ctx)
	for i := range columns {
		all.Go(func() error {
			return exec.Protect("finish column", func() (err error) {
				if i < keys {
					columns[i], err = r.groups.key(ctx, i, from, to)
					return err
				}
				f := finishing{finisher: &r.program.columns[i-keys], groups: r.groups, from: from, to: to}
				columns[i], err = f.array(ctx)
				return err
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return array.NewRecordBatch(r.Layout.Schema, columns, int64(to-from)), nil
}

// nothing is the one row of aggregates over no rows: counts are 0, all else is NULL.
func (r *Result) nothing() (arrow.RecordBatch, error) {
	var columns []arrow.Array
	defer func() { relation.ReleaseAll(columns) }()
	for _, field := range r.Layout.Schema.Fields() {
		column := relation.FixedArray(arrow.PrimitiveTypes.Int64, 1, make([]byte, 8), nil, 0)
		if field.Nullable {
			var err error
			if column, err = relation.Nulls(field.Type, 1, memory.DefaultAllocator); err != nil {
				return nil, err
			}
		}
		columns = append(columns, column)
	}
	return array.NewRecordBatch(r.Layout.Schema, columns, 1), nil
}

// Explain returns the text of what was done.
func (r *Result) Explain() string {
	var b strings.Builder
	r.Layout.describe(&b, r.stats.Rows, &r.Device, cmp.Or(r.groups.hashes, r.groups.keys))
	if r.groups.hashes != nil {
		line(&b, "numbered", "different keys have equal hashes; the host has numbered the keys")
	}
	if r.groups.strips {
		line(&b, "grouped", "strip by strip, in caches of cores")
	}
	if r.windows {
		line(&b, "grouped", "on the devices that joined the rows")
	}
	if s := r.stream; s != nil && s.divided {
		onDisk := uint64(0)
		if s.file != nil {
			onDisk = s.file.SizeBytes()
		}
		line(&b, "divided", "into %d, merged one after the other; %s on disk", divisions, text.Bytes(onDisk))
	}
	line(&b, "groups", "%d", r.Rows())
	line(&b, "time", "%.3f s to group, %.3f s to make columns", r.stats.GroupSeconds, r.stats.DrawSeconds)
	return b.String()
}

// Close ends the group-by and releases its memory. Nothing can be drawn afterwards; a second Close does nothing.
func (r *Result) Close() {
	if r.flow == nil {
		return
	}
	if r.lane != nil {
		r.lane.Memory.ReleaseAll()
	}
	r.groups.release()
	if r.stream != nil {
		r.stream.release()
	}
	r.grant.Release()
	r.flow.Stop()
	r.flow = nil
}
