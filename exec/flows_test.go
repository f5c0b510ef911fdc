package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/leak"
)

// TestFlows: Close fails the flows that are open, waits for the call that begins one, ends the last one first, and
// refuses others.
func TestFlows(t *testing.T) {
	leak.Check(t)
	var flows Flows
	ended, begun, err := flows.Begin(context.Background())
	require.NoError(t, err)
	begun()
	require.NoError(t, ended.Wait())

	var order []string
	earlier, begun, err := flows.Begin(context.Background())
	require.NoError(t, err)
	earlier.AtEnd(func() { order = append(order, "earlier") })
	begun()
	later, begun, err := flows.Begin(context.Background())
	require.NoError(t, err)
	later.AtEnd(func() { order = append(order, "later") })
	go func() {
		defer begun()
		<-later.Context().Done()
		later.Go("waits", func(ctx context.Context) error { <-ctx.Done(); return backend.ContextError(ctx) })
	}()
	flows.Close(backend.ErrCancelled)
	require.Equal(t, []string{"later", "earlier"}, order)
	for _, flow := range []*Flow{earlier, later} {
		require.Equal(t, backend.ErrCancelled, flow.Wait())
	}
	_, _, err = flows.Begin(context.Background())
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	flows.Close(backend.ErrCancelled)
}
