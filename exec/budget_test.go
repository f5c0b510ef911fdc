package exec

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
)

// hostDevice opens a device of the host; it must be left without buffers.
func hostDevice(t *testing.T, options backend.DeviceOptions) *backend.Device {
	t.Helper()
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, options)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// waiter is an Acquire, or an Await of the open grant, on its own goroutine.
type waiter struct {
	need, grown Need
	cancel      context.CancelFunc
	ended       chan struct{}
	grant       *Grant
	err         error
}

// acquire starts a waiter and returns when it is in line or has ended.
func acquire(b *Budget, need Need) *waiter {
	w := new(waiter)
	w.start(b, need, func(ctx context.Context) (*Grant, error) { return b.Acquire(ctx, need) })
	return w
}

// start returns when the waiter is in line or has ended.
func (w *waiter) start(b *Budget, need Need, wait func(context.Context) (*Grant, error)) {
	b.mu.Lock()
	before := len(b.line)
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	w.need, w.cancel, w.ended = need, cancel, make(chan struct{})
	go func() {
		defer close(w.ended)
		w.grant, w.err = wait(ctx)
	}()
	for !w.hasEnded() {
		b.mu.Lock()
		inLine := len(b.line) > before
		b.mu.Unlock()
		if inLine {
			break
		}
		time.Sleep(10 * time.Microsecond)
	}
}

func (w *waiter) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// model is a sequential model of a budget.
type model struct {
	budget  *Budget
	total   amounts
	waiting []*waiter // in order of arrival
	holding []*waiter
	open    *waiter // one of holding
}

// settle waits for those whose turn it is, and checks that no other is served.
func (m *model) settle(t *rapid.T) {
	for len(m.waiting) > 0 {
		first := m.waiting[0]
		others := slices.DeleteFunc(slices.Clone(m.holding), func(w *waiter) bool { return w == first })
		if m.free(append(others, first)) == nil {
			break
		}
		select {
		case <-first.ended:
		case <-time.After(10 * time.Second):
			t.Fatal("the first in line is not served")
		}
		require.NoError(t, first.err)
		m.waiting, m.holding = m.waiting[1:], append(others, first)
	}
	for _, w := range m.waiting {
		require.False(t, w.hasEnded(), "nobody passes the first in line")
	}
	free := m.free(m.holding)
	require.NotNil(t, free, "grants exceed the total")
	require.Equal(t, free.need(), m.budget.Free())
}

// free returns what is left of the total if these hold what they need; nil if they exceed it.
func (m *model) free(holding []*waiter) amounts {
	used, shared := make(amounts), make(map[any]uint64)
	for _, w := range holding {
		for _, need := range []Need{w.need, w.grown} {
			maps.Copy(shared, need.Shared)
			need.Shared = nil
			used.add(need.amounts())
		}
	}
	for _, bytes := range shared {
		used[hostTotal] += bytes
	}
	if !m.total.covers(used) {
		return nil
	}
	free := maps.Clone(m.total)
	free.subtract(used)
	return free
}

// TestBudgetProperties compares random histories of a budget with the model.
func TestBudgetProperties(t *testing.T) {
	first, second := hostDevice(t, backend.DeviceOptions{}), hostDevice(t, backend.DeviceOptions{})
	rapid.Check(t, func(t *rapid.T) {
		amount := func(most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(t, "bytes") }
		need := func(most uint64) Need {
			devices := map[*backend.Device]uint64{first: amount(most), second: amount(most)}
			n := Need{Device: devices, Pinned: amount(most), Host: amount(most), Disk: amount(most),
				Shared: make(map[any]uint64)}
			for table := range uint64(4) {
				if rapid.Bool().Draw(t, "shares") {
					n.Shared[table] = most / 2 * (table + 1) / 4
				}
			}
			return n
		}
		total := Need{Device: map[*backend.Device]uint64{first: 10, second: 10}, Pinned: 10, Host: 60, Disk: 10}
		m := &model{budget: NewBudget(total), total: total.limits()}
		leave := func(w *waiter) {
			if m.open == w {
				m.open = nil
			}
			m.holding = slices.DeleteFunc(m.holding, func(other *waiter) bool { return other == w })
			w.grant.Release()
			w.cancel()
		}
		defer func() {
			for _, w := range m.waiting {
				w.cancel()
				<-w.ended
				w.grant.Release() // waiters that were served meanwhile, and the open one
			}
			for _, w := range slices.Clone(m.holding) {
				leave(w)
			}
			require.Equal(t, total, m.budget.Free(), "all comes back")
			require.Empty(t, m.budget.shared)
			require.Empty(t, m.budget.line)
			require.Empty(t, m.budget.open)
			require.True(t, total.limits().covers(m.budget.Most().limits()))
		}()
		// pick draws one of from, but not the open one while others wait.
		pick := func(from []*waiter) *waiter {
			from = slices.DeleteFunc(slices.Clone(from),
				func(w *waiter) bool { return w == m.open && len(m.waiting) > 0 })
			if len(from) == 0 {
				t.Skip("none")
			}
			return rapid.SampledFrom(from).Draw(t, "which")
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) { m.waiting = append(m.waiting, acquire(m.budget, need(10))) },
			"open": func(t *rapid.T) {
				if m.open != nil || len(m.waiting) > 0 {
					t.Skip("another is open, or to come")
				}
				w := new(waiter)
				w.start(m.budget, Need{}, m.budget.Open)
				m.open, m.waiting = w, []*waiter{w}
			},
			"await": func(t *rapid.T) {
				if m.open == nil || len(m.waiting) > 0 && m.waiting[0] == m.open {
					t.Skip("none is open, or it waits")
				}
				w, again := m.open, new(waiter)
				before, n := *w, need(10)
				w.need, w.grown = n, Need{}
				again.start(m.budget, n,
					func(ctx context.Context) (*Grant, error) { return w.grant, w.grant.Await(ctx, n) })
				if m.free(m.holding) != nil {
					<-again.ended
					require.NoError(t, again.err)
					again.cancel()
					return
				}
				require.False(t, again.hasEnded())
				again.cancel()
				<-again.ended
				require.ErrorIs(t, again.err, backend.ErrCancelled)
				w.need, w.grown = before.need, before.grown
			},
			"complete": func(t *rapid.T) {
				if m.open == nil {
					t.Skip("none is open")
				}
				require.NoError(t, m.open.grant.Complete())
				m.open = nil
			},
			"release": func(*rapid.T) { leave(pick(m.holding)) },
			"cancel": func(*rapid.T) {
				w := pick(m.waiting)
				w.cancel()
				<-w.ended
				require.ErrorIs(t, w.err, backend.ErrCancelled)
				m.waiting = slices.DeleteFunc(m.waiting, func(other *waiter) bool { return other == w })
			},
			"grow": func(*rapid.T) {
				w, by := pick(m.holding), need(5)
				by.Shared = nil
				before := w.grown
				w.grown = sum(before, by)
				fits := m.free(m.holding) != nil
				require.Equal(t, fits, w.grant.Grow(by) == nil, "grows if and only if there is room")
				if !fits {
					w.grown = before
				}
			},
			"shrink": func(*rapid.T) {
				w := pick(m.holding)
				w.grant.Shrink(w.need)
				w.grown = Need{}
			},
			"refused": func(*rapid.T) {
				_, err := m.budget.Acquire(context.Background(), Need{Disk: 11})
				require.ErrorIs(t, err, backend.ErrDiskSpace)
			},
			"": func(t *rapid.T) { m.settle(t) },
		})
	})
}

// sum adds needs without shared memory in common.
func sum(a, b Need) Need {
	devices := maps.Clone(b.Device)
	for d, bytes := range a.Device {
		devices[d] += bytes
	}
	return Need{Device: devices, Pinned: a.Pinned + b.Pinned, Host: a.Host + b.Host, Disk: a.Disk + b.Disk}
}

func TestBudgetRefusal(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{})
	onDevice := func(bytes uint64) map[*backend.Device]uint64 { return map[*backend.Device]uint64{device: bytes} }
	b := NewBudget(Need{Device: onDevice(100), Pinned: 10, Host: 20, Disk: 30})
	for _, c := range []struct {
		need Need
		err  error
		text string
	}{
		{
			Need{Device: onDevice(101)}, backend.ErrDeviceMemory,
			"101 more bytes of device memory are needed, 100 of 100 are free; raise device_memory",
		},
		{
			Need{Device: onDevice(21)}, backend.ErrHostMemory, // device memory of this device is host memory
			"21 more bytes of host memory are needed, 20 of 20 are free; raise memory_limit",
		},
		{
			Need{Pinned: 11}, backend.ErrHostMemory,
			"11 more bytes of pinned memory are needed, 10 of 10 are free; raise memory_limit",
		},
		{
			Need{Host: 5, Pinned: 5, Shared: map[any]uint64{"left": 6, "right": 5}}, backend.ErrHostMemory,
			"21 more bytes of host memory are needed, 20 of 20 are free; raise memory_limit",
		},
		{
			Need{Disk: 31}, backend.ErrDiskSpace,
			"31 more bytes of disk space are needed, 30 of 30 are free; raise temp_limit",
		},
	} {
		_, err := b.Acquire(context.Background(), c.need)
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.text)
	}
	g, err := b.Acquire(context.Background(), Need{Host: 15})
	require.NoError(t, err)
	require.ErrorContains(t, g.Grow(Need{Host: 6}),
		"6 more bytes of host memory are needed, 5 of 20 are free; raise memory_limit")
	g.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.Acquire(ctx, Need{})
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestCancelledWaiter: a waiter that leaves the line lets those behind it through.
func TestCancelledWaiter(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	holder, err := b.Acquire(context.Background(), Need{Host: 4})
	require.NoError(t, err)
	large := acquire(b, Need{Host: 8})
	small := acquire(b, Need{Host: 3})
	require.False(t, small.hasEnded(), "there is room, but others come first")
	last := acquire(b, Need{Host: 1})
	last.cancel()
	<-last.ended
	require.EqualError(t, last.err, "wait for memory: cancelled: context canceled (2 came before, the first of whom "+
		"waits: 8 more bytes of host memory are needed, 6 of 10 are free; raise memory_limit, or close results and build sides, "+
		"which hold memory)")
	large.cancel()
	<-large.ended
	require.ErrorIs(t, large.err, backend.ErrCancelled)
	require.EqualError(t, large.err, "wait for memory: cancelled: context canceled (8 more bytes of host memory are "+
		"needed, 6 of 10 are free; raise memory_limit, or close results and build sides, which hold memory)")
	<-small.ended
	require.NoError(t, small.err)
	small.cancel()
	small.grant.Release()
	holder.Release()
	holder.Release()
	require.EqualValues(t, 10, b.free[resource{kind: hostMemory}])
	require.ErrorIs(t, holder.Grow(Need{Host: 1}), backend.ErrInvalidInput)

	var none *Grant // does not limit anything
	require.NoError(t, none.Grow(Need{Host: 11}))
	require.Zero(t, none.Has())
	none.Release()
}

// TestSharedMemory: memory that several grants share counts once, from the first grant to the last.
func TestSharedMemory(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	need := Need{Host: 2, Shared: map[any]uint64{"table": 4}}
	var grants []*Grant
	for i := range 3 {
		g, err := b.Acquire(context.Background(), need)
		require.NoError(t, err)
		require.EqualValues(t, 4-2*i, b.Free().Host)
		grants = append(grants, g)
	}
	require.EqualValues(t, 4, b.Held(need))
	require.ErrorIs(t, grants[0].Grow(Need{Shared: map[any]uint64{"another": 1}}), backend.ErrHostMemory)
	require.NoError(t, grants[0].Grow(Need{Shared: map[any]uint64{"table": 4}}), "it has that")
	for i, g := range grants {
		g.Release()
		require.EqualValues(t, []int{2, 4, 10}[i], b.Free().Host)
	}
	require.Zero(t, b.Held(need))
	require.EqualValues(t, 10, b.Most().Host)
}

// TestOpenGrant: one grant at a time may wait while it holds memory, and is served before all others.
func TestOpenGrant(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	holder, err := b.Acquire(context.Background(), Need{Host: 4})
	require.NoError(t, err)
	open, err := b.Open(context.Background())
	require.NoError(t, err)
	require.NoError(t, open.Await(context.Background(), Need{Host: 3}))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = b.Open(ctx)
	require.ErrorIs(t, err, backend.ErrCancelled, "one is open")
	require.ErrorContains(t, err, "another stream reads its build side")
	for range 20 { // whoever comes too late waits for nobody
		_, err = b.Open(ctx)
		require.ErrorIs(t, err, backend.ErrCancelled)
		require.NotContains(t, err.Error(), "another stream")
	}
	other := acquire(b, Need{Host: 7})
	require.ErrorIs(t, open.Await(context.Background(), Need{Host: 11}), backend.ErrHostMemory)
	more := new(waiter)
	more.start(b, Need{}, func(ctx context.Context) (*Grant, error) {
		return open, open.Await(ctx, Need{Host: 7, Shared: map[any]uint64{"what was 3": 3}})
	})
	require.False(t, more.hasEnded())
	holder.Release()
	<-more.ended
	require.NoError(t, more.err)
	require.False(t, other.hasEnded())
	require.NoError(t, open.Complete())
	require.ErrorIs(t, open.Await(context.Background(), Need{Host: 1}), backend.ErrInvalidInput)
	open.Release()
	<-other.ended
	require.NoError(t, other.err)
	second, err := b.Open(context.Background())
	require.NoError(t, err)
	second.Release()
	third, err := b.Open(context.Background())
	require.NoError(t, err, "a grant that is released is not open")
	third.Release()
	other.grant.Release()
}

// TestOpenGrantsOfFlows: a flow inside one with an open grant may open and complete a grant, too. Once the outer grant
// is complete, it may not.
func TestOpenGrantsOfFlows(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	outer := NewFlow(context.Background())
	defer outer.Stop()
	first, err := b.Open(outer.Context())
	require.NoError(t, err)
	inner := NewFlow(outer.Context())
	defer inner.Stop()
	second, err := b.Open(inner.Context())
	require.NoError(t, err)
	require.NoError(t, second.Await(inner.Context(), Need{Host: 4}))
	require.NoError(t, second.Complete())
	require.NoError(t, first.Await(outer.Context(), Need{Host: 6}))
	require.NoError(t, first.Complete())
	second.Release()
	_, err = b.Acquire(inner.Context(), Need{Host: 1})
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	late, err := b.Open(inner.Context())
	require.NoError(t, err)
	require.ErrorIs(t, late.Complete(), backend.ErrInvalidInput)
	late.Release()
	first.Release()
	third, err := b.Open(inner.Context())
	require.NoError(t, err)
	third.Release()
	require.EqualValues(t, 10, b.Free().Host)
}

// TestPools: memory kept for reuse never exceeds what is free; for a device, what grants have of it comes on top.
func TestPools(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{})
	of := func(bytes uint64) Need { return Need{Device: map[*backend.Device]uint64{device: bytes}} }
	b := NewBudget(Need{Device: of(100).Device, Host: 100})
	kept := [2]uint64{70, 50}
	for i, on := range []*backend.Device{device, nil} {
		b.Pool(on, func(mostBytes uint64) uint64 {
			kept[i] = min(kept[i], mostBytes)
			return kept[i]
		})
	}
	first, err := b.Acquire(context.Background(), of(30))
	require.NoError(t, err)
	require.Equal(t, [2]uint64{70, 30}, kept, "40 more than is granted, and 30")
	second, err := b.Acquire(context.Background(), Need{Host: 50})
	require.NoError(t, err)
	require.Equal(t, [2]uint64{50, 0}, kept)
	require.EqualValues(t, 20, first.Reserve(device, 100)-30)
	require.EqualValues(t, [2]uint64{50, 0}, kept, "all of it is granted now")
	require.EqualValues(t, 0, second.ReserveHost(10))
	second.Release()
	require.EqualValues(t, 10, first.ReserveHost(10))
	first.Release()
}

// TestOneGrantPerFlow: a flow that waits while it holds a grant gets an error instead of a deadlock.
func TestOneGrantPerFlow(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	flow := NewFlow(context.Background())
	grant, err := b.Acquire(flow.Context(), Need{Host: 6})
	require.NoError(t, err)
	_, err = b.Acquire(flow.Context(), Need{Host: 6})
	require.ErrorIs(t, err, backend.ErrInvalidInput)

	inner := NewFlow(flow.Context())
	for range 2 { // the first attempt must leave nothing behind
		_, err = b.Acquire(inner.Context(), Need{Host: 1})
		require.ErrorIs(t, err, backend.ErrInvalidInput, "the outer flow waits for the inner one")
	}
	grant.Release()
	grant, err = b.Acquire(inner.Context(), Need{Host: 6})
	require.NoError(t, err)
	grant.Release()

	ctx, cancel := context.WithCancelCause(flow.Context())
	cause := errors.New("enough")
	other, err := b.Acquire(context.Background(), Need{Host: 6})
	require.NoError(t, err)
	time.AfterFunc(time.Millisecond, func() { cancel(cause) })
	_, err = b.Acquire(ctx, Need{Host: 6})
	require.ErrorIs(t, err, cause)
	other.Release()
	grant, err = b.Acquire(flow.Context(), Need{Host: 6})
	require.NoError(t, err, "a flow that was cancelled in line has no grant")
	grant.Release()
	inner.Stop()
	flow.Stop()
}
