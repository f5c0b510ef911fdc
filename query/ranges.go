package query

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/ranges"
)

// KeyRanges are matching key ranges in ascending order of the key: every row LeftRows[LeftBegin:LeftBegin+LeftCount] of
// the left table pairs with every row RightRows[RightBegin:RightBegin+RightCount] of the right one.
type KeyRanges struct {
	Ranges    []ranges.KeyRange
	LeftRows  []uint32 // row numbers of the left table in order of the key, without rows that have no key
	RightRows []uint32
	Pairs     uint64 // that the ranges stand for
}

// Ranges finds the matching key ranges of two tables (HMG 3.3.3). approve hears how many pairs they stand for; its error
// ends it. Scans are those of the left and of the right table; of their columns row numbers are enough.
//
// Errors: backend.ErrDeviceMemory and backend.ErrHostMemory with what is needed; those of approve and of the device.
func (e *Engine) Ranges(ctx context.Context, scans [2]*Scan, approve func(pairs uint64) error) (k KeyRanges, err error) {
	needBytes, err := e.fitRanges(scans)
	if err != nil {
		return k, err
	}
	grant, err := e.budget.Acquire(ctx, e.need(needBytes), e.need(needBytes))
	if err != nil {
		return k, err
	}
	defer grant.Release()
	lane := exec.NewLane(ctx, e.Ops, grant)
	defer lane.Memory.ReleaseAll()
	var sorted [2]*ranges.Sorted
	for side, s := range scans {
		chunk, err := s.load(ctx, lane, lane.Memory, 0, int(s.Table.NumRows()))
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
	if err := approve(m.Total); err != nil {
		return k, err
	}
	k.Pairs = m.Total
	k.Ranges, k.LeftRows, k.RightRows, err = m.Ranges(ctx)
	return k, err
}

// fitRanges is the device memory that key ranges take: both sides and both in order, while the second one is sorted or
// the ranges are searched for. It holds them against the limits.
func (e *Engine) fitRanges(scans [2]*Scan) (deviceBytes uint64, err error) {
	few, stays, step, hostBytes := scans[0].Rows(), uint64(0), uint64(0), uint64(0)
	for _, s := range scans {
		bytes, err := sortBytes(e.Ops.Tuning(), s)
		if err != nil {
			return 0, err
		}
		few, step = min(few, s.Rows()), max(step, bytes)
		stays += 2 * s.Rows() * uint64(s.Keys.KeyBytes()+4)
		hostBytes += tableBytes(s.Table) + 4*s.Rows()
	}
	p, err := primitive.PlanRangeSearch(e.Ops.Tuning(), scans[0].Rows(), scans[1].Rows(), scans[0].Keys.KeyBytes())
	if err != nil {
		return 0, err
	}
	const rangeBytes = 16 // of a row: where its partners begin, how many there are, and where its pairs begin
	deviceBytes = stays + max(step, few*rangeBytes+p.ScratchBytes)
	if capBytes := e.capBytes(); deviceBytes > capBytes {
		return 0, &backend.OpError{Op: "plan key ranges", Device: e.Device().Info().Name, Err: backend.ErrDeviceMemory,
			Detail: fmt.Sprintf("%d bytes are needed, the limit is %d; raise device_memory to at least %s", deviceBytes,
				capBytes, text.Mebibytes(deviceBytes))}
	}
	if e.Device().Info().CPULike() {
		hostBytes += deviceBytes
	}
	hostBytes += few * (8 + uint64(unsafe.Sizeof(ranges.KeyRange{})))
	if limit := e.MemoryLimitBytes; limit > 0 && hostBytes > limit {
		return 0, hostMemoryError(e.Device().Info().Name, hostBytes, limit)
	}
	return deviceBytes, nil
}

// sortBytes is the memory that it takes to sort the keys of a scan with their row numbers, beside their chunk and what
// comes of it.
func sortBytes(t primitive.Tuning, s *Scan) (sizeBytes uint64, err error) {
	const roundingBytes = 16 << 10 // of buffers, and of what says how they are out of order
	p, err := primitive.PlanSort(t, primitive.Sort{EndBit: s.Keys.KeyBytes() * 8, Varying: 1<<64 - 1,
		Layout: primitive.Layout{Rows: s.Rows(), KeyBytes: s.Keys.KeyBytes(), Payload: primitive.Given, PayloadBytes: 4,
			Columns: 1}})
	return s.Rows()*uint64(s.Keys.KeyBytes()+4) + p.ScratchBytes + roundingBytes, err
}
