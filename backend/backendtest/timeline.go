package backendtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var timelineChecks = []check{
	{"values", checkTimelineValues},
	{"batches without commands", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		for range 5 {
			upload := r.submit(backend.Upload, nil)
			compute := r.submit(backend.Compute, []backend.QueuePoint{upload})
			r.wait(r.submit(backend.Download, []backend.QueuePoint{compute, upload}))
		}
	}},
	{"waits across queues", checkCrossWaits},
	{"closed right after waits", checkCloseAfterWaits},
	{"ring of queues", checkRing},
	{"diamond of queues", checkDiamond},
	{"many small batches", checkManyBatches},
	{"time limit", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		for _, limit := range []time.Duration{0, time.Microsecond, 30 * time.Millisecond} {
			err := r.driver.Wait(background, backend.Compute, r.submitted[backend.Compute]+1, limit)
			requireOneOf(t, err, backend.ErrTimedOut)
		}
		r.wait(r.submit(backend.Compute, nil)) // the device works on
	}},
	{"cancelled wait", checkCancelledWait},
	{"context that ended before", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		ended, cancel := context.WithCancel(background)
		cancel()
		requireOneOf(t, r.driver.Wait(ended, backend.Upload, 1, waitLimit), backend.ErrCancelled)
	}},
	{"wait for the past", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		require.NoError(t, r.driver.Wait(background, backend.Download, 0, 0), "the zero point has always passed")
		p := r.submit(backend.Download, nil)
		r.wait(p)
		require.NoError(t, r.driver.Wait(background, p.Role, p.Value, 0))
	}},
	{"polling ends", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		p := r.submit(backend.Compute, nil, step(fillCommand(r.buffer(backend.DeviceLocal, 64).All(), 1)))
		deadline := time.Now().Add(waitLimit)
		for value := uint64(0); value < p.Value; {
			var err error
			value, err = r.driver.Completed(p.Role)
			require.NoError(t, err)
			require.True(t, time.Now().Before(deadline), "the batch never completes")
		}
	}},
	{"times", checkTimes},
}

func checkTimelineValues(t *testing.T, s *suite) {
	r := s.newRig(t)
	b := r.buffer(backend.DeviceLocal, 1024)
	for _, role := range r.roles() {
		var reached uint64
		for i := range 20 {
			p := r.submit(role, nil, after(fillCommand(b.All(), uint32(i))))
			value, err := r.driver.Completed(role)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, value, reached, "a timeline never goes back")
			assert.LessOrEqual(t, value, p.Value, "nor ahead of what was submitted")
			reached = value
			if i%3 == 0 {
				r.wait(p)
				value, err = r.driver.Completed(role)
				require.NoError(t, err)
				require.Equal(t, p.Value, value)
			}
		}
		r.wait(backend.QueuePoint{Role: role, Value: r.submitted[role]})
	}
}

// checkCrossWaits sends data round through all queues: written on upload, worked on by compute, read by download, and
// written again on upload, which must wait for its readers.
func checkCrossWaits(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	const n = 3000
	rounds := s.pick(60, 20)
	ids := r.local(rotation(n))
	staged := r.buffer(backend.HostVisible, n*rounds)
	out := r.buffer(backend.HostVisible, n*rounds)
	in, worked := r.buffer(backend.DeviceLocal, n), r.buffer(backend.DeviceLocal, n)
	data := randomWords(1, n*rounds)
	copy(backend.Words(staged.Bytes()), data)

	var uploaded, computed, downloaded backend.QueuePoint
	for i := range rounds {
		// Upload overwrites what compute read; compute overwrites what download read. The queue itself keeps no order
		// between batches without a barrier.
		uploaded = r.submit(backend.Upload, waits(computed), after(copyCommand(in.All(), words(staged, i*n, n))))
		computed = r.submit(backend.Compute, waits(uploaded, downloaded),
			after(dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), n),
				[]backend.Range{in.All(), ids.All(), worked.All()}, n)))
		downloaded = r.submit(backend.Download, waits(computed), after(copyCommand(words(out, i*n, n), worked.All())))
	}
	r.wait(downloaded)
	got := backend.Words(out.Bytes())
	for i := range rounds {
		want := append(append([]uint32(nil), data[i*n+1:(i+1)*n]...), data[i*n])
		requireWords(t, want, got[i*n:(i+1)*n], "round %d", i)
	}
}

// checkCloseAfterWaits closes a device as soon as the timeline says that a batch that waited for another queue is done:
// the driver may still hold the semaphore that the batch waited for.
func checkCloseAfterWaits(t *testing.T, s *suite) {
	for range s.pick(400, 100) {
		driver := s.open(t)
		for i := range uint64(4) {
			require.NoError(t, driver.Submit(&backend.Batch{Role: backend.Upload, Signal: i + 1}))
			waits := []backend.QueuePoint{{Role: backend.Upload, Value: i + 1}}
			require.NoError(t, driver.Submit(&backend.Batch{Role: backend.Compute, Signal: i + 1, Waits: waits}))
		}
		require.NoError(t, driver.Wait(background, backend.Compute, 4, waitLimit))
		require.NoError(t, driver.Close())
	}
}

// waits leaves out zero points: those have always passed.
func waits(points ...backend.QueuePoint) []backend.QueuePoint {
	var list []backend.QueuePoint
	for _, p := range points {
		if p.Value > 0 {
			list = append(list, p)
		}
	}
	return list
}

// checkRing lets every queue wait for the one before, each adding its mark to one buffer.
func checkRing(t *testing.T, s *suite) {
	r := s.newRig(t)
	b := r.local(make([]uint32, 300))
	var last backend.QueuePoint
	roles := r.roles()
	for i := range 300 {
		role := roles[i%len(roles)]
		src := max(i-1, 0)
		steps := []backend.Step{after(fillCommand(words(b, i, 1), uint32(i)))}
		if i%2 == 1 { // prove that the predecessor is visible: copy its word on
			steps = []backend.Step{after(copyCommand(words(b, i, 1), words(b, src, 1)))}
		}
		last = r.submit(role, waits(last), steps...)
	}
	r.wait(last)
	got := r.get(b)
	for i, v := range got {
		require.Equal(t, uint32(i-i%2), v, "link %d", i)
	}
}

// checkDiamond joins two queues in a third one.
func checkDiamond(t *testing.T, s *suite) {
	r := s.newRig(t)
	const n = 2000
	a, b, c := r.buffer(backend.DeviceLocal, n), r.buffer(backend.DeviceLocal, n), r.buffer(backend.DeviceLocal, 2*n)
	var compute backend.QueuePoint
	for i := range uint32(30) {
		up := r.submit(backend.Upload, waits(compute), after(fillCommand(a.All(), i)))
		down := r.submit(backend.Download, waits(compute), after(fillCommand(b.All(), ^i)))
		compute = r.submit(backend.Compute, waits(up, down), after(copyCommand(words(c, 0, n), a.All())),
			step(copyCommand(words(c, n, n), b.All())))
	}
	r.wait(compute)
	got := r.get(c)
	require.Equal(t, uint32(29), got[0])
	require.Equal(t, uint32(29), got[n-1])
	require.Equal(t, ^uint32(29), got[n])
	require.Equal(t, ^uint32(29), got[2*n-1])
}

func checkManyBatches(t *testing.T, s *suite) {
	r := s.newRig(t)
	n := s.pick(2000, 300)
	b := r.local(make([]uint32, n))
	var points [backend.Roles]backend.QueuePoint
	roles := r.roles()
	for i := range n {
		role := roles[i%len(roles)]
		points[role] = r.submit(role, nil, step(fillCommand(words(b, i, 1), uint32(i)+1)))
	}
	for _, p := range points {
		r.wait(p)
	}
	requireWords(t, ascending(1, n), r.get(b), "%d batches", n)
}

// checkCancelledWait cancels waits for a batch that is never submitted. The contract says about 10 ms; one prompt
// return out of several tells a wait that watches its context from one that checks it now and then, even on a loaded
// machine.
func checkCancelledWait(t *testing.T, s *suite) {
	const prompt, attempts = 100 * time.Millisecond, 8
	r := s.newRig(t)
	for _, role := range r.roles() {
		fastest := time.Hour
		for range attempts {
			ctx, cancel := context.WithCancel(background)
			ended := make(chan error, 1)
			go func() { ended <- r.driver.Wait(ctx, role, r.submitted[role]+1, waitLimit) }()
			time.Sleep(20 * time.Millisecond)
			start := time.Now()
			cancel()
			select {
			case err := <-ended:
				requireOneOf(t, err, backend.ErrCancelled)
			case <-time.After(waitLimit / 2):
				require.Fail(t, "the wait goes on after its context ended")
			}
			if fastest = min(fastest, time.Since(start)); fastest < prompt {
				break
			}
		}
		assert.Less(t, fastest, prompt, "%v queue", role)
	}
}

// checkTimes holds the times of batches against their marks; none is asserted to be long or short.
func checkTimes(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Iota.KernelSpec, nil)
	const rows = 100_000
	b := r.buffer(backend.DeviceLocal, rows)
	mark := backend.Command{Kind: backend.Mark, Label: "stage"}
	work := dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), rows), []backend.Range{b.All()}, rows, 0)
	known := 0
	var last time.Duration
	for marks := range 6 {
		steps := []backend.Step{after(work)}
		for range marks {
			steps = append(steps, step(mark), after(work))
		}
		p := r.submit(backend.Compute, nil, steps...)
		r.wait(p)
		times, ok := r.driver.Times(p.Role, p.Value)
		if !ok {
			continue
		}
		known++
		require.Len(t, times, marks+2, "start, %d marks, end", marks)
		for _, at := range times {
			require.GreaterOrEqual(t, at, last, "%v", times)
			last = at
		}
	}
	if known == 0 {
		t.Skip("the device does not tell times")
	}
	require.Equal(t, 6, known, "times of all batches or of none")
}
