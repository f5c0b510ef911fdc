package vulkan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurations(t *testing.T) {
	narrow := &timeline{tickMask: 1<<36 - 1, nanosecond: 10}
	require.Equal(t, []time.Duration{(1<<36 - 2) * 10, (1<<36 + 3) * 10, (1<<36 + 4) * 10}, narrow.durations([]uint64{1<<36 - 2, 3, 4 | 1<<40}))
	wide := &timeline{tickMask: ^uint64(0), nanosecond: 1}
	require.Equal(t, []time.Duration{1<<60 + 1, 1<<60 + 2}, wide.durations([]uint64{1<<60 + 1, 1<<60 + 2}))
	require.Empty(t, wide.durations(nil))
}
