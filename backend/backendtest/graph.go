package backendtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var graphChecks = []check{
	{"random graphs equal sequential execution", checkGraphs},
	{"random graphs in the smallest pieces", checkGraphsSplit},
	{"a suppressed hazard shows", checkPlantedHazards},
	{"suppressed hazards show in random graphs", checkPlantedGraphs},
}

// A graph is lists of commands on all queues over three data buffers and one of row ids. Every command is legal
// whatever ran before it, so that the lists in any order are legal; only the result tells the right order. Ids are
// always below graphWords.
type graph []graphList

type graphList struct {
	role     backend.Role
	commands []graphCommand
	then     graphThen
}

// graphThen is what the host does after submitting a list.
type graphThen uint8

const (
	nothing   graphThen = iota
	waitPoint           // waits for the list
	readBack            // downloads a buffer and compares it
	overwrite           // uploads a buffer anew
)

type graphCommand struct {
	kind     graphKind
	dst, src int    // data buffers; never the same
	to, from int    // first word of the range in dst and src
	ids      int    // first word of the ids of a gather
	rows     int    // words
	value    uint32 // filled, or the first of a sequence
}

type graphKind uint8

const (
	fillData graphKind = iota
	copyData
	sequence    // iota to data
	sequenceIDs // iota to ids
	gatherData
	scanData
	graphKinds
)

const (
	graphBuffers = 3
	graphWords   = 512
	viewWords    = backend.PlanAlignment / 4
)

func (g graph) String() string {
	var b strings.Builder
	for _, l := range g {
		fmt.Fprintf(&b, "\n%v then=%d:", l.role, l.then)
		for _, c := range l.commands {
			fmt.Fprintf(&b, " %+v", c)
		}
	}
	return b.String()
}

var graphRoles = []backend.Role{backend.Compute, backend.Compute, backend.Compute, backend.Ingest, backend.Deliver,
	backend.Upload, backend.Download}

// graphs draws graphs. Dispatches go to the queues that run kernels, more lists than not to compute.
func graphs(maxLists int) *rapid.Generator[graph] {
	return rapid.Custom(func(t *rapid.T) graph {
		var g graph
		for range rapid.IntRange(1, maxLists).Draw(t, "lists") {
			l := graphList{
				role: rapid.SampledFrom(graphRoles).Draw(t, "role"),
				then: rapid.SampledFrom([]graphThen{nothing, nothing, nothing, nothing, waitPoint, readBack,
					overwrite}).Draw(t, "then"),
			}
			for range rapid.IntRange(1, 6).Draw(t, "commands") {
				l.commands = append(l.commands, drawCommand(t, l.role))
			}
			g = append(g, l)
		}
		return g
	})
}

func drawCommand(t *rapid.T, role backend.Role) graphCommand {
	kinds := []graphKind{fillData, copyData}
	if role != backend.Upload && role != backend.Download {
		kinds = []graphKind{fillData, copyData, sequence, sequenceIDs, gatherData, scanData}
	}
	c := graphCommand{
		kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
		dst:   rapid.IntRange(0, graphBuffers-1).Draw(t, "dst"),
		rows:  rapid.IntRange(1, graphWords/2).Draw(t, "rows"),
		value: rapid.Uint32Range(0, graphWords/2).Draw(t, "value"),
	}
	c.src = (c.dst + rapid.IntRange(1, graphBuffers-1).Draw(t, "src")) % graphBuffers
	place := func(label string) int {
		if c.kind == fillData || c.kind == copyData {
			return rapid.IntRange(0, graphWords-c.rows).Draw(t, label)
		}
		return rapid.IntRange(0, (graphWords-c.rows)/viewWords).Draw(t, label) * viewWords
	}
	c.to, c.from, c.ids = place("to"), place("from"), place("ids")
	return c
}

// graphDevice runs graphs on a device and in plain Go.
type graphDevice struct {
	device             *backend.Device
	iota, gather, scan *backend.Kernel
}

func newGraphDevice(device *backend.Device) (*graphDevice, error) {
	g := &graphDevice{device: device}
	serial, shared := uint32(0), wideShared(device.Info())
	if device.Info().CPULike() {
		serial, shared = 1, 0
	}
	// Small tiles, so that dispatches have several workgroups.
	for _, k := range []struct {
		to     **backend.Kernel
		spec   *backend.KernelSpec
		config backend.Config
	}{
		{&g.iota, kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": 2}},
		{&g.gather, kernel.Gather.KernelSpec, backend.Config{"workgroup": 64, "items": 1, "value_bits": 32}},
		{&g.scan, kernel.ScanTiles.KernelSpec,
			backend.Config{"in_bits": 32, "sum_bits": 32, "serial": serial, "shared": shared}},
	} {
		config, err := kernel.Defaults(k.spec, k.config)
		if err != nil {
			return nil, err
		}
		if *k.to, err = device.Kernel(k.spec, config); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// run executes a graph; the error names the first difference from sequential execution, or what failed. With hazards
// suppressed, a lost device is a possible failure too.
func (d *graphDevice) run(g graph) (err error) {
	var model [graphBuffers + 1][]uint32
	var buffers [graphBuffers + 1]*backend.Buffer
	for i := range buffers {
		label := fmt.Sprintf("graph %d", i)
		if buffers[i], err = d.device.Allocate(background, backend.DeviceLocal, graphWords*4, label); err != nil {
			return err
		}
		defer buffers[i].Release()
		model[i] = randomWords(uint64(i), graphWords)
		if i == graphBuffers {
			model[i] = rotation(graphWords)
		}
		if _, err := d.device.Upload(background, buffers[i].All(), backend.AsBytes(model[i])); err != nil {
			return err
		}
	}
	compare := func(i int) error {
		got := make([]uint32, graphWords)
		if err := d.device.Download(background, backend.AsBytes(got), buffers[i].All()); err != nil {
			return err
		}
		if difference := firstDifference(model[i], got); difference != "" {
			return fmt.Errorf("buffer %d: %s", i, difference)
		}
		return nil
	}
	for n, l := range g {
		var list backend.List
		for _, c := range l.commands {
			d.record(&list, c, &buffers)
			d.model(c, &model)
		}
		point, err := d.device.Submit(background, l.role, &list)
		if err != nil {
			return err
		}
		last := l.commands[len(l.commands)-1].dst
		switch l.then {
		case waitPoint:
			err = point.Wait(background)
		case readBack:
			err = compare(last)
		case overwrite:
			model[last] = randomWords(uint64(n), graphWords)
			_, err = d.device.Upload(background, buffers[last].All(), backend.AsBytes(model[last]))
		}
		if err != nil {
			return fmt.Errorf("after list %d: %w", n, err)
		}
	}
	for i := range buffers {
		if err := compare(i); err != nil {
			return err
		}
	}
	return nil
}

// operation is the kernel of a command with the words of its arguments.
func (d *graphDevice) operation(c graphCommand) (k *backend.Kernel, params []uint32, first, end []int) {
	ids := graphBuffers
	rows := uint32(c.rows)
	switch c.kind {
	case sequence:
		return d.iota, []uint32{rows, c.value}, []int{c.dst, c.to}, []int{c.to + c.rows}
	case sequenceIDs:
		return d.iota, []uint32{rows, c.value}, []int{ids, c.to}, []int{c.to + c.rows}
	case gatherData:
		return d.gather, []uint32{rows}, []int{c.src, 0, ids, c.ids, c.dst, c.to},
			[]int{graphWords, c.ids + c.rows, c.to + c.rows}
	case scanData:
		return d.scan, []uint32{rows, kernel.Tiles(kernel.Named(d.scan.Config), uint64(rows)), 0},
			[]int{c.src, c.from, -1, 0, c.dst, c.to}, []int{c.from + c.rows, 0, c.to + c.rows}
	}
	return nil, nil, nil, nil
}

func (d *graphDevice) record(list *backend.List, c graphCommand, buffers *[graphBuffers + 1]*backend.Buffer) {
	switch c.kind {
	case fillData:
		list.Fill(words(buffers[c.dst], c.to, c.rows), c.value)
	case copyData:
		list.Copy(words(buffers[c.dst], c.to, c.rows), words(buffers[c.src], c.from, c.rows))
	default:
		k, params, first, end := d.operation(c)
		args := make([]backend.Range, len(end))
		for i := range args {
			if b, at := first[2*i], first[2*i+1]; b >= 0 {
				args[i] = words(buffers[b], at, end[i]-at)
			}
		}
		list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), uint64(c.rows)), args, params...)
	}
}

func (d *graphDevice) model(c graphCommand, model *[graphBuffers + 1][]uint32) {
	switch c.kind {
	case fillData:
		copy(model[c.dst][c.to:], repeated(c.value, c.rows))
	case copyData:
		copy(model[c.dst][c.to:c.to+c.rows], model[c.src][c.from:])
	default:
		k, params, first, end := d.operation(c)
		args := make([][]byte, len(end))
		for i := range args {
			if b, at := first[2*i], first[2*i+1]; b >= 0 {
				args[i] = backend.AsBytes(model[b][at:end[i]])
			}
		}
		run := k.Spec.Reference(k.Config)(args, params)
		for group := range kernel.Groups(kernel.Named(k.Config), uint64(c.rows)) {
			run(group)
		}
	}
}

// wholeLists keeps submissions from being cut by measured times, so that a run can be repeated, and blocks small, as a
// driver may fill them with a marker.
var wholeLists = backend.DeviceOptions{SubmitBound: time.Hour, WaitLimit: waitLimit, DeviceMemoryBytes: 1 << 20}

func checkGraphs(t *testing.T, s *suite) {
	var shared *graphDevice
	if s.order == Natural { // compiling for each graph would take most of the time
		var err error
		shared, err = newGraphDevice(s.openDevice(t, wholeLists))
		require.NoError(t, err)
	}
	generator := graphs(s.pick(12, 5))
	rapid.Check(t, func(rt *rapid.T) {
		g := generator.Draw(rt, "graph")
		d := shared
		if d == nil { // a fresh order for each graph, so that a failure can be shrunk
			device := backend.NewDevice(s.open(t), wholeLists)
			defer func() { require.NoError(rt, device.Close()) }()
			var err error
			d, err = newGraphDevice(device)
			require.NoError(rt, err)
		}
		require.NoError(rt, d.run(g), "%v", g)
	})
}

func checkGraphsSplit(t *testing.T, s *suite) {
	d, err := newGraphDevice(s.openDevice(t, backend.DeviceOptions{SubmitBound: time.Nanosecond}))
	require.NoError(t, err)
	generator := graphs(6)
	for i := range s.pick(20, 5) {
		g := generator.Example(i)
		require.NoError(t, d.run(g), "%v", g)
	}
}

// checkPlantedHazards suppresses every barrier and wait in the shortest lists that need one, and expects wrong results;
// with nothing suppressed the same lists must be right.
func checkPlantedHazards(t *testing.T, s *suite) {
	if s.order != Shuffled {
		t.Skip("only a shuffling driver shows each missing barrier")
	}
	write := graphCommand{kind: fillData, dst: 0, rows: graphWords / 2, value: 7}
	rewrite := graphCommand{kind: fillData, dst: 0, rows: graphWords / 2, value: 8}
	read := graphCommand{kind: copyData, dst: 1, src: 0, rows: graphWords / 2}
	gather := graphCommand{kind: gatherData, dst: 1, src: 0, rows: graphWords / 2}
	number := graphCommand{kind: sequence, dst: 0, rows: graphWords / 2, value: 9}
	one := func(first, second graphCommand) graph {
		return graph{{role: backend.Compute, commands: []graphCommand{first, second}}}
	}
	two := func(a backend.Role, first graphCommand, b backend.Role, second graphCommand) graph {
		return graph{{role: a, commands: []graphCommand{first}}, {role: b, commands: []graphCommand{second}}}
	}
	for name, g := range map[string]graph{
		"write then read":                    one(write, read),
		"read then write":                    one(read, rewrite),
		"write then write":                   one(write, rewrite),
		"kernel then kernel":                 one(number, gather),
		"kernel reads then fill":             one(gather, rewrite),
		"across batches of a queue":          two(backend.Compute, write, backend.Compute, gather),
		"upload writes then compute reads":   two(backend.Upload, write, backend.Compute, gather),
		"compute reads then upload writes":   two(backend.Compute, gather, backend.Upload, rewrite),
		"compute writes then download reads": two(backend.Compute, number, backend.Download, read),
		"ingest writes then compute reads":   two(backend.Ingest, number, backend.Compute, gather),
		"compute writes then deliver reads":  two(backend.Compute, number, backend.Deliver, gather),
		"deliver reads then ingest writes":   two(backend.Deliver, gather, backend.Ingest, number),
		"upload writes then compute writes":  two(backend.Upload, write, backend.Compute, number),
		"download reads then compute writes": two(backend.Download, read, backend.Compute, number),
		"compute writes ids then compute uses them": one(graphCommand{kind: sequenceIDs, rows: graphWords / 2,
			value: 100}, gather),
	} {
		t.Run(name, func(t *testing.T) {
			const attempts = 64
			for _, suppressed := range []bool{false, true} {
				device := backend.NewDevice(s.open(t), wholeLists)
				d, err := newGraphDevice(device)
				require.NoError(t, err)
				asked := 0
				device.SuppressHazards(func() bool { asked++; return suppressed })
				// ends the attempts: a kernel that took row ids from memory never written has lost the device
				var wrong error
				for range attempts {
					if wrong == nil {
						wrong = d.run(g)
					}
				}
				require.NotZero(t, asked, "nothing needs a barrier or a wait")
				closed := device.Close()
				if suppressed {
					assert.Error(t, wrong, "a suppressed barrier or wait went unseen")
				} else {
					assert.NoError(t, wrong)
					assert.NoError(t, closed)
				}
			}
		})
	}
}

// checkPlantedGraphs suppresses one barrier or wait in random graphs. Not each of them matters - what was overwritten
// in the wrong order may be overwritten again before anyone looks - so only a share of the graphs must fail.
func checkPlantedGraphs(t *testing.T, s *suite) {
	if s.order != Shuffled {
		t.Skip("only a shuffling driver shows each missing barrier")
	}
	generator := graphs(12)
	run := func(g graph, victim int) (asked int, err error) {
		device := backend.NewDevice(s.open(t), wholeLists)
		d, err := newGraphDevice(device)
		require.NoError(t, err)
		device.SuppressHazards(func() bool { asked++; return asked == victim })
		err = d.run(g)
		closed := device.Close()
		if err == nil {
			err = closed
		}
		return asked, err
	}
	planted, seen, examples := 0, 0, s.pick(200, 50)
	for i := range examples {
		g := generator.Example(i)
		needed, err := run(g, 0)
		require.NoError(t, err, "example %d: %v", i, g)
		if needed == 0 {
			continue
		}
		planted++
		if _, err := run(g, 1+i%needed); err != nil {
			seen++
		}
	}
	t.Logf("%d of %d suppressed barriers and waits showed", seen, planted)
	require.Greater(t, planted, examples/2)
	require.Greater(t, seen, planted/4, "suppressed barriers and waits go unseen")
}
