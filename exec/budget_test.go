package exec

import (
	"context"
	"errors"
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

// waiter is an Acquire on a goroutine of its own.
type waiter struct {
	least, wish Need
	cancel      context.CancelFunc
	ended       chan struct{}
	grant       *Grant
	err         error
}

// acquire starts a waiter and returns when it is in line or has ended.
func acquire(b *Budget, least, wish Need) *waiter {
	b.mu.Lock()
	before := len(b.line)
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	w := &waiter{least: least, wish: wish, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.grant, w.err = b.Acquire(ctx, least, wish)
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
	return w
}

func (w *waiter) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// model is what a budget promises: everything here happens on one goroutine.
type model struct {
	budget  *Budget
	total   amounts
	waiting []*waiter // in order of arrival
	holding []*waiter
}

// settle waits for those whose turn it is, and checks that nobody else was served.
func (m *model) settle(t *rapid.T) {
	for len(m.waiting) > 0 {
		free := m.free()
		first := m.waiting[0]
		if !free.covers(first.least.amounts()) {
			break
		}
		select {
		case <-first.ended:
		case <-time.After(10 * time.Second):
			t.Fatal("the first in line is not served")
		}
		require.NoError(t, first.err)
		m.waiting, m.holding = m.waiting[1:], append(m.holding, first)
		has := first.grant.Has().amounts()
		require.True(t, has.covers(first.least.amounts()), "least is granted whole")
		for r, bytes := range has {
			wish := min(first.wish.amounts()[r], free[r])
			require.Equal(t, max(first.least.amounts()[r], wish), bytes, "of the wish what was free")
		}
	}
	for _, w := range m.waiting {
		require.False(t, w.hasEnded(), "nobody passes the first in line")
	}
	m.free()
}

// free is what no grant has; grants never exceed the total.
func (m *model) free() amounts {
	free := make(amounts)
	free.add(m.total)
	for _, w := range m.holding {
		has := w.grant.Has().amounts()
		require.True(failer{}, free.covers(has), "grants exceed the total")
		free.subtract(has)
	}
	return free
}

// failer panics, which rapid takes for a failure.
type failer struct{}

func (failer) Errorf(format string, args ...any) { panic(format) }
func (failer) FailNow()                          { panic("failed") }

// TestBudgetProperties runs random histories of a budget against its promises.
func TestBudgetProperties(t *testing.T) {
	first, second := hostDevice(t, backend.DeviceOptions{}), hostDevice(t, backend.DeviceOptions{})
	rapid.Check(t, func(t *rapid.T) {
		amount := func(most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(t, "bytes") }
		need := func(most uint64) Need {
			devices := map[*backend.Device]uint64{first: amount(most), second: amount(most)}
			return Need{devices, amount(most), amount(most), amount(most)}
		}
		total := Need{map[*backend.Device]uint64{first: 10, second: 10}, 10, 10, 10}
		m := &model{budget: NewBudget(total), total: total.amounts()}
		defer func() {
			for _, w := range m.waiting {
				w.cancel()
				<-w.ended
				w.grant.Release() // of those who came first as others left
			}
			for _, w := range m.holding {
				w.grant.Release()
				w.cancel()
			}
			require.True(t, m.budget.free.covers(m.total) && m.total.covers(m.budget.free), "all comes back")
			require.Empty(t, m.budget.line)
		}()
		pick := func(from []*waiter) int {
			if len(from) == 0 {
				t.Skip("none")
			}
			return rapid.IntRange(0, len(from)-1).Draw(t, "which")
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) {
				w := acquire(m.budget, need(10), need(12))
				m.waiting = append(m.waiting, w)
			},
			"release": func(*rapid.T) {
				i := pick(m.holding)
				m.holding[i].grant.Release()
				m.holding[i].cancel()
				m.holding = slices.Delete(m.holding, i, i+1)
			},
			"cancel": func(*rapid.T) {
				i := pick(m.waiting)
				m.waiting[i].cancel()
				<-m.waiting[i].ended
				require.ErrorIs(t, m.waiting[i].err, backend.ErrCancelled)
				m.waiting = slices.Delete(m.waiting, i, i+1)
			},
			"grow": func(*rapid.T) {
				i, by := pick(m.holding), need(5)
				fits := m.free().covers(by.amounts())
				before := m.holding[i].grant.Has().amounts()
				err := m.holding[i].grant.Grow(by)
				require.Equal(t, fits, err == nil, "grows if and only if there is room")
				if fits {
					before.add(by.amounts())
				}
				after := m.holding[i].grant.Has().amounts()
				require.True(t, after.covers(before) && before.covers(after), "all or nothing")
			},
			"refused": func(*rapid.T) {
				_, err := m.budget.Acquire(context.Background(), Need{Disk: 11}, Need{})
				require.ErrorIs(t, err, backend.ErrDiskSpace)
			},
			"": func(t *rapid.T) { m.settle(t) },
		})
	})
}

func TestBudgetRefusal(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{})
	b := NewBudget(Need{Device: map[*backend.Device]uint64{device: 100}, Pinned: 10, Host: 20, Disk: 30})
	for _, c := range []struct {
		need Need
		err  error
		text string
	}{
		{
			Need{Device: map[*backend.Device]uint64{device: 101}}, backend.ErrDeviceMemory,
			"101 more bytes of device memory are needed, 100 of 100 are free; raise device_memory",
		},
		{
			Need{Pinned: 11}, backend.ErrHostMemory,
			"11 more bytes of pinned memory are needed, 10 of 10 are free; raise memory_limit",
		},
		{
			Need{Host: 21}, backend.ErrHostMemory,
			"21 more bytes of host memory are needed, 20 of 20 are free; raise memory_limit",
		},
		{
			Need{Disk: 31}, backend.ErrDiskSpace,
			"31 more bytes of disk space are needed, 30 of 30 are free; raise the limit of disk space",
		},
	} {
		_, err := b.Acquire(context.Background(), c.need, Need{})
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.text)
	}
	g, err := b.Acquire(context.Background(), Need{Host: 15}, Need{})
	require.NoError(t, err)
	require.ErrorContains(t, g.Grow(Need{Host: 6}),
		"6 more bytes of host memory are needed, 5 of 20 are free; raise memory_limit")
	g.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.Acquire(ctx, Need{}, Need{})
	require.ErrorIs(t, err, backend.ErrCancelled)
}

// TestCancelledWaiter: whoever leaves the line lets those behind through.
func TestCancelledWaiter(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	holder, err := b.Acquire(context.Background(), Need{Host: 4}, Need{})
	require.NoError(t, err)
	large := acquire(b, Need{Host: 8}, Need{})
	small := acquire(b, Need{Host: 3}, Need{})
	require.False(t, small.hasEnded(), "there is room, but others come first")
	large.cancel()
	<-large.ended
	require.ErrorIs(t, large.err, backend.ErrCancelled)
	<-small.ended
	require.NoError(t, small.err)
	small.cancel()
	small.grant.Release()
	holder.Release()
	holder.Release()
	require.EqualValues(t, 10, b.free[resource{kind: hostMemory}])
	require.ErrorIs(t, holder.Grow(Need{Host: 1}), backend.ErrInvalidInput)

	var none *Grant // is no limit
	require.NoError(t, none.Grow(Need{Host: 11}))
	require.Zero(t, none.Has())
	none.Release()
}

// TestOneGrantPerFlow: waiting with a grant in hand is refused, not a deadlock.
func TestOneGrantPerFlow(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	flow := NewFlow(context.Background())
	grant, err := b.Acquire(flow.Context(), Need{Host: 6}, Need{})
	require.NoError(t, err)
	_, err = b.Acquire(flow.Context(), Need{Host: 6}, Need{})
	require.ErrorIs(t, err, backend.ErrInvalidInput)

	inner := NewFlow(flow.Context())
	for range 2 { // the first must not leave a mark
		_, err = b.Acquire(inner.Context(), Need{Host: 1}, Need{})
		require.ErrorIs(t, err, backend.ErrInvalidInput, "the outer flow waits for the inner one")
	}
	grant.Release()
	grant, err = b.Acquire(inner.Context(), Need{Host: 6}, Need{})
	require.NoError(t, err)
	grant.Release()

	ctx, cancel := context.WithCancelCause(flow.Context())
	cause := errors.New("enough")
	other, err := b.Acquire(context.Background(), Need{Host: 6}, Need{})
	require.NoError(t, err)
	time.AfterFunc(time.Millisecond, func() { cancel(cause) })
	_, err = b.Acquire(ctx, Need{Host: 6}, Need{})
	require.ErrorIs(t, err, cause)
	other.Release()
	grant, err = b.Acquire(flow.Context(), Need{Host: 6}, Need{})
	require.NoError(t, err, "a flow that was cancelled in line has no grant")
	grant.Release()
	inner.Stop()
	flow.Stop()
}
