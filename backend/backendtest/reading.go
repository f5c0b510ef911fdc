package backendtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// checkReadings reads two parts of a buffer by each list that writes to it, on each queue, before and after other work.
func checkReadings(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	b := allocate(t, device, 1000)
	for n, role := range rolesOf(device.Info(), false) {
		var list backend.List
		list.Fill(b.Range(0, 400), uint32(n+1))
		list.Fill(b.Range(400, 3600), uint32(n+100))
		first, err := device.Read(background, &list, b.Range(396, 8))
		require.NoError(t, err)
		last, err := device.Read(background, &list, b.Range(3996, 4))
		require.NoError(t, err)
		_, err = device.Submit(background, role, &list)
		require.NoError(t, err)
		ended, cancel := context.WithCancel(background)
		cancel()
		words := make([]uint32, 2)
		if err := first.Get(ended, backend.AsBytes(words)); err != nil { // unless the device was faster
			requireOneOf(t, err, backend.ErrCancelled)
		}
		for range 2 {
			require.NoError(t, first.Get(background, backend.AsBytes(words)))
			require.Equal(t, []uint32{uint32(n + 1), uint32(n + 100)}, words, "%v queue", role)
		}
		require.NoError(t, last.Get(background, backend.AsBytes(words[:1])))
		require.Equal(t, uint32(n+100), words[0], "%v queue", role)
		first.Release()
		last.Release()
	}
	_, err := device.Read(background, new(backend.List), b.Range(3996, 8))
	requireOneOf(t, err, backend.ErrInvalidInput)
}
