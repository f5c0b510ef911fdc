package deliver

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// Room creates windows and bounds their device memory.
type Room struct {
	Lane       *exec.Lane
	WindowRows uint64 // maximum number of rows of a window; 0: no limit
	// PlannedRows is the number of rows per window, of RowBytes each, for which the plan has memory. For larger
	// windows, Reserve makes up to the given number of bytes available and returns the number of available bytes.
	PlannedRows, RowBytes uint64
	Reserve               func(sizeBytes uint64) uint64
}

// Window returns an empty window for rows rows, or for fewer if memory or WindowRows does not allow that, but for at
// least one.
func (r *Room) Window(ctx context.Context, rows uint64) *operator.Window {
	if r.WindowRows > 0 {
		rows = min(rows, r.WindowRows)
	}
	if rows > r.PlannedRows {
		need := rows * r.RowBytes
		need += operator.Slack(need)
		if unused := r.Reserve(need); unused < need {
			rows = max(r.PlannedRows, operator.Within(unused)/r.RowBytes, 1)
		}
	}
	return operator.NewWindow(ctx, r.Lane, rows)
}

// Keep passes the rows of a window whose bits are set on to a sink, as many at a time as memory allows; see
// [operator.Keep]. [FilterBytes] is the memory that it takes at least.
func (r *Room) Keep(ctx context.Context, sink operator.Sink, w *operator.Window, payload [2][]int, keep []uint64) error {
	rowBytes, most := uint64(0), uint64(testRows)
	for _, columns := range payload {
		for _, bytes := range columns {
			rowBytes += uint64(bytes)
		}
	}
	need, err := operator.KeepBytes(r.Lane.Tuning(), most, rowBytes)
	if err != nil {
		return err
	}
	if need += need / 8; r.Reserve(need) < need {
		most = keepRows
	}
	return operator.Keep(ctx, r.Lane, sink, w, payload, keep, most)
}
