package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// liar accepts a block of another driver and maps other memory, as drivers have been seen to.
type liar struct{ *Driver }

func (l liar) OpenShared(_ backend.Driver, shared backend.Block) (backend.Block, error) {
	return l.AllocateBlock(shared.SizeBytes(), backend.DeviceLocal)
}

// TestPeerPathIsVerified: a path counts only after a pattern arrived over it.
func TestPeerPathIsVerified(t *testing.T) {
	ctx, b := context.Background(), New(Options{})
	open := func() *Driver {
		driver, err := b.Open("host:cpu")
		require.NoError(t, err)
		return driver.(*Driver)
	}
	from := backend.NewDevice(open(), backend.DeviceOptions{})
	for path, driver := range map[backend.PeerPath]backend.Driver{backend.SharedAllocation: open(), backend.HostStaged: liar{open()}} {
		to := backend.NewDevice(driver, backend.DeviceOptions{})
		link, err := backend.Connect(ctx, from, to)
		require.NoError(t, err)
		require.Equal(t, path, link.Path)
		link.Close()
		require.NoError(t, to.Close())
	}
	require.NoError(t, from.Close())
}
