package join

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/source"
)

// someTasks is a division with these tasks.
type someTasks struct{ left []*run }

func (s *someTasks) next() (next *run) {
	if len(s.left) > 0 {
		next, s.left = s.left[0], s.left[1:]
	}
	return next
}
func (*someTasks) end()             {}
func (*someTasks) err() error       { return nil }
func (*someTasks) again(error) bool { return false }
func (*someTasks) String() string   { return "" }

// TestTaskWaits: a task does not begin while the task before, which was divided again, has tasks of its own. Nor does
// it if the device is short of memory and host memory is limited: it would hold memory that others wait for.
func TestTaskWaits(t *testing.T) {
	devicetest.HostTest(t)
	limited := NewEngine(hostOps(t), memory.DefaultAllocator, 64<<20)
	free := NewEngine(hostOps(t), memory.DefaultAllocator, 0)
	for name, c := range map[string]struct {
		engine *Engine
		of     output
		one    bool
		waits  bool
	}{
		"divided":       {of: new(tasks), waits: true},
		"memory short":  {engine: limited, of: new(HMGResult), one: true, waits: true},
		"device free":   {engine: limited, of: new(HMGResult)},
		"nothing short": {of: new(HMGResult)},
	} {
		e, none := cmp.Or(c.engine, free), (&Layout{}).task()
		all := newTasks(t.Context(), e, none, &someTasks{[]*run{{task: none, ended: func() {}}}})
		all.oneByOne, all.under = c.one, &run{result: &Result{of: c.of}}
		all.beginAhead()
		select { // it fails at once where it begins, as there is nothing to join
		case <-all.ahead[0].begun:
			require.False(t, c.waits, name)
		case <-time.After(50 * time.Millisecond):
			require.True(t, c.waits, name)
		}
		all.flow.Stop()
		<-all.ahead[0].begun
	}
}

// TestTaskIsReadBeforeItsTurn: where only the device is short of memory, the next task is read while the one before has
// the device, and joined after that has ended. The one after the next is read, and joined when it is the next.
func TestTaskIsReadBeforeItsTurn(t *testing.T) {
	devicetest.HostTest(t)
	for _, short := range []bool{true, false} {
		testTurns(t, short)
	}
}

func testTurns(t *testing.T, short bool) {
	e := NewEngine(hostOps(t), memory.DefaultAllocator, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := NewLayout(schema, schema, Spec{LeftOn: []string{"k"}, RightOn: []string{"k"}})
	require.NoError(t, err)
	read := make(chan struct{}, 6)
	empty := source.Source{Schema: schema, Rows: 0, Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(func(arrow.RecordBatch, error) bool) { read <- struct{}{} }
	}}
	var of []*run
	for i := range 3 {
		of = append(of, &run{task: layout.task(), sources: [2]source.Source{empty, empty}, name: fmt.Sprint(i), ended: func() {}})
	}
	all := newTasks(t.Context(), e, layout.task(), &someTasks{of})
	all.oneByOne, all.mostAhead = short, 2
	defer all.Close()
	advance := func(to *run) {
		more, err := all.advance(t.Context())
		require.NoError(t, err)
		require.True(t, more)
		require.Same(t, to, all.under)
	}
	waits := func(of *run) {
		select {
		case <-of.begun:
			require.Fail(t, "it has taken the device")
		case <-time.After(50 * time.Millisecond):
		}
	}
	all.beginAhead()
	waits(of[1])
	advance(of[0])
	for range 6 {
		<-read
	}
	if waits(of[2]); short {
		waits(of[1])
	} else {
		<-of[1].begun
	}
	advance(of[1])
	advance(of[2])
	more, err := all.advance(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}

// TestMergeLends: the memory for runs of an ordered output goes to tasks that need all there is.
func TestMergeLends(t *testing.T) {
	devicetest.HostTest(t)
	e := NewEngine(hostOps(t), memory.DefaultAllocator, 64<<20)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := NewLayout(schema, schema, Spec{On: []string{"k"}, Order: LeftOrder})
	require.NoError(t, err)
	m := newMerge(layout.task(), &sides{engine: e, part: layout.task().numbered()})
	require.EqualValues(t, 8<<20, m.runBytes.Load())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	all, err := e.Budget().Acquire(ctx, exec.Need{Host: e.HostCapBytes()})
	require.NoError(t, err)
	require.EqualValues(t, leastRunBytes, m.runBytes.Load())
	all.Release()
	m.close()
	require.Equal(t, e.HostCapBytes(), e.Budget().Free().Host)
}

// hostOps returns primitives of the host backend, valid until the test ends.
func hostOps(t *testing.T) *primitive.Ops {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	return ops
}
