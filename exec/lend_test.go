package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLend: a lender has what is free as long as nobody waits, gives back what all in line lack, and is left alone once
// there is enough, and once it has ended.
func TestLend(t *testing.T) {
	b := NewBudget(Need{Host: 10})
	lender, asked := b.Empty(), []uint64{}
	defer lender.Release()
	end := b.Lend(func(sizeBytes uint64) {
		asked = append(asked, sizeBytes)
		lender.Shrink(Need{Host: lender.Has().Host - min(lender.Has().Host, sizeBytes)})
	})
	require.EqualValues(t, 7, lender.Borrow(7))
	first, err := b.Acquire(t.Context(), Need{Host: 2})
	require.NoError(t, err)
	require.Empty(t, asked, "there was enough")
	second, err := b.Acquire(t.Context(), Need{Host: 4})
	require.NoError(t, err)
	require.Equal(t, []uint64{3}, asked)
	require.EqualValues(t, 4, lender.Has().Host)

	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := b.Acquire(ctx, Need{Host: 9})
		waiting <- err
	}()
	require.Eventually(t, func() bool { return lender.Has().Host == 0 }, 10e9, 1e6)
	second.Release()
	require.Zero(t, lender.Borrow(1), "somebody waits")
	cancel()
	require.Error(t, <-waiting)
	require.EqualValues(t, 8, lender.Borrow(100))
	end()
	first.Release()
	before := len(asked)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = b.Acquire(ctx, Need{Host: 9})
	require.Error(t, err)
	require.Len(t, asked, before)
}
