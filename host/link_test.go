package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/backend/link"
)

// linkPaths are those between two devices of a backend with an exchange that are tried by default, best first.
var linkPaths = []link.Path{link.SharedAllocation, link.DriverCopy, link.ImportedHost,
	link.HostStaged}

func TestLinksWithExchange(t *testing.T) {
	for _, options := range []Options{{Exchange: HostOrdered}, {Exchange: DeviceOrdered, Discrete: true},
		{Exchange: DeviceOrdered, Discrete: true, Shuffle: 4, Poison: true}} {
		t.Run(fmt.Sprintf("exchange=%d shuffle=%d", options.Exchange, options.Shuffle), func(t *testing.T) {
			o := backendtest.Options{Paths: []link.Path{link.DriverCopy}}
			if options.Shuffle != 0 {
				o.Order, o.Effort = backendtest.Shuffled, backendtest.Short
			}
			backendtest.RunLinks(t, opener(options), o)
		})
	}
}

func TestDMABuf(t *testing.T) {
	for _, options := range []Options{{DMABuf: true}, {DMABuf: true, Discrete: true},
		{DMABuf: true, Discrete: true, Shuffle: 4, Poison: true}} {
		t.Run(fmt.Sprintf("discrete=%t shuffle=%d", options.Discrete, options.Shuffle), func(t *testing.T) {
			o := backendtest.Options{Paths: []link.Path{link.DMABuf}}
			if options.Shuffle != 0 {
				o.Order, o.Effort = backendtest.Shuffled, backendtest.Short
			}
			backendtest.RunLinks(t, opener(options), o)
		})
	}
}

// TestDMABufIsOffByDefault: Connect takes it only where it is told to.
func TestDMABufIsOffByDefault(t *testing.T) {
	for path := range link.Paths {
		require.Equal(t, path != link.DMABuf, path.ByDefault(), path)
	}
	ctx, b := context.Background(), New(Options{DMABuf: true, Exchange: HostOrdered})
	a, c := openLiar(t, b, linkPaths...), openLiar(t, b, linkPaths...)
	_, err := link.Connect(ctx, a, c)
	require.NotContains(t, err.Error(), link.DMABuf.String(), "all others fail")
	_, err = link.Connect(ctx, a, c, link.DMABuf)
	require.ErrorContains(t, err, "pattern", "all writes to the far end are wrong")
	plain := New(Options{})
	_, err = link.Connect(ctx, openLiar(t, plain), openLiar(t, plain), link.DMABuf)
	require.ErrorIs(t, err, backend.ErrUnsupported)
	require.ErrorContains(t, err, link.DMABuf.String())
}

// liar is a driver that accepts everything and gives other memory on some paths, as drivers have been seen to.
type liar struct {
	*Driver
	about map[link.Path]bool
	paths map[backend.Block]link.Path // of its blocks
}

func (l liar) AllocateShared(sizeBytes uint64, asDMABuf bool) (backend.Block, error) {
	b, err := l.Driver.AllocateShared(sizeBytes, asDMABuf)
	if l.paths[b] = link.SharedAllocation; asDMABuf {
		l.paths[b] = link.DMABuf
	}
	return b, err
}

func (l liar) OpenShared(owner backend.Driver, shared backend.Block) (backend.Block, error) {
	from := owner.(liar)
	if l.about[from.paths[shared]] {
		return l.AllocateBlock(shared.SizeBytes(), backend.DeviceLocal)
	}
	return l.Driver.OpenShared(from.Driver, shared)
}

func (l liar) ImportHost(memory []byte) (backend.Block, error) {
	if l.about[link.ImportedHost] {
		memory = make([]byte, len(memory))
	}
	return l.Driver.ImportHost(memory)
}

func (l liar) OpenExchange(to backend.Driver, pairs int, sizeBytes uint64) (backend.Exchange, error) {
	e, err := l.Driver.OpenExchange(to.(liar).Driver, pairs, sizeBytes)
	if err != nil || !l.about[link.DriverCopy] {
		return e, err
	}
	return lyingExchange{e, pairs}, nil
}

// lyingExchange does not copy the last word of the last pair.
type lyingExchange struct {
	backend.Exchange
	pairs int
}

func (e lyingExchange) Copy(pair int, sizeBytes, value uint64) error {
	if pair == e.pairs-1 {
		sizeBytes -= 4
	}
	return e.Exchange.Copy(pair, sizeBytes, value)
}

// Submit loses the last word of a copy, where the lie is about all paths.
func (l liar) Submit(batch *backend.Batch) error {
	for i := range batch.Steps {
		if s := &batch.Steps[i]; l.about[link.HostStaged] && s.Kind == backend.Copy && batch.Role == backend.Upload {
			s.Dst.SizeBytes -= 4
			s.Src.SizeBytes -= 4
		}
	}
	return l.Driver.Submit(batch)
}

// openLiar opens a driver that lies about some paths.
func openLiar(t *testing.T, b *Backend, lies ...link.Path) *backend.Device {
	t.Helper()
	driver, err := b.Open("host:cpu")
	require.NoError(t, err)
	about := make(map[link.Path]bool)
	for _, path := range lies {
		about[path] = true
	}
	l := liar{driver.(*Driver), about, make(map[backend.Block]link.Path)}
	device := backend.NewDevice(l, backend.DeviceOptions{})
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	return device
}

// TestLinksAreVerified: a path counts only after a pattern arrived over it, whatever the driver says.
func TestLinksAreVerified(t *testing.T) {
	ctx, b := context.Background(), New(Options{Exchange: DeviceOrdered, DMABuf: true})
	for i, path := range linkPaths {
		l, err := link.Connect(ctx, openLiar(t, b, linkPaths[:i]...), openLiar(t, b, linkPaths[:i]...))
		require.NoError(t, err)
		require.Equal(t, path, l.Path, "the best that is no lie")
		require.NoError(t, l.Close())
	}
	for _, path := range append(slices.Clone(linkPaths), link.DMABuf) {
		_, err := link.Connect(ctx, openLiar(t, b, path), openLiar(t, b, path), path)
		require.ErrorIs(t, err, backend.ErrUnsupported, path)
		require.ErrorContains(t, err, "pattern", path)
	}
	_, err := link.Connect(ctx, openLiar(t, b, linkPaths...), openLiar(t, b, linkPaths...))
	for _, path := range linkPaths {
		require.ErrorContains(t, err, path.String())
	}
}

// linkJob connects two devices and copies some chunks; whatever happens it releases what it allocated.
func linkJob(a, b *backend.Device, paths ...link.Path) (path link.Path, err error) {
	ctx := context.Background()
	l, err := link.Connect(ctx, a, b, paths...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	sizeBytes := 9 * l.ChunkBytes
	src, err := a.Allocate(ctx, backend.DeviceLocal, sizeBytes, "source")
	if err != nil {
		return 0, err
	}
	defer src.Release()
	dst, err := b.Allocate(ctx, backend.DeviceLocal, sizeBytes, "destination")
	if err != nil {
		return 0, err
	}
	defer dst.Release()
	err = l.Copy(ctx, dst.All(), src.All())
	if errors.Is(err, backend.ErrDeviceLost) {
		if again := l.Copy(ctx, dst.All(), src.All()); !errors.Is(again, backend.ErrDeviceLost) {
			err = fmt.Errorf("the link goes on: %w", again)
		}
	}
	return l.Path, err
}

// TestLinkFaults lets each call of a link that can fail do so, one after the other, until the job comes through: on a
// path that is forced the error is returned, and nothing is left behind.
func TestLinkFaults(t *testing.T) {
	for name, fault := range map[string]struct {
		inject func(f *Faults, n int)
		want   error
		limit  time.Duration // of a wait
		step   int           // between the calls that fail
	}{
		"device memory": {func(f *Faults, n int) { f.AllocateDevice = n }, backend.ErrDeviceMemory, testLimit, 1},
		"host memory":   {func(f *Faults, n int) { f.AllocateHost = n }, backend.ErrHostMemory, testLimit, 1},
		"import":        {func(f *Faults, n int) { f.Import = n }, backend.ErrHostMemory, testLimit, 1},
		"device lost":   {func(f *Faults, n int) { f.LoseAtSubmit = n }, backend.ErrDeviceLost, testLimit, 3},
		"hang":          {func(f *Faults, n int) { f.HangBatch = n }, backend.ErrTimedOut, 200 * time.Millisecond, 13},
	} {
		for _, mode := range []ExchangeMode{HostOrdered, DeviceOrdered} {
			for _, path := range append(slices.Clone(linkPaths), link.DMABuf) {
				if mode == HostOrdered && path != link.DriverCopy {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v exchange=%d", name, path, mode), func(t *testing.T) {
					step := fault.step
					if testing.Short() {
						step *= min(step, 3)
					}
					for n := 1; ; n += step {
						options := Options{Discrete: true, Exchange: mode, DMABuf: true, CloseLimit: fault.limit}
						fault.inject(&options.Faults, n)
						b := New(options)
						var devices [2]*backend.Device
						for i := range devices {
							driver, err := b.Open("host:cpu")
							require.NoError(t, err)
							devices[i] = backend.NewDevice(driver,
								backend.DeviceOptions{WaitLimit: fault.limit, LinkChunkBytes: backend.LeastChunkBytes})
						}
						_, err := linkJob(devices[0], devices[1], path)
						closed := errors.Join(devices[0].Close(), devices[1].Close())
						assert.Zero(t, b.machine.usedBytes.Load(), "memory after the fault")
						assert.NotErrorIs(t, closed, backend.ErrInvalidInput, "a leak")
						assert.NoError(t, b.Close())
						if err == nil {
							require.NoError(t, closed)
							break
						}
						require.ErrorIs(t, err, fault.want, "call %d", n)
					}
				})
			}
		}
	}
}

// TestLinkFallsBack: a path that fails gives way to the next one.
func TestLinkFallsBack(t *testing.T) {
	b := New(Options{Faults: Faults{Import: 1, AllocateDevice: 3}})
	a, c := openLiar(t, b, link.SharedAllocation), openLiar(t, b)
	path, err := linkJob(c, a)
	require.NoError(t, err)
	require.Equal(t, link.HostStaged, path)
}
