package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// mostInFlight is the number of unfinished submissions per queue at which Submit waits: enough to keep the device busy,
// few enough that a cancelled query ends within a few times SubmitBound. Queues for transfers have more, because these
// are short, and a goroutine that waits for one wakes up late.
var mostInFlight = [Roles]int{Compute: 4, Graphics: 4, Ingest: 16, Deliver: 16, Upload: 16, Download: 16}

// flight is a submitted batch whose times were not collected yet.
type flight struct {
	value     uint64
	commands  []Command
	stage     string // that the batch starts in
	profile   *Profile
	submitted time.Time
}

// Submit submits a list to a queue and returns the point that passes when all of it is done. It decides on barriers,
// waits for other queues, and the division into submissions. It blocks only while too many earlier submissions to the
// queue are unfinished. If it fails or ctx ends, a part of the list may have been submitted. ErrUnsupported for a role
// that the device lacks, and for kernels on a role that runs none.
func (d *Device) Submit(ctx context.Context, role Role, list *List) (Point, error) {
	d.notify(Event{Kind: Submitted, Role: role, Commands: list.Commands})
	return d.submit(ctx, role, list)
}

// submit is Submit for the transfers of this package.
func (d *Device) submit(ctx context.Context, role Role, list *List) (Point, error) {
	if here, _ := d.info.Runs(role); !here {
		return Point{}, &OpError{Op: "submit", Device: d.info.Name, Err: ErrUnsupported,
			Detail: fmt.Sprintf("the device has no %v queue", role)}
	}
	d.mu.Lock()
	for i := range list.Commands {
		if err := list.Commands[i].validate(d, role); err != nil {
			d.mu.Unlock()
			return Point{}, err
		}
	}
	pieces := d.pacer.split(list.Commands)
	point := Point{d, QueuePoint{role, d.next[role]}}
	d.mu.Unlock()

	stage, profile := "", list.Profile
	if profile == nil && (role == Upload || role == Download) {
		stage, profile = role.String(), d.transfers.Load()
	}
	for i, commands := range pieces {
		if err := d.throttle(ctx, role); err != nil {
			return point, err
		}
		batch := &Batch{Role: role}
		if i == 0 {
			batch.Awaits = list.Awaits
		}
		if i == len(pieces)-1 {
			batch.Raises = list.Raises
		}
		var err error
		if point, err = d.submitOne(batch, commands, stage, profile); err != nil {
			return point, err
		}
		for _, c := range commands {
			if c.Kind == Mark {
				stage = c.Label
			}
		}
	}
	return point, nil
}

// throttle waits until the queue has room for another submission.
func (d *Device) throttle(ctx context.Context, role Role) error {
	for {
		if err := ctx.Err(); err != nil {
			return ContextError(ctx)
		}
		d.mu.Lock()
		var oldest uint64
		if n, most := len(d.flights[role]), mostInFlight[role]; n >= most {
			oldest = d.flights[role][n-most].value
		}
		d.mu.Unlock()
		if oldest == 0 {
			return nil
		}
		if err := d.wait(ctx, QueuePoint{role, oldest}); err != nil {
			return err
		}
	}
}

// submitOne places barriers and waits and hands one batch to the driver.
func (d *Device) submitOne(batch *Batch, commands []Command, stage string, profile *Profile) (Point, error) {
	role := batch.Role
	d.submitMu.Lock()
	defer d.submitMu.Unlock()
	d.mu.Lock()
	if failed := d.failed; failed != nil {
		d.mu.Unlock()
		return Point{}, failed
	}
	value := d.next[role] + 1
	batch.Signal, batch.Steps = value, make([]Step, len(commands))
	var waits [Roles]uint64
	var spans []span
	for i, c := range commands {
		spans = spans[:0]
		c.Accesses(func(r Range, access Access) {
			block, offset := r.Block()
			spans = append(spans, span{resource: block, lo: offset, hi: offset + r.SizeBytes, access: access})
			r.Buffer.lease.uses[role] = value
		})
		var changes []UsageChange
		if c.Kind == Pass {
			for _, t := range c.Pass.Touches {
				if t.Image != nil {
					spans = append(spans,
						span{t.Image.block, uint64(t.FirstLayer), uint64(t.EndLayer), t.Access, t.Usage})
					t.Image.lease.uses[role] = value
				}
			}
			changes = d.hazards.changes(spans)
		}
		barrier, w := d.hazards.need(role, value, spans)
		for r := range Roles {
			waits[r] = max(waits[r], w[r])
		}
		batch.Steps[i] = Step{Command: c, Barrier: barrier, Changes: changes}
	}
	for r := range Roles {
		if waits[r] > 0 {
			batch.Waits = append(batch.Waits, QueuePoint{r, waits[r]})
		}
	}
	d.next[role] = value
	d.flights[role] = append(d.flights[role], flight{value, commands, stage, profile, time.Now()})
	d.mu.Unlock()
	if err := d.driver.Submit(batch); err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		// Nothing will ever signal this point, so the queue cannot go on.
		d.failed = fmt.Errorf("%w: the queue stopped: %w", ErrDeviceLost, err)
		return Point{}, err
	}
	return Point{d, QueuePoint{role, value}}, nil
}

// Point is a position on the timeline of one queue of one device: it has passed when everything submitted to that queue
// up to and including one list has finished. The zero Point has always passed. Points are values; they may be copied
// and waited for several times, from several goroutines.
type Point struct {
	device *Device
	at     QueuePoint
}

// Wait blocks until the point has passed. ErrTimedOut after DeviceOptions.WaitLimit, ErrCancelled when ctx ends.
func (p Point) Wait(ctx context.Context) error {
	if p.device == nil {
		return nil
	}
	p.device.notify(Event{Kind: Waited, Role: p.at.Role})
	return p.device.wait(ctx, p.at)
}

func (d *Device) wait(ctx context.Context, point QueuePoint) error {
	if point.Value == 0 {
		return nil
	}
	if passed, err := d.passed(point); passed || err != nil {
		return err
	}
	if err := d.driver.Wait(ctx, point.Role, point.Value, d.options.WaitLimit); err != nil {
		return d.NoteFailure(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
	return nil
}

// passed reports whether a point has passed, without a wait: a thread that sleeps in a driver wakes up late.
func (d *Device) passed(point QueuePoint) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return false, d.failed
	}
	if d.completed[point.Role] < point.Value {
		d.settle()
	}
	return d.completed[point.Role] >= point.Value, nil
}

// WaitBuffer blocks until no submitted work uses the buffer, so that the host may touch its mapped memory.
func (d *Device) WaitBuffer(ctx context.Context, b *Buffer) error {
	d.notify(Event{Kind: Waited, Range: b.All()})
	return d.waitBuffer(ctx, b)
}

func (d *Device) waitBuffer(ctx context.Context, b *Buffer) error {
	d.mu.Lock()
	uses := b.lease.uses
	d.mu.Unlock()
	for r := range Roles {
		if err := d.wait(ctx, QueuePoint{r, uses[r]}); err != nil {
			return err
		}
	}
	return nil
}

// Run submits a list to the compute queue and waits for it.
func (d *Device) Run(ctx context.Context, list *List) error {
	point, err := d.Submit(ctx, Compute, list)
	if err != nil {
		return err
	}
	return point.Wait(ctx)
}

// settle books what has completed on any queue: a wait for one queue often implies that work of others is done.
func (d *Device) settle() {
	for r := range Roles {
		if d.completed[r] == d.next[r] {
			continue // nothing is under way
		}
		if value, err := d.driver.Completed(r); err == nil { // a failure shows at the next wait
			d.completed[r] = value
		}
		d.collect(r, d.completed[r])
	}
	d.reclaim()
}

// collect reads the times of the batches up to value: stages go to their profiles, rates to the pacer.
func (d *Device) collect(role Role, value uint64) {
	n := 0
	for _, f := range d.flights[role] {
		if f.value > value {
			break
		}
		n++
		times, ok := d.driver.Times(role, f.value)
		if observe := d.workObserver.Load(); observe != nil {
			f.reportWork(*observe, role, times)
		}
		if !ok || len(times) < 2 {
			d.pacer.measured(f.commands, time.Since(f.submitted))
			continue
		}
		d.pacer.measured(f.commands, times[len(times)-1]-times[0])
		stage, at := f.stage, 0
		for _, c := range f.commands {
			if c.Kind == Mark && at+2 < len(times) {
				f.profile.addNamed(stage, times[at+1]-times[at])
				stage, at = c.Label, at+1
			}
		}
		f.profile.addNamed(stage, times[len(times)-1]-times[at])
	}
	d.flights[role] = slices.Delete(d.flights[role], 0, n)
}

func (p *Profile) addNamed(stage string, took time.Duration) {
	if stage != "" {
		p.Add(stage, took)
	}
}

// ContextError returns the error for an ended context: ErrTimedOut for a deadline, otherwise ErrCancelled, with the
// cause.
func ContextError(ctx context.Context) error {
	sentinel, cause := ErrCancelled, context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		sentinel = ErrTimedOut
	}
	if errors.Is(cause, sentinel) {
		return cause
	}
	return fmt.Errorf("%w: %w", sentinel, cause)
}
