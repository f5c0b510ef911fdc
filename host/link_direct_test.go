package host

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
	"github.com/spirjoin/spirjoin/backend/link"
)

// TestDirectLinks: between joined devices all checks of links hold, too.
func TestDirectLinks(t *testing.T) {
	for _, options := range []Options{{Exchange: HostOrdered}, {Exchange: DeviceOrdered, Discrete: true, Poison: true},
		{Exchange: DeviceOrdered, Discrete: true, Shuffle: 4, Poison: true}} {
		t.Run(fmt.Sprintf("exchange=%d shuffle=%d", options.Exchange, options.Shuffle), func(t *testing.T) {
			o := backendtest.Options{Paths: []link.Path{link.DriverCopy}}
			if options.Shuffle != 0 {
				o.Order, o.Effort = backendtest.Shuffled, backendtest.Short
			}
			open := opener(options)
			backendtest.RunLinks(t, func(t *testing.T) backend.Driver {
				driver := open(t)
				require.NoError(t, driver.(backend.PeerMemory).JoinPeers(nil))
				return driver
			}, o)
		})
	}
}

// watched is a driver whose exchanges note what they copy directly, and fail as they are told.
type watched struct {
	*Driver
	direct *directCopies
}

type directCopies struct {
	count      int
	lie, hang  bool
	lost       error
	unjoined   error
	afterFirst func()
}

// Info says that each is a physical device of its own.
func (w watched) Info() *backend.DeviceInfo {
	info := *w.Driver.Info()
	info.UUID = info.ID
	return &info
}

// JoinPeers calls the driver's, unless it is to fail.
func (w watched) JoinPeers(peers []backend.Driver) error {
	if w.direct.unjoined != nil {
		return w.direct.unjoined
	}
	return w.Driver.JoinPeers(peers)
}

type watchedExchange struct {
	*exchange
	direct *directCopies
}

func (w watched) OpenExchange(to backend.Driver, pairs int, sizeBytes uint64) (backend.Exchange, error) {
	e, err := w.Driver.OpenExchange(to.(watched).Driver, pairs, sizeBytes)
	if err != nil {
		return nil, err
	}
	return watchedExchange{e.(*exchange), w.direct}, nil
}

func (e watchedExchange) CopyDirect(pair int, dst backend.Block, dstOffset uint64, src backend.Block,
	srcOffset, sizeBytes uint64) error {
	e.direct.count++
	if e.direct.lost != nil {
		return e.direct.lost
	}
	if e.direct.lie {
		srcOffset, sizeBytes = srcOffset+4, sizeBytes-4
	}
	err := e.exchange.CopyDirect(pair, dst, dstOffset, src, srcOffset, sizeBytes)
	if e.direct.afterFirst != nil {
		e.direct.afterFirst()
	}
	return err
}

func (e watchedExchange) Wait(ctx context.Context, pair int, limit time.Duration) error {
	if err := e.exchange.Wait(ctx, pair, limit); err != nil || !e.direct.hang {
		return err
	}
	return &backend.OpError{Op: "peer copy", Err: backend.ErrTimedOut}
}

// joinedPair opens two devices, the first allocation of which is before they are joined.
func joinedPair(t *testing.T, direct *directCopies) (devices [2]*backend.Device, early [2]*backend.Buffer) {
	t.Helper()
	b := New(Options{Exchange: DeviceOrdered, Discrete: true,
		Devices: []Device{{Name: "a"}, {Name: "b"}}})
	for i, id := range []string{"host:a", "host:b"} {
		driver, err := b.Open(id)
		require.NoError(t, err)
		devices[i] = backend.NewDevice(watched{driver.(*Driver), direct}, backend.DeviceOptions{})
		early[i], err = devices[i].Allocate(context.Background(), backend.DeviceLocal, 64<<20, "early")
		require.NoError(t, err)
		require.NoError(t, driver.(*Driver).JoinPeers(nil))
	}
	return devices, early
}

func allocate(t *testing.T, d *backend.Device, sizeBytes uint64, label string) *backend.Buffer {
	t.Helper()
	b, err := d.Allocate(context.Background(), backend.DeviceLocal, sizeBytes, label)
	require.NoError(t, err)
	return b
}

// TestDirectCopy: memory from before the devices were joined goes through exchange memory, and what comes later does
// not, unless the driver copies it wrongly.
func TestDirectCopy(t *testing.T) {
	ctx := context.Background()
	for _, lie := range []bool{false, true} {
		t.Run(fmt.Sprintf("lie=%t", lie), func(t *testing.T) {
			direct := &directCopies{lie: lie}
			devices, early := joinedPair(t, direct)
			l, err := link.Connect(ctx, devices[0], devices[1], link.DriverCopy)
			require.NoError(t, err)
			require.Positive(t, direct.count, "it is proven first")
			src, dst := allocate(t, devices[0], 64<<20, "source"), allocate(t, devices[1], 64<<20, "destination")
			for i, c := range []struct {
				dst, src *backend.Buffer
				direct   bool
			}{{early[1], early[0], false}, {dst, early[0], false}, {early[1], src, false}, {dst, src, !lie}} {
				var fill backend.List
				fill.Fill(c.src.All(), uint32(i)+1)
				_, err := devices[0].Submit(ctx, backend.Compute, &fill)
				require.NoError(t, err)
				before := direct.count
				require.NoError(t, l.Copy(ctx, c.dst.All(), c.src.All()))
				require.Equal(t, c.direct, direct.count > before, "copy %d", i)
				got := make([]byte, 8)
				require.NoError(t, devices[1].Download(ctx, got[:4], c.dst.Range(0, 4)))
				require.NoError(t, devices[1].Download(ctx, got[4:], c.dst.Range(64<<20-4, 4)))
				require.Equal(t, []uint32{uint32(i) + 1, uint32(i) + 1}, backend.Words(got))
			}
			closePair(t, l, devices, early[0], early[1], src, dst)
		})
	}
}

func closePair(t *testing.T, l *link.Link, devices [2]*backend.Device, buffers ...*backend.Buffer) {
	t.Helper()
	require.NoError(t, l.Close())
	for _, b := range buffers {
		b.Release()
	}
	for _, d := range devices {
		require.NotErrorIs(t, d.Close(), backend.ErrInvalidInput, "a leak")
	}
}

// TestDirectFaults: a copy that is cancelled has ended when it returns, a failed one stays failed, and after one that
// does not end both devices are lost, as it may still write.
func TestDirectFaults(t *testing.T) {
	for _, fault := range []string{"cancelled", "failed", "hanging"} {
		t.Run(fault, func(t *testing.T) {
			direct := &directCopies{}
			devices, early := joinedPair(t, direct)
			l, err := link.Connect(context.Background(), devices[0], devices[1], link.DriverCopy)
			require.NoError(t, err)
			src, dst := allocate(t, devices[0], 64<<20, "source"), allocate(t, devices[1], 64<<20, "destination")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			direct.count = 0
			want := backend.ErrDeviceLost
			switch fault {
			case "cancelled":
				want, direct.afterFirst = backend.ErrCancelled, cancel
			case "failed":
				direct.lost = fmt.Errorf("the engine stopped: %w", backend.ErrDeviceLost)
			case "hanging":
				direct.hang = true
			}
			require.ErrorIs(t, l.Copy(ctx, dst.All(), src.All()), want)
			ctx = context.Background()
			direct.afterFirst, direct.lost, direct.hang = nil, nil, false
			if fault == "cancelled" {
				require.Equal(t, 1, direct.count, "pieces")
				require.NoError(t, l.Copy(ctx, dst.All(), src.All()))
			} else {
				require.ErrorIs(t, l.Copy(ctx, dst.All(), src.All()), backend.ErrDeviceLost, "it stays lost")
			}
			for _, d := range devices {
				var list backend.List
				list.Fill(early[0].All(), 1)
				if d == devices[1] {
					list = backend.List{}
					list.Fill(early[1].All(), 1)
				}
				assert.Equal(t, fault == "hanging", errors.Is(d.Run(ctx, &list), backend.ErrDeviceLost))
			}
			closePair(t, l, devices, early[0], early[1], src, dst)
		})
	}
}

// TestIndirect: a link says why its copies go through exchange memory.
func TestIndirect(t *testing.T) {
	hidden := errors.New("hidden from the driver that copies")
	b := New(Options{Exchange: DeviceOrdered, Discrete: true, Devices: []Device{{Name: "a"}, {Name: "b"}}})
	for _, c := range []struct {
		unjoined error
		join     bool
		want     string
	}{{hidden, true, hidden.Error()}, {nil, false, "does not reach"}, {nil, true, ""}} {
		var devices [2]*backend.Device
		for i, id := range []string{"host:a", "host:b"} {
			driver, err := b.Open(id)
			require.NoError(t, err)
			devices[i] = backend.NewDevice(watched{driver.(*Driver), &directCopies{unjoined: c.unjoined}},
				backend.DeviceOptions{})
		}
		if c.join {
			link.Join(devices[:]...)
		}
		l, err := link.Connect(t.Context(), devices[0], devices[1], link.DriverCopy)
		require.NoError(t, err)
		if c.want == "" {
			require.NoError(t, l.Indirect)
		} else {
			require.ErrorContains(t, l.Indirect, c.want)
		}
		closePair(t, l, devices)
	}
}

// onOther is a driver that claims to be on another physical device.
type onOther struct {
	*Driver
	info backend.DeviceInfo
}

func (o *onOther) Info() *backend.DeviceInfo { return &o.info }

// TestJoin joins different physical devices, whose driver offers it, and no others.
func TestJoin(t *testing.T) {
	b := New(Options{Exchange: HostOrdered})
	var devices []*backend.Device
	var drivers []*Driver
	for _, uuid := range []string{"1", "2", "2"} {
		opened, err := b.Open("host:cpu")
		require.NoError(t, err)
		driver := &onOther{opened.(*Driver), *opened.Info()}
		driver.info.UUID = uuid
		drivers = append(drivers, driver.Driver)
		devices = append(devices, backend.NewDevice(driver, backend.DeviceOptions{}))
	}
	link.Join(devices[1:]...)
	require.False(t, drivers[1].joined.Load(), "they are one GPU")
	link.Join(devices...)
	for i, d := range drivers {
		require.True(t, d.joined.Load(), i)
		require.NoError(t, devices[i].Close())
	}
	driver, err := New(Options{}).Open("host:cpu")
	require.NoError(t, err)
	require.ErrorIs(t, driver.(backend.PeerMemory).JoinPeers(nil), backend.ErrUnsupported)
	require.NoError(t, driver.Close())
}
