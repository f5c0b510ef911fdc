package query

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/deliver"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/operator"
	"github.com/spirjoin/spirjoin/relation"
)

// What a query takes of the host, and acquires with its device memory:
//
//	tables    those of its scans, also where they are the caller's; queries that share columns share their memory
//	work      marks, row numbers that are put in order or have no key, keys and columns on their way to the device
//	pieces    of output: being made, handed over, being encoded, encoded; smaller where there is little room
//	parts     of a probe side that comes part by part, in the same way
//	device    its device memory, where that is memory of the host
//
// What others hold is avoided by smaller pieces and parts where a plan can, and otherwise waited for.

const (
	pieces       = 4       // of output on the host: being made, handed over, being encoded, encoded
	pairBytes    = 8       // of a pair of row numbers
	minBatchRows = 1 << 10 // fewer rows at a time would cost more in launches than in work
	// A query waits rather than have smaller batches than that. Where batches would take more than an eighth of the
	// memory, they are no larger than what is expected in all, but at least that.
	fewBatchRows = 1 << 14
)

// PartsAtOnce are the parts of a probe side that are on the host at a time: one that is gathered, one that is joined,
// and one whose last piece is drawn. Each has room for LeastPartBytes, and so have the batches of the source that the
// first of them begins and the last one ends in.
const (
	PartsAtOnce    = 3
	LeastPartBytes = 1 << 20

	leastPartsBytes = (PartsAtOnce + 2) * LeastPartBytes
)

// room is the memory that a plan is made for.
type room struct {
	deviceBytes, pinnedBytes, hostBytes uint64
	leastRows                           uint64 // of a batch
}

// rooms are what nobody has now, and all there is.
func (q *Query) rooms() [2]room {
	e := q.Engine
	free, own := e.budget.Free(), q.Grant.Has()
	now := room{free.Device[e.Device()], free.Pinned, free.Host, fewBatchRows}
	if e.hostBytes != exec.Unlimited {
		q.tables = SharedBytes(q.Trees[0].Scans[operator.Build].Table, q.Trees[0].Scans[operator.Probe].Table)
		now.hostBytes += own.Host + e.budget.Held(exec.Need{Shared: q.tables})
	}
	return [2]room{now, {e.capBytes(), e.pinnedBytes, e.hostBytes, minBatchRows}}
}

// fitHost chooses the rows of a batch and the memory of parts, and holds an alternative against the room on the host.
func (q *Query) fitHost(a *Alternative) error {
	e, in, rowBytes := q.Engine, &q.room, q.pieceBytes(a)
	if rowBytes*a.batch > min(cmp.Or(e.pinnedBytes, e.hostBytes), e.hostBytes)/8 {
		a.batch = min(a.batch, max(2*q.piecesRows(a), fewBatchRows))
	}
	if e.pinnedBytes > 0 && rowBytes > 0 {
		a.batch = min(a.batch, max(in.pinnedBytes/rowBytes, in.leastRows))
		// Of what is more than the device may import at all, the rest is not pinned.
		if need := min(rowBytes*a.batch, e.pinnedBytes); need > in.pinnedBytes {
			a.lacks = need
			return hostMemoryError(e.Device().Info().Name, need, in.pinnedBytes)
		}
	}
	if e.hostBytes == exec.Unlimited {
		return nil
	}
	rows := min(a.batch, in.leastRows)
	need := q.fixedBytes(a) + rowBytes*rows
	if a.parts = q.PartsBytes; a.parts > 0 { // half of what is left
		a.parts = min(a.parts, max((in.hostBytes-min(in.hostBytes, need))/2, leastPartsBytes))
		need += a.parts
	}
	if rowBytes > 0 { // all of it, or half where probe tables that come later may have to be proved
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
	return hostMemoryError(e.Device().Info().Name, need, in.hostBytes)
}

func hostMemoryError(device string, need, limit uint64) error {
	return &backend.OpError{Op: "plan join", Device: device, Err: backend.ErrHostMemory, Detail: fmt.Sprintf(
		"tables, device memory in host memory and the smallest batch need %d bytes, the limit is %d; raise memory_limit",
		need, limit)}
}

// need is the memory of an alternative, as it is acquired.
func (q *Query) need(a *Alternative) exec.Need {
	e, output := q.Engine, q.pieceBytes(a)*a.batch
	need := exec.Need{Device: e.onDevice(min(a.PeakBytes, e.capBytes())), Pinned: min(output, e.pinnedBytes)}
	if e.hostBytes != exec.Unlimited {
		need.Shared, need.Host = q.tables, q.workBytes(a)+a.parts+output-need.Pinned
	}
	return need
}

// fixedBytes is what an alternative takes of the host whatever the size of batches and parts.
func (q *Query) fixedBytes(a *Alternative) (sizeBytes uint64) {
	for _, bytes := range q.tables {
		sizeBytes += bytes
	}
	if q.Engine.Device().Info().InHostMemory() {
		sizeBytes += min(a.PeakBytes, q.Engine.capBytes())
	}
	return sizeBytes + q.workBytes(a)
}

// aloneBytes is what an alternative leaves for parts where no other query has memory.
func (q *Query) aloneBytes(a *Alternative) uint64 {
	all := q.Engine.hostBytes
	return all - min(all, q.fixedBytes(a)+q.pieceBytes(a)*a.batch)
}

// workBytes is what is put in order, marks, rows that are put by their numbers, and what is on its way to the device.
func (q *Query) workBytes(a *Alternative) (sizeBytes uint64) {
	if q.Ordered {
		sizeBytes += q.piecesRows(a) * pairBytes
	}
	staged := uint64(0)
	for side, s := range a.Scans {
		rows := a.Facts.TableRows[side]
		if side == operator.Probe {
			rows = max(rows, a.Facts.Granule) // of a part
		}
		if a.Keep != nil && a.Output.Marks(side) {
			sizeBytes += rows/8 + rows*4
		}
		if a.Compare == CompareDevice { // marks of the device, codes that go along with texts
			sizeBytes += rows / 8
			staged = max(staged, min(rows, relation.StageRows)*hashBytes)
		}
		if s.Keys.LeavesOut(s.Side) {
			sizeBytes += rows / 8
		}
		keyless := s.Keys.KeylessRows(s.Side, s.Keyless)
		if rows > a.Facts.TableRows[side] && s.Keyless != relation.KeylessNone { // of a table that comes later
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

// piecesRows is how many rows of output are expected before the next part of the probe side comes.
func (q *Query) piecesRows(a *Alternative) uint64 {
	rows := q.predictedRows()
	if q.Parts {
		rows /= a.Facts.Granules()
	}
	return rows
}

// pieceBytes is what all pieces of output that are on the host take, for each row of one of them.
func (q *Query) pieceBytes(a *Alternative) (sizeBytes uint64) {
	if a.Output.Count {
		return 0
	}
	return pieces * (q.RowBytes + pairBytes)
}

// TableBytes is the memory of the columns of tables. What columns share, as slices of one array do, counts once.
func TableBytes(tables ...arrow.Table) (sizeBytes uint64) {
	for _, bytes := range SharedBytes(tables...) {
		sizeBytes += bytes
	}
	return sizeBytes
}

// SharedBytes is the memory of each buffer of the columns of tables, for exec.Need: queries may share it.
func SharedBytes(tables ...arrow.Table) map[any]uint64 {
	shared := make(map[any]uint64)
	for _, table := range tables {
		for i := range int(table.NumCols()) {
			addBuffers(shared, table.Column(i).Data())
		}
	}
	return shared
}

// ColumnBytes is the memory of a column. Chunks that are slices of one array share its buffers, which count once.
func ColumnBytes(column *arrow.Chunked) (sizeBytes uint64) {
	shared := make(map[any]uint64)
	addBuffers(shared, column)
	for _, bytes := range shared {
		sizeBytes += bytes
	}
	return sizeBytes
}

func addBuffers(shared map[any]uint64, column *arrow.Chunked) {
	var add func(data arrow.ArrayData)
	add = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil {
				shared[b] = uint64(b.Len())
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
}
