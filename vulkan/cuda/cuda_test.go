package cuda

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

// firstUUID is the UUID of the first GPU; the test is skipped where CUDA has none.
func firstUUID(t *testing.T) string {
	t.Helper()
	if err := load(); err != nil {
		require.ErrorIs(t, err, backend.ErrUnsupported)
		require.ErrorContains(t, err, "CUDA")
		t.Skip(err)
	}
	uuid, err := uuidOf(0)
	require.NoError(t, err)
	return uuid
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	for _, uuid := range []string{"", "00000000-0000-0000-0000-000000000000"} {
		_, err := Open(uuid)
		require.ErrorIs(t, err, backend.ErrUnsupported)
		_, err = Allocate(uuid, 1<<20, 1<<20)
		require.ErrorIs(t, err, backend.ErrUnsupported)
	}
}

func TestCopy(t *testing.T) {
	uuid := firstUUID(t)
	g, err := Open(strings.ToUpper(uuid[:8] + "-" + uuid[8:]))
	require.NoError(t, err)
	defer g.Close()
	require.True(t, g.Reaches(g))
	const sizeBytes = 3<<20 + 1
	var memories [2]*Memory
	for i, partBytes := range []uint64{sizeBytes * 2, 2 << 20} {
		memories[i], err = Allocate(uuid, sizeBytes, partBytes, g)
		require.NoError(t, err)
		require.GreaterOrEqual(t, memories[i].SizeBytes, uint64(sizeBytes))
		require.Len(t, memories[i].Parts, i+1)
		require.True(t, memories[i].ReachedBy(g))
		for part := range memories[i].Parts {
			fd, err := memories[i].Export(part)
			require.NoError(t, err)
			require.NoError(t, syscall.Close(fd))
		}
	}
	s, err := g.NewStream()
	require.NoError(t, err)
	e, err := g.NewEvent()
	require.NoError(t, err)
	passed, err := e.Passed()
	require.NoError(t, err)
	require.True(t, passed, "of an event that was not recorded")
	require.NoError(t, s.Copy(memories[1], 0, memories[0], 0, sizeBytes))
	require.NoError(t, e.Record(s))
	require.Eventually(t, func() bool {
		passed, err := e.Passed()
		return assert.NoError(t, err) && passed
	}, 10*time.Second, time.Millisecond)
	_, err = g.ImportTimeline(-1)
	require.Error(t, err)
	_, err = Allocate(uuid, 1<<60, 1<<60, g)
	require.ErrorIs(t, err, backend.ErrDeviceMemory, fmt.Sprint(err))
	_, err = Allocate(uuid, sizeBytes, 1<<10, g)
	require.ErrorIs(t, err, backend.ErrUnsupported, "parts smaller than an allocation")
	e.Close()
	s.Close()
	for _, m := range memories {
		require.NoError(t, m.Free())
	}
}
