package backendtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/kernel"
)

var peerChecks = []check{
	{"shared memory", checkSharedMemory},
	{"links", checkLinks},
	{"both ways", checkBothWays},
	{"order", checkLinkOrder},
	{"cancel", checkCancelledLink},
	{"kernels", checkLinkKernels},
	{"misuse of links", checkLinkMisuse},
}

// checkSharedMemory opens one allocation on two drivers, where they support it, and proves through a link that both see
// the same bytes: a link on that path exists only after a test pattern came through.
func checkSharedMemory(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	owner, ok := a.Driver().(backend.SharedMemory)
	if !ok {
		t.Skip("the driver shares no memory")
	}
	other := b.Driver().(backend.SharedMemory)
	for _, size := range []uint64{256, 4 << 10, 1<<20 + 256} {
		block, err := owner.AllocateShared(size, false)
		require.NoError(t, err)
		opened, err := other.OpenShared(a.Driver(), block)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, opened.SizeBytes(), size)
		if near, far := block.Bytes(), opened.Bytes(); near != nil && far != nil {
			copy(near, "one memory")
			assert.Equal(t, "one memory", string(far[:10]))
		}
		if size%512 == 0 { // either may go first
			block, opened = opened, block
		}
		require.NoError(t, block.Free())
		require.NoError(t, opened.Free())
	}
	l, err := link.Connect(background, a, b)
	require.NoError(t, err)
	assert.Equal(t, link.SharedAllocation, l.Path)
	require.NoError(t, l.Close())
}

// paths are those that the two devices must have, and those that they may have and do.
func (s *suite) paths(t *testing.T, a, b *backend.Device) (paths []link.Path) {
	t.Helper()
	if a == b {
		return []link.Path{link.SameDevice, link.HostStaged}
	}
	if s.only != nil {
		return s.only
	}
	for path := link.SharedAllocation; path < link.Paths; path++ {
		l, err := link.Connect(background, a, b, path)
		if err == nil {
			require.NoError(t, l.Close())
			paths = append(paths, path)
			continue
		}
		requireOneOf(t, err, backend.ErrUnsupported)
		require.NotContains(t, err.Error(), "pattern", "a driver that lies")
	}
	require.Contains(t, paths, link.HostStaged, "works everywhere")
	if _, shares := a.Driver().(backend.SharedMemory); shares {
		require.Contains(t, paths, link.SharedAllocation)
	}
	if a.Info().Limits.ImportAlignment > 0 {
		require.Contains(t, paths, link.ImportedHost)
	}
	return paths
}

// checkLinks copies between two devices and within one, on every path. Sizes are around one chunk and around all slots.
func checkLinks(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, ends := range [][2]*backend.Device{{a, b}, {b, a}, {a, a}} {
		for _, path := range s.paths(t, ends[0], ends[1]) {
			l, err := link.Connect(background, ends[0], ends[1], path)
			require.NoError(t, err)
			assert.Equal(t, path, l.Path)
			assert.Positive(t, l.BytesPerSecond)
			if s.effort == Short {
				assert.LessOrEqual(t, l.ChunkBytes, uint64(backend.LeastChunkBytes), "as was asked for")
			}
			chunk := int(max(l.ChunkBytes, 64<<10) / 4)
			for _, n := range []int{0, 1, 63, chunk - 1, chunk, chunk + 1, s.pick(15*chunk+7, 7*chunk+7)} {
				t.Run(fmt.Sprintf("%v words=%d", path, n), func(t *testing.T) {
					from, to := newWords(t, ends[0], 1, n+8), newWords(t, ends[1], 2, n+8)
					require.NoError(t, l.Copy(background, words(to.Buffer, 3, n), words(from.Buffer, 5, n)))
					copy(to.want[3:3+n], from.want[5:])
					to.check(t)
				})
			}
			require.NoError(t, l.Close())
		}
	}
}

// wordsOn is a buffer and what it should hold.
type wordsOn struct {
	*backend.Buffer
	device *backend.Device
	want   []uint32
}

func newWords(t *testing.T, device *backend.Device, seed uint64, n int) *wordsOn {
	t.Helper()
	b, err := device.Allocate(background, backend.DeviceLocal, uint64(n)*4, "words")
	require.NoError(t, err)
	t.Cleanup(b.Release)
	w := &wordsOn{b, device, randomWords(seed, n)}
	upload(t, device, b, w.want)
	return w
}

func (w *wordsOn) check(t *testing.T) {
	t.Helper()
	requireWords(t, w.want, download(t, w.device, w.Buffer), "%d words", len(w.want))
}

// checkBothWays has several goroutines copy on the two links of a pair, by Copy and by Start, while other work goes on
// on both devices.
func checkBothWays(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, path := range s.paths(t, a, b) {
		t.Run(path.String(), func(t *testing.T) {
			var group sync.WaitGroup
			var stop atomic.Bool
			var busy sync.WaitGroup
			for _, device := range []*backend.Device{a, b} {
				busy.Go(func() { keepBusy(t, device, &stop) })
			}
			defer func() {
				stop.Store(true)
				busy.Wait()
			}()
			for i, ends := range [][2]*backend.Device{{a, b}, {b, a}} {
				l, err := link.Connect(background, ends[0], ends[1], path)
				require.NoError(t, err)
				defer func() { assert.NoError(t, l.Close()) }()
				n := int(l.ChunkBytes/4)*s.pick(9, 3) + 5
				for j := range 3 {
					seed := uint64(10*i + j)
					from, to := newWords(t, ends[0], seed, n), newWords(t, ends[1], seed+100, n)
					group.Go(func() {
						for part := range 2 {
							lo, count := part*(n/2), n/2
							dst, src := words(to.Buffer, lo, count), words(from.Buffer, n-lo-count, count)
							assert.NoError(t, l.Copy(background, dst, src))
							copy(to.want[lo:], from.want[n-lo-count:n-lo])
						}
					})
					defer to.check(t)
				}
			}
			group.Wait()
		})
	}
}

// keepBusy fills a buffer on all queues until it is stopped.
func keepBusy(t *testing.T, device *backend.Device, stop *atomic.Bool) {
	const n = 1 << 16
	buffer, err := device.Allocate(background, backend.DeviceLocal, n*4, "busy")
	if !assert.NoError(t, err) {
		return
	}
	defer buffer.Release()
	for value := uint32(1); !stop.Load(); value++ {
		for _, role := range rolesOf(device.Info(), false) {
			var list backend.List
			list.Fill(buffer.All(), value)
			point, err := device.Submit(background, role, &list)
			if !assert.NoError(t, err) || !assert.NoError(t, point.Wait(background)) {
				return
			}
		}
		got := make([]uint32, n)
		assert.NoError(t, device.Download(background, backend.AsBytes(got), buffer.All()))
		assert.Equal(t, value, got[n-1])
	}
}

// checkLinkOrder copies what was submitted to be written just before, and overwrites both ends right after.
func checkLinkOrder(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, path := range s.paths(t, a, b) {
		l, err := link.Connect(background, a, b, path)
		require.NoError(t, err)
		n := int(l.ChunkBytes/4)*3 + 1
		from, to, kept := newWords(t, a, 1, n), newWords(t, b, 2, n), newWords(t, b, 3, n)
		for round := range uint32(3) {
			var before, keep backend.List
			before.Fill(from.All(), round)
			before.Fill(words(from.Buffer, n/2, n-n/2), round+100)
			_, err := a.Submit(background, backend.Compute, &before)
			require.NoError(t, err)
			require.NoError(t, l.Copy(background, to.All(), from.All()))
			keep.Copy(kept.All(), to.All())
			keep.Fill(to.All(), 77)
			_, err = b.Submit(background, backend.Compute, &keep)
			require.NoError(t, err)
			kept.want = slices.Concat(repeated(round, n/2), repeated(round+100, n-n/2))
			kept.check(t)
		}
		require.NoError(t, l.Close())
	}
}

// checkCancelledLink cancels copies in the middle, and while they wait for their turn; the next ones are right.
func checkCancelledLink(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, path := range s.paths(t, a, b) {
		l, err := link.Connect(background, a, b, path)
		require.NoError(t, err)
		n := int(l.ChunkBytes/4)*9 + 1
		from, other, to := newWords(t, a, 1, n), newWords(t, a, 2, n), newWords(t, b, 3, n)
		for _, chunks := range []int32{1, 2, 4, 6} {
			ctx, cancel := context.WithCancel(background)
			var submitted atomic.Int32
			b.Observe(func(e backend.Event) {
				if (e.Kind == backend.Submitted || e.Kind == backend.Received) && submitted.Add(1) == chunks {
					cancel()
				}
			})
			waiting := make(chan error)
			for range 2 {
				go func() { waiting <- l.Copy(ctx, to.All(), other.All()) }()
			}
			requireOneOf(t, <-waiting, backend.ErrCancelled)
			requireOneOf(t, <-waiting, backend.ErrCancelled)
			b.Observe(nil)
			require.NoError(t, l.Copy(background, to.All(), from.All()), "after %d chunks", chunks)
			to.want = from.want
			to.check(t)
		}
		begun, copied := make(chan struct{}), make(chan error, 1)
		begin := sync.OnceFunc(func() { close(begun) })
		b.Observe(func(backend.Event) { begin() })
		go func() { copied <- l.Copy(background, to.All(), other.All()) }()
		<-begun
		require.NoError(t, l.Close(), "waits for the copy in progress")
		require.NoError(t, <-copied)
		b.Observe(nil)
		to.want = other.want
		to.check(t)
	}
}

// checkLinkKernels has kernels copy at both ends. Whether the link keeps them depends on its rate; the result does not.
func checkLinkKernels(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, path := range s.paths(t, a, b) {
		l, err := link.Connect(background, a, b, path)
		require.NoError(t, err)
		var near, far atomic.Int32
		require.NoError(t, l.UseKernels(background, kernelCopier(t, a, &near), kernelCopier(t, b, &far)))
		require.Equal(t, !path.ThroughHost(), near.Load() > 0, path)
		require.Equal(t, !path.ThroughHost(), far.Load() > 0, path)
		refused := func(*backend.List, backend.Range, backend.Range) error { return backend.ErrUnsupported }
		if !path.ThroughHost() {
			require.ErrorIs(t, l.UseKernels(background, refused, refused), backend.ErrUnsupported)
		}
		n := int(l.ChunkBytes/4)*3 + 5
		from, to := newWords(t, a, 1, n), newWords(t, b, 2, n)
		require.NoError(t, l.Copy(background, words(to.Buffer, 2, n-7), words(from.Buffer, 5, n-7)))
		copy(to.want[2:], from.want[5:n-2])
		to.check(t)
		require.NoError(t, l.Close())
	}
}

// kernelCopier copies by a kernel and counts its calls.
func kernelCopier(t *testing.T, device *backend.Device, calls *atomic.Int32) link.Copier {
	config := kernel.Copy.With(nil)
	k, err := kernel.Copy.On(device, config)
	require.NoError(t, err)
	view := func(r backend.Range) (backend.Range, uint32) { // from a multiple of the alignment of arguments on
		before := r.OffsetBytes % backend.PlanAlignment
		return r.Buffer.Range(r.OffsetBytes-before, r.SizeBytes+before), uint32(before / 4)
	}
	return func(list *backend.List, dst, src backend.Range) error {
		calls.Add(1)
		args := kernel.CopyArgs{Rows: uint32(src.SizeBytes / 4)}
		args.Source, args.SourceFirst = view(src)
		args.Destination, args.DestinationFirst = view(dst)
		k.Dispatch(list, kernel.Groups(config, src.SizeBytes/4), args)
		return nil
	}
}

func checkLinkMisuse(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	_, err := link.Connect(background, a, b, link.Paths)
	requireOneOf(t, err, backend.ErrInvalidInput)
	_, err = link.Connect(background, a, b, link.SameDevice)
	requireOneOf(t, err, backend.ErrUnsupported)
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err = link.Connect(ended, a, b)
	requireOneOf(t, err, backend.ErrCancelled)
	l, err := link.Connect(background, a, b, link.SameDevice, link.HostStaged)
	require.NoError(t, err)
	require.Equal(t, link.HostStaged, l.Path, "the first that works")
	from, to := newWords(t, a, 1, 100), newWords(t, b, 2, 100)
	gone, err := a.Allocate(background, backend.DeviceLocal, 400, "gone")
	require.NoError(t, err)
	gone.Release()
	for _, wrong := range [][2]backend.Range{
		{words(to.Buffer, 0, 10), words(from.Buffer, 0, 11)},
		{to.Range(0, 10), from.Range(0, 10)},
		{to.Range(2, 12), from.Range(0, 12)},
		{words(to.Buffer, 95, 10), words(from.Buffer, 0, 10)},
		{words(from.Buffer, 0, 10), words(to.Buffer, 0, 10)},
		{words(to.Buffer, 0, 10), words(gone, 0, 10)},
		{{}, words(from.Buffer, 0, 10)},
	} {
		requireOneOf(t, l.Copy(background, wrong[0], wrong[1]), backend.ErrInvalidInput)
	}
	to.check(t)
	require.NoError(t, l.Copy(background, to.All(), from.All()), "mistakes do not break a link")
	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "closing twice")
	requireOneOf(t, l.Copy(background, to.All(), from.All()), backend.ErrInvalidInput)
	to.want = from.want
	to.check(t)
}

func upload(t *testing.T, device *backend.Device, b *backend.Buffer, data []uint32) {
	t.Helper()
	_, err := device.Upload(background, b.All(), backend.AsBytes(data))
	require.NoError(t, err)
}

func download(t *testing.T, device *backend.Device, b *backend.Buffer) []uint32 {
	t.Helper()
	got := make([]uint32, b.SizeBytes()/4)
	require.NoError(t, device.Download(background, backend.AsBytes(got), b.All()))
	return got
}
