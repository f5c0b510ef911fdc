package backend

// EventKind says which fields of an Event are used.
type EventKind uint8

const (
	Submitted  EventKind = iota // Role, Commands
	Waited                      // Role, or Range: the whole buffer that is waited for
	Uploaded                    // Range: the destination
	Downloaded                  // Range: the source
	Received                    // Range: a part of the destination of a peer copy that uses no queue
)

// Event is a call by which the user of a [Device] gives it work or waits for it. A transfer is one event, however many
// copies and waits it takes; waits that a Device makes by itself, to limit unfinished submissions, are not events.
type Event struct {
	Kind     EventKind
	Role     Role
	Commands []Command // as recorded: not divided yet, and without barriers
	Range    Range
}

// Observe calls observe with every event from now on, before the event takes effect; nil ends it. observe runs in the
// goroutine that causes the event, so several calls may run at once. It must not use the device, nor keep what the
// event refers to. For tests: events depend only on calls, never on measured time.
func (d *Device) Observe(observe func(Event)) {
	if observe == nil {
		d.observer.Store(nil)
		return
	}
	d.observer.Store(&observe)
}

// ProfileTransfers makes uploads and downloads from now on add their time to the stages "upload" and "download" of a
// profile; nil ends it. That is the device time of copies, or the time of the host where it copies mapped memory.
func (d *Device) ProfileTransfers(p *Profile) { d.transfers.Store(p) }

func (d *Device) notify(e Event) {
	if observe := d.observer.Load(); observe != nil {
		(*observe)(e)
	}
}
