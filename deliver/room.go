package deliver

import (
	"context"

	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
)

// Room is the device memory of windows.
type Room struct {
	Lane       *exec.Lane
	WindowRows uint64 // that a window has room for at most; 0: as many as are asked for
	// PlannedRows of a window, at RowBytes a row, have memory. Reserve makes so much more free, or as much as there is,
	// and returns that.
	PlannedRows, RowBytes uint64
	Reserve               func(sizeBytes uint64) uint64
}

// window returns an empty window for rows rows, or for fewer.
func (r *Room) window(ctx context.Context, rows uint64) *operator.Window {
	if r.WindowRows > 0 {
		rows = min(rows, r.WindowRows)
	}
	if rows > r.PlannedRows {
		rows = max(r.PlannedRows, min(rows, r.Reserve(rows*r.RowBytes)/r.RowBytes), 1)
	}
	return operator.NewWindow(ctx, r.Lane, rows)
}
