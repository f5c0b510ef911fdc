package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var dispatchChecks = []check{
	{"ranges of groups", checkGroupRanges},
	{"more than 65535 groups", checkManyGroups},
	{"absent arguments", checkAbsentArguments},
	{"empty range of groups", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		k := r.kernel(kernel.Iota.KernelSpec, nil)
		b := r.local(randomWords(1, 100))
		r.run(step(dispatchCommand(k, 0, 0, []backend.Range{b.All()}, 100, 0)),
			step(dispatchCommand(k, 1, 1, []backend.Range{b.All()}, 100, 0)))
		require.Equal(t, randomWords(1, 100), r.get(b))
	}},
	{"chain of dependent dispatches", checkChain},
	{"chain across batches", checkChainAcrossBatches},
	{"one barrier covers all before it", checkOneBarrier},
	{"programs are independent", func(t *testing.T, s *suite) {
		r := s.newRig(t)
		const rows = 5000
		b := r.buffer(backend.DeviceLocal, rows)
		for _, config := range []backend.Config{{"workgroup": 64, "items": 1}, {"workgroup": 128, "items": 5},
			{"workgroup": 64, "items": 2}} {
			k := r.kernel(kernel.Iota.KernelSpec, config)
			again, err := r.driver.Compile(kernel.Iota.KernelSpec, k.Config)
			require.NoError(t, err)
			for _, program := range []backend.Program{k.Program, again} {
				one := &backend.Kernel{Spec: k.Spec, Config: k.Config, Program: program}
				r.run(step(fillCommand(b.All(), 0)), after(dispatchCommand(one, 0,
					kernel.Groups(kernel.Named(k.Config), rows), []backend.Range{b.All()}, rows, 3)))
				requireWords(t, ascending(3, rows), r.get(b), "%s", config)
			}
		}
	}},
}

// checkGroupRanges splits a dispatch into ranges of groups: together they do what one dispatch does, and each touches
// only its own rows.
func checkGroupRanges(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Iota.KernelSpec, backend.Config{"workgroup": 64, "items": 2})
	const rows, groupRows = 10_000, 128
	groups := kernel.Groups(kernel.Named(k.Config), rows)
	b := r.buffer(backend.DeviceLocal, rows)
	args := []backend.Range{b.All()}

	r.run(step(fillCommand(b.All(), 7)), after(dispatchCommand(k, 3, 5, args, rows, 100)))
	got := r.get(b)
	for i, v := range got {
		want := uint32(7)
		if i >= 3*groupRows && i < 5*groupRows {
			want = 100 + uint32(i)
		}
		require.Equal(t, want, v, "row %d of groups 3 and 4", i)
	}
	var pieces []backend.Step
	for first := uint32(0); first < groups; {
		end := min(first+first/2+1, groups)
		pieces = append(pieces, step(dispatchCommand(k, first, end, args, rows, 9)))
		first = end
	}
	r.run(append([]backend.Step{step(fillCommand(b.All(), 7)), after(pieces[0].Command)}, pieces[1:]...)...)
	requireWords(t, ascending(9, rows), r.get(b), "%d pieces", len(pieces))
}

// checkManyGroups dispatches more workgroups than one dimension of most devices holds.
func checkManyGroups(t *testing.T, s *suite) {
	const groupRows = 32
	r := s.newRig(t)
	k := r.kernel(kernel.Iota.KernelSpec, backend.Config{"workgroup": groupRows, "items": 1})
	counts := []uint32{65535, 65536, 65537, 98_304, 200_003}
	if s.effort == Short {
		counts = []uint32{65537, 98_304}
	}
	for _, groups := range counts {
		rows := groups*groupRows - 13
		b, err := r.device.Allocate(background, backend.DeviceLocal, uint64(rows)*4, "values")
		require.NoError(t, err)
		args := []backend.Range{b.All()}
		r.run(step(fillCommand(b.All(), 0)), after(dispatchCommand(k, 0, groups, args, rows, 1)))
		want := ascending(1, int(rows))
		requireWords(t, want, r.get(b), "%d groups", groups)
		// A piece that begins and ends anywhere, whatever grid the driver makes of it.
		r.run(step(fillCommand(b.All(), 0)), after(dispatchCommand(k, 100, groups-100, args, rows, 1)))
		clear(want[:100*groupRows])
		clear(want[(groups-100)*groupRows:])
		requireWords(t, want, r.get(b), "groups 100 to %d", groups-100)
		b.Release()
	}
}

// checkAbsentArguments runs a kernel with and without an argument that may be absent: absent means zeros.
func checkAbsentArguments(t *testing.T, s *suite) {
	r := s.newRig(t)
	const rows = 20_000
	config, err := kernel.Defaults(kernel.ScanTiles.KernelSpec,
		backend.Config{"in_bits": 32, "sum_bits": 32, "serial": 0, "shared": wideShared(r.device.Info())})
	require.NoError(t, err)
	k := r.kernel(kernel.ScanTiles.KernelSpec, config)
	tiles := kernel.Tiles(kernel.Named(config), rows)
	values, prefix := r.local(randomWords(1, rows)), r.local(make([]uint32, tiles))
	var got [2][]uint32
	for i, arg := range []backend.Range{{}, prefix.All()} {
		sums := r.buffer(backend.DeviceLocal, rows)
		r.run(step(dispatchCommand(k, 0, kernel.Groups(kernel.Named(config), rows),
			[]backend.Range{values.All(), arg, sums.All()}, rows, tiles, 0)))
		got[i] = r.get(sums)
	}
	requireWords(t, got[1], got[0], "absent prefix")
	require.NotEqual(t, got[0][1], got[0][2])
}

// wideShared is the value of the axis shared for wide shapes on a device.
func wideShared(info *backend.DeviceInfo) uint32 {
	if info.Subgroups {
		return 0
	}
	return 1
}

// rotation returns the ids that shift a column of n rows by one.
func rotation(n int) []uint32 {
	ids := ascending(1, n)
	ids[n-1] = 0
	return ids
}

// checkChain runs hundreds of dispatches in one batch, each of which reads what the one before wrote.
func checkChain(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	n, links := s.pick(20_000, 5_000), s.pick(400, 150)
	data := randomWords(1, n)
	values := [2]*backend.Buffer{r.local(data), r.buffer(backend.DeviceLocal, n)}
	ids := r.local(rotation(n))
	var steps []backend.Step
	for i := range links {
		steps = append(steps, after(dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), uint64(n)),
			[]backend.Range{values[i%2].All(), ids.All(), values[1-i%2].All()}, uint32(n))))
	}
	r.run(steps...)
	want := append(append([]uint32(nil), data[links%n:]...), data[:links%n]...)
	requireWords(t, want, r.get(values[links%2]), "%d links", links)
}

// checkChainAcrossBatches spreads the chain over batches without a wait in between: a barrier orders the commands of a
// queue, not of one batch.
func checkChainAcrossBatches(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 64})
	const n = 1000
	links := s.pick(100, 50)
	data := randomWords(2, 2*n)
	values := [2]*backend.Buffer{r.local(data), r.buffer(backend.DeviceLocal, 2*n)}
	ids := r.local(rotation(n))
	var last backend.QueuePoint
	for i := range links {
		last = r.submit(backend.Compute, nil, after(dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), n),
			[]backend.Range{values[i%2].All(), ids.All(), values[1-i%2].All()}, n)))
	}
	r.wait(last)
	want := append(append([]uint32(nil), data[2*links:]...), data[:2*links]...)
	requireWords(t, want, r.get(values[links%2]), "%d batches", links)
}

// checkOneBarrier writes parts of a buffer by commands that may overlap and reads them all after one barrier.
func checkOneBarrier(t *testing.T, s *suite) {
	r := s.newRig(t)
	k := r.kernel(kernel.Iota.KernelSpec, nil)
	const parts, rows = 40, 640
	b, copied := r.buffer(backend.DeviceLocal, parts*rows), r.buffer(backend.DeviceLocal, parts*rows)
	for round := range uint32(3) {
		steps := []backend.Step{after(fillCommand(b.All(), 0))}
		for i := range parts {
			c := dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), rows),
				[]backend.Range{words(b, i*rows, rows)}, rows, uint32(i)*rows+round)
			steps = append(steps, backend.Step{Command: c, Barrier: i == 0})
		}
		steps = append(steps, after(copyCommand(words(copied, 0, parts*rows/2), words(b, 0, parts*rows/2))),
			step(copyCommand(words(copied, parts*rows/2, parts*rows/2), words(b, parts*rows/2, parts*rows/2))))
		r.run(steps...)
		assert.Empty(t, firstDifference(ascending(round, parts*rows), r.get(copied)), "round %d", round)
	}
}

func ascending(first uint32, n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = first + uint32(i)
	}
	return w
}
