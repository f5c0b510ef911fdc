package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
)

// checkRoles runs a kernel on every queue that runs kernels, with stages, each after the one before; queues that run
// none and roles that the device lacks refuse, and the device works on.
func checkRoles(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	info := device.Info()
	k, err := device.Kernel(kernel.Gather.KernelSpec, backend.Config{"value_bits": 32})
	require.NoError(t, err)
	const n = 4000
	data := randomWords(1, n)
	values := [2]*backend.Buffer{allocate(t, device, n), allocate(t, device, n)}
	ids := allocate(t, device, n)
	upload(t, device, values[0], data)
	upload(t, device, ids, rotation(n))
	rotate := func(role backend.Role, i int) (*backend.Profile, error) {
		list := backend.List{Profile: &backend.Profile{}}
		list.Stage(role.String())
		args := []backend.Range{values[i%2].All(), ids.All(), values[1-i%2].All()}
		list.Commands = append(list.Commands, dispatchCommand(k, 0, kernel.Groups(kernel.Named(k.Config), n), args, n))
		_, err := device.Submit(background, role, &list)
		return list.Profile, err
	}
	roles := rolesOf(info, true)
	require.Subset(t, roles, []backend.Role{backend.Compute, backend.Ingest, backend.Deliver})
	profiles := make(map[backend.Role]*backend.Profile)
	rounds := 0
	for range 10 {
		for _, role := range roles {
			profiles[role], err = rotate(role, rounds)
			require.NoError(t, err)
			rounds++
		}
	}
	want := append(append([]uint32(nil), data[rounds:]...), data[:rounds]...)
	requireWords(t, want, download(t, device, values[rounds%2]), "%d rotations", rounds)
	timed := len(profiles[backend.Compute].Stages()) > 0
	for _, role := range []backend.Role{backend.Ingest, backend.Deliver} { // whose families compute as compute's does
		assert.Equal(t, timed, len(profiles[role].Stages()) > 0, "%v has times as compute does", role)
	}
	for role := range backend.Roles {
		if here, kernels := info.Runs(role); !here || !kernels {
			_, err := rotate(role, 0)
			requireOneOf(t, err, backend.ErrUnsupported)
			assert.ErrorContains(t, err, role.String())
		}
	}
	if here, _ := info.Runs(backend.Graphics); !here {
		requireOneOf(t, device.Driver().Submit(&backend.Batch{Role: backend.Graphics, Signal: 1}),
			backend.ErrUnsupported)
	}
	var pass backend.List
	pass.Pass("draw", struct{}{})
	_, err = device.Submit(background, backend.Compute, &pass)
	requireOneOf(t, err, backend.ErrUnsupported)
	var list backend.List
	list.Fill(ids.All(), 6)
	require.NoError(t, device.Run(background, &list), "the device works on")
}
