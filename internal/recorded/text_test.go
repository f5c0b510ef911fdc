package recorded_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/recorded"
	"github.com/spirjoin/spirjoin/primitive"
)

// fault changes a sort, before or after its list is submitted.
type fault struct {
	list  func(list *backend.List)
	after func(device *backend.Device, point backend.Point, keys *backend.Buffer) error
	line  string // line of the first difference
}

// TestPlantedFaults: golden files detect a changed parameter, configuration or group, a swapped or shorter argument,
// missing or reordered commands, and an additional wait or transfer.
func TestPlantedFaults(t *testing.T) {
	const rows = 1 << 20
	record := func(t *testing.T, tuning primitive.Tuning, f fault) string {
		device := recorded.OpenIdle(t, recorded.H200())
		b := &bench{t: t, Ops: opsOf(t, device, tuning)}
		recorder, stop := recorded.Record(device)
		defer stop()
		layout := primitive.Layout{Rows: rows, KeyBytes: 4, Payload: primitive.Given, PayloadBytes: 4, Columns: 1}
		p := must[primitive.SortPlan](b)(primitive.PlanSort(b.Tuning(), primitive.Sort{Layout: layout, EndBit: 16}))
		buffers := [2]primitive.Columns{b.columns("first", layout), b.columns("second", layout)}
		var list backend.List
		require.NoError(t, b.Sort(&list, p, b.new("scratch", p.ScratchBytes), buffers[0], buffers))
		if f.list != nil {
			f.list(&list)
		}
		point, err := device.Submit(background, backend.Compute, &list)
		require.NoError(t, err)
		if f.after != nil {
			require.NoError(t, f.after(device, point, buffers[0].Keys.Buffer))
		}
		for _, buffer := range b.buffers {
			buffer.Release()
		}
		return recorder.String()
	}
	// The commands are: fill, radix_counts, and for each of two passes radix_scatter.
	want := record(t, nil, fault{})
	require.Empty(t, difference(want, record(t, nil, fault{})))
	for name, f := range map[string]fault{
		"parameter":        {line: "line 4", list: func(l *backend.List) { l.Commands[2].Params[3]++ }},
		"groups":           {line: "line 3", list: func(l *backend.List) { l.Commands[1].EndGroup-- }},
		"value of a fill":  {line: "line 2", list: func(l *backend.List) { l.Commands[0].Value = 1 }},
		"shorter argument": {line: "line 4", list: func(l *backend.List) { l.Commands[2].Args[0].SizeBytes -= 256 }},
		"offset":           {line: "line 4", list: func(l *backend.List) { l.Commands[2].Args[4].OffsetBytes += 256 }},
		"absent argument":  {line: "line 3", list: func(l *backend.List) { l.Commands[1].Args[1] = backend.Range{} }},
		"swapped arguments of one size": {line: "line 4", list: func(l *backend.List) {
			args := l.Commands[2].Args
			args[0], args[1] = args[1], args[0]
		}},
		"missing command": {line: "line 4", list: func(l *backend.List) {
			l.Commands = slices.Delete(l.Commands, 2, 3)
		}},
		"last command": {line: "line 5", list: func(l *backend.List) { l.Commands = l.Commands[:3] }},
		"order": {line: "line 4", list: func(l *backend.List) {
			l.Commands[2], l.Commands[3] = l.Commands[3], l.Commands[2]
		}},
		"stage":             {line: "line 6", list: func(l *backend.List) { l.Stage("more") }},
		"another list":      {line: "line 6", after: submitEmpty(backend.Compute)},
		"another queue":     {line: "line 6", after: submitEmpty(backend.Upload)},
		"wait of the host":  {line: "line 6", after: waitForPoint},
		"wait for a buffer": {line: "line 6", after: waitForBuffer},
		"download":          {line: "line 6", after: download},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, difference(want, record(t, nil, f)), f.line+"\n")
		})
	}
	require.Contains(t, difference(want, record(t, otherCounters(t, rows), fault{})), "line 3\n", "configuration")
}

func submitEmpty(role backend.Role) func(*backend.Device, backend.Point, *backend.Buffer) error {
	return func(device *backend.Device, _ backend.Point, _ *backend.Buffer) error {
		_, err := device.Submit(background, role, new(backend.List))
		return err
	}
}

func waitForPoint(device *backend.Device, point backend.Point, _ *backend.Buffer) error {
	return point.Wait(background)
}

func waitForBuffer(device *backend.Device, _ backend.Point, keys *backend.Buffer) error {
	return device.WaitBuffer(background, keys)
}

func download(device *backend.Device, _ backend.Point, keys *backend.Buffer) error {
	return device.Download(background, make([]byte, 4), keys.Range(0, 4))
}

// otherCounters returns tuning that differs from the H200's in one setting.
func otherCounters(t *testing.T, rows uint64) primitive.Tuning {
	info := recorded.H200()
	tuning, err := primitive.TuningFor(&info)
	require.NoError(t, err)
	variant := backend.Config{"key_bits": 32, "payload_bits": 32, "columns": 1}
	config := maps.Clone(tuning.ConfigFor("radix_sort", variant, rows))
	config["counters"] /= 2
	return primitive.Tuning{"radix_sort": {{Variant: variant, Config: config}}}
}

// TestEvents: a transfer is one event, so is a list that is divided, and waits of the device itself are none.
func TestEvents(t *testing.T) {
	device := recorded.Open(t, recorded.H200(), backend.DeviceOptions{SubmitBound: 1}, 2)
	buffer, err := device.Allocate(background, backend.DeviceLocal, 40<<20, "column")
	require.NoError(t, err)
	defer buffer.Release()
	recorder, stop := recorded.Record(device)
	memory := make([]byte, buffer.SizeBytes())
	_, err = device.Upload(background, buffer.All(), memory)
	require.NoError(t, err)
	require.NoError(t, backend.Point{}.Wait(background), "a point that has always passed is not waited for")
	var list backend.List
	for i := range uint64(20) {
		list.Fill(buffer.Range(i<<21, 1<<21), uint32(i))
	}
	require.NoError(t, device.Run(background, &list))
	require.NoError(t, device.Download(background, memory, buffer.All()))
	stop()
	require.NoError(t, device.Run(background, &list))

	want := "upload 41943040<column>\nsubmit\n"
	for i := range 20 {
		want += fmt.Sprintf("  fill 2097152@%d<column> value=%d\n", i<<21, i)
	}
	want = strings.Replace(want, "@0", "", 1)
	require.Equal(t, want+"wait\ndownload 41943040<column>\n", recorder.String())
}

// TestConcurrentEvents records from several goroutines.
func TestConcurrentEvents(t *testing.T) {
	device := recorded.OpenIdle(t, recorded.Plain())
	recorder, stop := recorded.Record(device)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				require.NoError(t, submitEmpty(backend.Download)(device, backend.Point{}, nil))
			}
		})
	}
	group.Wait()
	stop()
	require.Len(t, recorder.String(), 400*len("submit download\n"))
}
