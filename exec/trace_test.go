package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// written is the part of a written trace that tests look at.
type written struct {
	Events []traceEvent `json:"traceEvents"`
	Other  struct {
		Devices []deviceNote `json:"devices"`
	} `json:"otherData"`
}

func write(t *testing.T, trace *Trace) (w written) {
	var text bytes.Buffer
	require.NoError(t, trace.Write(&text))
	require.NoError(t, json.Unmarshal(text.Bytes(), &w), "%s", text.String())
	return w
}

// named finds the complete events of a name.
func (w *written) named(name string) (found []traceEvent) {
	for _, e := range w.Events {
		if e.Phase == "X" && e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// TestNoTrace: without a trace nothing is recorded, and what would record it allocates nothing.
func TestNoTrace(t *testing.T) {
	ctx := WithTrace(context.Background(), nil)
	require.Equal(t, context.Background(), ctx)
	var trace *Trace
	trace.Add("nothing", time.Now(), time.Now())
	trace.Device(nil)()
	flow := NewFlow(ctx)
	inside := flow.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		span := Begin(inside, "nothing").Rows(1)
		span.End()
		BeginWait(inside, "nothing").End()
	}))
	on, end := Track(inside, "nothing")
	require.Equal(t, inside, on)
	end()
	require.NoError(t, flow.Wait())
}

// TestTraceFlow: each goroutine of a flow has a track, with what it did and what it waited for; those that follow one
// another share a thread, those that run at a time do not.
func TestTraceFlow(t *testing.T) {
	leak.Check(t)
	trace := NewTrace()
	outer, ended := Track(WithTrace(context.Background(), trace), "caller")
	same, _ := Track(outer, "no other")
	require.Equal(t, outer, same)
	flow := NewFlow(outer)
	require.Nil(t, Begin(flow.Context(), "whose?"), "the context of a flow has no goroutine")
	pipe := NewPipe[*value](flow, 0)
	flow.Go("maker", func(ctx context.Context) error {
		span := Begin(ctx, "make").Rows(7)
		time.Sleep(2 * time.Millisecond)
		span.End()
		require.NoError(t, pipe.Put(ctx, &value{}))
		pipe.End()
		return nil
	})
	flow.Go("taker", func(ctx context.Context) error {
		v, _, err := pipe.Take(ctx)
		require.NoError(t, err)
		require.NotNil(t, v)
		return nil
	})
	require.NoError(t, flow.Wait())
	started := make(chan struct{}, 2)
	both := NewFlow(outer)
	for range 2 {
		both.Go("twin", func(context.Context) error {
			started <- struct{}{}
			for len(started) < 2 {
				time.Sleep(time.Millisecond)
			}
			return nil
		})
	}
	require.NoError(t, both.Wait())
	after := NewFlow(outer)
	after.Go("maker", func(context.Context) error { return nil })
	require.NoError(t, after.Wait())
	ended()

	w := write(t, trace)
	made, wait, takers := w.named("make"), w.named("wait for a value"), w.named("taker")
	require.Len(t, made, 1)
	require.EqualValues(t, 7, made[0].Args["rows"])
	require.GreaterOrEqual(t, *made[0].Duration, 2000.0)
	require.Len(t, wait, 1)
	require.Equal(t, "wait", wait[0].Category)
	require.Equal(t, takers[0].Thread, wait[0].Thread)
	makers, twins := w.named("maker"), w.named("twin")
	require.Len(t, makers, 2)
	require.Equal(t, makers[0].Thread, makers[1].Thread)
	require.Equal(t, makers[0].Thread, made[0].Thread)
	require.NotEqual(t, twins[0].Thread, twins[1].Thread)
	names := []any{}
	for _, e := range w.Events {
		if e.Name == "thread_name" {
			names = append(names, e.Args["name"])
		}
	}
	require.ElementsMatch(t, []any{"caller", "maker", "taker", "twin", "twin 2"}, names)
}

// TestDeviceClock: times are interpolated between comparisons; without them work tells the shift.
func TestDeviceClock(t *testing.T) {
	const ms = time.Millisecond
	epoch := time.Now()
	compared := deviceClock{compared: []comparison{{1000 * ms, epoch, 3}, {2000 * ms, epoch.Add(1001 * ms), 5}}}
	require.Equal(t, epoch.Add(500*ms+ms/2), compared.host(1500*ms))
	require.Equal(t, epoch.Add(-100*ms-ms/10), compared.host(900*ms))
	require.EqualValues(t, 5, compared.error())

	// The device's 0 is 7 ms after the epoch. The first work is seen late, the second waits, the third is tight.
	var clock deviceClock
	require.Equal(t, "none", clock.how())
	for _, at := range [][4]time.Duration{{10, 4, 5, 80}, {11, 30, 31, 40}, {50, 44, 45, 53}} {
		clock.bound(&backend.Work{Timed: true, Submitted: epoch.Add(at[0] * ms), Start: at[1] * ms, End: at[2] * ms,
			Seen: epoch.Add(at[3] * ms)})
	}
	clock.bound(&backend.Work{Submitted: epoch.Add(time.Hour)})
	require.Equal(t, epoch.Add(100*ms+7*ms), clock.host(100*ms))
	require.Equal(t, ms, clock.error())
	require.Contains(t, clock.how(), "correlated")
}

// TestTraceWork: work is in the row of its queue, by its stage or its kernels, in times of the host; copies by the host
// are beside; work without times follows the work before it.
func TestTraceWork(t *testing.T) {
	const ms = time.Millisecond
	kernel := func(name string) backend.Command {
		return backend.Command{Kind: backend.Dispatch, Kernel: &backend.Kernel{Spec: &backend.KernelSpec{Name: name}}}
	}
	at := time.Now()
	d := &tracedDevice{clock: deviceClock{compared: []comparison{{0, at, 0}}}}
	for _, w := range []backend.Work{
		{Role: backend.Compute, Stage: "match", Timed: true, Start: ms, End: 3 * ms,
			Commands: []backend.Command{kernel("scan"), kernel("gather"), kernel("scan")}},
		{Role: backend.Compute, Submitted: at.Add(2 * ms), Seen: at.Add(9 * ms), Commands: []backend.Command{kernel("scan")}},
		{Role: backend.Upload, Stage: "upload", Bytes: 64, ByHost: true, Submitted: at, Seen: at.Add(2 * ms)},
		{Role: backend.Upload, Stage: "upload", Bytes: 32, ByHost: true, Submitted: at.Add(ms), Seen: at.Add(4 * ms)},
	} {
		d.observe(w)
	}
	rows := d.rows()
	names := []string{}
	for _, r := range rows {
		names = append(names, r.name)
	}
	require.Equal(t, []string{"compute", "upload by the host", "upload by the host 2"}, names)
	first, second := rows[0].tracks[0], rows[0].tracks[1]
	require.Equal(t, []string{"scan", "gather"}, first.kernels)
	require.Equal(t, "match", first.name)
	require.Equal(t, at.Add(ms), first.start)
	require.Equal(t, "scan", second.name)
	require.True(t, second.bounds)
	require.Equal(t, []time.Time{at.Add(3 * ms), at.Add(9 * ms)}, []time.Time{second.start, second.end})
	require.EqualValues(t, 32, rows[2].tracks[0].bytes)
}

type brokenWriter struct{}

var errFull = errors.New("full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errFull }

func TestTraceWriteFails(t *testing.T) {
	require.Equal(t, errFull, NewTrace().Write(brokenWriter{}))
}
