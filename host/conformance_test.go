package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/backendtest"
)

// opener opens the first device of a backend made for each test.
func opener(options Options) func(t *testing.T) backend.Driver {
	return func(t *testing.T) backend.Driver {
		t.Helper()
		b := New(options)
		driver, err := b.Open(b.infos[0].ID)
		require.NoError(t, err)
		return driver
	}
}

// Under -short only the shuffled runs take every kernel.
func TestConformance(t *testing.T) {
	backendtest.Run(t, opener(Options{}), backendtest.Options{NoCatalogue: testing.Short()})
}

// The shuffled runs also poison memory; one of them, the only one under -short, has device memory that the host does not
// see.
func TestConformanceShuffled(t *testing.T) {
	for _, options := range []Options{{Shuffle: 1, Poison: true}, {Shuffle: 2, Poison: true, Discrete: true}} {
		if testing.Short() && !options.Discrete {
			continue
		}
		t.Run(fmt.Sprintf("seed=%d discrete=%t", options.Shuffle, options.Discrete), func(t *testing.T) {
			backendtest.Run(t, opener(options), backendtest.Options{Order: backendtest.Shuffled, Effort: backendtest.Short})
		})
	}
}
