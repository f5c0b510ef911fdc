package core

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Time counts once however many goroutines are at work, and not while none is.
func TestBusy(t *testing.T) {
	var none *Busy
	none.Begin()
	none.End()
	var b Busy
	b.Begin()
	b.Begin()
	time.Sleep(2 * time.Millisecond)
	first := b.Time()
	require.GreaterOrEqual(t, first, 2*time.Millisecond)
	b.End()
	require.GreaterOrEqual(t, b.Time(), first, "one is still at work")
	b.End()
	sum := b.Time()
	time.Sleep(2 * time.Millisecond)
	require.Equal(t, sum, b.Time())
}
