package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

var deviceChecks = []check{
	{"caps are hard", checkCaps},
	{"release gives memory back after its point", checkRelease},
	{"round trips of odd sizes", checkRoundTrips},
	{"transfers of imported memory", checkImportedTransfers},
	{"staged uploads", checkStagedUploads},
	{"staged uploads through one slot", checkOneSlot},
	{"readings", checkReadings},
	{"shared imports", checkSharedImports},
	{"roles", checkRoles},
	{"kernels are compiled once", func(t *testing.T, s *suite) {
		device := s.openDevice(t, backend.DeviceOptions{})
		a, err := device.Kernel(kernel.Iota.KernelSpec, nil)
		require.NoError(t, err)
		b, err := device.Kernel(kernel.Iota.KernelSpec, backend.Config{"workgroup": a.Config["workgroup"]})
		require.NoError(t, err)
		assert.Same(t, a, b)
		c, err := device.Kernel(kernel.Iota.KernelSpec, backend.Config{"items": a.Config["items"] + 1})
		require.NoError(t, err)
		assert.NotSame(t, a, c)
		_, err = device.Kernel(kernel.Gather.KernelSpec, nil)
		requireOneOf(t, err, backend.ErrInvalidInput)
	}},
	{"bad commands", checkBadCommands},
	{"stages", checkStages},
	{"context that ended", func(t *testing.T, s *suite) {
		device := s.openDevice(t, backend.DeviceOptions{})
		b := allocate(t, device, 100)
		var list backend.List
		list.Fill(b.All(), 1)
		ended, cancel := context.WithCancel(background)
		cancel()
		_, err := device.Submit(ended, backend.Compute, &list)
		requireOneOf(t, err, backend.ErrCancelled)
		require.NoError(t, device.Run(background, &list), "the device works on")
	}},
	{"work is split", checkSplitWork},
	{"close reports leaks", func(t *testing.T, s *suite) {
		device := backend.NewDevice(s.open(t), backend.DeviceOptions{})
		_, err := device.Allocate(background, backend.DeviceLocal, 1000, "forgotten column")
		require.NoError(t, err)
		twice, err := device.Allocate(background, backend.HostVisible, 1000, "released twice")
		require.NoError(t, err)
		twice.Release()
		twice.Release()
		err = device.Close()
		requireOneOf(t, err, backend.ErrInvalidInput)
		assert.ErrorContains(t, err, "forgotten column")
		assert.ErrorContains(t, err, "released twice")
		_, err = device.Allocate(background, backend.DeviceLocal, 4, "late")
		assert.Error(t, err, "use after Close")
	}},
}

// allocate returns a device-local buffer of n words that is released when the test ends.
func allocate(t *testing.T, device *backend.Device, n int) *backend.Buffer {
	t.Helper()
	b, err := device.Allocate(background, backend.DeviceLocal, uint64(n)*4, "test")
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

func checkCaps(t *testing.T, s *suite) {
	const limit, piece = 40 << 20, 3 << 20
	device := s.openDevice(t, backend.DeviceOptions{DeviceMemoryBytes: limit, HostMemoryBytes: limit})
	for memory, want := range map[backend.Memory]struct {
		sentinel error
		option   string
	}{
		backend.DeviceLocal: {backend.ErrDeviceMemory, "device_memory"},
		backend.HostVisible: {backend.ErrHostMemory, "DeviceOptions.HostMemoryBytes"},
	} {
		for _, size := range []uint64{limit + 4, 1 << 50, math.MaxUint64 - 1} {
			_, err := device.Allocate(background, memory, size, "too large")
			require.Error(t, err, "%d bytes", size)
			requireOneOf(t, err, want.sentinel)
			assert.ErrorContains(t, err, fmt.Sprint(size), "what was asked for")
		}
		var buffers []*backend.Buffer
		var err error
		for len(buffers) < limit/piece+1 && err == nil {
			var b *backend.Buffer
			if b, err = device.Allocate(background, memory, piece, "piece"); err == nil {
				buffers = append(buffers, b)
			}
			use := device.MemoryUse(memory)
			require.LessOrEqual(t, use.Blocks, uint64(limit))
			require.LessOrEqual(t, use.InUse, use.Blocks)
		}
		requireOneOf(t, err, want.sentinel)
		assert.ErrorContains(t, err, want.option, "the option that changes the limit")
		assert.ErrorContains(t, err, fmt.Sprint(limit), "the limit")
		assert.ErrorContains(t, err, fmt.Sprint(piece), "what was asked for")
		assert.GreaterOrEqual(t, len(buffers), limit/piece-4, "the cap can be used but for the rest of pool blocks")
		for _, b := range buffers {
			b.Release()
		}
		assert.Zero(t, device.MemoryUse(memory).InUse)
		whole, err := device.Allocate(background, memory, limit, "whole cap")
		require.NoError(t, err)
		whole.Release()
	}
}

// checkRelease needs the whole cap again and again while submitted work still uses what was released, with content to
// prove that nothing was given away too early.
func checkRelease(t *testing.T, s *suite) {
	const limit = 16 << 20
	device := s.openDevice(t, backend.DeviceOptions{DeviceMemoryBytes: limit})
	k, err := device.Kernel(kernel.Iota.KernelSpec, nil)
	require.NoError(t, err)
	const rows = limit / 2 / 4
	results, err := device.Allocate(background, backend.HostVisible, 32*4, "results")
	require.NoError(t, err)
	defer results.Release()
	for round := range uint32(16) {
		var half [2]*backend.Buffer
		for i := range half {
			half[i], err = device.Allocate(background, backend.DeviceLocal, limit/2, "half")
			require.NoError(t, err, "round %d", round)
		}
		var list backend.List
		list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), rows),
			[]backend.Range{half[0].All()}, rows, round)
		list.Copy(half[1].All(), half[0].All())
		list.Copy(words(results, int(round), 1), words(half[1], rows-1, 1))
		_, err := device.Submit(background, backend.Role(backend.Compute), &list)
		require.NoError(t, err)
		half[0].Release()
		half[1].Release()
	}
	require.NoError(t, device.WaitBuffer(background, results))
	requireWords(t, ascending(rows-1, 16), backend.Words(results.Bytes())[:16], "last words of the rounds")
}

func checkRoundTrips(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	random := rand.NewChaCha8([32]byte{7})
	for _, size := range []int{0, 1, 2, 3, 4, 5, 255, 257, 4<<10 + 1, 1<<20 - 1, s.pick(16<<20+3, 1<<20+3),
		s.pick(40<<20+1, 1<<20+5)} {
		for _, memory := range []backend.Memory{backend.DeviceLocal, backend.HostVisible} {
			t.Run(fmt.Sprintf("memory=%v sizeBytes=%d", memory, size), func(t *testing.T) {
				const front = 12 // bytes before the range
				b, err := device.Allocate(background, memory, uint64(front+size), "column")
				require.NoError(t, err)
				defer b.Release()
				assert.Equal(t, uint64(front+size+3)/4*4, b.SizeBytes())
				data, got := make([]byte, size), make([]byte, size)
				random.Read(data)
				r := b.Range(front, uint64(size))
				if size%4 != 0 {
					r = b.Range(front, uint64(size+3)/4*4)
				}
				_, err = device.Upload(background, r, data)
				require.NoError(t, err)
				require.NoError(t, device.Download(background, got, r))
				require.True(t, bytes.Equal(data, got), "%d bytes", size)
			})
		}
	}
	b := allocate(t, device, 10)
	for name, r := range map[string]backend.Range{
		"beyond the buffer": b.Range(32, 16), "misaligned": b.Range(2, 16), "of another size": b.Range(0, 12),
		"absent":                {},
		"of overflowing offset": b.Range(math.MaxUint64-3, 16),
	} {
		_, err := device.Upload(background, r, make([]byte, 16))
		requireOneOf(t, err, backend.ErrInvalidInput)
		requireOneOf(t, device.Download(background, make([]byte, 16), r), backend.ErrInvalidInput)
		assert.NotEmpty(t, name)
	}
}

func checkBadCommands(t *testing.T, s *suite) {
	device, other := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	k, err := device.Kernel(kernel.Iota.KernelSpec, nil)
	require.NoError(t, err)
	b, foreign := allocate(t, device, 100), allocate(t, other, 100)
	released, err := device.Allocate(background, backend.DeviceLocal, 400, "released")
	require.NoError(t, err)
	released.Release()
	iota := func(r backend.Range, params ...uint32) backend.Command {
		return dispatchCommand(k, 0, 1, []backend.Range{r}, params...)
	}
	for name, c := range map[string]backend.Command{
		"buffer of another device":  iota(foreign.All(), 100, 0),
		"released buffer":           iota(released.All(), 100, 0),
		"misaligned argument":       iota(b.Range(4, 4), 1, 0),
		"argument beyond its end":   iota(b.Range(256, 256), 1, 0),
		"too few parameters":        iota(b.All(), 100),
		"too many arguments":        dispatchCommand(k, 0, 1, []backend.Range{b.All(), b.All()}, 100, 0),
		"misaligned fill":           fillCommand(b.Range(2, 4), 0),
		"fill of odd size":          fillCommand(b.Range(0, 6), 0),
		"fill beyond the end":       fillCommand(b.Range(396, 8), 0),
		"fill of overflowing range": fillCommand(b.Range(math.MaxUint64-3, 8), 0),
		"copy onto itself":          copyCommand(b.Range(0, 8), b.Range(4, 8)),
		"copy of unequal sizes":     copyCommand(b.Range(0, 8), b.Range(100, 4)),
		"copy of nothing":           copyCommand(b.Range(0, 8), backend.Range{}),
		"copy from another device":  copyCommand(b.All(), foreign.All()),
	} {
		t.Run(name, func(t *testing.T) {
			list := backend.List{Commands: []backend.Command{fillCommand(b.All(), 5), c}}
			_, err := device.Submit(background, backend.Compute, &list)
			requireOneOf(t, err, backend.ErrInvalidInput)
		})
	}
	var list backend.List
	list.Fill(b.All(), 6)
	require.NoError(t, device.Run(background, &list), "the device works on")
	require.Equal(t, repeated(6, 100), download(t, device, b))
}

// checkStages collects the device time of named stages.
func checkStages(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	k, err := device.Kernel(kernel.Iota.KernelSpec, nil)
	require.NoError(t, err)
	b := allocate(t, device, 50_000)
	list := backend.List{Profile: &backend.Profile{}}
	for _, stage := range []string{"histogram", "scatter", "histogram"} {
		list.Stage(stage)
		list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), 50_000), []backend.Range{b.All()}, 50_000, 0)
	}
	require.NoError(t, device.Run(background, &list))
	stages := list.Profile.Stages()
	if len(stages) == 0 {
		t.Skip("the device does not tell times")
	}
	require.Len(t, stages, 2)
	assert.Equal(t, "histogram", stages[0].Stage)
	assert.Equal(t, "scatter", stages[1].Stage)
	for _, stage := range stages {
		assert.GreaterOrEqual(t, stage.Time, time.Duration(0))
	}
}

// checkSplitWork sets a bound under which every submission is cut into the smallest pieces.
func checkSplitWork(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{SubmitBound: time.Nanosecond})
	k, err := device.Kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	require.NoError(t, err)
	const n = 100_000
	data := randomWords(1, n)
	a, b, c, ids := allocate(t, device, n), allocate(t, device, n), allocate(t, device, n), allocate(t, device, n)
	upload(t, device, a, data)
	upload(t, device, ids, rotation(n))
	var list backend.List
	list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), n), []backend.Range{a.All(), ids.All(), b.All()}, n)
	list.Copy(c.All(), b.All())
	list.Fill(words(b, 0, n/2), 3)
	list.DispatchPart(k, 0, kernel.Groups(kernel.Named(k.Config), n), []backend.Range{c.All(), ids.All(), a.All()}, n)
	require.NoError(t, device.Run(background, &list))
	rotated := append(append([]uint32(nil), data[2:]...), data[:2]...)
	requireWords(t, rotated, download(t, device, a), "rotated twice")
	requireWords(t, repeated(3, n/2), download(t, device, b)[:n/2], "filled")
}
