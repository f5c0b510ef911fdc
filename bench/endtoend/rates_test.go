package endtoend

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/internal/hugepages"
	"github.com/spirjoin/spirjoin/internal/jointest"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation"
	"github.com/spirjoin/spirjoin/tableio"
)

// Copies are measured in memory that begins at a large page, as tables do.
func TestHostBlocksAreInLargePages(t *testing.T) {
	from, to, unmap, err := hostBlocks()
	require.NoError(t, err)
	defer unmap()
	for _, block := range [][]byte{from, to} {
		require.EqualValues(t, rateBytes, len(block))
		require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(block)))%hugepages.Bytes)
	}
}

// Each worker stops before its next piece.
func TestSharesEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var bytes, pieces atomic.Uint64
	do := func(_ int, at, end uint64) error {
		bytes.Add(end - at)
		if pieces.Add(1) == 3 {
			cancel()
		}
		return nil
	}
	require.ErrorIs(t, shares(ctx, 1, 1<<10, do), context.Canceled)
	require.EqualValues(t, 3, pieces.Load())
	bytes.Store(0)
	require.NoError(t, shares(t.Context(), 3, 1<<10, do))
	require.Equal(t, rateBytes, bytes.Load())
	failed := errors.New("failed")
	require.ErrorIs(t, shares(t.Context(), 2, 1<<10, func(int, uint64, uint64) error { return failed }), failed)
}

// Whatever is measured ends when the context does, and leaves no file.
func TestRatesEndWithTheContext(t *testing.T) {
	devicetest.HostTest(t)
	runs := rateRuns
	defer func() { rateRuns = runs }()
	rateRuns = 1 << 40
	ops, err := primitive.New(hostDevice(t, host.Options{Discrete: true}), nil)
	require.NoError(t, err)
	folder := t.TempDir()
	for name, rates := range map[string]func(ctx context.Context, r *Rates) error{
		"files":  func(ctx context.Context, r *Rates) error { return r.files(ctx, folder) },
		"host":   func(ctx context.Context, r *Rates) error { return r.host(ctx) },
		"device": func(ctx context.Context, r *Rates) error { _, err := deviceCopy(ctx, ops); return err },
		"link":   func(ctx context.Context, r *Rates) error { return r.link(ctx, ops) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		require.ErrorIs(t, rates(ctx, new(Rates)), context.DeadlineExceeded, name)
		cancel()
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// Kernels measure both directions only in memory that the device reaches, and move all of it.
func TestBothByKernels(t *testing.T) {
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, jointest.Tuning(t, device.Info()))
		require.NoError(t, err)
		const sizeBytes = 1 << 20
		buffers, release, err := allocate(t.Context(), device, sizeBytes)
		defer release()
		require.NoError(t, err)
		ordinary := [2][]byte{make([]byte, sizeBytes), make([]byte, sizeBytes)}
		rate, err := bothByKernels(t.Context(), &linkEnd{ops: ops, hosts: ordinary, buffers: buffers})
		require.NoError(t, err)
		require.Zero(t, rate)

		pinned := relation.NewPinnedAllocator(device, 4*sizeBytes)
		defer pinned.Close()
		up, down := pinned.Allocate(sizeBytes), pinned.Allocate(sizeBytes)
		defer pinned.Free(up)
		defer pinned.Free(down)
		if reached, _ := pinned.Pinned(); reached == 0 {
			t.Skip("the device imports no memory")
		}
		copy(up, bytes.Repeat([]byte{1}, sizeBytes))
		fill := new(backend.List)
		fill.Fill(buffers[1].All(), 0x02020202)
		require.NoError(t, device.Run(t.Context(), fill))
		rate, err = bothByKernels(t.Context(), &linkEnd{ops: ops, hosts: [2][]byte{up, down}, buffers: buffers})
		require.NoError(t, err)
		require.Greater(t, rate, 1e6)
		arrived := make([]byte, sizeBytes)
		require.NoError(t, device.Download(t.Context(), arrived, buffers[0].All()))
		require.Equal(t, sizeBytes, bytes.Count(arrived, []byte{1}))
		require.Equal(t, sizeBytes, bytes.Count(down, []byte{2}))
	})
}

// A program that must exit at once leaves no folder behind, and whoever is at work there can only fail.
func TestFolderIsRemovedAtOnce(t *testing.T) {
	devicetest.HostTest(t)
	for _, phase := range []string{"measure the machine", "verify arrow", "time arrow"} {
		s := small("arrow")
		s.Dir = t.TempDir()
		out := output(new(bytes.Buffer))
		out.Phase = func(now string, _, _ uint64) {
			entries, err := os.ReadDir(s.Dir)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			if now == phase {
				require.NoError(t, tableio.RemoveTemporaryFiles())
				entries, err = os.ReadDir(s.Dir)
				require.NoError(t, err)
				require.Empty(t, entries)
				out.Phase = nil
			}
		}
		require.Error(t, s.Run(t.Context(), hostDevice(t, host.Options{}), nil, out), phase)
		left, err := os.ReadDir(s.Dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// No rate is printed twice: not the device memory's if it is host memory, nor all cores' if there is one core.
func TestRatesArePrintedOnce(t *testing.T) {
	lines := func(r Rates) string {
		var b bytes.Buffer
		r.print(output(&b))
		return b.String()
	}
	unified := lines(Rates{OneCore: 1e9, Host: 2e9, Device: 2e9, FileWrite: 3e9, FileRead: 4e9})
	require.NotContains(t, unified, "on the device")
	require.NotContains(t, unified, "link")
	gpu := Rates{OneCore: 1e9, Host: 2e9, Device: 5e9, Up: 6e9, Down: 7e9, Both: 8e9, FileWrite: 3e9, FileRead: 4e9}
	require.Contains(t, lines(gpu), "on the device")
	require.Contains(t, lines(gpu), "together, by copies")
	gpu.BothByKernels = true
	require.Contains(t, lines(gpu), "together, by kernels")
	cores := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(cores)
	require.Equal(t, 1, strings.Count(lines(Rates{OneCore: 1e9, Host: 1e9, Device: 1e9}), "\ncopy by"))
	var one Rates
	require.NoError(t, one.host(t.Context()))
	require.Equal(t, one.OneCore, one.Host, "measured once")
}

// The rates of several links are the sum over all devices at work together.
func TestRatesOfSeveralDevices(t *testing.T) {
	devicetest.ForEachGroup(t, 2, func(t *testing.T, devices []*backend.Device) {
		var ops []*primitive.Ops
		var moved [2]atomic.Uint64
		for i, device := range devices {
			o, err := primitive.New(device, jointest.Tuning(t, device.Info()))
			require.NoError(t, err)
			ops = append(ops, o)
			device.Observe(func(e backend.Event) {
				if e.Kind == backend.Uploaded || e.Kind == backend.Downloaded {
					moved[i].Add(e.Range.SizeBytes)
				}
			})
		}
		var r Rates
		require.NoError(t, r.link(t.Context(), ops...))
		for i := range devices {
			require.EqualValues(t, 4*uint64(rateRuns+1)*deviceBytes(devices[i]), moved[i].Load(), "up, down and both")
			devices[i].Observe(nil)
		}
		require.Greater(t, min(r.Up, r.Down, r.Both), 1e6)
		measured, err := MeasureRates(t.Context(), ops...)
		require.NoError(t, err)
		require.Equal(t, !devices[0].Info().InHostMemory(), measured.discrete())
	})
}
