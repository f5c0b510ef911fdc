package backend

import "time"

// Work is work that is done: a stage of a batch, or a copy that the host makes because it can reach the memory.
type Work struct {
	Role     Role
	Stage    string    // empty if the list names none
	Commands []Command // of the stage; the observer must not keep them. None of a copy by the host
	Bytes    uint64    // that were copied
	ByHost   bool      // a copy by the host: it took from Submitted to Seen
	Timed    bool      // Start and End are known: times of the device, see [Driver.Times]
	Start    time.Duration
	End      time.Duration
	// Submitted and Seen are times of the host: before the work began, and after it had ended.
	Submitted, Seen time.Time
}

// Clock is implemented by drivers that can compare their clock with the host's.
type Clock interface {
	// Compare returns a time of the device, as [Driver.Times] has them, and the time of the host that is the same, up
	// to deviation in either direction. ok is false if the device cannot tell.
	Compare() (device time.Duration, host time.Time, deviation time.Duration, ok bool)
}

// ObserveWork calls observe with all work that is found to be done from now on, in the order of each queue; nil ends
// it. observe runs with a lock of the device held, in whichever goroutine finds out: it must not use the device, nor
// wait. It is called by several goroutines at a time for copies by the host.
func (d *Device) ObserveWork(observe func(Work)) {
	if observe == nil {
		d.workObserver.Store(nil)
		return
	}
	d.workObserver.Store(&observe)
}

// reportWork tells the observer of a batch, stage by stage. Marks without commands behind them are no work.
func (f *flight) reportWork(observe func(Work), role Role, times []time.Duration) {
	w := Work{Role: role, Stage: f.stage, Timed: len(times) >= 2, Submitted: f.submitted, Seen: time.Now()}
	if w.Stage == "" && (role == Upload || role == Download) {
		w.Stage = role.String()
	}
	first, at := 0, 0
	end := func(behind int) {
		if w.Commands = f.commands[first:behind]; len(w.Commands) == 0 {
			return
		}
		if w.Timed {
			w.Start, w.End = times[at], times[min(at+1, len(times)-1)]
		}
		w.Bytes = 0
		for _, c := range w.Commands {
			if c.Kind == Copy {
				w.Bytes += c.Dst.SizeBytes
			}
		}
		observe(w)
	}
	for i, c := range f.commands {
		if c.Kind != Mark {
			continue
		}
		if w.Timed && at+2 >= len(times) {
			break // as in collect, what follows counts as the same stage
		}
		end(i)
		w.Stage, first = c.Label, i+1
		if w.Timed {
			at++
		}
	}
	end(len(f.commands))
}
