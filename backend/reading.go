package backend

import "context"

// Reading is a few numbers that a list leaves on the device, on their way to the host. Its maker releases it, once
// the list has been submitted or will not be.
type Reading struct {
	from   Range
	staged *Buffer // their copy in memory of the host; nil if the host can read where they are
}

// Read appends to a list that the numbers in a range go to the host. They arrive with the list itself: a
// [Device.Download] is a further submission, to another queue, which costs more than a small join does. Nothing may
// write to the range before [Reading.Get]: where the host can read the memory of the device, nothing is copied. Errors:
// ErrHostMemory; ErrInvalidInput for a range that [Device.Download] would refuse too.
func (d *Device) Read(ctx context.Context, list *List, from Range) (*Reading, error) {
	if err := d.checkTransfer("read", from, int(from.SizeBytes)); err != nil {
		return nil, err
	}
	r := &Reading{from: from}
	if from.mapped() != nil {
		return r, nil
	}
	var err error
	if r.staged, err = d.Allocate(ctx, HostVisible, from.SizeBytes, "reading of "+from.Buffer.label); err == nil {
		list.Copy(r.staged.All(), from)
	}
	return r, err
}

// Get waits for the list, which must have been submitted, and copies the numbers to host memory of the size of the
// range. Errors: device errors, ErrCancelled and ErrTimedOut.
func (r *Reading) Get(ctx context.Context, to []byte) error {
	at, mapped := r.from.Buffer, r.from.mapped()
	at.device.notify(Event{Kind: Downloaded, Range: r.from})
	if r.staged != nil {
		at, mapped = r.staged, r.staged.Bytes()
	}
	if err := at.device.waitBuffer(ctx, at); err != nil {
		return err
	}
	copy(to, mapped)
	return nil
}

// Release releases what the reading holds. Safe on nil.
func (r *Reading) Release() {
	if r != nil {
		r.staged.Release()
	}
}
