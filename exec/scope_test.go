package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestScope(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	inUse := func() uint64 { return device.MemoryUse(backend.DeviceLocal).InUse }
	s := NewScope(context.Background(), device, nil)
	a, b := s.New(1000, "a"), s.New(1, "b")
	require.Nil(t, s.New(0, "nothing"))
	require.EqualValues(t, backend.Aligned(1000)+backend.Aligned(1), inUse())

	child := s.Child(context.Background())
	child.Release(nil, a)
	require.EqualValues(t, 1280, inUse(), "not the child's")
	s.Move(child, a, nil)
	s.Release(b, a)
	require.EqualValues(t, 1024, inUse())
	child.ReleaseAll()
	require.Zero(t, inUse())

	require.Nil(t, s.New(1<<21, "too large"))
	require.ErrorIs(t, s.Err(), backend.ErrDeviceMemory)
	require.ErrorContains(t, s.Err(), "too large")
	require.Nil(t, s.New(4, "after an error"))
	s.ReleaseAll()
	require.NotNil(t, s.New(4, "afterwards"))
	require.NoError(t, s.Err())
	s.ReleaseAll()
}

// TestGive: a grant returns host memory, and memory of devices that no scope uses, once each, where the device's memory
// is memory of the host.
func TestGive(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	const all = 64 << 10
	budget := NewBudget(Need{Device: map[*backend.Device]uint64{device: all}, Host: all})
	grant := budget.Empty()
	taken := func() uint64 { return all - budget.Free().Host }
	require.NoError(t, grant.Grow(Need{Host: 1000}))
	require.EqualValues(t, 8192, grant.Reserve(device, 8192))
	s := NewScope(context.Background(), device, grant)
	s.New(4096, "used")
	grant.GiveHost(300)
	require.EqualValues(t, 700+8192, taken())
	grant.GiveUnused()
	require.EqualValues(t, 700+4096, taken())
	require.EqualValues(t, all-4096, budget.Free().Device[device])
	grant.GiveUnused()
	require.EqualValues(t, 700+4096, taken())
	s.ReleaseAll()
	grant.GiveUnused()
	require.EqualValues(t, 700, taken())
	grant.Release()
	grant.GiveHost(1)
	require.Zero(t, taken())
}

// TestScopeOfGrant: memory of a scope is charged to its grant, which grows while the budget lasts.
func TestScopeOfGrant(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	of := func(bytes uint64) Need { return Need{Device: map[*backend.Device]uint64{device: bytes}} }
	budget := NewBudget(Need{Device: of(4 << 10).Device, Host: 4 << 10})
	grant, err := budget.Acquire(context.Background(), of(1<<10))
	require.NoError(t, err)
	free := func() uint64 { return budget.free[resource{kind: deviceMemory, device: device}] }

	s := NewScope(context.Background(), device, grant)
	kept := s.New(1000, "within the grant")
	require.EqualValues(t, 3<<10, free())
	grown := s.New(1, "beyond it")
	require.NoError(t, s.Err())
	require.EqualValues(t, 3<<10-256, free(), "the grant grows by what the arena takes")
	require.EqualValues(t, 1<<10+256, grant.Has().Device[device])
	s.Release(grown)
	_ = s.New(200, "again")
	require.EqualValues(t, 3<<10-256, free(), "a grant does not shrink")

	require.Zero(t, s.Reserve(0))
	require.EqualValues(t, 500, NewScope(context.Background(), device, nil).Reserve(500), "no grant, no limit")
	child := s.Child(context.Background())
	require.Nil(t, child.New(3<<10, "too much"))
	require.ErrorIs(t, child.Err(), backend.ErrDeviceMemory)
	require.ErrorContains(t, child.Err(), "too much")
	child.ReleaseAll()
	require.Nil(t, child.New(1<<21, "more than the device has"))
	require.EqualValues(t, 3<<10-256, free(), "what failed is not charged")

	result := s.Child(context.Background())
	s.Move(result, kept)
	s.ReleaseAll()
	grant.Release()
	require.EqualValues(t, 3<<10, free(), "what the result holds is not free")
	late := NewScope(context.Background(), device, grant)
	require.Nil(t, late.New(4, "late"))
	require.ErrorIs(t, late.Err(), backend.ErrInvalidInput)
	result.ReleaseAll()
	require.EqualValues(t, 4<<10, free())
}

// TestScopeMoveBetweenGrants: each grant accounts for what its scopes hold.
func TestScopeMoveBetweenGrants(t *testing.T) {
	device := hostDevice(t, backend.DeviceOptions{DeviceMemoryBytes: 1 << 20})
	of := func(bytes uint64) Need { return Need{Device: map[*backend.Device]uint64{device: bytes}} }
	budget := NewBudget(Need{Device: of(4 << 10).Device, Host: 4 << 10})
	var grants [2]*Grant
	var scopes [2]*Scope
	for i := range grants {
		var err error
		grants[i], err = budget.Acquire(context.Background(), of(1<<10))
		require.NoError(t, err)
		scopes[i] = NewScope(context.Background(), device, grants[i])
	}
	used := func(i int) uint64 { return grants[i].used[device] }
	first, second := scopes[0].New(1<<10, "first"), scopes[0].New(2<<10, "second")
	scopes[0].Move(scopes[1], first)
	require.NoError(t, scopes[1].Err())
	require.EqualValues(t, 2<<10, used(0))
	require.EqualValues(t, 1<<10, used(1))
	scopes[0].Move(scopes[1], second)
	require.ErrorIs(t, scopes[1].Err(), backend.ErrDeviceMemory, "the other grant cannot grow")
	require.Zero(t, used(0))
	require.EqualValues(t, 1<<10, device.MemoryUse(backend.DeviceLocal).InUse, "what exceeds it is released")
	scopes[1].ReleaseAll()
	imported, err := scopes[0].Import(make([]byte, 1<<10), "imported")
	require.NoError(t, err)
	scopes[0].Move(scopes[1], imported)
	require.Zero(t, used(1), "memory of the caller is not charged")
	scopes[1].ReleaseAll()
	require.Zero(t, used(0))
	require.Zero(t, used(1))
	for _, g := range grants {
		g.Release()
	}
}
