package backendtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

var peerChecks = []check{
	{"shared memory", checkSharedMemory},
	{"links", checkLinks},
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
		block, err := owner.AllocateShared(size)
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
	link, err := backend.Connect(background, a, b)
	require.NoError(t, err)
	defer link.Close()
	assert.Equal(t, backend.SharedAllocation, link.Path)
}

// checkLinks copies between two devices, and within one, sizes around those of the exchange buffers.
func checkLinks(t *testing.T, s *suite) {
	a, b := s.openDevice(t, backend.DeviceOptions{}), s.openDevice(t, backend.DeviceOptions{})
	for _, ends := range [][2]*backend.Device{{a, b}, {b, a}, {a, a}} {
		link, err := backend.Connect(background, ends[0], ends[1])
		require.NoError(t, err)
		assert.Equal(t, ends[0] == ends[1], link.Path == backend.SameDevice)
		for _, n := range []int{1, 63, 2<<20 - 1, 2 << 20, s.pick(4<<20+1, 2<<20+1)} {
			t.Run(fmt.Sprintf("path=%v words=%d", link.Path, n), func(t *testing.T) {
				from, err := ends[0].Allocate(background, backend.DeviceLocal, uint64(n+8)*4, "from")
				require.NoError(t, err)
				defer from.Release()
				to, err := ends[1].Allocate(background, backend.DeviceLocal, uint64(n+8)*4, "to")
				require.NoError(t, err)
				defer to.Release()
				data, want := randomWords(1, n+8), randomWords(2, n+8)
				upload(t, ends[0], from, data)
				upload(t, ends[1], to, want)
				require.NoError(t, link.Copy(background, words(to, 3, n), words(from, 5, n)))
				copy(want[3:3+n], data[5:])
				requireWords(t, want, download(t, ends[1], to), "%d words", n)
			})
		}
		link.Close()
	}
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
