package backendtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// checkStagedUploads uploads more pieces than fit into staging memory, of different sizes and some of them empty, beside
// another upload. A piece that cannot be made, or a context that ends, fails the upload but not the device.
func checkStagedUploads(t *testing.T, s *suite) {
	device := s.openDevice(t, backend.DeviceOptions{})
	const pieces, most = 40, backend.StagedBytes / 4
	want, starts := []uint32{}, []uint64{0}
	for i := range pieces {
		words := randomWords(uint64(i), []int{most, 0, 1, most/2 + 3}[i%4])
		want, starts = append(want, words...), append(starts, starts[i]+uint64(len(words)))
	}
	b, other := allocate(t, device, len(want)), allocate(t, device, 3*most)
	fill := func(i int, staged []byte) (backend.Range, error) {
		assert.Len(t, staged, backend.StagedBytes)
		words := want[starts[i]:starts[i+1]]
		copy(staged, backend.AsBytes(words))
		return b.Range(starts[i]*4, uint64(len(words))*4), nil
	}
	beside := make(chan error)
	go func() {
		_, err := device.Upload(background, other.All(), backend.AsBytes(want[:3*most]))
		beside <- err
	}()
	point, err := device.UploadStaged(background, b.All(), pieces, fill)()
	require.NoError(t, err)
	require.NoError(t, <-beside)
	require.NoError(t, point.Wait(background))
	requireWords(t, want, download(t, device, b), "pieces")
	requireWords(t, want[:3*most], download(t, device, other), "beside them")

	broken := errors.New("broken")
	_, err = device.UploadStaged(background, b.All(), pieces, func(i int, staged []byte) (backend.Range, error) {
		if i == 20 {
			return backend.Range{}, broken
		}
		return fill(i, staged)
	})()
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(background)
	_, err = device.UploadStaged(ctx, b.All(), pieces, func(i int, staged []byte) (backend.Range, error) {
		if i == 20 {
			cancel()
		}
		return fill(i, staged)
	})()
	requireOneOf(t, err, backend.ErrCancelled)
	for _, n := range []int{0, 1, pieces} {
		point, err := device.UploadStaged(background, b.All(), n, fill)()
		require.NoError(t, err)
		require.NoError(t, point.Wait(background))
	}
	requireWords(t, want, download(t, device, b), "again")
}

// checkOneSlot: with memory for one piece, an upload goes on beside one that fails or panics, whose wait comes later.
func checkOneSlot(t *testing.T, s *suite) {
	const pieces, downloads = 6, 32 << 20
	device := s.openDevice(t, backend.DeviceOptions{HostMemoryBytes: backend.StagedBytes + downloads})
	want := randomWords(1, pieces)
	b := allocate(t, device, pieces)
	download(t, device, b) // it keeps staging memory of its own
	broken := errors.New("broken")
	fill := func(i int, staged []byte) (backend.Range, error) {
		copy(staged, backend.AsBytes(want[i:i+1]))
		return b.Range(uint64(i)*4, 4), nil
	}
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	for range 40 {
		fails := device.UploadStaged(ctx, b.All(), pieces, func(i int, staged []byte) (backend.Range, error) {
			if i == 1 {
				return backend.Range{}, broken
			}
			return fill(i, staged)
		})
		point, err := device.UploadStaged(ctx, b.All(), pieces, fill)()
		require.NoError(t, err)
		require.NoError(t, point.Wait(ctx))
		for range 2 {
			_, err = fails()
			require.ErrorIs(t, err, broken)
		}
	}
	require.Panics(t, func() {
		device.UploadStaged(background, b.All(), 1, func(int, []byte) (backend.Range, error) { panic("broken") })
	})
	requireWords(t, want, download(t, device, b), "beside failures")
}
