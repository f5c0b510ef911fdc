package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
)

// rasterDriver has images of 1,024 bytes a layer, and nothing else that draws.
type rasterDriver struct{ backend.Driver }

type fakeImage uint32

func (i *fakeImage) SizeBytes() uint64 { return uint64(*i) << 10 }
func (i *fakeImage) Layers() uint32    { return uint32(*i) }
func (i *fakeImage) Free() error       { return nil }

func (rasterDriver) CheckPass(backend.Role, any) error  { return nil }
func (rasterDriver) CanRaster() error                   { return nil }
func (rasterDriver) RasterLimits() backend.RasterLimits { return backend.RasterLimits{} }
func (rasterDriver) ImageBytes(spec backend.ImageSpec) (uint64, error) {
	if spec.Layers > 100 {
		return 0, &backend.OpError{Op: "allocate", Err: backend.ErrLimit}
	}
	return uint64(spec.Layers) << 10, nil
}
func (rasterDriver) CreateImage(spec backend.ImageSpec) (backend.ImageBlock, error) {
	i := fakeImage(spec.Layers)
	return &i, nil
}
func (rasterDriver) CompileDraw(*backend.DrawSpec, backend.Config) (backend.Program, error) {
	return nil, nil
}

// TestScopeImages: images of a scope are charged to its grant and released with it.
func TestScopeImages(t *testing.T) {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	device := backend.NewDevice(rasterDriver{driver}, backend.DeviceOptions{DeviceMemoryBytes: 40 << 10})
	defer func() { require.NoError(t, device.Close()) }()
	inUse := func() uint64 { return device.MemoryUse(backend.DeviceLocal).InUse }
	layers := func(n uint32) backend.ImageSpec { return backend.ImageSpec{Width: 1, Height: 1, Layers: n} }
	budget := NewBudget(Need{Device: map[*backend.Device]uint64{device: 64 << 10}, Host: 64 << 10})
	grant, err := budget.Acquire(context.Background(), Need{Device: map[*backend.Device]uint64{device: 8 << 10}})
	require.NoError(t, err)
	used := func() uint64 { return grant.used[device] }

	s := NewScope(context.Background(), device, grant)
	a, b := s.NewImage(layers(2), "a"), s.NewImage(layers(3), "b")
	require.NoError(t, s.Err())
	require.EqualValues(t, 5<<10, inUse())
	require.EqualValues(t, 5<<10, used())
	other := s.Child(context.Background())
	other.ReleaseImages(a, nil)
	require.EqualValues(t, 5<<10, used(), "not the child's")
	s.ReleaseImages(a, nil)
	s.ReleaseImages(a)
	require.EqualValues(t, 3<<10, inUse())
	require.EqualValues(t, 3<<10, used())
	require.NotNil(t, b)

	for n, want := range map[uint32]error{50: backend.ErrDeviceMemory, 70: backend.ErrDeviceMemory,
		101: backend.ErrLimit} {
		require.Nil(t, other.NewImage(layers(n), "too large"))
		require.ErrorIs(t, other.Err(), want, "%d layers", n)
		require.ErrorContains(t, other.Err(), "too large")
		require.Nil(t, other.NewImage(layers(1), "after an error"))
		require.EqualValues(t, 3<<10, used(), "%d layers", n)
		other.ReleaseAll()
	}
	s.ReleaseAll()
	require.Zero(t, inUse())
	require.Zero(t, used())
	grant.Release()
}
