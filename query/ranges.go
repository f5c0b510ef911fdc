package query

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/ranges"
	"github.com/spirjoin/spirjoin/relation"
)

// KeyRanges are matching key ranges in ascending order of the key: every row LeftRows[LeftBegin:LeftBegin+LeftCount] of
// the left table pairs with every row RightRows[RightBegin:RightBegin+RightCount] of the right one.
type KeyRanges struct {
	Ranges    []ranges.KeyRange
	LeftRows  []uint32 // row numbers of the left table in order of the key, without rows that have no key
	RightRows []uint32
	Pairs     uint64 // number of pairs in all ranges
}

// Ranges finds the matching key ranges of two tables (HMG, docs/glossary.md, section 3.3.3). The ranges may have at
// most most pairs; 0 is no limit. scans are of the left and of the right table; they need no columns but row numbers.
//
// Errors: backend.ErrDeviceMemory and backend.ErrHostMemory with the memory that is needed; backend.ErrLimit for more
// pairs; device errors.
func (e *Engine) Ranges(ctx context.Context, scans [2]*Scan, most uint64) (k KeyRanges, err error) {
	need, err := e.fitRanges(scans)
	if err != nil {
		return k, err
	}
	flow, begun, err := e.Begin(ctx)
	if err != nil {
		return k, err
	}
	defer begun()
	defer flow.Stop()
	ctx = flow.Context()
	grant, err := e.budget.Acquire(ctx, need)
	if err != nil {
		return k, err
	}
	defer grant.Release()
	lane := exec.NewLane(ctx, e.Ops, grant)
	defer lane.Memory.ReleaseAll()
	var sorted [2]*ranges.Sorted
	for side, s := range scans {
		chunk, err := s.load(ctx, lane, lane.Memory, 0, int(s.Table.NumRows()), nil)
		if err != nil {
			return k, err
		}
		numbers := ranges.Numbers{Given: chunk.Payload[0].Data}
		if sorted[side], err = ranges.Sort(ctx, lane, chunk, s.Side.String(), numbers); err != nil {
			return k, err
		}
	}
	m, err := ranges.Search(ctx, lane, sorted[0], sorted[1], false)
	if err != nil {
		return k, err
	}
	defer m.Release()
	if err := deliver.CheckRows(m.Total, most, deliver.OfRows); err != nil {
		return k, err
	}
	k.Pairs = m.Total
	k.Ranges, k.LeftRows, k.RightRows, err = m.Ranges(ctx)
	return k, err
}

// fitRanges is the memory for key ranges: chunks of both sides and their join, and on the host the tables and the
// result. It returns an error if that exceeds the limits.
func (e *Engine) fitRanges(scans [2]*Scan) (need exec.Need, err error) {
	few, deviceBytes, loadingBytes, rows := uint64(math.MaxUint64), uint64(0), uint64(0), [2]uint64{}
	for side, s := range scans {
		loadingBytes = max(loadingBytes, deviceBytes+s.loadingBytes()) // the other side is sorted by then
		rows[side], few = s.Rows(), min(few, s.Rows())
		deviceBytes += s.Rows() * uint64(s.Keys.KeyBytes()+4)
		need.Host += 4 * s.Rows()
	}
	joinBytes, err := ranges.JoinBytes(e.Ops.Tuning(), scans[0].Keys.KeyBytes(), rows)
	if err != nil {
		return need, err
	}
	deviceBytes += max(joinBytes, loadingBytes)
	deviceBytes += operator.Slack(deviceBytes)
	if capBytes := e.capBytes(); deviceBytes > capBytes {
		return need, &backend.OpError{Op: "plan key ranges", Device: e.Device().Info().Name,
			Err: backend.ErrDeviceMemory, Detail: fmt.Sprintf(
				"%d bytes are needed, the limit is %d; raise device_memory to at least %s", deviceBytes, capBytes,
				text.Limit(deviceBytes))}
	}
	need.Device = e.onDevice(deviceBytes)
	need.Host += few * (8 + uint64(unsafe.Sizeof(ranges.KeyRange{})))
	if e.hostBytes == exec.Unlimited {
		return need, nil
	}
	need.Shared = relation.SharedBytes(scans[0].Table, scans[1].Table)
	hostBytes := need.Host
	for _, bytes := range need.Shared {
		hostBytes += bytes
	}
	if e.Device().Info().InHostMemory() {
		hostBytes += deviceBytes
	}
	if hostBytes > e.hostBytes {
		return need, e.hostMemoryError(hostBytes, e.hostBytes)
	}
	return need, nil
}
