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
	done  uint64 // pairs before these
}

func newJoinOutput[K word](call *backend.Call, unit, leftFirst uint32, mixed bool) *joinOutput[K] {
	return &joinOutput[K]{call: call, unit: unit, leftFirst: leftFirst, mixed: mixed}
}

// write makes output rows of the first n pairs.
func (o *joinOutput[K]) write(n uint) {
	at, ok := o.place(uint64(n))
	if !ok {
		return
	}
	left, right, args, c := o.left[:n], o.right[:n], o.call.Args, o.call.Config
	if len(args[8]) > 0 {
		keys := view[K](args[8])[at:][:n]
		writeRows(keys, view[K](args[2]), o.rightFirst, right)
		if o.mixed {
			unmixAll(keys, c["seed"])
		}
	}
	writePayload(args[9], args[3], c["left_words"], at, o.leftFirst, left)
	writePayload(args[10], args[4], c["right_words"], at, o.rightFirst, right)
	writePayload(args[11], args[5], c["left_words_2"], at, o.leftFirst, left)
	writePayload(args[12], args[6], c["right_words_2"], at, o.rightFirst, right)
}

// end says how many pairs there were, where that is asked for.
func (o *joinOutput[K]) end() {
	if o.call.Config["placing"] == Counting {
		backend.Words(o.call.Args[7])[o.unit] = uint32(o.done)
	}
}

// place finds the output row of the first of n pairs; they have none where rows are only counted or there is no room.
func (o *joinOutput[K]) place(n uint64) (at uint64, ok bool) {
	first, room, places := uint64(o.call.Params[0]), uint64(o.call.Params[1]), o.call.Args[7]
	before := o.done
	o.done += n
	switch o.call.Config["placing"] {
	case AtOffsets:
		return first + backend.Longs(places)[o.unit] + before, true
	case Reserving:
		cursor := backend.Words(places)
		if counted := atomic.AddUint32(&cursor[1], uint32(n)); counted < uint32(n) {
			atomic.AddUint32(&cursor[2], 1)
		}
		for {
			reserved := atomic.LoadUint32(&cursor[0])
			if uint64(reserved)+n > room {
				return 0, false
			}
			if atomic.CompareAndSwapUint32(&cursor[0], reserved, reserved+uint32(n)) {
				return first + uint64(reserved), true
			}
		}
	}
	return 0, false
}

// writePayload sets rows of out, if present, from row at on, to those of a payload column or, without one, to their numbers.
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
