package measure

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
)

func TestSummarize(t *testing.T) {
	require.Zero(t, Summarize(nil))
	require.Equal(t, Summary{1, 7, 7, 7, 0}, Summarize([]time.Duration{7}))
	require.Equal(t, Summary{5, 30, 10, 1000, 20}, Summarize([]time.Duration{40, 10, 1000, 20, 30}))
	require.Equal(t, Summary{2, 15, 10, 20, 5}, Summarize([]time.Duration{20, 10}))
}

func TestWarmUp(t *testing.T) {
	runs := 0
	require.NoError(t, warmUp(0, func() error { runs++; return nil }))
	require.Zero(t, runs)
	require.NoError(t, warmUp(time.Millisecond, func() error { runs++; time.Sleep(time.Millisecond); return nil }))
	require.Equal(t, 1, runs)
	fault := errors.New("broken")
	require.ErrorIs(t, warmUp(time.Hour, func() error { return fault }), fault)
}

func TestErrors(t *testing.T) {
	err := Wrongf("row %d", 7)
	require.ErrorIs(t, err, ErrWrong)
	require.EqualError(t, err, "wrong result: row 7")
	require.False(t, DoesNotFit(err))
	require.True(t, DoesNotFit(fmt.Errorf("x: %w", backend.ErrDeviceMemory)))
	require.False(t, DoesNotFit(backend.ErrDeviceLost))
}
