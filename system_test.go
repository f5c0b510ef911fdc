package spirjoin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
)

// The host alone is there without any driver being looked for.
func TestHostOnly(t *testing.T) {
	system, err := spirjoin.Discover(spirjoin.SystemOptions{HostOnly: true})
	require.NoError(t, err)
	require.Empty(t, system.Problems)
	require.Len(t, system.Devices, 1)
	require.Equal(t, "host", system.Devices[0].Backend)
	require.NoError(t, system.Close())
}
