package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// Values of the constant placing of [PartitionJoin].
const (
	AtOffsets = iota
	Reserving
)

// OutputConfig is the common part of the configurations of kernels that write output rows: placing, as in
// [PartitionJoin], and the number of 32-bit words per value of the payload columns, 0 if there is no second column.
type OutputConfig struct {
	Placing     uint32
	LeftWords   uint32
	RightWords  uint32
	LeftWords2  uint32
	RightWords2 uint32
}

// joinRowsBytes is the shared memory of join_rows.glsl and join_output.glsl, by which invocations place output rows.
func joinRowsBytes(t Tile, shared, paged uint32) uint32 {
	if shared == 1 {
		return t.batchBitsBytes() + (1-paged)*4*t.batchWords() + 4*8
	}
	return 2*subgroupsBytes(t.Workgroup, 4) + 4*4
}

var defaultOutput = OutputConfig{Placing: AtOffsets, LeftWords: 1, RightWords: 1}

// JoinColumns are the columns of kernels that join; [PartitionJoin] describes them. B is backend.Range for callers.
type JoinColumns[B any] struct {
	LeftKeys      B `access:"read"`
	RightKeys     B `access:"read"`
	LeftPayload   B `access:"read"`
	RightPayload  B `access:"read"`
	LeftPayload2  B `access:"read"`
	RightPayload2 B `access:"read"`
	Places        B `access:"readwrite"`
	KeysOut       B `access:"write"`
	LeftOut       B `access:"write"`
	RightOut      B `access:"write"`
	LeftOut2      B `access:"write"`
	RightOut2     B `access:"write"`
}

// JoinRows are the output rows of kernels that join: OutRows rows from FirstRow on. With [AtOffsets] the sum of
// FirstRow and an offset is taken modulo 2^32, so that a part of the whole output can begin at row 0.
type JoinRows struct {
	FirstRow uint32
	OutRows  uint32
}

// BitmapWord is the index of the 32-bit word of places at which, with paged=1, the bitmap of rows begins.
const BitmapWord = 64

// MarksWord is the index of the first of two 32-bit words of places that, with marked=1, say where the bitmaps of rows
// begin.
const MarksWord = 16

// pairRows is how many pairs become output rows at a time.
const pairRows = 1024

// joinOutput makes output rows of the pairs that a kernel finds: column by column, so that the loads of a column, which
// may lie anywhere, do not wait for each other.
type joinOutput[K word] struct {
	left, right           [pairRows]uint32 // the rows of the pairs to write,
	leftFirst, rightFirst uint32           // counted from these

	JoinColumns[[]byte]
	JoinRows
	OutputConfig
	unit               uint32
	pageSize           uint32 // 0: no pages
	mixed              bool   // keys are turned back, by seed
	seed               uint32
	keys               keyOutput[K]
	sides              uint32 // that are marked in places
	done               uint64 // pairs before these
	pageRow, pageEmpty uint64 // the next row of the last page, and how many are empty
}

// write makes output rows of the first n pairs.
func (o *joinOutput[K]) write(n uint) { o.writePairs(o.left[:n], o.right[:n]) }

// writePairs makes output rows of pairs of rows.
func (o *joinOutput[K]) writePairs(left, right []uint32) {
	n := len(left)
	if cursor := backend.Words(o.Places); n > 0 && (o.Placing == Reserving || o.pageSize > 0) {
		if counted := atomic.AddUint32(&cursor[1], uint32(n)); counted < uint32(n) {
			atomic.AddUint32(&cursor[2], 1)
		}
	}
	o.mark(left, right)
	for len(left) > 0 {
		at, rows := o.place(uint64(len(left)))
		if rows == 0 {
			break
		}
		o.put(at, left[:rows], right[:rows])
		left, right = left[rows:], right[rows:]
	}
	o.done += uint64(n)
}

// mark marks the rows of pairs.
func (o *joinOutput[K]) mark(left, right []uint32) {
	if o.sides == 0 {
		return
	}
	places := backend.Words(o.Places)
	if o.sides&MarkLeft != 0 {
		marks := marker(places[places[MarksWord]:])
		for _, row := range left {
			marks.mark(o.leftFirst + row)
		}
	}
	if o.sides&MarkRight != 0 {
		marks := marker(places[places[MarksWord+1]:])
		for _, row := range right {
			marks.mark(o.rightFirst + row)
		}
	}
}

// end tells which rows of the last page stay empty.
func (o *joinOutput[K]) end() {
	places := backend.Words(o.Places)
	for row := o.pageRow; row < o.pageRow+o.pageEmpty; row++ {
		atomic.AndUint32(&places[BitmapWord+row/32], ^(1 << (row % 32)))
	}
}

// place finds room for pairs: as many as it returns, 0 for none, go to output rows from at on.
func (o *joinOutput[K]) place(pairs uint64) (at, rows uint64) {
	first, room, places := uint64(o.FirstRow), uint64(o.OutRows), o.Places
	switch {
	case o.pageSize > 0:
		if o.pageEmpty == 0 {
			page := uint64(o.pageSize)
			taken := (pairs + page - 1) / page * page
			begin := uint64(atomic.AddUint32(&backend.Words(places)[0], uint32(taken))) - taken
			if begin+taken > room {
				return 0, 0
			}
			o.pageRow, o.pageEmpty = first+begin, taken
		}
		at, rows = o.pageRow, min(pairs, o.pageEmpty)
		o.pageRow, o.pageEmpty = at+rows, o.pageEmpty-rows
		return at, rows
	case o.Placing == Reserving:
		cursor := backend.Words(places)
		for {
			reserved := atomic.LoadUint32(&cursor[0])
			if uint64(reserved)+pairs > room {
				return 0, 0
			}
			if atomic.CompareAndSwapUint32(&cursor[0], reserved, reserved+uint32(pairs)) {
				return first + uint64(reserved), pairs
			}
		}
	}
	return uint64(o.FirstRow + uint32(backend.Longs(places)[o.unit]+o.done)), pairs
}

// put writes pairs to output rows from at on.
func (o *joinOutput[K]) put(at uint64, left, right []uint32) {
	if len(o.KeysOut) > 0 {
		var buffer [pairRows]K
		keys := buffer[:len(right)]
		writeRows(keys, view[K](o.RightKeys), o.rightFirst, right)
		if o.mixed {
			unmixAll(keys, o.seed)
		}
		o.keys.write(at, keys)
	}
	writePayload(o.LeftOut, o.LeftPayload, o.LeftWords, at, o.leftFirst, left)
	writePayload(o.RightOut, o.RightPayload, o.RightWords, at, o.rightFirst, right)
	writePayload(o.LeftOut2, o.LeftPayload2, o.LeftWords2, at, o.leftFirst, left)
	writePayload(o.RightOut2, o.RightPayload2, o.RightWords2, at, o.rightFirst, right)
}

// writePayload writes to out, if present, from row at on, the rows of a payload column or, without one, their numbers.
func writePayload(out, payload []byte, words uint32, at uint64, first uint32, rows []uint32) {
	switch {
	case len(out) == 0 || words == 0:
	case words == 2:
		writeRows(view[uint64](out)[at:], view[uint64](payload), first, rows)
	default:
		writeRows(view[uint32](out)[at:], view[uint32](payload), first, rows)
	}
}

func writeRows[V word](out, payload []V, first uint32, rows []uint32) {
	out = out[:len(rows)]
	if len(payload) == 0 {
		for i, row := range rows {
			out[i] = V(first + row)
		}
		return
	}
	payload = payload[first:]
	for i, row := range rows {
		out[i] = payload[row]
	}
}
