package query

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/relation/keys"
)

// Host memory of a query, which it acquires together with its device memory:
//
//	tables    of its scans, even if the caller owns them; queries that share columns share their memory
//	work      marks, row numbers to be sorted or of rows without a key, keys and columns on their way to the device
//	pieces    of output: requested, being made, handed over, being encoded, encoded; smaller if memory is short
//	parts     of a probe side that comes part by part, smaller if memory is short, and rows that wait to be parts
//	device    its device memory, if that is host memory
//
// A plan tries to fit the free memory with smaller pieces and parts. Otherwise the query waits.

const (
	pieces       = 5       // of output on the host: requested, being made, handed over, being encoded, encoded
	pairBytes    = 8       // bytes of a pair of row numbers
	minBatchRows = 1 << 10 // with fewer rows at a time, launches would cost more than the work
	// fewBatchRows is the batch size below which a query rather waits for memory. If batches would take more than an
	// eighth of the memory, they have no more rows than twice those expected in all, but at least fewBatchRows.
	fewBatchRows = 1 << 14
)

// LeastPartBytes is the host memory that a part of a probe side has at least. So have the batches of the source that
// the first part begins and the last one ends in.
const LeastPartBytes = 1 << 20

// PartsAtOnce returns the number of parts of a probe side that are on the host at a time: one that is gathered, one
// that is joined, and one whose last piece is drawn; with Facts.Ahead, also one that is loaded and one that is
// delivered.
func PartsAtOnce(ahead bool) uint64 {
	if ahead {
		return 5
	}
	return 3
}

// room is the memory that a plan is made for, in bytes.
type room struct {
	deviceBytes, pinnedBytes, hostBytes uint64
	leastRows                           uint64 // minimum rows of a batch, unless they are wide
}

// wideBytes is the memory of a row in all pieces beyond which the minimum size of a batch is in bytes, not in rows.
const wideBytes = 4 << 10

// least is the minimum rows of a batch.
func (r *room) least(rowBytes uint64) uint64 {
	return max(1, min(r.leastRows, r.leastRows*wideBytes/max(rowBytes, 1)))
}

// rooms returns the memory that no other query has now, and all memory.
func (q *Query) rooms() [2]room {
	e := q.Engine
	free, own := e.budget.Free(), q.Grant.Has()
	now := room{free.Device[e.Device()], min(free.Pinned, e.pinnedBytes), free.Host, fewBatchRows}
	now.deviceBytes -= min(now.deviceBytes, e.left.deviceBytes)
	if e.hostBytes != exec.Unlimited {
		q.tables = relation.SharedBytes(q.Trees[0].Scans[operator.Build].Table, q.Trees[0].Scans[operator.Probe].Table)
		now.hostBytes += own.Host + e.budget.Held(exec.Need{Shared: q.tables})
		now.hostBytes -= min(now.hostBytes, e.left.hostBytes)
	}
	all := room{e.capBytes(), e.pinnedBytes, e.hostBytes, minBatchRows}
	q.shareHost(&now)
	q.shareHost(&all)
	return [2]room{now, all}
}

// shareHost reduces the host memory of a room to the share of one of several devices. All use the same tables.
func (q *Query) shareHost(r *room) {
	if q.Among <= 1 || q.Engine.hostBytes == exec.Unlimited {
		return
	}
	tables := q.tablesBytes()
	r.hostBytes = min(r.hostBytes, tables) + (r.hostBytes-min(r.hostBytes, tables))/q.Among
	r.pinnedBytes = min(r.pinnedBytes, r.hostBytes)
}

// tablesBytes is the host memory of the tables.
func (q *Query) tablesBytes() (sizeBytes uint64) {
	for _, bytes := range q.tables {
		sizeBytes += bytes
	}
	return sizeBytes
}

// shortOfHost is the error of a device that needs this much host memory, of which its room has less. It names what all
// devices together need.
func (q *Query) shortOfHost(need uint64) error {
	limit := q.room.hostBytes
	if q.Among > 1 {
		tables := q.tablesBytes()
		need = tables + (need-min(need, tables))*q.Among
		limit = min(limit, tables) + (limit-min(limit, tables))*q.Among
	}
	return q.Engine.hostMemoryError(need, limit)
}

// fitHost chooses the rows of a batch and the memory of parts. It returns an error if the alternative does not fit the
// host memory of the room.
func (q *Query) fitHost(a *Alternative) error {
	e, in, rowBytes := q.Engine, &q.room, q.pieceBytes(a)
	if rowBytes*a.batch > min(cmp.Or(e.pinnedBytes, e.hostBytes), e.hostBytes)/8 {
		a.batch = min(a.batch, max(2*q.piecesRows(a), fewBatchRows))
	}
	if e.pinnedBytes > 0 && rowBytes > 0 {
		a.batch = min(a.batch, max(in.pinnedBytes/rowBytes, in.least(rowBytes)))
		// Batches beyond what the device may import at all are not pinned.
		if need := min(rowBytes*a.batch, e.pinnedBytes); need > in.pinnedBytes {
			a.lacks = need
			return e.hostMemoryError(need, in.pinnedBytes)
		}
	}
	if e.hostBytes == exec.Unlimited {
		return nil
	}
	rows := min(a.batch, in.least(rowBytes))
	need := q.fixedBytes(a) + rowBytes*rows
	if a.parts = q.PartsBytes; a.parts > 0 { // at most half of what is left
		leastPartsBytes := (PartsAtOnce(a.Facts.Ahead) + 2) * LeastPartBytes
		a.parts = min(a.parts, max((in.hostBytes-min(in.hostBytes, need))/2, leastPartsBytes))
		need += a.parts
	}
	if rowBytes > 0 { // batches may take all that is left, or half if later probe tables may have to be proved
		left := in.hostBytes - min(in.hostBytes, need)
		if q.Facts.Stays {
			left /= 2
		}
		more := min(a.batch-rows, left/rowBytes)
		a.batch, need = rows+more, need+rowBytes*more
	}
	if need <= in.hostBytes {
		return nil
	}
	a.lacks = need
	return q.shortOfHost(need)
}

// leftForDevice is how much of deviceBytes, with which no alternative fits host memory, host memory leaves for the
// device, where that is its memory: the most that there is beside what else an alternative needs.
func (q *Query) leftForDevice(deviceBytes uint64) (sizeBytes uint64) {
	if !q.Engine.Device().Info().InHostMemory() {
		return deviceBytes
	}
	short := false
	for i := range q.Alternatives {
		a := &q.Alternatives[i]
		if errors.Is(a.Err, backend.ErrHostMemory) && a.lacks > 0 {
			others := a.lacks - min(a.PeakBytes, q.Engine.capBytes())
			sizeBytes, short = max(sizeBytes, q.room.hostBytes-min(q.room.hostBytes, others)), true
		}
	}
	if !short {
		return deviceBytes
	}
	return min(sizeBytes, deviceBytes)
}

// hostMemoryError is HostMemoryError of a query.
func (e *Engine) hostMemoryError(need, limit uint64) error {
	return e.HostMemoryError("tables, device memory in host memory and the smallest batch", need, limit)
}

// HostMemoryError names the memory_limit that would be enough for what has a need. What was reserved counts; where it
// was measured, it is a little more or less at the next time.
func (e *Engine) HostMemoryError(what string, need, limit uint64) error {
	if e.reserved > 0 {
		need, limit = need+e.reserved+1<<20, limit+e.reserved
	}
	return &backend.OpError{Op: "plan join", Device: e.Device().Info().Name, Err: backend.ErrHostMemory,
		Detail: fmt.Sprintf("%s need %d bytes, the limit is %d; raise memory_limit", what, need, limit)}
}

// need is the memory that an alternative acquires.
func (q *Query) need(a *Alternative) exec.Need {
	e, output := q.Engine, q.pieceBytes(a)*a.batch
	need := exec.Need{Device: e.onDevice(min(a.PeakBytes, e.capBytes())), Pinned: min(output, e.pinnedBytes)}
	if e.hostBytes != exec.Unlimited {
		need.Shared, need.Host = q.tables, q.workBytes(a)+a.parts+output-need.Pinned
	}
	return need
}

// fixedBytes is the host memory of an alternative without batches and parts.
func (q *Query) fixedBytes(a *Alternative) uint64 {
	sizeBytes := q.tablesBytes()
	if q.Engine.Device().Info().InHostMemory() {
		sizeBytes += min(a.PeakBytes, q.Engine.capBytes())
	}
	return sizeBytes + q.workBytes(a)
}

// aloneBytes is the host memory that an alternative leaves for parts if no other query has any.
func (q *Query) aloneBytes(a *Alternative) uint64 {
	all := q.Engine.hostBytes
	return all - min(all, q.fixedBytes(a)+q.pieceBytes(a)*a.batch)
}

// workBytes is the host memory for rows that wait, row numbers to be sorted, marks, row numbers of rows that are output
// by their numbers, and data on its way to the device.
func (q *Query) workBytes(a *Alternative) (sizeBytes uint64) {
	sizeBytes = q.WaitingBytes
	if q.Ordered {
		sizeBytes += q.piecesRows(a) * pairBytes
	}
	staged := uint64(0)
	for side, s := range a.Scans {
		rows := a.Facts.TableRows[side]
		if side == operator.Probe {
			rows = max(rows, a.Facts.Granule) // rows of a part
		}
		if a.Keep != nil && a.Output.Marks(side) {
			sizeBytes += max(rows, uint64(s.Table.NumRows()))/8 + rows*4 // marks have a bit for each row of the table
		}
		if carried := a.Carried[s.Side]; carried != nil {
			tables := uint64(1)
			if q.Parts && side == operator.Probe {
				tables = PartsAtOnce(a.Facts.Ahead)
			}
			sizeBytes += tables * carried.HostBytes(rows)
		}
		if a.Merges && side == operator.Build {
			sizeBytes += rows/8 + min(rows, numbersAtOnce)*4
		}
		if a.Compare == CompareDevice { // marks from the device, and codes that are uploaded as texts
			sizeBytes += rows / 8
			staged = max(staged, min(rows, relation.StageRows)*hashBytes)
		}
		if s.leavesOut() {
			sizeBytes += rows / 8
		}
		keyless := s.keylessRows()
		if rows > a.Facts.TableRows[side] && s.Keyless != keys.KeylessNone { // any row of a later table
			keyless = rows
		}
		sizeBytes += 4 * keyless
		staged = max(staged, s.Words.HostStageBytes(rows))
	}
	if a.Keep != nil {
		sizeBytes += deliver.FilterHostBytes(a.Facts.Room())
	}
	return sizeBytes + staged
}

// piecesRows is the number of output rows that are expected before the next part of the probe side comes.
func (q *Query) piecesRows(a *Alternative) uint64 {
	rows := q.predictedRows()
	if q.Parts {
		rows /= a.Facts.Granules()
	}
	return rows
}

// delivers reports whether rows come to the host.
func (q *Query) delivers(a *Alternative) bool { return !a.Output.Count && q.Consumer == nil }

// pieceBytes is the memory of all pieces of output on the host, per row of a piece.
func (q *Query) pieceBytes(a *Alternative) (sizeBytes uint64) {
	if !q.delivers(a) {
		return 0
	}
	return pieces * (q.RowBytes + pairBytes)
}
