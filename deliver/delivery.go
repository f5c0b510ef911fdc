package deliver

import "sync/atomic"

// Delivery is how far the output of a part of the probe side has come. The part is done when its join has ended and all
// its windows are delivered. Safe for concurrent use.
type Delivery struct {
	Counted  atomic.Uint64 // output rows that were reported
	Joined   atomic.Uint64 // rows of the part that were reported
	Granules atomic.Uint64 // of the part that were begun
	Begun    atomic.Bool   // the receiver of the output has rows of the part

	pending atomic.Int64 // the join, and windows under way
	done    func()
}

// NewDelivery returns the delivery of a part whose join begins. done is called once, when the part is done.
func NewDelivery(done func()) *Delivery {
	d := &Delivery{done: done}
	d.add()
	return d
}

// add says that a window is to be delivered. Safe on nil.
func (d *Delivery) add() {
	if d != nil {
		d.pending.Add(1)
	}
}

// End says that a window was delivered or, called by the owner, that the join of the part has ended. Safe on nil.
func (d *Delivery) End() {
	if d != nil && d.pending.Add(-1) == 0 {
		d.done()
	}
}

// put says that the receiver has a piece. Safe on nil.
func (d *Delivery) put() {
	if d != nil {
		d.Begun.Store(true)
	}
}
