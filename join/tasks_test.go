package join

import (
	"context"
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
	"github.com/spirjoin/spirjoin/query"
)

// oneTask is a division with a task that never ends.
type oneTask struct{}

func (oneTask) task() *task      { return &task{layout: &Layout{}, ended: func() {}} }
func (oneTask) end()             {}
func (oneTask) err() error       { return nil }
func (oneTask) again(error) bool { return false }
func (oneTask) String() string   { return "" }

// TestTaskWaits: a task does not begin while the one before, which was divided again, has tasks of its own, nor where
// the device is short of memory: it would hold memory that they wait for.
func TestTaskWaits(t *testing.T) {
	devicetest.HostTest(t)
	for name, c := range map[string]struct {
		of    output
		one   bool
		waits bool
	}{
		"divided":      {of: new(tasks), waits: true},
		"device short": {of: new(HMGResult), one: true, waits: true},
		"neither":      {of: new(HMGResult)},
	} {
		all := newTasks(t.Context(), &Engine{Engine: new(query.Engine)}, &Layout{}, oneTask{})
		all.oneByOne, all.under = c.one, &task{result: &Result{of: c.of}}
		all.startNext()
		select { // it fails at once where it begins, as the engine has no device
		case <-all.ahead.begun:
			require.False(t, c.waits, name)
		case <-time.After(50 * time.Millisecond):
			require.True(t, c.waits, name)
		}
		all.flow.Stop()
		<-all.ahead.begun
	}
}

// TestMergeLends: the memory for runs of an ordered output goes to tasks that need all there is.
func TestMergeLends(t *testing.T) {
	devicetest.HostTest(t)
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	ops, err := primitive.New(device, nil)
	require.NoError(t, err)
	e := NewEngine(ops, memory.DefaultAllocator, 64<<20)
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
	require.NoError(t, device.Close())
}
