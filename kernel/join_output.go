package kernel

import (
	"sync/atomic"

	"github.com/spirjoin/spirjoin/backend"
)

// Values of the constant placing of kernels that join.
const (
	Counting = iota
	AtOffsets
	Reserving
)

// pairRows is how many pairs become output rows at a time.
const pairRows = 1024

// joinOutput makes output rows of the pairs that a kernel finds: column by column, so that the loads of a column, which may lie
// anywhere, do not wait for each other.
type joinOutput[K word] struct {
	left, right           [pairRows]uint32 // the rows of the pairs to write,
	leftFirst, rightFirst uint32           // counted from these

	call  *backend.Call
	unit  uint32
	mixed bool
	seed  uint32
	done  uint64 // pairs before these
}

func newJoinOutput[K word](call *backend.Call, unit, leftFirst uint32, mixed bool, seed uint32) *joinOutput[K] {
	return &joinOutput[K]{call: call, unit: unit, leftFirst: leftFirst, mixed: mixed, seed: seed}
}

// write makes output rows of the first n pairs.
func (o *joinOutput[K]) write(pairs uint) {
	skip, at, n := o.place(int(pairs))
	if n == 0 {
		return
	}
	left, right, args := o.left[skip:][:n], o.right[skip:][:n], o.call.Args
	if len(args[6]) > 0 {
		keys := view[K](args[6])[at:][:n]
		writeRows(keys, view[K](args[2]), o.rightFirst, right)
		if o.mixed {
			for i, key := range keys {
				keys[i] = Unmix(key, o.seed)
			}
		}
	}
	writePayload(args[7], args[3], o.call.Config["left_words"], at, o.leftFirst, left)
	writePayload(args[8], args[4], o.call.Config["right_words"], at, o.rightFirst, right)
	writePayload(args[9], nil, 1, at, o.leftFirst, left)
	writePayload(args[10], nil, 1, at, o.rightFirst, right)
}

// end says how many pairs there were, where that is asked for.
func (o *joinOutput[K]) end() {
	if o.call.Config["placing"] == Counting {
		backend.Words(o.call.Args[5])[o.unit] = uint32(o.done)
	}
}

// place finds room for n pairs: behind the first skip of them, as many as it returns go to output rows from at on.
func (o *joinOutput[K]) place(n int) (skip, at, rows int) {
	first, end := uint64(o.call.Params[0])|uint64(o.call.Params[1])<<32, int64(o.call.Params[2])
	before := o.done
	o.done += uint64(n)
	switch o.call.Config["placing"] {
	case AtOffsets:
		from := int64(backend.Longs(o.call.Args[5])[o.unit] + before - first) // relative to the first row that is written
		to := min(from+int64(n), end)
		begin := max(from, 0)
		return int(begin - from), int(begin), int(max(to-begin, 0))
	case Reserving:
		cursor := backend.Words(o.call.Args[5])
		if counted := atomic.AddUint32(&cursor[1], uint32(n)); counted < uint32(n) {
			atomic.AddUint32(&cursor[2], 1)
		}
		for {
			reserved := atomic.LoadUint32(&cursor[0])
			if int64(reserved)+int64(n) > end {
				return 0, 0, 0
			}
			if atomic.CompareAndSwapUint32(&cursor[0], reserved, reserved+uint32(n)) {
				return 0, int(reserved), n
			}
		}
	}
	return 0, 0, 0
}

// writePayload sets rows of out, if present, from row at on, to those of a payload column or, without one, to their numbers.
func writePayload(out, payload []byte, words uint32, at int, first uint32, rows []uint32) {
	switch {
	case len(out) == 0:
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
