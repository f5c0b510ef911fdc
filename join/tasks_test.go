package join

import (
	"cmp"
	"context"
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
)

// oneTask is a division with one task after the other, all the same.
type oneTask struct{ of *task }

func (o oneTask) task() *task    { return o.of }
func (oneTask) end()             {}
func (oneTask) err() error       { return nil }
func (oneTask) again(error) bool { return false }
func (oneTask) String() string   { return "" }

// TestTaskWaits: a task does not begin while the one before, which was divided again, has tasks of its own, nor where
// the device is short of memory and that of the host is limited: it would hold memory that others wait for.
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
		e := cmp.Or(c.engine, free)
		all := newTasks(t.Context(), e, &Layout{}, oneTask{&task{layout: &Layout{}, ended: func() {}}})
		all.oneByOne, all.under = c.one, &task{result: &Result{of: c.of}}
		all.startNext()
		select { // it fails at once where it begins, as there is nothing to join
		case <-all.ahead.begun:
			require.False(t, c.waits, name)
		case <-time.After(50 * time.Millisecond):
			require.True(t, c.waits, name)
		}
		all.flow.Stop()
		<-all.ahead.begun
	}
}

// TestTaskIsReadBeforeItsTurn: where only the device is short of memory, the next task is read while the one before has
// the device, and joined after that has ended.
func TestTaskIsReadBeforeItsTurn(t *testing.T) {
	devicetest.HostTest(t)
	e := NewEngine(hostOps(t), memory.DefaultAllocator, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := NewLayout(schema, schema, Spec{LeftOn: []string{"k"}, RightOn: []string{"k"}})
	require.NoError(t, err)
	read := make(chan struct{}, 2)
	empty := Source{Schema: schema, Rows: 0, Batches: func(context.Context) iter.Seq2[arrow.RecordBatch, error] {
		return func(func(arrow.RecordBatch, error) bool) { read <- struct{}{} }
	}}
	all := newTasks(t.Context(), e, layout, oneTask{&task{layout: layout, sources: [2]Source{empty, empty}, name: "next",
		ended: func() {}}})
	defer all.flow.Stop()
	all.oneByOne, all.under = true, &task{result: &Result{of: new(HMGResult)}}
	all.startNext()
	next := all.ahead
	<-read
	<-read
	select {
	case <-next.begun:
		require.Fail(t, "it has taken the device")
	case <-time.After(50 * time.Millisecond):
	}
	close(next.turn)
	<-next.begun
	require.NoError(t, next.err)
	next.result.Close()
}

// TestMergeLends: the memory for runs of an ordered output goes to tasks that need all there is.
func TestMergeLends(t *testing.T) {
	devicetest.HostTest(t)
	e := NewEngine(hostOps(t), memory.DefaultAllocator, 64<<20)
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := NewLayout(schema, schema, Spec{On: []string{"k"}, Order: LeftOrder})
	require.NoError(t, err)
	m := newMerge(layout, &sides{engine: e, layout: layout.numbered()})
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

// hostOps are those of the host, until the test ends.
func hostOps(t *testing.T) *primitive.Ops {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	return ops
}
